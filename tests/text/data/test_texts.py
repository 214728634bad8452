from __future__ import annotations

from pathlib import Path

import pytest

from mobilekit.errors import InputError
from mobilekit.text.data.texts import load_texts

FILES = {
    "a.txt": ("one\n\ntwo\n", ["one", "two"]),
    "a.csv": ("text,label\na b,1\nc,0\n", ["a b", "c"]),
    "pairs.tsv": ("text\ttext_pair\nq\ta\n", ["q", "a"]),
    "a.jsonl": ('{"text": "x", "label": 7}\n', ["x"]),
    "a.conll": ("Anna B-PER\nsleeps O\n\nBerlin B-LOC\n", ["Anna sleeps", "Berlin"]),
    "a.json": (
        '{"data": [{"paragraphs": [{"context": "It is red.", "qas": [{"id": "1", "question": "What colour?", '
        '"answers": [{"text": "red", "answer_start": 6}]}]}]}]}',
        ["What colour?", "It is red."],
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_texts_of_every_kind_of_file(name: str, tmp_path: Path) -> None:
    content, expected = FILES[name]
    (tmp_path / name).write_text(content)
    assert load_texts(str(tmp_path / name), 10) == expected


def test_rows_come_from_all_over_a_long_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\n".join(str(i) for i in range(100)))
    assert load_texts(str(tmp_path / "a.txt"), 4) == ["0", "25", "50", "75"]


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    for given, says in (("no.txt", "not found"), ("movie-sentimant", "did you mean"), (str(tmp_path), "is a folder")):
        with pytest.raises(InputError, match=says):
            load_texts(given, 4)
