"""Augmented rows come back from the disk as they were written, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mobilekit.errors import InputError
from mobilekit.models.config import HeadConfig
from mobilekit.text.data.rows import TextRow
from mobilekit.training.augmentation.store import read_rows, write_rows

ROWS = [
    TextRow("um bom filme\n\u2028 “é”", None, 1, "a+1"),
    TextRow("x", "y", -2.5, ""),
    TextRow("x", "", (0, 2), "b+1"),
    TextRow("", None, (), "b+2"),
    TextRow("x", None, None, "c"),
    TextRow("x", None, 3.0, "c"),
]
GOOD = '{"text": "x", "text_pair": null, "label": 1, "id": "a"}\n'


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "made" / "rows.jsonl"
    write_rows(path, iter(ROWS))
    got = read_rows(path)
    assert got == ROWS and [type(row.label) for row in got] == [type(row.label) for row in ROWS]
    assert [p.name for p in path.parent.iterdir()] == ["rows.jsonl"]
    write_rows(path, [])
    assert read_rows(path) == []


def test_file_is_whole_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"

    def broken() -> Iterator[TextRow]:
        yield from ROWS * 1000
        assert os.listdir(tmp_path) != []
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        write_rows(path, broken())
    assert list(tmp_path.iterdir()) == []
    write_rows(path, ROWS[:1])
    # Who has the old file open goes on with the old file.
    os.link(path, tmp_path / "old")
    write_rows(path, ROWS[:2])
    assert len(read_rows(tmp_path / "old")) == 1 and len(read_rows(path)) == 2
    (tmp_path / "old").unlink()
    with pytest.raises(RuntimeError, match="killed"):
        write_rows(path, broken())
    assert read_rows(path) == ROWS[:2] and [p.name for p in tmp_path.iterdir()] == ["rows.jsonl"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "x"', "not JSON"),
        ("\n", "not JSON"),
        ("[1]", "has to be an object"),
        ('{"text": "x", "text_pair": null, "label": 1}', "has to be an object with text, text_pair, label, id"),
        ('{"text": "x", "text_pair": null, "label": 1, "id": "", "more": 1}', "has to be an object"),
        ('{"text": 1, "text_pair": null, "label": 1, "id": ""}', "have to be texts"),
        ('{"text": "x", "text_pair": 1, "label": 1, "id": ""}', "have to be texts"),
        ('{"text": "x", "text_pair": null, "label": 1, "id": null}', "have to be texts"),
        ('{"text": "x", "text_pair": null, "label": true, "id": ""}', "label is True"),
        ('{"text": "x", "text_pair": null, "label": "1", "id": ""}', "label is '1'"),
        ('{"text": "x", "text_pair": null, "label": [1, 2.5], "id": ""}', "label is"),
        ('{"text": "x", "text_pair": null, "label": -1, "id": ""}', "label is -1"),
        ('{"text": "x", "text_pair": null, "label": NaN, "id": ""}', "NaN is not a number"),
        ('{"text": "x", "text_pair": null, "label": 1e999, "id": ""}', "label is inf"),
        ('{"text": "\\ud83d", "text_pair": null, "label": 1, "id": ""}', "not JSON"),
        (b"\xff", "not JSON"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_bad_line_is_an_error_with_its_number(line: str | bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(GOOD.encode() + (line.encode() if isinstance(line, str) else line))
    with pytest.raises(InputError) as caught:
        read_rows(path)
    assert str(caught.value).startswith(f"{path}:2: ") and message in str(caught.value)


def test_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not found"):
        read_rows(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match="is not a file"):
        read_rows(tmp_path)


ORIGIN = {"rows": "a", "words": "b", "vectors": "c", "options": "d"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rows", "of other rows"),
        ("words", "by another general teacher"),
        ("vectors", "with other word vectors"),
        ("options", "with other options"),
    ],
)
def test_rows_that_are_made_of_something_else_are_not_read(name: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    write_rows(path, ROWS, ORIGIN)
    assert read_rows(path, ORIGIN) == read_rows(path) == ROWS
    with pytest.raises(InputError, match=f"{message}; name another file with --augmented, or remove this one"):
        read_rows(path, {**ORIGIN, name: "x"})
    # What is not known does not count: rows are read without the model that made them, or are from elsewhere.
    assert read_rows(path, {n: value for n, value in ORIGIN.items() if n != name}) == ROWS
    write_rows(tmp_path / "from elsewhere", ROWS)
    assert read_rows(tmp_path / "from elsewhere", ORIGIN) == ROWS
    path.unlink()
    write_rows(path, ROWS[:1], {**ORIGIN, name: "x"})
    assert read_rows(path, {**ORIGIN, name: "x"}) == ROWS[:1]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["from elsewhere", "rows.jsonl", "rows.jsonl.origin.json"]


def test_origin_that_is_no_object_is_named(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.jsonl", ROWS, ORIGIN)
    (tmp_path / "rows.jsonl.origin.json").write_text("[]")
    with pytest.raises(InputError, match=r"rows\.jsonl\.origin\.json: has to be an object"):
        read_rows(tmp_path / "rows.jsonl", ORIGIN)


SINGLE = HeadConfig("sequence-classification", ("bad", "good", "so-so"))


@pytest.mark.parametrize(
    ("kind", "fitting", "others"),
    [
        ("single_label_classification", ["0", "2"], ["3", "null", "[1]", "1.0"]),
        ("multi_label_classification", ["[]", "[0, 2]"], ["[3]", "1", "null"]),
        ("regression", ["2.5", "7"], ["null", "[1]"]),
    ],
)
def test_labels_are_those_that_the_head_learns(
    kind: str, fitting: list[str], others: list[str], tmp_path: Path
) -> None:
    head, path = replace(SINGLE, problem_type=kind), tmp_path / "rows.jsonl"
    path.write_text("".join(GOOD.replace('"label": 1', f'"label": {label}') for label in fitting))
    assert len(read_rows(path, head=head)) == len(fitting)
    for label in others:
        path.write_text(path.read_text() + GOOD.replace('"label": 1', f'"label": {label}'))
        with pytest.raises(
            InputError, match=rf"rows\.jsonl:{len(fitting) + 1}: label .* is none of the data's \(bad, good"
        ):
            read_rows(path, head=head)
        path.write_text("".join(path.read_text().splitlines(True)[:-1]))
