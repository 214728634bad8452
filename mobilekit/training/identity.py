"""What a run is made of, by content and not by name: only a run of the same data, models and options goes on."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mobilekit.errors import short
from mobilekit.models.model import Model
from mobilekit.text.data.rows import Row, TextData

# What of a part changed, as messages say it.
_CHANGES = {
    "rows": "are others",
    "labels": "have other labels",
    "weights": "has other weights",
    "tokenizer": "has another tokenizer",
    "shape": "has another configuration or head",
}
# Norms of one tensor that was computed on other machines, or with more threads, differ by rounding alone; those of one
# that was trained or drawn otherwise differ by more.
_CLOSE = 1e-5
_PIECE = 2**22
# A digest, or numbers that are compared with some tolerance.
Mark = str | dict[str, float]


@dataclass(frozen=True)
class Part:
    """Something that a run is made of. who: as messages name it. marks: what tells it from others, by what of it."""

    who: str
    marks: Mapping[str, Mark]


@dataclass(frozen=True)
class Identity:
    """What a run was asked for (JSON values by name, `settings` and `options` among them), and its parts by their role
    in it."""

    asked: Mapping[str, Any]
    parts: Mapping[str, Part]

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        content: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return content

    def digest(self) -> str:
        """Of all that is the same on every machine."""
        marks = {
            role: {what: mark for what, mark in part.marks.items() if isinstance(mark, str)}
            for role, part in self.parts.items()
        }
        return _digest(json.dumps([dict(self.asked), marks], sort_keys=True))

    def changes(self, before: Mapping[str, Any]) -> tuple[list[str], list[str]]:
        """What is otherwise than `before`, an identity's values: of the parts, and of what was asked for."""
        parts = [
            change
            for role in {**self.parts, **before["parts"]}
            for change in _part_changes(before["parts"].get(role), self.parts.get(role))
        ]
        old, new = _flat(before["asked"]), _flat(self.to_dict()["asked"])
        asked = [
            f"{name} was {short(repr(old.get(name)))}, now {short(repr(new.get(name)))}"
            for name in {**new, **old}
            if old.get(name) != new.get(name)
        ]
        return parts, asked


def data_part(who: str, data: TextData) -> Part:
    """Labelled data: rows in their order, and what their labels are."""
    return Part(
        who,
        {"rows": rows_digest(data.rows), "labels": _digest(repr((data.task, tuple(data.labels), data.problem_type)))},
    )


def texts_part(who: str, rows: Sequence[Row]) -> Part:
    """Plain text."""
    return Part(who, {"rows": rows_digest(rows)})


def model_part(who: str, model: Model, made: bool = False) -> Part:
    """A model: weights, tokenizer and prefix, encoder and head. made: its weights may have been computed here rather
    than read, so that another machine's differ in their last bits; then they are told apart by the norms of tensors."""
    return Part(
        who,
        {
            "weights": _norms(model) if made else weights_digest(model),
            "tokenizer": _digest(repr((model.tokenizer.serialized(), model.tokenizer.max_length, model.prefix))),
            "shape": _digest(repr((model.family, model.config, model.head))),
        },
    )


def rows_digest(rows: Iterable[Row]) -> str:
    """Of what is in rows, read once from the first to the last; what the source calls them does not count."""
    state = hashlib.blake2b(digest_size=16)
    for row in rows:
        values = tuple(value for name, value in vars(row).items() if name != "id")
        state.update(repr((type(row).__name__, values)).encode())
    return state.hexdigest()


def weights_digest(model: Model) -> str:
    """Of all weights by name: some 0.1 s for 100 MB."""
    state = hashlib.blake2b(digest_size=16)
    for name, parameter in sorted(model.module.named_parameters()):
        state.update(repr((name, tuple(parameter.shape), str(parameter.dtype))).encode())
        state.update(parameter.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return state.hexdigest()


def file_digest(path: Path) -> str:
    """Of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _norms(model: Model) -> dict[str, float]:
    return {name: math.sqrt(_squares(p.detach())) for name, p in sorted(model.module.named_parameters())}


def _squares(values: Tensor) -> float:
    # In pieces: a large table in doubles would take twice its memory again.
    return sum(float(part.double().square().sum()) for part in values.reshape(-1).split(_PIECE))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _flat(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Settings and options beside what they belong to, as they are named on the command line."""
    nested = ("settings", "options")
    flat = {name: value for name, value in asked.items() if name not in nested}
    return flat | {name: value for group in nested for name, value in asked.get(group, {}).items()}


def _part_changes(before: Mapping[str, Any] | None, now: Part | None) -> list[str]:
    if now is None:
        assert before is not None
        return [f"{before['who']}: given then, not now"]
    if before is None:
        return [f"{now.who}: given now, not then"]
    return [
        f"{now.who} {_CHANGES[what]}" for what, mark in now.marks.items() if not _same(before["marks"].get(what), mark)
    ]


def _same(before: object, now: Mark) -> bool:
    if not isinstance(now, dict) or not isinstance(before, dict):
        return before == now
    return set(before) == set(now) and all(
        math.isclose(before[name], value, rel_tol=_CLOSE, abs_tol=_CLOSE) for name, value in now.items()
    )
