"""Large files of lines: found by number, not held, documents kept apart."""

from __future__ import annotations

import pickle
import tracemalloc
from pathlib import Path

import pytest

from mobilekit.errors import InputError
from mobilekit.text.data import lines
from mobilekit.text.data.lines import LineIndex
from mobilekit.text.data.load import load_data
from mobilekit.text.data.rows import TextRow
from mobilekit.text.data.stream import stream_texts

CONTENTS = [b"a", b"a\n", b"a\r\nb", b"\n", b"\r\n\r\n", b"a\rb\n", b"\xef\xbb\xbfa\nb", b"\xef\xbb\xbf", b"\n\na\n\n"]


@pytest.mark.parametrize("chunk", [1, 2, 3, 5, 2**22])
@pytest.mark.parametrize("content", [*CONTENTS, "é😀\r\nü\n\n日本".encode()])
def test_lines_are_those_of_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, chunk: int
) -> None:
    monkeypatch.setattr(lines, "_CHUNK", chunk)
    (tmp_path / "d.txt").write_bytes(content)
    index = LineIndex(tmp_path / "d.txt")
    expected = [line.removesuffix("\r") for line in content.decode("utf-8-sig").split("\n")]
    expected = expected[:-1] if not expected[-1] else expected
    assert list(index) == expected and len(index) == len(expected)
    assert index.blank().tolist() == [not line.strip() for line in expected]


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 2**22])
def test_place_of_a_wrong_byte_across_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(lines, "_CHUNK", chunk)
    for content, line, offset, byte in (
        ("é\n\n日".encode() + b"\xe9\n", 3, 7, "E9"),
        ("é\n日".encode()[:-1], 2, 3, "E6"),
        ("é\n日".encode()[:-1] + b"\nx", 2, 3, "E6"),
    ):
        (tmp_path / "d.txt").write_bytes(content)
        with pytest.raises(InputError, match=rf"d.txt:{line}: byte 0x{byte} at offset {offset} is not UTF-8"):
            LineIndex(tmp_path / "d.txt")


def test_documents_of_plain_text(tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_text("\none\ntwo \n\n \nthree\n\u3000\nfour\n", encoding="utf-8")
    data = load_data(str(tmp_path / "d.txt"))
    assert (data.task, data.labels) == ("", ())
    assert list(data.rows) == [
        TextRow("one", id="1_1", document=0),
        TextRow("two", id="1_2", document=0),
        TextRow("three", id="2_1", document=1),
        TextRow("four", id="3_1", document=2),
    ]
    assert data.rows[-1] == data.rows[3] and data.rows[1:3] == [data.rows[1], data.rows[2]]
    assert list(pickle.loads(pickle.dumps(data.rows))) == list(data.rows)
    assert list(stream_texts(str(tmp_path / "d.txt"))) == list(data.rows)
    with pytest.raises(IndexError):
        data.rows[4]


def test_plain_text_has_no_labels(tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_text("one\n")
    with pytest.raises(InputError, match=r"d.txt: .txt is plain text and has no labels"):
        load_data(str(tmp_path / "d.txt"), task="sequence-classification")
    (tmp_path / "d.txt").write_text(" \n\n")
    with pytest.raises(InputError, match=r"d.txt: has no rows"):
        load_data(str(tmp_path / "d.txt"))


@pytest.mark.parametrize(
    ("name", "line"), [("d.txt", "a line of text that goes on\n"), ("d.jsonl", '{"text": "a line"}\n')]
)
def test_memory_stays_small_for_a_large_file(tmp_path: Path, name: str, line: str) -> None:
    count = 20_000
    (tmp_path / name).write_text(line * count)
    load_data(str(tmp_path / name))
    tracemalloc.start()
    data = load_data(str(tmp_path / name))
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(data.rows) == count
    # A row as a Python object would be 150 bytes and more.
    assert held < 30 * count
