"""What each part of a model bears: compressed alone, by each of several schemes, and measured on data.

A plan is chosen by it: the parts that lose least get the fewest bits. Losses do not simply add up, so what is chosen is
to be measured as a whole.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mobilekit.compression.compress import compress
from mobilekit.compression.plan import Plan, Rule, is_weight, part_of
from mobilekit.compression.preview import record_bytes
from mobilekit.compression.rounding import rounded_activations
from mobilekit.compression.schemes.registry import Scheme
from mobilekit.errors import CompressionError, InputError
from mobilekit.evaluation.comparison import Drop, Yardstick, yardstick
from mobilekit.models.model import Model
from mobilekit.text.data.judging import plain_rows, rows_sha256, sample_rows
from mobilekit.text.data.rows import TextData
from mobilekit.training.exam import Exam, answers, exam, model_outputs
from mobilekit.training.lengths import require_room_for
from mobilekit.training.losses import task_loss

Json = dict[str, Any]
Report = Callable[[str], None]
WHOLE = "all"


@dataclass(frozen=True)
class Group:
    """Weights that are compressed together. pattern: of the rule that does so. weights: their names."""

    name: str
    pattern: str
    weights: tuple[str, ...]


@dataclass(frozen=True)
class Measured:
    """One group under one scheme, all else float.

    bits: average a weight of the group, with all that is stored for it. drop: points of the metric, with their paired
    interval. loss: mean against the labels, and rise: over the float model's (None where there are none). distance: of
    the outputs from the float model's, over the length of those. figures: all that was measured. refused: why the
    group cannot be kept so; all other values are None then.
    """

    group: str
    scheme: str
    bits: float | None = None
    drop: Drop | None = None
    loss: float | None = None
    rise: float | None = None
    distance: float | None = None
    figures: Mapping[str, float] | None = None
    refused: str = ""


@dataclass(frozen=True)
class Sensitivity:
    """A table: every group under every scheme. metric: that of the drops."""

    model: str
    data: Json
    metric: str
    base: Json
    groups: tuple[Group, ...]
    schemes: tuple[str, ...]
    rows: tuple[Measured, ...]

    def to_json(self) -> Json:
        """As JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class _Answered:
    """A model's outputs for all rows, what they answer, and their mean loss."""

    outputs: list[NDArray[np.float32]]
    given: Any
    loss: float | None


def tensor_groups(model: Model) -> list[Group]:
    """The token table, the projection after it, attention and feed-forward of each layer, the head; and the whole.

    Layers that share weights are one group, called as the first of them. Groups without a weight are left out.
    """
    weights: dict[str, list[str]] = {}
    for name, values in model.tensors().items():
        if is_weight(name, values.ndim):
            parts = part_of(name).split(".")
            size = {"layers": 3, "embeddings": 2}.get(parts[0], 1)
            weights.setdefault(".".join(parts[:size]), []).append(name)
    groups = [
        Group(name, name if name == part_of(own[0]) else f"{name}.*", tuple(own)) for name, own in weights.items()
    ]
    groups.sort(key=lambda group: _place(group.name))
    return [*groups, Group(WHOLE, "*", tuple(name for group in groups for name in group.weights))]


def _place(group: str) -> tuple[int, int]:
    """In the order of computing: token table, projection, layers by their number, head."""
    first, *more = group.split(".")
    second = int(more[0]) if first == "layers" else int("projection" in more)
    return ("embeddings", "layers", "head").index(first), second


def sensitivity(
    model: Model,
    schemes: Sequence[Scheme],
    data: TextData,
    length: int,
    *,
    limit: int | None = None,
    texts: Sequence[str] | None = None,
    report: Report = lambda text: None,
) -> Sensitivity:
    """Compress each group of `model` by each scheme, all else float, and have the model answer the rows each time.

    data: rows as `judging_data` reads them. length: the most ids of an input. limit: the most rows, each label with its
    share. texts: what activations are looked at on. Raises InputError when inputs have no room for text, and when an
    output of the float model is not finite.
    """
    require_room_for(model, [data], length)
    subject = _Subject(model, data, length, limit)
    groups = tensor_groups(model)
    count = len(groups) * len(schemes)
    rows: list[Measured] = []
    for group in groups:
        for scheme in schemes:
            report(f"step {len(rows) + 1} of {count}: {group.name} as {scheme.name}")
            rows.append(subject.measure(group, scheme, texts))
    base = {"loss": subject.base.loss, "figures": dict(subject.yard.figures(subject.base.given, None))}
    names = tuple(scheme.name for scheme in schemes)
    return Sensitivity(model.name, subject.about, subject.yard.name, base, tuple(groups), names, tuple(rows))


class _Subject:
    """A float model with its answers to the rows, and a copy of it that takes compressed weights."""

    def __init__(self, model: Model, data: TextData, length: int, limit: int | None) -> None:
        self._model = model
        self._labelled = bool(data.task)
        alone = not self._labelled and model.head.task != "sequence-classification"
        everything = plain_rows(data.rows) if alone else data.rows
        rows = sample_rows(everything, limit)
        self._exam = exam(model, rows, length)
        self._variant = replace(model, module=copy.deepcopy(model.module), notes=[])
        self.base, references = self._answered(model)
        kind = model.head.problem_type if model.head.task == "sequence-classification" else None
        self.yard: Yardstick = yardstick(
            model.head.task, kind, len(model.head.labels), references if self._labelled else None
        )
        self.about = {
            "name": data.name,
            "rows": len(rows),
            "of": len(everything),
            "sha256": rows_sha256(rows),
            "length": length,
            "labelled": self._labelled,
        }

    def measure(self, group: Group, scheme: Scheme, texts: Sequence[str] | None) -> Measured:
        """The model with one group compressed, against itself."""
        try:
            compressed = compress(self._model, Plan(scheme.name, (Rule(group.pattern, scheme),)), texts)
        except CompressionError as error:
            return Measured(group.name, scheme.name, refused=str(error))
        self._variant.load_tensors(compressed.decoded())
        with rounded_activations(self._variant.module, compressed):
            found, _ = self._answered(self._variant)
        base, weights = self.base, [compressed.records[name] for name in group.weights]
        return Measured(
            group.name,
            scheme.name,
            8 * sum(record_bytes(r) for r in weights) / sum(int(np.prod(r.shape)) for r in weights),
            self.yard.drop(base.given, found.given),
            found.loss,
            None if found.loss is None or base.loss is None else found.loss - base.loss,
            _distance(base.outputs, found.outputs),
            dict(self.yard.figures(found.given, base.given)),
        )

    def _answered(self, model: Model) -> tuple[_Answered, Any]:
        outputs: list[NDArray[np.float32]] = [np.empty(0, np.float32)] * len(self._exam.rows)
        for i, output in model_outputs(model, self._exam):
            if not np.isfinite(output).all():
                raise InputError(f"{self._model.name}: its output for row {i + 1} is not finite (NaN or infinity).")
            outputs[i] = output
        given, references = answers(self._exam, enumerate(outputs))
        loss = _loss(model, self._exam, outputs) if self._labelled else None
        return _Answered(outputs, given, loss), references


def _loss(model: Model, of: Exam, outputs: Sequence[NDArray[np.float32]]) -> float:
    """The mean over all targets."""
    loss, total, count = task_loss(model.head), 0.0, 0
    for output, features in zip(outputs, of.features, strict=True):
        target = torch.from_numpy(np.asarray(features.target))[None]
        keep = torch.ones(1, len(features.ids), dtype=torch.int64)
        total += float(loss(torch.from_numpy(output)[None], target, keep))
        count += features.count
    return total / max(count, 1)


def _distance(base: Sequence[NDArray[np.float32]], found: Sequence[NDArray[np.float32]]) -> float:
    """The length of what lies between all outputs, over the length of the first."""
    between = sum(float(np.square(b - f, dtype=np.float64).sum()) for b, f in zip(base, found, strict=True))
    length = sum(float(np.square(b, dtype=np.float64).sum()) for b in base)
    return float(np.sqrt(between / length)) if length else float(between > 0)
