"""Random logits and what Python's decoders make of them: what the Kotlin ones have to make of them too.

    python tests/android/answer_vectors.py FOLDER [COUNT]

writes answers.json: a list of cases by kind. Places are in UTF-16 units, as Kotlin and Java count them. Without COUNT
it is the small part that is committed.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mobilekit.decoding.entities import decode_entities
from mobilekit.decoding.item import Item
from mobilekit.decoding.labels import decode_labels
from mobilekit.decoding.spans import decode_spans
from mobilekit.decoding.words import decode_words
from mobilekit.runtimes.answer import cosines
from mobilekit.text.tokenizer import EncodedText

Json = dict[str, Any]
COMMITTED = 12
NAME = "answers.json"
_WORDS = [
    "Ada",
    "Löve",
    "in",
    "東京",
    "👩‍🚀",
    "São",
    "x",
    "1984",
    "o'clock",
    "Ünïted",
    "ab\u00a0c",
    "𝒳𝒴",
    "\u0085",
    "שלום",
]
_LABELS = (
    ("O", "B-PER", "I-PER", "B-LOC", "I-LOC"),
    ("O", "B-PER", "I-PER", "E-PER", "S-PER"),
    ("O", "B-X", "I-X", "L-X", "U-X", "I-Y"),
    ("O", "PER", "LOC"),
    ("NOUN", "VERB", "B-"),
    ("O", "X-1", "Y-2"),
    ("DET", "ADJ"),
)
_VALUES = (0.0, 0.0, 1.0, 1.0, 2.5, -3.0, 80.0, -200.0, 1e-3)


def _logits(chance: random.Random, *shape: int) -> Any:
    """float32, now and then of few values, so that some are equal, and now and then far apart."""
    count = int(np.prod(shape))
    draws = [lambda: chance.gauss(0, 3), lambda: chance.choice(_VALUES), lambda: chance.gauss(0, 300)]
    draw = chance.choice(draws[:2] * 3 + draws[2:])
    return np.array([draw() for _ in range(count)], np.float32).reshape(shape)


def _units(text: str, place: int | None) -> int | None:
    return None if place is None else len(text[:place].encode("utf-16-le")) // 2


def _items(items: Sequence[Item], text: str) -> list[list[Any]]:
    return [
        [i.label, i.score, i.text, _units(text, i.start), _units(text, i.end), i.chosen] for i in items
    ]  # fmt: skip


def _text(chance: random.Random, count: int) -> str:
    return "".join(chance.choice(_WORDS) + chance.choice((" ", " ", "  ", ", ", "")) for _ in range(count))


def _encoded(chance: random.Random, texts: Sequence[str]) -> EncodedText:
    """A text or pair cut into words at spaces, and words into pieces; white space is a word now and then."""
    found: list[tuple[tuple[int, int], int | None, int | None]] = [((0, 0), None, None)]
    spaces = chance.random() < 0.3
    for sequence, text in enumerate(texts):
        word = at = 0
        while at < len(text):
            end = at + 1
            while end < len(text) and (text[end] == " ") == (text[at] == " "):
                end += 1
            if text[at] != " " or spaces:
                while at < end:
                    piece = min(end, at + chance.randint(1, 4))
                    found.append(((at, piece), word, sequence))
                    at = piece
                word += 1
            at = end
        found.append(((0, 0), None, None))
    offsets, words, sequences = zip(*found, strict=True)
    ids = np.zeros(len(found), np.int32)
    return EncodedText(ids, ids, offsets, False, words, sequences)


def _encoding(encoded: EncodedText, texts: Sequence[str]) -> Json:
    places = [
        [0, 0] if s is None else [_units(texts[s], a), _units(texts[s], b)]
        for s, (a, b) in zip(encoded.sequences, encoded.offsets, strict=True)
    ]
    none = [-1 if w is None else w for w in encoded.words], [-1 if s is None else s for s in encoded.sequences]
    return {"places": places, "words": none[0], "sequences": none[1]}


def labels(chance: random.Random) -> Json:
    """Of every problem type."""
    names = [f"l{i}" for i in range(chance.randint(1, 6))]
    logits, kind = _logits(chance, len(names)), chance.choice(("single_label", "multi_label"))
    problem = chance.choice((f"{kind}_classification", "regression"))
    threshold = chance.choice((0.5, 0.5, 0.1, 0.9, 0.0))
    items = decode_labels(logits, names, problem, threshold)
    given = {"logits": logits.tolist(), "labels": names, "problem": problem, "threshold": threshold}
    return {**given, "items": _items(items, "")}


def entities(chance: random.Random) -> Json:
    """BIO, BIOES, BILOU, plain tags and parts of speech; with a prefix before the text or none."""
    names, prefix, text = (
        chance.choice(_LABELS),
        chance.choice(("", "", "query: ")),
        _text(chance, chance.randint(0, 9)),
    )
    encoded = _encoded(chance, [prefix + text])
    logits = _logits(chance, len(encoded.words), len(names))
    items = decode_entities(logits, names, encoded, text, len(prefix))
    given = {"logits": logits.ravel().tolist(), "labels": names, "text": text, "shift": len(prefix)}
    return {**given, **_encoding(encoded, [prefix + text]), "items": _items(items, text)}


def spans(chance: random.Random) -> Json:
    """Short contexts and ones longer than the longest span."""
    question, context = _text(chance, 2), _text(chance, chance.choice((0, 1, 5, 40)))
    encoded, count = _encoded(chance, [question, context]), chance.choice((0, 1, 3, 5, 20))
    logits = _logits(chance, len(encoded.words), 2)
    if chance.random() < 0.7:
        logits[0] -= 20
    items = decode_spans(logits, encoded, context, count)
    given = {"logits": logits.ravel().tolist(), "context": context, "count": count}
    return {**given, **_encoding(encoded, [question, context]), "items": _items(items, context)}


class _Vocabulary:
    """What `decode_words` asks of a tokenizer."""

    def __init__(self, tokens: Sequence[str | None]) -> None:
        self.tokens = tokens

    def has(self, index: int) -> bool:
        return self.tokens[index] is not None

    def token_of(self, index: int) -> str:
        return str(self.tokens[index])

    def decode(self, ids: Sequence[int]) -> str:
        token = str(self.tokens[ids[0]])
        return "" if token.startswith("[") else token.replace("▁", " ")


def words(chance: random.Random) -> Json:
    """Of vocabularies with pieces, special tokens, spaces and rows that are no token."""
    tokens = [chance.choice(("a", "##b", "##", "▁c", "[SEP]", None, "▁", "\u00a0d", "é")) for _ in range(12)]
    before, after = _text(chance, 2), _text(chance, 2)
    text, count = before + "[MASK]" + after, chance.choice((0, 1, 3, 5, 20))
    logits = _logits(chance, len(tokens))
    place = (len(before), len(before) + 6)
    items = decode_words(logits, _Vocabulary(tokens), text, place, count)  # type: ignore[arg-type]
    vocabulary: Any = _Vocabulary(tokens)
    decoded = [None if token is None else vocabulary.decode([i]) for i, token in enumerate(tokens)]
    given = {"logits": logits.tolist(), "tokens": tokens, "decoded": decoded, "text": text, "count": count}
    return {**given, "place": [_units(text, at) for at in place], "items": _items(items, text)}


def alike(chance: random.Random) -> Json:
    """Embeddings, one of them of zeros now and then."""
    outputs = _logits(chance, chance.randint(1, 4), chance.randint(1, 6))
    return {"outputs": outputs.tolist(), "cosines": cosines(list(outputs)).tolist()}


KINDS = {"labels": labels, "entities": entities, "spans": spans, "words": words, "cosines": alike}


def vectors(count: int) -> str:
    """JSON text of so many cases of each kind, always the same."""
    chance = random.Random(count)
    cases = {name: [make(chance) for _ in range(count)] for name, make in KINDS.items()}
    parts = [f'"{name}": [\n' + ",\n".join(map(json.dumps, made)) + "\n]" for name, made in cases.items()]
    return "{" + ",\n".join(parts) + "}\n"


def main() -> None:
    """Write the file."""
    folder, *count = sys.argv[1:]
    (Path(folder) / NAME).write_text(vectors(int(count[0]) if count else COMMITTED), encoding="utf-8")


if __name__ == "__main__":
    main()
