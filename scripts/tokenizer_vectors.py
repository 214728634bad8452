"""Write what the reference `tokenizers` library makes of strings that tokenizers stumble over, for the Android demo.

    python scripts/tokenizer_vectors.py build/vectors                 # what `make test-android` holds it against
    python scripts/tokenizer_vectors.py build/more --random 100000    # the same with many random strings
    python scripts/tokenizer_vectors.py --small android_demo/core/src/test/resources/tokenizers

Every tokenizer has a folder: its tokenizer.json, and vectors.jsonl with an object a line: text, pair, limit and
truncation (null: none); then ids, types, starts and ends (UTF-16), words, sequences, truncated and decoded; or error, a
message, where the input is refused. Lines at the end have ids and decoded alone. complete.json, written last, has the
number of lines by folder.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tokenizer_parts import small_tokenizers
from tokenizer_samples import SMALL_TEXTS, TEXTS, random_texts
from tokenizer_shapes import full_tokenizers

from mobilekit.errors import InputError
from mobilekit.text.text_tokenizer import TRUNCATIONS, TextTokenizer

_LIMITS = (1, 2, 3, 4, 5, 6, 8, 12, 31, 128)


def main() -> None:
    """Write the vectors that the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--small", action="store_true", help="tiny tokenizers and few strings, to be committed")
    parser.add_argument("--random", type=int, default=600, help="random strings a tokenizer")
    parser.add_argument("--seed", type=int, default=8)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        made = small_tokenizers() if arguments.small else full_tokenizers(Path(scratch))
        counts = {}
        for name, tokenizer in made.items():
            rng = random.Random(f"{arguments.seed} {name}")
            texts = list(SMALL_TEXTS) if arguments.small else [*TEXTS, *random_texts(tokenizer, rng, arguments.random)]
            counts[name] = _write(arguments.folder / name, tokenizer, texts, rng)
    (arguments.folder / "complete.json").write_text(json.dumps(counts, indent=2) + "\n", encoding="utf-8")


def _write(folder: Path, tokenizer: TextTokenizer, texts: list[str], rng: random.Random) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(tokenizer.serialized(), encoding="utf-8")
    count = 0
    with (folder / "vectors.jsonl").open("w", encoding="utf-8") as file:
        for text, pair, limit, truncation in _inputs(texts, rng):
            line = _vector(tokenizer, text, pair, limit, truncation)
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
            count += 1
        for ids in _id_lists(tokenizer, rng, len(texts) // 2):
            file.write(json.dumps({"ids": ids, "decoded": tokenizer.decode(ids)}, separators=(",", ":")) + "\n")
            count += 1
    return count


def _id_lists(tokenizer: TextTokenizer, rng: random.Random, count: int) -> Iterator[list[int]]:
    """Ids in an order that no text gives, so that bytes become no text, too."""
    ids = [i for i in range(tokenizer.largest_id + 1) if tokenizer.has(i)]
    for _ in range(count):
        yield rng.choices(ids, k=rng.randint(0, 12))


def _inputs(texts: list[str], rng: random.Random) -> Iterator[tuple[str, str | None, int | None, str | None]]:
    for i, text in enumerate(texts):
        yield text, None, None, None
        pair = texts[i - 1]
        if i % 3 == 0:
            yield text, pair, None, None
        if i % 4 == 0:
            truncation = TRUNCATIONS[i // 4 % 3]
            yield text, rng.choice((None, pair)), rng.choice(_LIMITS), truncation


def _vector(
    tokenizer: TextTokenizer, text: str, pair: str | None, limit: int | None, truncation: str | None
) -> dict[str, Any]:
    line: dict[str, Any] = {"text": text, "pair": pair, "limit": limit, "truncation": truncation}
    try:
        made = tokenizer.encode(text, pair, 2**31 - 1 if limit is None else limit, truncation or "longest_first")
    except InputError as error:
        return {**line, "error": str(error)}
    ids = made.ids.tolist()
    places = [_utf16(text), _utf16(pair or "")]
    spans = [
        (0, 0) if sequence is None else (places[sequence][start], places[sequence][end])
        for (start, end), sequence in zip(made.offsets, made.sequences, strict=True)
    ]
    return {
        **line,
        "ids": ids,
        "types": made.type_ids.tolist(),
        "starts": [start for start, _ in spans],
        "ends": [end for _, end in spans],
        "words": [-1 if word is None else word for word in made.words],
        "sequences": [-1 if sequence is None else sequence for sequence in made.sequences],
        "truncated": made.truncated,
        "decoded": tokenizer.decode(ids),
    }


def _utf16(text: str) -> list[int]:
    """Of each character, and of the end, the index in UTF-16."""
    places = [0]
    for character in text:
        places.append(places[-1] + (2 if ord(character) > 0xFFFF else 1))
    return places


if __name__ == "__main__":
    main()
