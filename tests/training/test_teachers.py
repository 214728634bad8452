"""Who may teach: better than guessing by more than chance, with the labels, ids and sizes that a recipe compares."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
import torch
from lessons import WORDS, look, model, student, teacher

from mobilekit.errors import InputError
from mobilekit.models.config import HeadConfig
from mobilekit.models.model import Model
from mobilekit.text.data.rows import TextData, TextRow
from mobilekit.training.teachers import (
    require_better_than_guessing,
    require_labels,
    require_layers,
    require_same_ids,
    require_same_width,
)

TWO = HeadConfig("sequence-classification", ("no", "yes"))


@pytest.fixture(scope="module")
def even() -> tuple[Model, dict[int, list[str]]]:
    """A classifier of two labels, and 120 texts by what it says of them: 60 each."""
    made = teacher(TWO)
    words = ("good", "bad", "film", "was", "very", "not", "great", "movie")
    texts = [" ".join(chosen) for chosen in itertools.islice(itertools.permutations(words, 3), 120)]
    margins = torch.stack([logits[1] - logits[0] for logits in (look(made, text).logits for text in texts)])
    with torch.no_grad():
        ranked = margins.sort().values
        made.module.head.classifier.bias[0] += (ranked[59] + ranked[60]) / 2
    order = margins.argsort().tolist()
    return made, {0: [texts[i] for i in order[:60]], 1: [texts[i] for i in order[60:]]}


def judged(said: dict[int, list[str]], right: dict[int, int], wrong: dict[int, int]) -> TextData:
    """Rows of which the classifier gets so many of each label right, and so many wrong."""
    rows = []
    for label in (0, 1):
        rows += [TextRow(text, None, label) for text in said[label][: right[label]]]
        rows += [TextRow(text, None, label) for text in said[1 - label][60 - wrong[label] :]]
    return TextData("toy", "sequence-classification", TWO.labels, "single_label_classification", rows)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        # Half of 100 each. 60 right are 2.8 % likely by chance, 40 are 98 %: no more than guessing.
        ({0: 30, 1: 30}, {0: 20, 1: 20}),
        ({0: 20, 1: 20}, {0: 30, 1: 30}),
        # 70 of 100 have one label: 60 right, and 70, are less and as much as always saying that one.
        ({0: 45, 1: 15}, {0: 25, 1: 15}),
        ({0: 55, 1: 15}, {0: 15, 1: 15}),
    ],
)
def test_who_may_have_guessed_may_not_teach(
    even: tuple[Model, dict[int, list[str]]], right: dict[int, int], wrong: dict[int, int]
) -> None:
    count, share = sum(right.values()), max(right[label] + wrong[label] for label in (0, 1))
    with pytest.raises(InputError, match=rf"{count}.0% right on toy, always giving the commonest label is {share}.0%"):
        require_better_than_guessing(even[0], judged(even[1], right, wrong), 32)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        # 62 of 100 are 1.0 % likely by chance.
        ({0: 31, 1: 31}, {0: 19, 1: 19}),
        # 80 of 100 where the commonest label has 70: 1.6 %.
        ({0: 60, 1: 20}, {0: 10, 1: 10}),
        # 5 of 5 where 3 have one label, 7.8 %: nobody could prove anything with so few rows.
        ({0: 3, 1: 2}, {0: 0, 1: 0}),
        ({0: 1, 1: 0}, {0: 2, 1: 2}),
    ],
)
def test_who_knows_more_may_teach_and_so_may_who_cannot_prove_it(
    even: tuple[Model, dict[int, list[str]]], right: dict[int, int], wrong: dict[int, int]
) -> None:
    require_better_than_guessing(even[0], judged(even[1], right, wrong), 32)


def test_who_says_the_same_of_everything_may_not_teach() -> None:
    head = HeadConfig("sequence-classification", ("value",), "regression")
    rows = [TextRow("good film", None, float(i)) for i in range(40)]
    with pytest.raises(
        InputError, match="teacher model-1: gives the same value to every text of toy, which is guessing"
    ):
        require_better_than_guessing(teacher(head), TextData("toy", head.task, head.labels, "regression", rows), 32)
    require_better_than_guessing(teacher(head), TextData("toy", head.task, head.labels, "regression", rows[:5]), 32)


@pytest.mark.parametrize(
    "head",
    [
        HeadConfig("sequence-classification", ("yes", "no")),
        HeadConfig("sequence-classification", ("no", "yes", "perhaps")),
        HeadConfig("token-classification", ("no", "yes")),
        WORDS,
    ],
)
def test_labels_have_to_be_the_datas_in_their_order(head: HeadConfig) -> None:
    require_labels([teacher(TWO), teacher(TWO, seed=2)], TWO)
    with pytest.raises(InputError, match="teacher model-2: its labels .* are not the data's \\(no, yes\\)"):
        require_labels([teacher(TWO), teacher(head, seed=2)], TWO)


def test_sizes_and_prefixes_have_to_fit_where_states_are_compared() -> None:
    pupil, taught = student(), teacher()
    checks: list[Callable[[Model, Model, str], None]] = [require_same_ids, require_same_width, require_layers]
    for check in checks:
        check(pupil, taught, "x")
    taught.prefix = "query: "
    with pytest.raises(InputError, match="recipe x: student model-77 and teacher model-1 do not have one vocabulary"):
        require_same_ids(pupil, taught, "x")
    with pytest.raises(InputError, match="student model-77 is 32 wide, teacher model-1 64"):
        require_same_width(student(hidden_size=32, embedding_size=32), taught, "x")
    require_layers(student(layers=4), taught, "x")
    with pytest.raises(InputError, match="student model-5 has 5 layers, teacher model-1 4"):
        require_layers(model(layers=5, seed=5), taught, "x")
