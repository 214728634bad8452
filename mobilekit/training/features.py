"""Rows of data as what a model reads: ids, token types and the target of its head."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mobilekit.errors import InputError
from mobilekit.models.config import EncoderConfig, HeadConfig
from mobilekit.text.data.rows import AnswerRow, Row, TextRow, TokensRow
from mobilekit.text.tokenizer import EncodedText, TextTokenizer

# torch's own mark for a target that counts for nothing: special tokens, and all but the first token of a word.
IGNORED = -100


class Reader(Protocol):
    """What rows are read with: of a `Model`, or of an artifact, which carries these too."""

    @property
    def head(self) -> HeadConfig:
        """What is answered."""

    @property
    def tokenizer(self) -> TextTokenizer:
        """Text to ids."""

    @property
    def prefix(self) -> str:
        """Text put before every input."""


@dataclass(frozen=True)
class Features:
    """One input. ids, types: int32 [n].

    target: int64 [] (one label of many), float32 [labels] (several labels, regression), int64 [n] (a tag a token,
    IGNORED where none is), or int64 [2] (first and last token of the answer; 0, 0: no answer). words: of tags, the word
    of the row that each is of, int64 [tags]: the tokenizer drops some words, and what is too long is cut off. cut:
    whether text was.
    """

    ids: NDArray[np.int32]
    types: NDArray[np.int32]
    target: NDArray[np.generic]
    words: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    cut: bool = False

    @property
    def count(self) -> int:
        """How many targets it has: what a loss is divided by."""
        return int((self.target != IGNORED).sum()) if self.target.ndim and self.target.dtype == np.int64 else 1


def encode_rows(model: Reader, rows: Sequence[Row], max_length: int) -> list[Features]:
    """Features of all rows, cut to `max_length` ids."""
    return [_encode(model, row, max_length) for row in rows]


def _encode(model: Reader, row: Row, max_length: int) -> Features:
    limit = min(max_length, model.tokenizer.max_length)
    if isinstance(row, TextRow):
        encoded = model.tokenizer.encode(model.prefix + row.text, row.pair, limit)
        return Features(encoded.ids, encoded.type_ids, _label(model, row), cut=encoded.truncated)
    if isinstance(row, TokensRow):
        encoded = model.tokenizer.encode(model.prefix + " ".join(row.words), None, limit)
        return Features(encoded.ids, encoded.type_ids, *_tags(encoded, row, len(model.prefix)), encoded.truncated)
    encoded = model.tokenizer.encode(model.prefix + row.question, row.context, limit, "only_second")
    return Features(encoded.ids, encoded.type_ids, _span(encoded, row), cut=encoded.truncated)


def _label(model: Reader, row: TextRow) -> NDArray[np.generic]:
    kind, count = model.head.problem_type, len(model.head.labels)
    if isinstance(row.label, tuple) != (kind == "multi_label_classification") or row.label is None:
        raise InputError(f"label {row.label!r} of '{row.text[:40]}' is none for a head of {kind}.")
    if kind == "multi_label_classification":
        several = np.zeros(count, np.float32)
        several[list(row.label)] = 1  # type: ignore[arg-type]
        return several
    if kind == "regression":
        return np.full(count, row.label, np.float32)
    return np.array(row.label, np.int64)


def _tags(encoded: EncodedText, row: TokensRow, shift: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A tag for the first token of each word, found by its characters, and the words that have one."""
    starts = [shift]
    for word in row.words[:-1]:
        starts.append(starts[-1] + len(word) + 1)
    target = np.full(len(encoded.ids), IGNORED, np.int64)
    words: list[int] = []
    for i, (start, end) in enumerate(encoded.offsets):
        if encoded.sequences[i] != 0 or end <= shift or start == end:
            continue
        # Some tokenizers give a word the space before it.
        index = bisect.bisect_right(starts, max(end - 1, shift)) - 1
        if not words or index != words[-1]:
            target[i] = row.tags[index]
            words.append(index)
    return target, np.array(words, np.int64)


def _span(encoded: EncodedText, row: AnswerRow) -> NDArray[np.int64]:
    """First and last token of the first answer; 0, 0 where there is none or it was cut off."""
    if not row.answers:
        return np.zeros(2, np.int64)
    begin, text = row.answers[0]
    stop = begin + len(text)
    pairs = zip(encoded.offsets, encoded.sequences, strict=True)
    inside = [i for i, ((a, b), sequence) in enumerate(pairs) if sequence == 1 and a < stop and b > begin]
    whole = bool(inside) and encoded.offsets[inside[-1]][1] >= stop
    return np.array([inside[0], inside[-1]] if whole else [0, 0], np.int64)


def collate(features: Sequence[Features], config: EncoderConfig) -> dict[str, Tensor]:
    """A batch: input_ids, attention_mask, token_type_ids (where the encoder reads them), int64 [batch, longest], and
    `target` ([batch] and whatever a target has; tags are padded with IGNORED)."""
    longest = max(len(each.ids) for each in features)
    ids = np.full((len(features), longest), config.pad_id, np.int64)
    mask, types = np.zeros_like(ids), np.zeros_like(ids)
    for row, each in enumerate(features):
        size = len(each.ids)
        ids[row, :size], mask[row, :size], types[row, :size] = each.ids, 1, each.types
    batch = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask)}
    if config.reads_token_types:
        batch["token_type_ids"] = torch.from_numpy(types)
    batch["target"] = torch.from_numpy(_targets([each.target for each in features], ids.shape, mask))
    return batch


def _targets(
    targets: Sequence[NDArray[np.generic]], shape: tuple[int, ...], mask: NDArray[np.int64]
) -> NDArray[np.generic]:
    sizes = mask.sum(1)
    if not all(t.dtype == np.int64 and t.shape == (n,) for t, n in zip(targets, sizes, strict=True)):
        return np.stack(list(targets))
    tags = np.full(shape, IGNORED, np.int64)
    for row, target in enumerate(targets):
        tags[row, : len(target)] = target
    return tags
