"""Whether two tokenizers make the same ids of a text, however their files are written."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

from mobilekit.text.text_tokenizer import TextTokenizer

# What no id depends on: how ids become text, and which version wrote the file.
_WITHOUT_EFFECT = ("decoder", "version", "truncation", "padding")
# What the parts of tokenizers differ in: case, accents, white space, scripts, joiners, numbers, special tokens as text.
_PROBES = (
    "Hello, WORLD! It's 1,234.56 (or so)... don't-stop_now@x.y/z #tag",
    "  two  spaces\tand\nlines \r\n and a no-break\u00a0one ",
    "na\u00efve CAF\u00c9 \u00c9cole Stra\u00dfe e\u0301 \u0130",
    "\u65e5\u672c\u8a9e\u3068\u4e2d\u6587 \ud55c\uad6d\uc5b4 \u0440\u0443\u0441\u0441\u043a\u0438\u0439 \u0627\u0644",
    "\U0001f9d1\u200d\U0001f680 \u2603 \ufb01ne \u2460 \uff46\uff55\uff4c\uff4c a\u200bb so\u00adft \u0003",
    "[MASK] <mask> </s> [SEP] [UNK] <unk> <pad>",
    "x" * 300,
    "",
)


def same_ids(first: TextTokenizer, second: TextTokenizer, texts: Iterable[str] = ()) -> bool:
    """Whether both make the same ids and token types of every text, as far as that can be told.

    It is certain where the files say the same but for what no id depends on. Else vocabularies, merges and scores have
    to be the same (scores but for rounding), and so have the ids of texts that show the differences of tokenizers, and
    of `texts`.
    """
    if first.serialized() == second.serialized():
        return True
    ours, theirs = (json.loads(each.serialized()) for each in (first, second))
    if _with_effect(ours) == _with_effect(theirs):
        return True
    if not _same_pieces(ours["model"], theirs["model"]) or first.special_ids() != second.special_ids():
        return False
    probes = [*_PROBES, *texts]
    return all(_ids(first, text, None) == _ids(second, text, None) for text in probes) and all(
        _ids(first, a, b) == _ids(second, a, b) for a, b in zip(probes, reversed(probes), strict=True)
    )


def _with_effect(content: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name not in _WITHOUT_EFFECT}


def _same_pieces(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    if ours.get("type") != theirs.get("type") or ours.get("merges") != theirs.get("merges"):
        return False
    a, b = ours.get("vocab"), theirs.get("vocab")
    if not isinstance(a, list) or not isinstance(b, list):
        return bool(a == b)
    # Unigram: pieces with their scores, in the order of their ids.
    return len(a) == len(b) and all(
        p[0] == q[0] and math.isclose(p[1], q[1], rel_tol=1e-6, abs_tol=1e-6) for p, q in zip(a, b, strict=True)
    )


def _ids(tokenizer: TextTokenizer, text: str, pair: str | None) -> tuple[list[int], list[int]]:
    encoded = tokenizer.encode(text, pair, 2**20)
    return encoded.ids.tolist(), encoded.type_ids.tolist()
