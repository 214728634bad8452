"""Damage for fuzz tests: JSON values changed at a random place."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

_EDGES = [0, -1, 1, 2**31, 2**63, -(2**63), 10**400, 0.5, -0.0, 1e308, float("inf"), float("nan"), "", "\0", "\ud800"]
_NAMES = ["../x", "/etc/hostname", "a\nb", "length", "input_ids", "logits", "bert", "x" * 300, "[/]", "\x1b[31m"]
_LEAVES = (
    st.none() | st.booleans() | st.sampled_from([*_EDGES, *_NAMES]) | st.integers() | st.floats() | st.text(max_size=9)
)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def damaged(draw: st.DrawFn, good: Any) -> Any:
    """`good` with one to four values replaced, left out, doubled or put under another name."""
    content = copy.deepcopy(good)
    for _ in range(draw(st.integers(1, 4))):
        place = _place(draw, content)
        if place is None:
            continue
        parent, key = place
        match draw(st.sampled_from(["replace", "replace", "leave out", "double", "rename", "borrow"])):
            case "replace":
                parent[key] = draw(_VALUES)
            case "leave out":
                del parent[key]
            case "double" if isinstance(parent, list):
                parent.extend(copy.deepcopy([parent[key]] * draw(st.integers(1, 3))))
            case "rename" if isinstance(parent, dict):
                parent[draw(st.text(max_size=9) | st.sampled_from(_NAMES))] = parent.pop(key)
            case _:
                # A value that is right somewhere else.
                other = _place(draw, content)
                parent[key] = copy.deepcopy(other[0][other[1]]) if other is not None else None
    return content


def _place(draw: st.DrawFn, content: Any) -> tuple[Any, Any] | None:
    """A container inside `content` and a key of it."""
    place: tuple[Any, Any] | None = None
    inner = content
    while isinstance(inner, dict | list) and inner:
        key = draw(st.sampled_from(sorted(inner) if isinstance(inner, dict) else list(range(len(inner)))))
        place, inner = (inner, key), inner[key]
        if draw(st.integers(0, 2)) == 0:
            break
    return place
