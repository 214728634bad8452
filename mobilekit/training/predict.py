"""What a model says of rows, in the form that metrics take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mobilekit.decoding.spans import NO_ANSWER, decode_spans
from mobilekit.evaluation.metric import Scores
from mobilekit.evaluation.metrics import metrics_for
from mobilekit.models.model import Model
from mobilekit.text.data.rows import AnswerRow, Row, TextRow, TokensRow
from mobilekit.training.features import IGNORED, Features, Reader, collate, encode_rows

_BATCH = 64


def measure(model: Model, rows: Sequence[Row], length: int, features: Sequence[Features] | None = None) -> Scores:
    """The task's metrics of a model on labelled rows, cut to `length` ids. features: of the same rows, if there."""
    predictions, references = predict(model, rows, length, features)
    kind = model.head.problem_type if model.head.task == "sequence-classification" else None
    return metrics_for(model.head.task, kind, len(model.head.labels)).scores(predictions, references)


def predict(
    model: Model, rows: Sequence[Row], length: int, features: Sequence[Features] | None = None
) -> tuple[Any, Any]:
    """Predictions and references of all rows, as `metrics_for` says."""
    encoded = encode_rows(model, rows, length) if features is None else list(features)
    return decoded(model, rows, encoded, outputs(model, encoded), length)


def decoded(
    model: Reader, rows: Sequence[Row], encoded: Sequence[Features], logits: Sequence[NDArray[np.float32]], length: int
) -> tuple[Any, Any]:
    """The same from outputs that are there, of whatever ran: a row's own each, as `outputs` gives them."""
    if model.head.task == "token-classification":
        return _tags(model, rows, encoded, logits)
    if model.head.task == "question-answering":
        answers = [_answer(model, row, each, length) for row, each in zip(rows, logits, strict=True)]
        return answers, [tuple(t for _, t in row.answers) for row in rows if isinstance(row, AnswerRow)]
    labels = [row.label for row in rows if isinstance(row, TextRow)]
    stacked = np.stack(logits)
    if model.head.problem_type == "multi_label_classification":
        return (stacked > 0).astype(int), np.stack([each.target for each in encoded]).astype(int)
    if model.head.problem_type == "regression":
        return stacked[:, 0], np.array(labels, np.float64)
    return stacked.argmax(1), np.array(labels, np.int64)


def outputs(model: Model, features: Sequence[Features]) -> list[NDArray[np.float32]]:
    """The head's output for each input: [size], or [its own tokens, size]. In evaluation mode, longest inputs first."""
    found: list[NDArray[np.float32]] = [np.empty(0, np.float32)] * len(features)
    was_training = model.module.training
    model.module.eval()
    with torch.no_grad():
        for indices, batch in batches_by_length(model, features):
            values = model.module(**batch).float().cpu().numpy()
            for i, value in zip(indices, values, strict=True):
                found[i] = value[: len(features[i].ids)] if model.head.per_token else value
    model.module.train(was_training)
    return found


def batches_by_length(model: Model, features: Sequence[Features]) -> Iterator[tuple[list[int], dict[str, Tensor]]]:
    """All inputs in batches of about one length, on the model's device and without targets: indices, batch.

    The longest come first: too little memory shows at once.
    """
    device = next(model.module.parameters()).device
    order = sorted(range(len(features)), key=lambda i: -len(features[i].ids))
    for start in range(0, len(order), _BATCH):
        indices = order[start : start + _BATCH]
        batch = collate([features[i] for i in indices], model.config)
        batch.pop("target")
        yield indices, {name: values.to(device) for name, values in batch.items()}


def _tags(
    model: Reader, rows: Sequence[Row], features: Sequence[Features], logits: Sequence[NDArray[np.float32]]
) -> tuple[list[list[str]], list[list[str]]]:
    labels = model.head.labels
    # What the tokenizer dropped, or was cut off, has not been found.
    missing = labels.index("O") if "O" in labels else 0
    predictions, references = [], []
    for row, each, values in zip(rows, features, logits, strict=True):
        assert isinstance(row, TokensRow)
        said = np.full(len(row.tags), missing)
        said[each.words] = values[each.target != IGNORED].argmax(-1)
        predictions.append([labels[i] for i in said])
        references.append([labels[i] for i in row.tags])
    return predictions, references


def _answer(model: Reader, row: Row, logits: NDArray[np.float32], length: int) -> str:
    assert isinstance(row, AnswerRow)
    limit = min(length, model.tokenizer.max_length)
    encoded = model.tokenizer.encode(model.prefix + row.question, row.context, limit, "only_second")
    best = decode_spans(logits, encoded, row.context, 1)[0]
    return "" if best.label == NO_ANSWER else best.text or ""
