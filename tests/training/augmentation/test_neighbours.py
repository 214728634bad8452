"""Nearest words: by a file of GloVe vectors, good and bad, and by a model's token table."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizer_support import train_byte_level, write_json

from mobilekit.errors import InputError
from mobilekit.models.load import load
from mobilekit.text.tokenizer import load_tokenizer
from mobilekit.training.augmentation import neighbours
from mobilekit.training.augmentation.neighbours import GloveNeighbours, TableNeighbours

GLOVE = """the 1 0 0
good 0.0 1.0 0.1
great 0 3.0 0.6
fine 0 -1 0.1
Good 0 2 0.1999
, 0 1 0.1
nice 0.2 2.0 0
zero 0 0 0
1995 0 1 0.1
"""


def glove(folder: Path, content: str | bytes) -> Path:
    path = folder / "glove.txt"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_nearest_are_by_cosine_the_word_itself_left_out(tmp_path: Path) -> None:
    found = GloveNeighbours(glove(tmp_path, GLOVE))
    # Not by length: "great" is three times as long. "Good" is the same word, "," and "1995" are no words.
    assert found.nearest("good", 10) == ["great", "nice", "the", "fine"]
    assert found.nearest("good", 2) == ["great", "nice"]
    assert found.nearest("unwatchable", 5) == [] and found.nearest("zero", 5) == []


def test_case_is_looked_up_as_written_then_lowered(tmp_path: Path) -> None:
    found = GloveNeighbours(glove(tmp_path, "apple 1 0\npear 1 0.1\nApple 0 1\nIBM 0.1 1\n"))
    assert found.nearest("Apple", 1) == ["IBM"] and found.nearest("apple", 1) == ["pear"]
    assert found.nearest("PEAR", 1) == ["apple"]


def test_many_at_once_give_what_one_at_a_time_does(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    names = ["".join(letters) for letters in itertools.product("abcdefgh", repeat=4)]
    values = rng.normal(size=(len(names), 7))
    lines = [name + " " + " ".join(map(str, row)) for name, row in zip(names, values, strict=True)]
    path = glove(tmp_path, "\n".join(lines))
    one, many = GloveNeighbours(path), GloveNeighbours(path)
    many.prepare([*names, "unknown"], 5)
    unit = values / np.linalg.norm(values, axis=1, keepdims=True)
    for i, name in list(enumerate(names))[::100]:
        scores = dict(zip(names, unit @ unit[i], strict=True))
        best = sorted((score for other, score in scores.items() if other != name), reverse=True)
        # By score, not by name: some are so near that float32 cannot tell them apart.
        for found, count in ((many, 5), (one, 300), (one, 5000)):
            assert [scores[other] for other in found.nearest(name, count)] == pytest.approx(best[:count], abs=1e-6)


def test_words_of_unusual_characters_are_read(tmp_path: Path) -> None:
    # As in glove.840B: words with spaces, no-break spaces, a next-line character; a word twice.
    content = ". . . 1 2\nat x@y.com 3 4\n\u00a0 1 1\nx\u0085y 1 1\n\u2028 1 1\ncafé 1 2\nnão 2 1\ncafé 9 -9\nb 2 1\n"
    found = GloveNeighbours(glove(tmp_path, "the 1 1\n" + content))
    assert found.nearest("café", 9) == ["the", "não", "b"]


def test_line_ends_and_byte_order_marks_are_taken(tmp_path: Path) -> None:
    found = GloveNeighbours(glove(tmp_path, b"\xef\xbb\xbfgood 1 0 \r\nbad 1 0.5\r\n"))
    assert found.nearest("good", 3) == ["bad"] and found.nearest("bad", 3) == ["good"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a 1 2\nb 1 2\nc 1 2 3\n", ":3: has 3 numbers, and line 1 has 2"),
        ("a 1 2\nb 1 2\nc 1\n", ":3: has 1 numbers, and line 1 has 2"),
        ("a 1 2\nb 1 NaN\n", ":2: 'NaN' is not a finite number"),
        ("a 1 2\nb inf 1\n", ":2: 'inf' is not a finite number"),
        ("a 1 2\nb 1 1e99\n", ":2: '1e99' is not a finite number"),
        ("a 1 2\nb 1 two\n", ":2: 'two' is not a number"),
        ("a 1 2\n, 1 two\n", ":2: 'two' is not a number"),
        ("a 1 2\n\nb 1 2\n", ":2: has no word with numbers"),
        ("a\nb\n", ":1: has no word with numbers"),
        (" 1 2\n", ":1: has no word with numbers"),
        (b"a 1 2\nb 1 2\nca\xe9 1 2\n", ":3: byte 0xE9 at offset 14 is not UTF-8; the file may be Latin-1"),
        ("a 1 2\n".encode("utf-16"), ":1: byte 0xFF at offset 0 is not UTF-8; the file looks like UTF-16"),
        (b"\xef\xbb\xbfa 1\n\xff 1\n", ":2: byte 0xFF at offset 7 is not UTF-8"),
        (", 1 2\n. 1 2\n", ": has no words of letters"),
        ("a 0 0\n", ": has no words of letters"),
        (b"a" * 2**20 + b" 1", ":1: has over 1,048,576 bytes"),
        ("", ": is empty"),
    ],
)
def test_bad_file_is_an_error_with_its_line(content: str | bytes, message: str, tmp_path: Path) -> None:
    path = glove(tmp_path, content)
    with pytest.raises(InputError) as caught:
        GloveNeighbours(path)
    assert str(caught.value).startswith(str(path) + message)


def test_missing_file_and_folder_are_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.txt: not found"):
        GloveNeighbours(tmp_path / "none.txt")
    with pytest.raises(InputError, match="is not a file"):
        GloveNeighbours(tmp_path)


def test_rest_of_a_large_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "_MOST_NUMBERS", 6)
    found = GloveNeighbours(glove(tmp_path, "a 1 0\n, 1 0\nb 1 1\nc 1 2\nd 1 3\nnot a line"))
    assert found.nearest("a", 9) == ["b", "c"] and found.nearest("d", 9) == []


def test_table_gives_the_nearest_rows_among_whole_words() -> None:
    model = load("tiny-words")
    vocabulary = model.tokenizer.vocabulary()
    assert vocabulary is not None
    table = model.tensors()["embeddings.token.weight"]

    def expected(vector: np.ndarray, own: str, count: int) -> list[str]:
        whole = [i for i, token in enumerate(vocabulary) if token.isalpha() and token != own]
        scores = {vocabulary[i]: vector @ table[i] / np.linalg.norm(table[i]) for i in whole}
        return sorted(scores, key=lambda token: -scores[token])[:count]

    found = TableNeighbours(model)
    pieces = [vocabulary.index(piece) for piece in ("z", "##e", "##b", "##r", "##a")]
    assert found.nearest("zebra", 6) == expected(table[pieces].mean(0), "zebra", 6)
    assert found.nearest("Film", 6) == expected(table[vocabulary.index("film")], "film", 6)
    assert found.nearest("日本", 6) == [] and found.nearest("", 6) == []
    # The model is left as it was.
    assert np.array_equal(table, model.tensors()["embeddings.token.weight"])


def test_rows_without_direction_are_near_nothing() -> None:
    model = load("tiny-words")
    film = model.tokenizer.encode("film").ids[1]
    with torch.no_grad():
        model.module.encoder.embeddings.token.weight[int(film)] = 0
    found = TableNeighbours(model)
    near = found.nearest("good", 1000)
    words = sum(token.isalpha() for token in model.tokenizer.vocabulary() or [])
    assert len(near) == words - 2 and "film" not in near and found.nearest("film", 5) == []


def test_byte_level_pieces_are_those_within_a_text(tmp_path: Path) -> None:
    train_byte_level(tmp_path)
    write_json(tmp_path / "config.json", model_type="roberta")
    tokenizer = load_tokenizer(tmp_path, 64)
    model = load("tiny-words")
    size = tokenizer.largest_id + 1
    rows = torch.nn.Embedding(size, 64)
    torch.nn.init.normal_(rows.weight, generator=torch.Generator().manual_seed(0))
    model.module.encoder.embeddings.token = rows
    inside = tokenizer.encode("x the").ids[2]
    # At the beginning of a text it is another piece, or several.
    assert tokenizer.token_of(int(inside)) == "Ġthe" and tokenizer.encode("the").ids[1] != inside
    table = rows.weight.detach().numpy()
    words = [i for i in range(size) if re.fullmatch("Ġ[A-Za-z]+", tokenizer.token_of(i)) and i != inside]
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    best = sorted((i for i in words if tokenizer.token_of(i).lower() != "Ġthe"), key=lambda i: -unit[i] @ unit[inside])
    got = TableNeighbours(replace(model, tokenizer=tokenizer)).nearest("the", 5)
    assert got == [tokenizer.token_of(i)[1:] for i in best[:5]]
