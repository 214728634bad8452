"""Rows put to a model, or to whatever else runs it, and what its outputs answer; also where rows have no labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mobilekit.models.config import HeadConfig
from mobilekit.models.model import Model
from mobilekit.text.data.rows import Row, TextRow, TokensRow
from mobilekit.training.features import Features, Reader, encode_rows
from mobilekit.training.predict import batches_by_length, decoded

Outputs = Iterable[tuple[int, NDArray[np.float32]]]
Report = Callable[[int, int], None]
# Which word of each text is masked is drawn, the same for every system.
_SEED = 0


@dataclass(frozen=True)
class Exam:
    """Rows as one reader reads them.

    rows: with labels of no meaning where they had none. places: for fill-mask, the token that is asked for in each.
    length: the most ids of an input.
    """

    reader: Reader
    rows: Sequence[Row]
    features: Sequence[Features]
    places: Sequence[int] | None
    length: int

    @property
    def cut(self) -> int:
        """How many rows were cut to `length`."""
        return sum(each.cut for each in self.features)


def exam(reader: Reader, rows: Sequence[Row], length: int) -> Exam:
    """Rows for a reader, cut as its tokenizer does.

    A tagger reads plain text word by word, as white space parts it. Of fill-mask's texts one token each is masked,
    where the text has no mask token of its own.
    """
    given = [_labelled(reader.head, row) for row in rows]
    features = encode_rows(reader, given, length)
    if reader.head.task != "fill-mask":
        return Exam(reader, given, features, None, length)
    rng, mask = np.random.default_rng(_SEED), reader.tokenizer.mask_id
    assert mask is not None
    special = set(reader.tokenizer.special_ids().values())
    places = [_place(each, mask, special, rng) for each in features]
    masked = [_masked(each, place, mask) for each, place in zip(features, places, strict=True)]
    return Exam(reader, given, masked, places, length)


def answers(of: Exam, outputs: Outputs) -> tuple[Any, Any]:
    """Predictions and references (without meaning where rows had no labels), as metrics take them, from a row's number
    and output each, in any order; of embeddings they are [n, width], of fill-mask the ids of the best words."""
    found: list[NDArray[np.generic]] = [np.empty(0)] * len(of.rows)
    for i, output in outputs:
        # A vocabulary's logits for every row would be hundreds of megabytes.
        found[i] = output.argmax(-1) if of.places is not None else output
    if of.reader.head.task in ("fill-mask", "sentence-embedding"):
        return np.stack(found), None
    return decoded(of.reader, of.rows, of.features, found, of.length)  # type: ignore[arg-type]


def model_outputs(model: Model, of: Exam, report: Report = lambda done, count: None) -> Iterator[tuple[int, Any]]:
    """What a model in torch gives for each row; report(done, count) is told after every batch."""
    done, places, was_training = 0, of.places, model.module.training
    model.module.eval()
    for indices, batch in batches_by_length(model, of.features):
        with torch.no_grad():
            if places is None:
                values = model.module(**batch)
            else:
                mask = batch["attention_mask"]
                states = model.module.encoder(batch["input_ids"], mask, batch.get("token_type_ids")).last
                asked = torch.tensor([places[i] for i in indices], device=states.device)
                values = model.module.head(states[torch.arange(len(indices)), asked], mask)
        for i, value in zip(indices, values.float().cpu().numpy(), strict=True):
            yield i, value[: len(of.features[i].ids)] if model.head.per_token else value
        done += len(indices)
        report(done, len(of.rows))
    model.module.train(was_training)


def _labelled(head: HeadConfig, row: Row) -> Row:
    """A row as the head's data are, with some label where it has none."""
    if not isinstance(row, TextRow) or row.label is not None:
        return row
    if head.task == "token-classification":
        words = tuple(row.text.split())
        return TokensRow(words, (0,) * len(words))
    several = head.task == "sequence-classification" and head.problem_type == "multi_label_classification"
    return replace(row, label=() if several else 0)


def _place(features: Features, mask: int, special: set[int], rng: np.random.Generator) -> int:
    drawn = rng.random()
    masks = np.flatnonzero(features.ids == mask)
    if masks.size:
        return int(masks[0])
    text = [i for i, each in enumerate(features.ids.tolist()) if each not in special] or [len(features.ids) // 2]
    return text[int(drawn * len(text))]


def _masked(features: Features, place: int, mask: int) -> Features:
    ids = features.ids.copy()
    ids[place] = mask
    return replace(features, ids=ids)
