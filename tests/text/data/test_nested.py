"""CoNLL and SQuAD files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mobilekit.errors import InputError
from mobilekit.text.data.load import load_data
from mobilekit.text.data.rows import AnswerRow, TokensRow

CONLL = "-DOCSTART- -X- -X- O\n\nEU NNP I-NP I-ORG\nrejects VBZ I-VP O\n\n\nGerman JJ I-NP I-MISC\r\n"


@pytest.mark.parametrize("name", ["d.conll", "d.txt"])
def test_conll_takes_first_and_last_column_and_leaves_tags(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(CONLL)
    data = load_data(str(tmp_path / name), task="token-classification")
    assert (data.task, data.labels, data.problem_type) == ("token-classification", ("I-MISC", "I-ORG", "O"), None)
    assert data.rows == [TokensRow(("EU", "rejects"), (1, 2)), TokensRow(("German",), (0,))]


def test_conll_with_tabs_may_have_spaces_in_words(tmp_path: Path) -> None:
    (tmp_path / "d.conll").write_text("New York\tB-LOC\n#\tO\n\u00a0x\tO\n", encoding="utf-8")
    assert load_data(str(tmp_path / "d.conll")).rows == [TokensRow(("New York", "#", "x"), (0, 1, 1))]


def test_conll_with_given_tags(tmp_path: Path) -> None:
    (tmp_path / "d.conll").write_text(CONLL)
    data = load_data(str(tmp_path / "d.conll"), labels=("O", "I-ORG", "I-MISC", "I-LOC"))
    assert data.labels == ("O", "I-ORG", "I-MISC", "I-LOC")
    assert [row.tags for row in data.rows] == [(1, 0), (2,)]  # type: ignore[union-attr]
    with pytest.raises(InputError, match=r"d.conll:7: label 'I-MISC' is unknown; did you mean 'B-MISC'"):
        load_data(str(tmp_path / "d.conll"), labels=("O", "I-ORG", "B-MISC"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("EU B-ORG\nrejects\n", "d.conll:2: has 1 columns instead of 2"),
        ("EU\nrejects\n", "d.conll:1: has 1 columns; each line needs a word first and its tag last"),
        ("a\tO\nb\t\n", "d.conll:2: has 2 columns instead of 2"),
        ("a X O\nb O\n", "d.conll:2: has 2 columns instead of 3"),
        ("-DOCSTART- O\n\n\n", "d.conll: has no rows"),
    ],
)
def test_wrong_conll_is_named_by_its_line(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "d.conll").write_text(content)
    with pytest.raises(InputError) as caught:
        load_data(str(tmp_path / "d.conll"))
    assert message in str(caught.value)


def squad(answers: list[dict[str, Any]], **question: Any) -> str:
    qas = [{"id": "q1", "question": "What colour?", "answers": answers} | question]
    paragraphs = [{"context": "Ünder 😀 the sky is blue.", "qas": qas}]
    return json.dumps({"version": "v2.0", "data": [{"title": "t", "paragraphs": paragraphs}]})


def test_squad_with_and_without_answers(tmp_path: Path) -> None:
    blue = {"text": "blue", "answer_start": 19}
    (tmp_path / "d.json").write_text(squad([blue, blue, {"text": "the sky", "answer_start": 8}]))
    data = load_data(str(tmp_path / "d.json"))
    assert (data.task, data.labels, data.problem_type) == ("question-answering", (), None)
    [row] = data.rows
    assert row == AnswerRow("What colour?", "Ünder 😀 the sky is blue.", ((19, "blue"), (8, "the sky")), "q1")
    (tmp_path / "d.json").write_text(squad([], is_impossible=True, plausible_answers=[blue]))
    assert load_data(str(tmp_path / "d.json")).rows[0].answers == ()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            squad([{"text": "blue", "answer_start": 20}]),
            "d.json: question 'q1': the answer 'blue' is not at character 20",
        ),
        (squad([{"text": "blue", "answer_start": -5}]), "where 'Ünde' stands; correct answer_start (it counts"),
        (squad([{"text": "blue"}]), "d.json: question 'q1': an answer needs a text and the number of its first"),
        (squad([{"text": "", "answer_start": 0}]), "d.json: question 'q1': an answer needs a text"),
        (squad([], id=None), 'd.json: data[0].paragraphs[0]: qas: has no text "id"'),
        (squad([], question=1), "d.json: question 'q1': has no text \"question\""),
        ('{"data": [{}]}', 'd.json: data[0]: has no list "paragraphs"; expected SQuAD\'s data'),
        ("[]", 'd.json: has no list "data"'),
        ('{"data": []}', "d.json: has no rows"),
        (
            '{"text": "a"}\n{"text": "b"}\n',
            "d.json: not JSON (Extra data: line 2 column 1 (char 14)); one object a line is",
        ),
    ],
)
def test_wrong_squad_is_named_by_its_question(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "d.json").write_text(content)
    with pytest.raises(InputError) as caught:
        load_data(str(tmp_path / "d.json"))
    assert message in str(caught.value)


def test_files_of_another_task_are_refused(tmp_path: Path) -> None:
    (tmp_path / "d.json").write_text(squad([]))
    with pytest.raises(InputError, match=r"d.json: .json is SQuAD, for question-answering .* JSON lines"):
        load_data(str(tmp_path / "d.json"), task="sequence-classification")
    (tmp_path / "d.conll").write_text(CONLL)
    with pytest.raises(
        InputError, match=r"d.conll: CoNLL holds tags of words, for token-classification; .* for question-ans"
    ):
        load_data(str(tmp_path / "d.conll"), task="question-answering")
