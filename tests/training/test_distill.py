"""Distillation: losses against hand-computed values and published formulas, who gets gradients, and whole runs."""

from __future__ import annotations

import json
import math
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
from mobilekit.training.recipes.hinton import matched_logits, soft_binary, soft_cross_entropy
from mobilekit.training.recipes.registry import Lesson, recipe
from mobilekit.training.settings import Settings
from mobilekit.training.train import Splits, train

SENTIMENT = TextData("toy", "sequence-classification", ("negative", "positive"), "single_label_classification", ROWS)
QUICK = Settings(epochs=6, batch=16, learning_rate=2e-3, length=64)


def softmax(values: list[float], temperature: float) -> list[float]:
    exponents = [math.exp(v / temperature) for v in values]
    return [e / sum(exponents) for e in exponents]


def test_soft_loss_is_the_published_cross_entropy_times_temperature_squared() -> None:
    student, teacher, temperature = [0.3, -1.2, 0.7], [2.0, -0.5, 0.1], 3.0
    got = soft_cross_entropy(torch.tensor([student]), torch.tensor([[teacher]]), temperature)
    pairs = zip(softmax(teacher, temperature), softmax(student, temperature), strict=True)
    assert got.item() == pytest.approx(-(temperature**2) * sum(p * math.log(q) for p, q in pairs), rel=1e-6)


def test_several_teachers_give_the_mean_of_their_softened_probabilities() -> None:
    student, teachers = torch.tensor([[0.3, -0.2]]), torch.tensor([[[2.0, 0.0]], [[-1.0, 3.0]]])
    mean = [(a + b) / 2 for a, b in zip(softmax([2.0, 0.0], 2.0), softmax([-1.0, 3.0], 2.0), strict=True)]
    own = softmax([0.3, -0.2], 2.0)
    expected = -4 * sum(p * math.log(q) for p, q in zip(mean, own, strict=True))
    assert soft_cross_entropy(student, teachers, 2.0).item() == pytest.approx(expected, rel=1e-6)


def test_cross_entropy_and_divergence_have_the_same_gradient() -> None:
    teachers = torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(0))
    gradients = []
    for form in ("cross-entropy", "divergence"):
        logits = torch.linspace(-1, 1, 15).reshape(5, 3).clone().requires_grad_()
        if form == "cross-entropy":
            loss = soft_cross_entropy(logits, teachers, 2.5)
        else:
            target = (teachers / 2.5).softmax(-1).mean(0)
            given = (logits / 2.5).log_softmax(-1)
            loss = torch.nn.functional.kl_div(given, target, reduction="sum") * 2.5**2
        gradients.append(torch.autograd.grad(loss, logits)[0])
    assert torch.allclose(*gradients, atol=1e-6)


def test_soft_targets_become_matched_logits_at_high_temperatures() -> None:
    """Hinton et al. 2015, equation 4: for centred logits the gradient becomes (student - teacher) / labels."""
    generator = torch.Generator().manual_seed(1)
    logits = torch.randn(4, 3, generator=generator, dtype=torch.float64).requires_grad_()
    teachers = torch.randn(1, 4, 3, generator=generator, dtype=torch.float64)
    centred, taught = logits - logits.mean(-1, keepdim=True), teachers - teachers.mean(-1, keepdim=True)
    soft = torch.autograd.grad(soft_cross_entropy(centred, taught, 1e4), logits, retain_graph=True)[0]
    matched = torch.autograd.grad(matched_logits(centred, taught, 1.0), logits)[0]
    assert torch.allclose(soft, matched, atol=1e-4)


def test_matched_logits_by_hand() -> None:
    got = matched_logits(torch.tensor([[1.0, 3.0]]), torch.tensor([[[0.0, 1.0]]]), 1.0)
    # Centred: (-1, 1) and (-0.5, 0.5).
    assert got.item() == pytest.approx(((-0.5) ** 2 + 0.5**2) / 2 / 2)
    assert matched_logits(torch.tensor([[2.0]]), torch.tensor([[[0.5]]]), 1.0).item() == pytest.approx(1.5**2 / 2)


def test_several_labels_by_hand() -> None:
    got = soft_binary(torch.tensor([[1.0, -2.0]]), torch.tensor([[[3.0, 0.0]]]), 2.0)
    sigmoid = lambda v: 1 / (1 + math.exp(-v))  # noqa: E731
    pairs = [(sigmoid(1.5), sigmoid(0.5)), (sigmoid(0.0), sigmoid(-1.0))]
    loss = [-(p * math.log(q) + (1 - p) * math.log(1 - q)) for p, q in pairs]
    assert got.item() == pytest.approx(4 * sum(loss) / 2, rel=1e-6)


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Model:
    out = tmp_path_factory.mktemp("teacher") / "out"
    return train(load("tiny-embedding"), Splits(SENTIMENT, SENTIMENT), out, QUICK).model


def lesson(teacher: Model, folder: Path, **changes: object) -> Lesson:
    return Lesson(load("tiny-classifier"), [teacher], ROWS, QUICK, folder, **changes)  # type: ignore[arg-type]


def test_gradients_reach_the_whole_student_and_nothing_of_the_teacher(teacher: Model, tmp_path: Path) -> None:
    made = lesson(teacher, tmp_path)
    objective = recipe("hinton").objective(made)
    before = {name: p.detach().clone() for name, p in teacher.module.named_parameters()}
    objective.loss(made.student.module, range(16), torch.device("cpu")).backward()  # type: ignore[no-untyped-call]
    student = dict(made.student.module.named_parameters())
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for n, p in student.items() if "key.bias" not in n)
    assert all(p.grad is None for p in teacher.module.parameters())
    assert all(torch.equal(before[n], p) for n, p in teacher.module.named_parameters())


def test_shares_of_the_loss_add_up(teacher: Model, tmp_path: Path) -> None:
    losses = {}
    for soft in (0.0, 0.5, 1.0):
        made = lesson(teacher, tmp_path, soft=soft)
        made.student.module.eval()
        losses[soft] = recipe("hinton").objective(made).loss(made.student.module, range(16), torch.device("cpu")).item()
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
    assert content["rows"][2]["values"] == made.rows[2].values and content["teaching"]["recipe"] == "hinton"
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
        load(tmp_path / "small"), [taught], Splits(data, data), tmp_path / "out", QUICK, Teaching(soft=1.0, alone=False)
    )
    # From the teacher's answers alone.
    assert made.rows[-1].values["entity_f1"] > 0.9


def test_teacher_that_guesses_is_refused(tmp_path: Path) -> None:
    fresh = load("tiny-classifier")
    with pytest.raises(InputError, match=r"teacher tiny-classifier: .* always giving the commonest label is 50.0%"):
        distill(load("tiny-embedding"), [fresh], Splits(SENTIMENT, SENTIMENT), tmp_path / "out", QUICK)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("teaching", "message"),
    [
        (Teaching(temperature=0.0), "temperature is 0.0"),
        (Teaching(soft=1.5), "soft is 1.5"),
        (Teaching(match="logit"), "did you mean 'logits'"),
        (Teaching(recipe="hintn"), "did you mean 'hinton'"),
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
