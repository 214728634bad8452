"""Parquet and the hub, through the `datasets` library."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import datasets
import pytest

from mobilekit.errors import InputError, MissingExtraError
from mobilekit.text.data.load import load_data
from mobilekit.text.data.request import Columns
from mobilekit.text.data.rows import AnswerRow, TextRow, TokensRow
from mobilekit.text.data.stream import stream_texts

LABELS = datasets.ClassLabel(names=["negative", "positive"])


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


def table(columns: dict[str, list[Any]], **kinds: Any) -> Any:
    data = datasets.Dataset.from_dict(columns)
    for column, kind in kinds.items():
        data = data.cast_column(column, kind)
    return data


def parquet(path: Path, columns: dict[str, list[Any]], **kinds: Any) -> str:
    table(columns, **kinds).to_parquet(str(path))
    return str(path)


def test_parquet_is_mapped_and_read_by_column(tmp_path: Path) -> None:
    file = parquet(tmp_path / "d.parquet", {"s": ["a", "b"], "t": ["c", "d"], "y": [1, 0], "id": [7, 8]})
    data = load_data(file, columns=Columns("s", "t", "y"))
    assert data.labels == ("0", "1") and list(data.rows) == [TextRow("a", "c", 1, "7"), TextRow("b", "d", 0, "8")]
    assert data.rows._table._data.cache_files  # type: ignore[attr-defined]
    assert list(stream_texts(file, Columns("s", "t"))) == [TextRow("a", "c", None, "7"), TextRow("b", "d", None, "8")]


def test_names_of_class_labels_and_lists_of_them(tmp_path: Path) -> None:
    file = parquet(tmp_path / "d.parquet", {"text": ["a", "b"], "label": [1, 1]}, label=LABELS)
    data = load_data(file)
    assert data.labels == ("negative", "positive") and [row.label for row in data.rows] == [1, 1]  # type: ignore[union-attr]
    data = load_data(file, labels=("positive", "negative"))
    assert [row.label for row in data.rows] == [0, 0]  # type: ignore[union-attr]
    several = parquet(tmp_path / "m.parquet", {"text": ["a", "b"], "label": [[1, 0], []]}, label=datasets.List(LABELS))
    data = load_data(several)
    assert data.problem_type == "multi_label_classification"
    assert [row.label for row in data.rows] == [(0, 1), ()]  # type: ignore[union-attr]


def test_words_and_answers_in_parquet(tmp_path: Path) -> None:
    tags = datasets.List(datasets.ClassLabel(names=["O", "B-X"]))
    file = parquet(tmp_path / "t.parquet", {"tokens": [["a", "b"]], "ner_tags": [[1, 0]]}, ner_tags=tags)
    data = load_data(file, task="token-classification", columns=Columns("tokens", label="ner_tags"))
    assert data.labels == ("O", "B-X") and list(data.rows) == [TokensRow(("a", "b"), (1, 0))]
    columns: dict[str, list[Any]] = {
        "id": ["q"],
        "question": ["w?"],
        "context": ["x y"],
        "answers": [{"text": ["y"], "answer_start": [2]}],
    }
    data = load_data(parquet(tmp_path / "q.parquet", columns))
    assert data.task == "question-answering" and list(data.rows) == [AnswerRow("w?", "x y", ((2, "y"),), "q")]


def test_wrong_parquet_is_named_by_its_row(tmp_path: Path) -> None:
    file = tmp_path / "d.parquet"
    with pytest.raises(InputError, match=r"d.parquet, row 2: text is empty \(null\)"):
        load_data(parquet(file, {"text": ["a", None], "label": [0, 1]}))
    with pytest.raises(InputError, match=r"d.parquet, row 2: text is None; it has to be a text"):
        list(stream_texts(str(file)))
    with pytest.raises(InputError, match=r"i.parquet: column 'text' holds int64, not texts"):
        load_data(parquet(tmp_path / "i.parquet", {"text": [1], "label": [0]}))
    with pytest.raises(InputError, match=r"h.parquet, row 2: has no label"):
        load_data(parquet(tmp_path / "h.parquet", {"text": ["a", "b"], "label": [0, -1]}, label=LABELS))
    with pytest.raises(InputError, match=r"i.parquet: has no column 'sentence'; its columns are text, label"):
        load_data(str(tmp_path / "i.parquet"), columns=Columns("sentence"))
    with pytest.raises(InputError, match=r"i.parquet: has no column 'sentence'; its columns are text, label"):
        list(stream_texts(str(tmp_path / "i.parquet"), Columns("sentence")))


def test_damaged_parquet_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "d.parquet"
    parquet(file, {"text": ["a", "b"]})
    whole = file.read_bytes()
    for damaged in (b"text,label\n", whole[:-3], b"PAR1"):
        file.write_bytes(damaged)
        with pytest.raises(InputError, match=r"d.parquet: not a Parquet file, or cut off") as caught:
            load_data(str(file))
        assert "\n" not in str(caught.value)
    file.write_bytes(whole[:20] + b"\x00" * (len(whole) - 24) + whole[-4:])
    with pytest.raises(InputError, match=r"d.parquet: `datasets` cannot read it: ") as caught:
        load_data(str(file))
    assert "\n" not in str(caught.value)


def test_without_the_library_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = parquet(tmp_path / "d.parquet", {"text": ["a"]})
    monkeypatch.setitem(sys.modules, "datasets", None)
    for spec in (file, "hub:glue/sst2"):
        with pytest.raises(
            MissingExtraError, match=r"needs datasets, which is not installed: pip install 'mobilekit\[train\]'"
        ):
            load_data(spec)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "set").mkdir()
    for split, label in (("train", [0, 1]), ("validation", [1, 1])):
        parquet(tmp_path / "set" / f"{split}.parquet", {"text": ["a", "b"], "label": label}, label=LABELS)
    return tmp_path / "set"


def test_a_folder_as_the_library_reads_it(folder: Path) -> None:
    assert [row.label for row in load_data(f"hub:{folder}").rows] == [0, 1]  # type: ignore[union-attr]
    for spec, split in ((f"hub:{folder}", "dev"), (f"hub:{folder}:validation", None)):
        data = load_data(spec, split=split)
        assert data.labels == ("negative", "positive") and data.name.endswith(":validation")
        assert [row.label for row in data.rows] == [1, 1]  # type: ignore[union-attr]
    stream = stream_texts(f"hub:{folder}", split="dev")
    assert list(stream) == list(stream) == [TextRow("a"), TextRow("b")]
    with pytest.raises(InputError, match=r"split 'tran' is unknown; did you mean 'train'"):
        load_data(f"hub:{folder}", split="tran")
    with pytest.raises(InputError, match="names split 'train', and split 'dev' was asked for"):
        load_data(f"hub:{folder}:train", split="dev")


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str | None]]:
    """A stand-in for the hub, with one data set of each kind of name; gives what it was asked for."""
    asked: list[tuple[str, str | None]] = []
    known = {("owner/set", None), ("owner/set", "small"), ("old", "small"), ("old", None)}

    def load(path: str, name: str | None = None, streaming: bool = False) -> Any:
        asked.append((path, name))
        if path not in {repository for repository, _ in known}:
            raise datasets.exceptions.DatasetNotFoundError(f"Dataset '{path}' doesn't exist on the Hub.\nMore.")
        if (path, name) not in known:
            raise ValueError(f"BuilderConfig '{name}' not found. Available: ['small']")
        data = table({"text": ["a"], "label": [1]}, label=LABELS)
        return {"test": data.to_iterable_dataset() if streaming else data}

    monkeypatch.setattr(datasets, "load_dataset", load)
    return asked


@pytest.mark.parametrize(
    ("spec", "asked"),
    [
        ("hub:owner/set", [("owner/set", None)]),
        ("hub:owner/set/small", [("owner/set", "small")]),
        ("hub:owner/set/small:test", [("owner/set", "small")]),
        ("hub:old/small", [("old/small", None), ("old", "small")]),
        ("hub:old", [("old", None)]),
    ],
)
def test_names_on_the_hub(hub: list[tuple[str, str | None]], spec: str, asked: list[tuple[str, str | None]]) -> None:
    data = load_data(spec)
    assert hub == asked and list(data.rows) == [TextRow("a", label=1)] and data.labels == ("negative", "positive")
    assert data.name == f"{spec.removesuffix(':test')}:test"
    assert list(stream_texts(spec)) == [TextRow("a")]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("hub:no/such", "hub:no/such: the hub has no such public data set; check the name"),
        (
            "hub:owner/set/large",
            "hub:owner/set/large: `datasets` cannot read it: BuilderConfig 'large' not found. Available",
        ),
        ("hub:", "'hub:': expected hub:NAME/CONFIG, or hub:NAME/CONFIG:SPLIT"),
        ("hub:old:", "'hub:old:': expected hub:NAME/CONFIG"),
        ("hub:a/b/c/d", "'hub:a/b/c/d': has too many parts"),
    ],
)
def test_wrong_names_on_the_hub(hub: list[tuple[str, str | None]], spec: str, message: str) -> None:
    for read in (load_data, stream_texts):
        with pytest.raises(InputError) as caught:
            read(spec)
        assert message in str(caught.value) and "\n" not in str(caught.value)


def test_without_a_network_the_message_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(
        InputError, match="hub:glue/sst2: the hub cannot be reached, .* check the network, or give a file"
    ):
        load_data("hub:glue/sst2")
