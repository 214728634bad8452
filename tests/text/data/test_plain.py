"""Plain text is one text a row, of the column that was asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from mobilekit.errors import InputError
from mobilekit.text.data.load import has_columns
from mobilekit.text.data.plain import plain_texts, split_texts


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sentences.csv").write_text("sentence,label\na film,1\nanother,0\n")
    Path("pairs.csv").write_text("text,text_pair\na,b\n")
    Path("text.txt").write_text("a\nb\n\nc\n")


def test_a_column_of_a_table() -> None:
    texts = plain_texts(["text.txt", "sentences.csv"], "sentence")
    assert [row.text for row in texts] == ["a", "b", "c", "a film", "another"]
    assert len(split_texts("sentences.csv", [], "dev", "sentence")) == 2
    # The column is that of tables; other text to judge by has none.
    assert len(split_texts("text.txt", ["sentences.csv"], "test", "sentence")) == 3


def test_a_column_that_is_not_there_or_not_read_is_named() -> None:
    with pytest.raises(InputError, match=r"sentences\.csv: has no column 'text'.*--corpus-column"):
        plain_texts(["sentences.csv"])
    with pytest.raises(InputError, match="none of the texts is a table with columns"):
        plain_texts(["text.txt"], "text")
    with pytest.raises(InputError, match="did you mean 'editorials'"):
        plain_texts(["editorial"], "text")


def test_pairs_are_no_plain_text() -> None:
    with pytest.raises(InputError, match=r"pairs\.csv: each row has a second text, 'text_pair', and plain text is one"):
        plain_texts(["text.txt", "pairs.csv"])
    Path("quick.jsonl").write_text('{"text": "a", "text_pair": "b"}\n')
    with pytest.raises(InputError, match=r"quick\.jsonl: each row has a second text"):
        plain_texts(["quick.jsonl"])


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        ("a.csv", True),
        ("a.JSONL", True),
        ("hub:some/data", True),
        ("a.txt", False),
        ("a.conll", False),
        ("a.json", False),
        ("movie-sentiment", False),
        ("movie-sentimant", False),
    ],
)
def test_which_data_have_columns_with_names(spec: str, named: bool) -> None:
    assert has_columns(spec) == named
