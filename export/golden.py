"""Golden inputs and outputs: what torch gives on the decoded weights, for the artifact to be held against anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from export.check import listed
from mobilekit.artifact import Json, rounded
from mobilekit.compression.compressed import CompressedModel
from mobilekit.errors import InputError, short
from mobilekit.models.config import HeadConfig
from mobilekit.models.model import Model
from mobilekit.models.tasks import TASKS
from mobilekit.models.threads import one_thread
from mobilekit.runtimes.eager import decoded_module
from mobilekit.text.tokenizer import EncodedText

_TEXTS = (
    "",
    "Good.",
    "The film is a quiet, patient triumph, and the cast never puts a foot wrong.",
    "I would not watch it again: 90 minutes of noise, naïve dialogue and cheap 3D — awful!",
    "How do I reset my password if I no longer have access to that e-mail address?",
)
_FILLER = (
    "On Tuesday morning the train left the station late, and nobody on the platform knew why; some read, some slept, "
    "and a child counted the windows of every carriage that went past until there were none left to count. "
)
_PAIR = ("A man is playing a guitar on the street.", "Someone makes music outside.")


_MASKED = "The {mask} on the table was still warm, and nobody had touched it."
# A manifest lists at most so many values an output: enough to tell outputs apart, and short to read.
_MOST_VALUES = 2048
_BEST_WORDS, _OTHER_WORDS = 32, 224


@dataclass(frozen=True)
class GoldenText:
    """An input: text or pair, its ids, and which token is asked for (fill-mask)."""

    text: str
    pair: str | None
    encoded: EncodedText
    predict: int | None


def golden_texts(model: Model, lengths: Sequence[int]) -> list[GoldenText]:
    """Short texts, a pair, and for each length one that fills it exactly (by truncation)."""
    tokenizer, prefix = model.tokenizer, model.prefix
    longest = min(max(lengths), tokenizer.max_length)
    asks = TASKS[model.head.task].asks_token
    texts: list[tuple[str, str | None, int]] = [(text, None, longest) for text in _TEXTS]
    if asks and tokenizer.mask_token:
        texts.append((_MASKED.format(mask=tokenizer.mask_token), None, longest))
    texts.append((*_PAIR, longest))
    # One-word texts are the least any vocabulary makes of a character; 4 characters a token is more than enough text.
    for length in lengths:
        limit = min(length, longest)
        texts.append(((_FILLER * (1 + limit * 16 // len(_FILLER)))[: limit * 16], None, limit))
    made = []
    for text, pair, limit in texts:
        encoded = tokenizer.encode(prefix + text, pair, limit)
        made.append(GoldenText(text, pair, encoded, _asked(encoded, tokenizer.mask_id) if asks else None))
    return made


def golden(compressed: CompressedModel, model: Model, lengths: Sequence[int]) -> list[Json]:
    """Manifest entries: text, ids, the smallest exported length that holds them, and torch's float32 output.

    Raises InputError where that is no number.
    """
    import torch

    # Rounded activations are what an artifact is held for, not what it is held against.
    module = decoded_module(compressed, rounded=False)
    entries = []
    for item in golden_texts(model, lengths):
        ids, types = item.encoded.ids, item.encoded.type_ids
        given = torch.from_numpy(types)[None] if compressed.encoder.reads_token_types else None
        with torch.no_grad(), one_thread():
            output = module(torch.from_numpy(ids)[None], None, given)[0]
        if item.predict is not None:
            output = output[item.predict]
        if not output.isfinite().all():
            raise InputError(
                f"{model.name}: what it gives for {short(repr(item.text))} has values that are not finite (NaN or "
                "infinity); its weights are too large, or broken."
            )
        rows, columns = _listed(output.numpy(), model.head)
        entries.append(
            {
                "text": item.text,
                "text_pair": item.pair,
                "length": min(n for n in lengths if n >= len(ids)),
                "input_ids": ids.tolist(),
                "token_type_ids": types.tolist(),
                "predict": item.predict,
                "rows": rows,
                "columns": columns,
                "output": rounded(listed(output.numpy(), rows, columns).ravel().tolist()),
            }
        )
    return entries


def _asked(encoded: EncodedText, mask_id: int | None) -> int:
    """The first mask token, else the token in the middle: any can be asked for."""
    masks = np.flatnonzero(encoded.ids == mask_id) if mask_id is not None else np.empty(0)
    return int(masks[0]) if masks.size else len(encoded.ids) // 2


def _listed(output: NDArray[np.float32], head: HeadConfig) -> tuple[list[int] | None, list[int] | None]:
    """Which rows and columns are listed: of many tokens evenly spaced ones, of a vocabulary the best and some more."""
    if head.task == "fill-mask" and output.size > _BEST_WORDS + _OTHER_WORDS:
        spread = np.linspace(0, output.size - 1, _OTHER_WORDS).astype(int).tolist()
        # The best that are not among them already, so that every input lists as many.
        best = [i for i in np.argsort(-output, kind="stable").tolist() if i not in set(spread)]
        return None, sorted(best[:_BEST_WORDS] + spread)
    if head.per_token and output.size > _MOST_VALUES:
        count = max(1, _MOST_VALUES // output.shape[1])
        return sorted({*np.linspace(0, len(output) - 1, count).astype(int).tolist()}), None
    return None, None
