"""Labels: which there are, their order, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mobilekit.errors import InputError
from mobilekit.text.data.checks import require_trainable
from mobilekit.text.data.load import load_data
from mobilekit.text.data.rows import TextData

SINGLE, SEVERAL, REGRESSION = "single_label_classification", "multi_label_classification", "regression"


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def load(values: list[object], **options: Any) -> TextData:
        lines = (json.dumps({"text": "t", "label": value}) for value in values)
        (tmp_path / "d.jsonl").write_text("\n".join(lines))
        return load_data(str(tmp_path / "d.jsonl"), **options)

    return load


def labels_of(data: TextData) -> list[object]:
    return [row.label for row in data.rows]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("values", "names", "problem_type", "labels"),
    [
        (["b", "a", "b"], ("a", "b"), SINGLE, [1, 0, 1]),
        ([1, 0, 2, 1], ("0", "1", "2"), SINGLE, [1, 0, 2, 1]),
        (["1", "0"], ("0", "1"), SINGLE, [1, 0]),
        ([1.0, 0.0], ("0", "1"), SINGLE, [1, 0]),
        (
            ["10", "9", "8", "7", "6", "5", "4", "3", "2", "1", "0"],
            tuple(map(str, range(11))),
            SINGLE,
            [*range(10, -1, -1)],
        ),
        ([True, False], ("false", "true"), SINGLE, [1, 0]),
        ([0.5, 2], ("value",), REGRESSION, [0.5, 2.0]),
        (["-1.5", "1e3"], ("value",), REGRESSION, [-1.5, 1000.0]),
        ([["b", "a"], [], ["b"]], ("a", "b"), SEVERAL, [(0, 1), (), (1,)]),
        ([[1], [0, 1]], ("0", "1"), SEVERAL, [(1,), (0, 1)]),
    ],
)
def test_what_labels_look_like_decides(
    read: Any, values: list[object], names: tuple[str, ...], problem_type: str, labels: list[object]
) -> None:
    data = read(values)
    assert (data.labels, data.problem_type, labels_of(data)) == (names, problem_type, labels)
    assert all(type(got) is type(wanted) for got, wanted in zip(labels_of(data), labels, strict=True))


def test_whole_numbers_are_regression_when_asked(read: Any) -> None:
    data = read([1, 5, "3"], problem_type=REGRESSION)
    assert data.labels == ("value",) and labels_of(data) == [1.0, 5.0, 3.0]
    assert labels_of(read([1, 5], problem_type=REGRESSION, labels=("value",))) == [1.0, 5.0]


def test_several_labels_in_a_file_without_lists(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("text,label\na,x | y\nb,\nc,y\n")
    data = load_data(str(tmp_path / "d.csv"), problem_type=SEVERAL)
    assert data.labels == ("x", "y") and labels_of(data) == [(0, 1), (), (1,)]
    assert load_data(str(tmp_path / "d.csv"), task="").rows


def test_given_labels_set_names_and_order(read: Any) -> None:
    assert labels_of(read(["no", "yes"], labels=("yes", "no"))) == [1, 0]
    assert read(["no"], labels=("yes", "no")).labels == ("yes", "no")
    # Numbers are indices, unless they are the names.
    assert labels_of(read([0, 1], labels=("yes", "no"))) == [0, 1]
    assert labels_of(read([5, 1], labels=("1", "3", "5"))) == [2, 0]
    assert labels_of(read(["01", "02"], labels=("01", "02"))) == [0, 1]
    assert labels_of(read([["b"], ["a", "b"]], labels=("b", "a"))) == [(0,), (0, 1)]
    # What the training data's numbers are called fits the development data that miss one.
    assert labels_of(read([2, 0], labels=read([0, 1, 2]).labels)) == [2, 0]


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        (
            ["yes", "oui", "nno"],
            {"labels": ("yes", "no", "oui")},
            "d.jsonl:3: label 'nno' is unknown; did you mean 'no'?",
        ),
        ([0, 1, 3], {"labels": ("yes", "no")}, "d.jsonl:3: label 3 is outside 0..1, the labels yes, no"),
        ([0, -1], {"labels": ("yes", "no")}, "d.jsonl:2: label -1 is outside 0..1"),
        ([1, 2, 5], {}, "the numbers of the labels are 1, 2, 5; they have to run from 0 without a gap"),
        (["a", "b", 3], {}, "d.jsonl:1: label 'a' is a name, and '3' ("),
        ([0, 1, ""], {}, "d.jsonl:3: has no label"),
        ([0, float("nan")], {}, "d.jsonl:2: has no label"),
        ([0.5, "x"], {"problem_type": REGRESSION}, "d.jsonl:2: 'x' is not a finite number"),
        ([0.5, 1e999], {"problem_type": REGRESSION}, "d.jsonl:2: 'inf' is not a finite number"),
        ([0.5, None], {"problem_type": REGRESSION}, "d.jsonl:2: has no value"),
        ([0.5, [1]], {"problem_type": REGRESSION}, "d.jsonl:2: '[1]' is not a finite number"),
        ([0.5, 1], {"problem_type": SINGLE}, "d.jsonl:1: label 0.5 is no whole number; is it regression?"),
        ([["a"]], {"problem_type": SINGLE}, "d.jsonl:1: has a list of labels, and single labels were asked for"),
        (["a", ["b"]], {}, "d.jsonl:2: lists of labels and single labels are mixed"),
        ([[1, 0, 0]], {}, "d.jsonl:1: has label '0' twice; list the names or numbers"),
        ([["a"], None], {"problem_type": SEVERAL}, "d.jsonl:2: has no labels; where none applies, write an empty list"),
        (
            ["a"],
            {"problem_type": "multi_label_class"},
            "problem type 'multi_label_class' is unknown; did you mean 'multi_label_class",
        ),
        (["a"], {"task": "sequence-clasification"}, "task of data 'sequence-clasification' is unknown; did you mean"),
        (["a"], {"labels": ("a", "a")}, "labels: expected names, each once; got a, a"),
        (["a"], {"labels": ()}, "labels: expected names, each once; got none"),
        ([1.5], {"labels": ("a",), "problem_type": REGRESSION}, "labels: regression has values and no labels"),
        (["a"], {"task": "", "problem_type": SINGLE}, "problem type: plain text has none"),
    ],
)
def test_wrong_labels_are_refused_in_one_line(
    read: Any, values: list[object], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        read(values, **options)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_data_that_nothing_can_be_learnt_from(read: Any, tmp_path: Path) -> None:
    for values in (["a", "b"], [0.5, 1.5], [["a"], []], [[], ["a"]]):
        require_trainable(read(values))
    with pytest.raises(InputError, match="all rows have the label 'a'; training needs at least two different ones"):
        require_trainable(read(["a", "a"]))
    with pytest.raises(InputError, match="all rows have the label 'b'"):
        require_trainable(read(["b", "b"], labels=("a", "b")))
    with pytest.raises(InputError, match=r"all rows have the value 0.5"):
        require_trainable(read([0.5, 0.5]))
    with pytest.raises(InputError, match="all rows have the labels a, b"):
        require_trainable(read([["a", "b"], ["b", "a"]]))
    with pytest.raises(InputError, match=r"d.jsonl: is plain text and has no labels"):
        require_trainable(read(["a", "b"], task=""))
    (tmp_path / "t.conll").write_text("a O\nb O\n")
    with pytest.raises(InputError, match=r"t.conll: all rows have the label 'O'"):
        require_trainable(load_data(str(tmp_path / "t.conll")))
    (tmp_path / "q.jsonl").write_text('{"question": "a", "context": "b", "answers": {"text": [], "answer_start": []}}')
    with pytest.raises(InputError, match=r"q.jsonl: no question has an answer"):
        require_trainable(load_data(str(tmp_path / "q.jsonl")))


def test_names_are_those_that_models_know() -> None:
    from mobilekit.models import config, tasks
    from mobilekit.text.data import request

    assert request.PROBLEM_TYPES == config.PROBLEM_TYPES
    assert set(request.DATA_TASKS) - {""} <= set(tasks.TASKS)
