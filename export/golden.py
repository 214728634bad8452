"""Golden inputs and outputs: what torch gives on the decoded weights, for the artifact to be held against anywhere."""

from __future__ import annotations

from collections.abc import Sequence

from mobilekit.artifact import Json, rounded
from mobilekit.compression.compressed import CompressedModel
from mobilekit.models.threads import one_thread
from mobilekit.runtimes.eager import decoded_module
from mobilekit.text.tokenizer import EncodedText, TextTokenizer

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


def golden_texts(
    tokenizer: TextTokenizer, lengths: Sequence[int], prefix: str
) -> list[tuple[str, str | None, EncodedText]]:
    """Texts with their encoding: short ones, a pair, and for each length one that fills it exactly (by truncation)."""
    longest = min(max(lengths), tokenizer.max_length)
    made: list[tuple[str, str | None, EncodedText]] = []
    made += [(text, None, tokenizer.encode(prefix + text, None, longest)) for text in _TEXTS]
    made.append((*_PAIR, tokenizer.encode(prefix + _PAIR[0], _PAIR[1], longest)))
    # One-word texts are the least any vocabulary makes of a character; 4 characters a token is more than enough text.
    for length in lengths:
        limit = min(length, longest)
        text = (_FILLER * (1 + limit * 16 // len(_FILLER)))[: limit * 16]
        made.append((text, None, tokenizer.encode(prefix + text, None, limit)))
    return made


def golden(model: CompressedModel, tokenizer: TextTokenizer, lengths: Sequence[int], prefix: str = "") -> list[Json]:
    """Manifest entries: text, ids, the smallest exported length that holds them, and torch's float32 output."""
    import torch

    module = decoded_module(model)
    entries = []
    for text, pair, encoded in golden_texts(tokenizer, lengths, prefix):
        types = torch.from_numpy(encoded.type_ids)[None] if model.encoder.reads_token_types else None
        with torch.no_grad(), one_thread():
            output = module(torch.from_numpy(encoded.ids)[None], None, types)[0]
        entries.append(
            {
                "text": text,
                "text_pair": pair,
                "length": min(n for n in lengths if n >= len(encoded.ids)),
                "input_ids": encoded.ids.tolist(),
                "token_type_ids": encoded.type_ids.tolist(),
                "output": rounded(output.tolist()),
            }
        )
    return entries
