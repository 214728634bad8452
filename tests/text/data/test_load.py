"""What a spec means: a built-in name, a file, a data set of the hub."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mobilekit.errors import InputError
from mobilekit.text.data.load import load_data
from mobilekit.text.data.readers.registry import readers


def test_unknown_names_get_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"data 'movie-sentimnt' is unknown; did you mean 'movie-sentiment'\?"):
        load_data("movie-sentimnt")
    with pytest.raises(InputError, match=r"^d.csv: not found"):
        load_data("d.csv")
    with pytest.raises(InputError, match=r"^no/such: .* told by its suffix"):
        load_data("no/such")


def test_unknown_suffixes_folders_and_splits_are_refused(tmp_path: Path) -> None:
    (tmp_path / "d.xlsx").write_text("x")
    with pytest.raises(InputError, match=r"told by its suffix, one of .bio, .conll, .csv, .iob, .*; rename or convert"):
        load_data(str(tmp_path / "d.xlsx"))
    with pytest.raises(InputError, match=r"is a folder; give one file of it, or hub:"):
        load_data(str(tmp_path))
    (tmp_path / "d.csv").write_text("text\na\n")
    with pytest.raises(InputError, match=r"d.csv: a file has no splits; leave out split 'train'"):
        load_data(str(tmp_path / "d.csv"), split="train")
    with pytest.raises(InputError, match="movie-sentiment: split 'tset' is unknown; did you mean 'test'"):
        load_data("movie-sentiment", split="tset")


def test_suffixes_may_be_in_capitals(tmp_path: Path) -> None:
    (tmp_path / "d.CSV").write_text("text\na\n")
    assert len(load_data(str(tmp_path / "d.CSV")).rows) == 1


def test_readers_say_what_they_read() -> None:
    assert [reader.name for reader in readers()] == ["conll", "csv", "jsonl", "parquet", "squad", "text", "tsv"]
    assert all(reader.about and reader.suffixes for reader in readers())


def test_reading_a_small_file_imports_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("text,label\na,0\nb,1\n")
    code = (
        "import sys; from mobilekit.text.data.load import load_data; import mobilekit.text.data.stream;"
        "import mobilekit.evaluation.metrics;"
        f"load_data({str(tmp_path / 'd.csv')!r});"
        "print(*{'datasets', 'pandas', 'pyarrow', 'scipy', 'seqeval', 'sklearn', 'torch'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
