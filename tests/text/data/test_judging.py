from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

import pytest

from mobilekit.errors import InputError
from mobilekit.text.data.judging import judging_data, plain_rows, rows_sha256, sample_rows
from mobilekit.text.data.request import Columns
from mobilekit.text.data.rows import AnswerRow, TextRow, TokensRow

CLASSES = ("sequence-classification", ("no", "yes"), "single_label_classification")


def test_labels_are_in_the_models_order(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,label\none,yes\ntwo,no\n")
    for labels in (("no", "yes"), ("yes", "no")):
        data = judging_data(str(tmp_path / "a.csv"), CLASSES[0], labels, CLASSES[2])
        assert data.labels == labels and [row.label for row in data.rows] == [labels.index("yes"), labels.index("no")]
        assert data.name == "a.csv"


def test_data_without_labels_are_plain_text(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text\none\ntwo\n")
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    for name in ("a.csv", "a.txt"):
        data = judging_data(str(tmp_path / name), *CLASSES)
        assert data.task == "" and [(row.text, row.label) for row in data.rows] == [("one", None), ("two", None)]
    assert judging_data("editorials", *CLASSES).task == ""
    with pytest.raises(InputError, match="has no column 'sentiment'"):
        judging_data(str(tmp_path / "a.csv"), *CLASSES, Columns(label="sentiment"))


def test_labels_are_left_out_where_a_model_has_none(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,label\none,yes\n")
    assert judging_data(str(tmp_path / "a.csv"), "").task == ""


def test_builtin_data_give_their_test_split_or_the_one_that_is_named() -> None:
    labels = ("negative", "positive")
    found = judging_data("movie-sentiment", CLASSES[0], labels, CLASSES[2])
    assert (found.name, len(found.rows)) == ("movie-sentiment:test", 1500)
    dev = judging_data("movie-sentiment:dev", CLASSES[0], labels, CLASSES[2])
    assert (dev.name, len(dev.rows)) == ("movie-sentiment:dev", 1000)
    with pytest.raises(InputError, match="split 'tets' is unknown; did you mean 'test'"):
        judging_data("movie-sentiment:tets", *CLASSES)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.csv", "text,label\none,maybe\n", "a.csv:2: label 'maybe' is unknown;"),
        ("a.csv", "text,label\none,2\n", r"a.csv:2: label 2 is outside 0..1, the labels no, yes"),
        ("a.conll", "one O\n", "CoNLL holds tags of words, for token-classification; it was read for sequence-class"),
        ("a.json", "{}", "is SQuAD, for question-answering"),
    ],
)
def test_other_tasks_and_other_labels_are_refused(name: str, content: str, says: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=says):
        judging_data(str(tmp_path / name), *CLASSES)


def test_a_sample_has_each_label_with_its_share() -> None:
    rows = [TextRow(str(i), None, 0 if i % 10 else 1 + i % 20 // 10) for i in range(1000)]
    drawn = sample_rows(rows, 100)
    assert Counter(row.label for row in drawn) == {0: 90, 1: 5, 2: 5}
    assert drawn == sample_rows(rows, 100) != sample_rows(rows, 100, seed=1)
    places = [rows.index(row) for row in drawn]
    # In their order, each once, and not the same place of every stretch.
    assert places == sorted(set(places)) and len({place % 10 for place in places}) > 5
    assert sample_rows(rows, 1000) == sample_rows(rows, None) == rows and len(sample_rows(rows, 1)) == 1


def test_samples_of_tags_questions_values_and_sets() -> None:
    tags = [TokensRow(("a", "b"), (0, int(i % 4 == 0))) for i in range(80)]
    assert sum(1 in row.tags for row in sample_rows(tags, 20)) == 5
    asked = [AnswerRow("q", "c", ((0, "c"),) if i % 2 else ()) for i in range(40)]
    assert sum(bool(row.answers) for row in sample_rows(asked, 10)) == 5
    values = sample_rows([TextRow("x", None, i / 100) for i in range(100)], 10)
    assert [int(10 * row.label) for row in values] == list(range(10))
    sets = [TextRow("x", None, ((), (0,), (0, 1))[i % 3]) for i in range(60)]
    assert Counter(row.label for row in sample_rows(sets, 12)) == {(): 4, (0,): 4, (0, 1): 4}


def test_both_texts_of_a_pair_are_texts() -> None:
    rows = [TextRow("a", "b", 1), TextRow("c")]
    assert plain_rows(rows) == [TextRow("a"), TextRow("b"), TextRow("c")]


def test_the_digest_is_of_what_is_in_the_rows() -> None:
    row = TextRow("é", None, 1, id="7", document=3)
    line = '{"label": 1, "pair": null, "text": "é"}\n'
    assert rows_sha256([row, row]) == hashlib.sha256((line * 2).encode()).hexdigest()
    assert rows_sha256([TextRow("é", None, 0)]) != rows_sha256([TextRow("é", None, 1)])
