"""Distillation by answers: who gets gradients, whole runs, and the report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from training_program import ROWS

from mobilekit.errors import InputError
from mobilekit.models.cost import multiply_adds
from mobilekit.models.load import load
from mobilekit.models.model import Model
from mobilekit.text.data.rows import Row, TextData, TextRow, TokensRow
from mobilekit.training.distill import Teaching, distill
from mobilekit.training.loop import Objective
from mobilekit.training.recipes.registry import Lesson, recipe
from mobilekit.training.report import figures
from mobilekit.training.settings import Settings
from mobilekit.training.teachers import require_better_than_guessing
from mobilekit.training.train import Splits, train

SENTIMENT = TextData("toy", "sequence-classification", ("negative", "positive"), "single_label_classification", ROWS)
QUICK = Settings(epochs=6, batch=16, learning_rate=2e-3, length=64)


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Model:
    out = tmp_path_factory.mktemp("teacher") / "out"
    return train(load("tiny-embedding"), Splits(SENTIMENT, SENTIMENT), out, QUICK).model


def lesson(teacher: Model, folder: Path, **options: float | str) -> Lesson:
    made = recipe("hinton").options(**options)
    return Lesson(load("tiny-classifier"), [teacher], ROWS, QUICK, folder, made)


def objective(made: Lesson) -> Objective:
    (stage,) = recipe("hinton").task(made)
    return stage.objective()


def test_gradients_reach_the_whole_student_and_nothing_of_the_teacher(teacher: Model, tmp_path: Path) -> None:
    made = lesson(teacher, tmp_path)
    learnt = objective(made)
    before = {name: p.detach().clone() for name, p in teacher.module.named_parameters()}
    learnt.loss(made.student.module, range(16), torch.device("cpu")).backward()  # type: ignore[no-untyped-call]
    student = dict(made.student.module.named_parameters())
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for n, p in student.items() if "key.bias" not in n)
    assert all(p.grad is None for p in teacher.module.parameters())
    assert all(torch.equal(before[n], p) for n, p in teacher.module.named_parameters())


def test_shares_of_the_loss_add_up(teacher: Model, tmp_path: Path) -> None:
    losses = {}
    for soft in (0.0, 0.5, 1.0):
        made = lesson(teacher, tmp_path, soft=soft)
        made.student.module.eval()
        losses[soft] = objective(made).loss(made.student.module, range(16), torch.device("cpu")).item()
    assert losses[0.5] == pytest.approx((losses[0.0] + losses[1.0]) / 2, rel=1e-5)


def test_student_of_another_family_learns_and_the_report_says_how_much(teacher: Model, tmp_path: Path) -> None:
    from benchmarks.matrix_models import write_folder

    write_folder("roberta", "sentence-embedding", tmp_path / "small")
    student = load(tmp_path / "small")
    made = distill(student, [teacher], Splits(SENTIMENT, SENTIMENT), tmp_path / "out", QUICK)
    assert [row.name for row in made.rows] == [teacher.name, "the student alone", "the student"]
    assert made.rows[0].retained == 1 and made.rows[2].values["accuracy"] > 0.9
    assert made.rows[2].interval.low <= made.rows[2].retained <= made.rows[2].interval.high
    content = json.loads((tmp_path / "out/distill.json").read_text())
    assert content["rows"][2]["values"] == made.rows[2].values and content["recipe"] == "hinton"
    assert load(tmp_path / "out").head == made.student.head and not (tmp_path / "out.training").exists()


def test_words_are_matched_across_tokenizers(tmp_path: Path) -> None:
    from benchmarks.matrix_models import write_folder

    rows: list[Row] = [
        TokensRow(("the", "lighthouse" if i % 2 else "movie", "left"), (0, 1 + i % 2, 0)) for i in range(64)
    ]
    data = TextData("toy", "token-classification", ("O", "B-A", "B-B"), None, rows)
    taught = train(load("tiny-embedding"), Splits(data, data), tmp_path / "teacher", QUICK).model
    write_folder("xlm-roberta", "sentence-embedding", tmp_path / "small")
    made = distill(
        load(tmp_path / "small"),
        [taught],
        Splits(data, data),
        tmp_path / "out",
        QUICK,
        Teaching(options={"soft": 1.0}, alone=False),
    )
    # From the teacher's answers alone.
    assert made.rows[-1].values["entity_f1"] > 0.9


def test_teacher_that_guesses_is_refused(tmp_path: Path) -> None:
    fresh = load("tiny-classifier")
    with pytest.raises(InputError, match=r"teacher tiny-classifier: .* always giving the commonest label is 50.0%"):
        distill(load("tiny-embedding"), [fresh], Splits(SENTIMENT, SENTIMENT), tmp_path / "out", QUICK)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("rows", [ROWS[1:2], [ROWS[1]] * 9 + [ROWS[0]]])
def test_a_perfect_teacher_passes_where_rows_prove_nothing(teacher: Model, rows: list[Row]) -> None:
    judged = TextData("toy", "sequence-classification", SENTIMENT.labels, SENTIMENT.problem_type, rows)
    require_better_than_guessing(teacher, judged, 64)


def test_there_is_no_share_of_a_teacher_that_gets_nothing_right(teacher: Model) -> None:
    wrong = [TextRow(row.text, None, 1 - int(row.label or 0)) for row in ROWS]  # type: ignore[arg-type]
    base, other = figures([("teacher", teacher, 0.0), ("student", load("tiny-classifier"), 1.0)], wrong, 64)
    assert base.values["accuracy"] == 0 and base.retained is None and other.interval is None


@pytest.mark.parametrize(
    ("teaching", "message"),
    [
        (Teaching(options={"temperature": 0.0}), "temperature is 0.0"),
        (Teaching(options={"soft": 1.5}), "soft is 1.5"),
        (Teaching(options={"match": "logit"}), "did you mean 'logits'"),
        (Teaching(recipe="hintn"), "did you mean 'hinton'"),
        (Teaching(options={"beta": 1.0}), "recipe hinton has no option --beta; it has: --match, --soft, --temperature"),
    ],
)
def test_impossible_teaching_is_named(teacher: Model, teaching: Teaching, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        distill(load("tiny-embedding"), [teacher], Splits(SENTIMENT, SENTIMENT), tmp_path / "out", QUICK, teaching)


def test_teacher_of_other_labels_and_missing_judge_are_named(teacher: Model, tmp_path: Path) -> None:
    rows: list[Row] = [TextRow("x", None, 0), TextRow("y", None, 1)]
    other = TextData("other", "sequence-classification", ("no", "yes"), "single_label_classification", rows)
    with pytest.raises(InputError, match=r"its labels \(negative, positive\) are not the data's \(no, yes\)"):
        distill(load("tiny-embedding"), [teacher], Splits(other, other), tmp_path / "out", QUICK)
    with pytest.raises(InputError, match="needs dev or test data"):
        distill(load("tiny-embedding"), [teacher], Splits(SENTIMENT), tmp_path / "out", QUICK)


def test_multiply_adds_by_hand() -> None:
    config = load("tiny-shared").config
    layer = 4 * 64 * 64 + 2 * 64 * 128 + 2 * 10 * 64
    assert multiply_adds(config, 10) == 10 * (4 * layer + 32 * 64)
