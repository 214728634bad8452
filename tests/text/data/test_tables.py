"""CSV, TSV and JSON lines: what is read, and what is refused with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mobilekit.errors import InputError
from mobilekit.text.data.load import load_data
from mobilekit.text.data.request import Columns
from mobilekit.text.data.rows import TextRow


def write(path: Path, content: str | bytes) -> str:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def test_csv_with_quotes_commas_and_line_breaks(tmp_path: Path) -> None:
    content = '\ufefftext,label\r\n"good, ""very"" good\nfilm",pos\r\n\r\nbad,neg\r\n'
    data = load_data(write(tmp_path / "d.csv", content))
    assert data.labels == ("neg", "pos") and data.task == "sequence-classification"
    assert data.problem_type == "single_label_classification" and data.name == "d.csv"
    assert list(data.rows) == [TextRow('good, "very" good\nfilm', label=1), TextRow("bad", label=0)]


def test_texts_longer_than_the_csv_module_allows(tmp_path: Path) -> None:
    data = load_data(write(tmp_path / "d.csv", f"text,label\n{'x' * 200_000},0\ny,1\n"))
    row = data.rows[0]
    assert isinstance(row, TextRow) and len(row.text) == 200_000


def test_tsv_keeps_quotes_and_odd_line_separators(tmp_path: Path) -> None:
    data = load_data(write(tmp_path / "d.tsv", 'text\tlabel\n"good film\t1\nso\u2028so, a\x85b\t0\n'))
    assert list(data.rows) == [TextRow('"good film', label=1), TextRow("so\u2028so, a\x85b", label=0)]


def test_json_lines_with_ids_pairs_and_blank_lines(tmp_path: Path) -> None:
    lines = [
        {"id": 7, "text": "a", "text_pair": "b", "label": "yes"},
        {"id": 8, "text": "c\n", "text_pair": "", "label": "no"},
    ]
    data = load_data(write(tmp_path / "d.jsonl", "\n\n".join(map(json.dumps, lines)) + "\n"))
    assert list(data.rows) == [TextRow("a", "b", 1, "7"), TextRow("c\n", "", 0, "8")]
    assert data.rows[-1] == data.rows[1] and data.rows[:1] == [data.rows[0]]
    with pytest.raises(IndexError):
        data.rows[2]


def test_columns_by_name(tmp_path: Path) -> None:
    file = write(tmp_path / "d.csv", "idx,sentence1,sentence2,score\n0,a,b,1.5\n1,c,d,2\n")
    data = load_data(file, columns=Columns("sentence1", "sentence2", "score"))
    assert (data.labels, data.problem_type) == (("value",), "regression")
    assert list(data.rows) == [TextRow("a", "b", 1.5), TextRow("c", "d", 2.0)]
    with pytest.raises(InputError, match=r"has no column 'text'; its columns are idx, sentence1, sentence2, score"):
        load_data(file)
    with pytest.raises(InputError, match="has no column 'second'"):
        load_data(file, columns=Columns("sentence1", "second", "score"))


def test_without_labels_a_table_is_plain_text_and_a_task_asks_for_them(tmp_path: Path) -> None:
    file = write(tmp_path / "d.csv", "text,kind\na,b\n")
    data = load_data(file)
    assert (data.task, data.labels, data.problem_type) == ("", (), None) and data.rows[0] == TextRow("a")
    with pytest.raises(InputError, match=r"d.csv: has no column 'label'; its columns are text, kind"):
        load_data(file, task="sequence-classification")
    with pytest.raises(InputError, match="has no column 'label'"):
        load_data(file, problem_type="regression")


def test_labels_are_left_out_when_plain_text_is_asked_for(tmp_path: Path) -> None:
    data = load_data(write(tmp_path / "d.csv", "text,label\na,\n"), task="")
    assert list(data.rows) == [TextRow("a")]


@pytest.mark.parametrize("name", ["d.csv", "d.tsv", "d.jsonl", "d.txt", "d.conll", "d.json", "d.parquet"])
def test_missing_empty_and_foreign_files_are_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=rf"{name}: not found"):
        load_data(str(tmp_path / name))
    with pytest.raises(InputError, match=rf"{name}: is empty"):
        load_data(write(tmp_path / name, ""))


@pytest.mark.parametrize("name", ["d.csv", "d.tsv", "d.jsonl", "d.txt", "d.conll", "d.json"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_other_encodings_are_named_by_line_and_byte(tmp_path: Path, name: str, bom: bytes) -> None:
    offset = len(bom) + 15
    with pytest.raises(
        InputError, match=rf"{name}:2: byte 0xE9 at offset {offset} is not UTF-8; the file may be Latin-1"
    ):
        load_data(write(tmp_path / name, bom + b"text,label\r\ncaf\xe9,1\n"))
    with pytest.raises(InputError, match=rf"{name}:1: byte 0xFF at offset 0 is not UTF-8; the file looks like UTF-16"):
        load_data(write(tmp_path / name, "text,label\n".encode("utf-16")))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("d.csv", "text,label\n", "d.csv: has no rows"),
        ("d.csv", "\n", "d.csv: has no rows"),
        ("d.csv", 'text,label\n"a\nb",1\nc,d,1\n', "d.csv:4: has 3 fields, and the first line names 2 columns"),
        ("d.csv", 'text,label\na,1\n"b,1\nc,2\n', "d.csv:3: not CSV: unexpected end of data"),
        ("d.csv", 'text,label\n"a"b,1\n', "d.csv:2: not CSV: ',' expected after '\"'"),
        ("d.csv", "text,text\na,1\n", "d.csv: has two columns 'text'"),
        ("d.csv", 'text,label\n"a\nb",x\nc,\n', "d.csv:4: has no label"),
        ("d.tsv", "text\tlabel\n\na\n", "d.tsv:3: has 1 fields, and the first line names 2 columns"),
        ("d.tsv", "text\tlabel\n", "d.tsv: has no rows"),
        ("d.tsv", " \n\n", "d.tsv: has no rows"),
        ("d.tsv", "a\ta\nb\tc\n", "d.tsv: has two columns 'a'"),
        ("d.jsonl", "\n \n", "d.jsonl: has no rows"),
        (
            "d.jsonl",
            '{"text": "a", "label": 0}\n\n{"text": "b"}',
            "d.jsonl:3: has no 'label', which line 1 has, only text",
        ),
        (
            "d.jsonl",
            '{"text": "a", "label": 0}\n{"text": null, "label": 1}',
            "d.jsonl:2: text is None; it has to be a text",
        ),
        ("d.jsonl", '{"text": "a"}\n{"text": "b", "text_pair": "c"}', "d.jsonl:2: has 'text_pair', and line 1 has not"),
        ("d.jsonl", '{"text": "a", "label": 0}\n[]', "d.jsonl:2: is list, not an object"),
        ("d.jsonl", '{"text": "a", "label": 0}\n{"text"', "d.jsonl:2: not JSON"),
        ("d.jsonl", '{"text": "\\ud800", "label": 0}', "d.jsonl:1: not JSON"),
        ("d.jsonl", '{"text": "a", "label": null}', "d.jsonl:1: has no label"),
        ("d.jsonl", '{"text": "a", "label": {}}', "d.jsonl:1: the label is an object"),
        ("d.jsonl", '{"sentence": "a"}', "d.jsonl: has no column 'text'; its columns are sentence"),
    ],
)
def test_wrong_content_is_named_by_its_line(tmp_path: Path, name: str, content: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load_data(write(tmp_path / name, content))
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_words_with_tags_and_answers_in_json_lines(tmp_path: Path) -> None:
    tokens = write(
        tmp_path / "t.jsonl", '{"words": ["a", "b"], "tags": ["O", "B-X"]}\n{"words": ["c"], "tags": ["O"]}\n'
    )
    data = load_data(tokens, task="token-classification", columns=Columns("words", label="tags"))
    assert data.labels == ("B-X", "O") and [row.tags for row in data.rows] == [(1, 0), (1,)]  # type: ignore[union-attr]
    answers = {"text": ["blue"], "answer_start": [7]}
    question = {"id": "q1", "question": "which?", "context": "it was blue", "answers": answers}
    data = load_data(write(tmp_path / "q.jsonl", json.dumps(question)))
    assert data.task == "question-answering" and data.rows[0].answers == ((7, "blue"),)  # type: ignore[union-attr]
    question["answers"] = {"text": ["blue"], "answer_start": [6]}
    with pytest.raises(
        InputError, match=r"q.jsonl:1: question 'q1': the answer 'blue' is not at character 6 .* ' blu'"
    ):
        load_data(write(tmp_path / "q.jsonl", json.dumps(question)))


def test_lists_that_a_table_of_texts_cannot_hold(tmp_path: Path) -> None:
    file = write(tmp_path / "t.csv", "text,label\na b,O O\n")
    with pytest.raises(InputError, match=r"t.csv:2: words and tags have to be lists; .* CoNLL"):
        load_data(file, task="token-classification")
    file = write(tmp_path / "t.jsonl", '{"text": ["a"], "label": ["O", "O"]}')
    with pytest.raises(InputError, match=r"t.jsonl:1: has 1 words and 2 tags"):
        load_data(file, task="token-classification")
