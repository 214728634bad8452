"""Hinton, Vinyals & Dean (2015): the loss by hand, for one teacher and several and for all kinds of answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from lessons import CLASSIFIER, ROWS, SETTINGS, labelled, lesson, look, loss_of, model, soft_targets, student, teacher
from torch import Tensor
from torch.nn import functional

from mobilekit.models.config import HeadConfig
from mobilekit.models.model import Model
from mobilekit.models.tasks import SPAN_LABELS
from mobilekit.text.data.rows import AnswerRow, Row, TextRow, TokensRow
from mobilekit.training.recipes.registry import Lesson, recipe
from mobilekit.training.stages import Stage

MANY = HeadConfig("sequence-classification", ("warm", "wide", "wild"), "multi_label_classification")
VALUE = HeadConfig("sequence-classification", ("value",), "regression")


def stage_of(made: Lesson) -> Stage:
    (stage,) = recipe("hinton").task(made)
    return stage


def test_softened_answers_stand_beside_the_labels(tmp_path: Path) -> None:
    pupil, taught = student(), teacher()
    expected = 0.0
    for row in ROWS:
        ours, theirs = look(pupil, row.text).logits, look(taught, row.text).logits
        expected += float(0.7 * soft_targets(ours, [theirs], 3.5) + 0.3 * labelled(ours, int(row.label or 0)))
    stage = stage_of(lesson("hinton", tmp_path, pupil, [taught], {"temperature": 3.5, "soft": 0.7}))
    assert loss_of(stage, 4).item() == pytest.approx(expected, rel=1e-4)
    assert stage.objective().count(range(4)) == 4
    # It is the student that is trained, as the run was asked to, and judged as the task is.
    assert stage.module is pupil.module and stage.settings == SETTINGS and stage.judged and stage.judge is None


def test_several_teachers_answer_with_the_mean_of_their_probabilities(tmp_path: Path) -> None:
    pupil, taught = student(), [teacher(seed=1), teacher(seed=2), teacher(seed=3, hidden_size=32, embedding_size=32)]
    expected = 0.0
    for row in ROWS:
        ours, theirs = look(pupil, row.text).logits, [look(each, row.text).logits for each in taught]
        expected += float(0.8 * soft_targets(ours, theirs, 1.5) + 0.2 * labelled(ours, int(row.label or 0)))
    stage = stage_of(lesson("hinton", tmp_path, pupil, taught, {"temperature": 1.5, "soft": 0.8}))
    assert loss_of(stage, 4).item() == pytest.approx(expected, rel=1e-4)


def test_logits_are_matched_as_section_2_1_has_it(tmp_path: Path) -> None:
    """Half the mean square of what is left when each side's own mean is taken off; no temperature."""
    pupil, taught = student(), [teacher(seed=1), teacher(seed=2)]
    expected = 0.0
    for row in ROWS:
        ours, theirs = look(pupil, row.text).logits, sum(look(each, row.text).logits for each in taught) / 2
        error = (ours - ours.mean()) - (theirs - theirs.mean())
        expected += float(0.6 * (error**2).sum() / 3 / 2 + 0.4 * labelled(ours, int(row.label or 0)))
    options = {"temperature": 4.0, "soft": 0.6, "match": "logits"}
    stage = stage_of(lesson("hinton", tmp_path, pupil, taught, options))
    assert loss_of(stage, 4).item() == pytest.approx(expected, rel=1e-4)


def _soft_labels(ours: Tensor, theirs: Tensor) -> Tensor:
    target, own = torch.sigmoid(theirs / 2.5), torch.sigmoid(ours / 2.5)
    return -(target * own.log() + (1 - target) * (1 - own).log()).mean() * 2.5**2


def _squares(ours: Tensor, theirs: Tensor) -> Tensor:
    return ((ours - theirs) ** 2).mean() / 2


@pytest.mark.parametrize(("match", "soft"), [("probabilities", _soft_labels), ("logits", _squares)])
def test_each_of_several_labels_stands_alone(
    match: str, soft: Callable[[Tensor, Tensor], Tensor], tmp_path: Path
) -> None:
    pupil, taught = student(MANY), teacher(MANY)
    # Answers that all lean one way: what they have in common counts.
    with torch.no_grad():
        taught.module.head.classifier.bias.add_(1.5)
    rows = [TextRow(row.text, None, labels) for row, labels in zip(ROWS, ((0,), (), (1, 2), (0, 2)), strict=True)]
    expected = 0.0
    for row in rows:
        ours, theirs = look(pupil, row.text).logits, look(taught, row.text).logits
        given = torch.tensor([float(i in row.label) for i in range(3)])  # type: ignore[operator]
        hard = -(given * torch.sigmoid(ours).log() + (1 - given) * torch.sigmoid(-ours).log()).mean()
        expected += float(0.7 * soft(ours, theirs) + 0.3 * hard)
    options = {"temperature": 2.5, "soft": 0.7, "match": match}
    stage = stage_of(lesson("hinton", tmp_path, pupil, [taught], options, rows))
    assert loss_of(stage, 4).item() == pytest.approx(expected, rel=1e-4)


def test_a_value_is_matched_as_it_is(tmp_path: Path) -> None:
    pupil, taught = student(VALUE), teacher(VALUE)
    rows = [TextRow(row.text, None, 0.5 * i) for i, row in enumerate(ROWS)]
    expected = 0.0
    for i, row in enumerate(rows):
        ours, theirs = look(pupil, row.text).logits, look(taught, row.text).logits
        expected += float(0.7 * (ours - theirs)[0] ** 2 / 2 + 0.3 * (ours[0] - 0.5 * i) ** 2)
    stage = stage_of(lesson("hinton", tmp_path, pupil, [taught], {"soft": 0.7, "match": "logits"}, rows))
    assert loss_of(stage, 4).item() == pytest.approx(expected, rel=1e-4)


def reader_rows() -> list[AnswerRow]:
    """Token 0 is [CLS]; then come the question's words, [SEP], and the context's words."""
    return [
        AnswerRow("is it good", "the movie was very great", ((14, "very great"),)),
        AnswerRow("bad", "it was not bad", ((7, "not"),)),
    ]


SPANS = ((8, 9), (5, 5))


@pytest.mark.parametrize("match", ["probabilities", "logits"])
def test_start_and_end_are_half_the_loss_each(match: str, tmp_path: Path) -> None:
    head = HeadConfig("question-answering", SPAN_LABELS)
    pupil, taught = student(head), teacher(head)
    expected = 0.0
    for row, span in zip(reader_rows(), SPANS, strict=True):
        ours, theirs = (look(each, row.question, row.context).logits for each in (pupil, taught))
        for part in (0, 1):
            own, answered = ours[:, part], theirs[:, part]
            error = (own - own.mean()) - (answered - answered.mean())
            soft = soft_targets(own, [answered], 3.0) if match == "probabilities" else (error**2).mean() / 2
            expected += float(0.6 * soft / 2 + 0.4 * labelled(own, span[part]) / 2)
    options = {"temperature": 3.0, "soft": 0.6, "match": match}
    stage = stage_of(lesson("hinton", tmp_path, pupil, [taught], options, reader_rows()))
    assert loss_of(stage, 2).item() == pytest.approx(expected, rel=1e-4)


def test_words_are_answered_by_their_first_tokens(tmp_path: Path) -> None:
    head = HeadConfig("token-classification", ("O", "B-A", "I-A"))
    pupil, taught = student(head), teacher(head)
    # "zoo" and "film." are of three and two tokens; the rest are of one.
    sentences = [("the", "zoo", "was", "great"), ("film.", "bad"), ("it",)]
    firsts, tags = [(1, 2, 5, 6), (1, 3), (1,)], [(0, 1, 2, 0), (1, 0), (2,)]
    rows: list[Row] = [TokensRow(words, own) for words, own in zip(sentences, tags, strict=True)]
    expected = 0.0
    for words, places, own in zip(sentences, firsts, tags, strict=True):
        ours, theirs = (look(each, " ".join(words)).logits for each in (pupil, taught))
        for place, tag in zip(places, own, strict=True):
            expected += float(0.7 * soft_targets(ours[place], [theirs[place]], 2.5) + 0.3 * labelled(ours[place], tag))
    stage = stage_of(lesson("hinton", tmp_path, pupil, [taught], {"temperature": 2.5, "soft": 0.7}, rows))
    assert loss_of(stage, 3).item() == pytest.approx(expected, rel=1e-4)
    assert stage.objective().count(range(3)) == 7


def test_pairs_prefixes_and_the_limit_are_each_models_own(tmp_path: Path) -> None:
    """The teacher reads its own prefix and token types; both read as many ids as the run says."""
    pupil, taught = student(token_types=0), teacher()
    pupil.prefix, taught.prefix = "", "very "
    rows = [TextRow(row.text, "that was the film", row.label) for row in ROWS]
    expected = 0.0
    for row in rows:
        ours, theirs = (look(each, row.text, row.pair, 9).logits for each in (pupil, taught))
        expected += float(0.7 * soft_targets(ours, [theirs], 3.5) + 0.3 * labelled(ours, int(row.label or 0)))
    options = {"temperature": 3.5, "soft": 0.7}
    stage = stage_of(lesson("hinton", tmp_path, pupil, [taught], options, rows, replace(SETTINGS, length=9)))
    assert loss_of(stage, 4).item() == pytest.approx(expected, rel=1e-4)


def test_inputs_are_compared_with_their_own_answers_in_any_order(tmp_path: Path) -> None:
    stage = stage_of(lesson("hinton", tmp_path, student(), [teacher()], {"temperature": 3.5}))
    objective = stage.objective()
    stage.module.eval()
    alone = [objective.loss(stage.module, [i], torch.device("cpu")).item() for i in range(4)]
    turned = objective.loss(stage.module, [3, 0, 2], torch.device("cpu")).item()
    assert turned == pytest.approx(alone[3] + alone[0] + alone[2], rel=1e-4)
    assert objective.lengths == [5, 12, 3, 7]


def test_teachers_are_asked_once(tmp_path: Path) -> None:
    """A run that goes on finds the answers; what the teacher has become since does not matter."""
    taught = teacher()
    made = lesson("hinton", tmp_path, student(), [taught], {"temperature": 3.5})
    first = loss_of(stage_of(made), 4).item()
    with torch.no_grad():
        taught.module.head.classifier.weight.zero_()
    assert loss_of(stage_of(made), 4).item() == first


def test_a_student_with_its_teachers_answers_has_the_least_loss(tmp_path: Path) -> None:
    """The gradient of soft targets is 0 there, whatever the temperature."""
    pupil: Model = model(CLASSIFIER, 2)
    stage = stage_of(lesson("hinton", tmp_path, pupil, [pupil], {"temperature": 3.0, "soft": 1.0}))
    objective = stage.objective()
    stage.module.eval()
    objective.loss(stage.module, range(4), torch.device("cpu")).backward()  # type: ignore[no-untyped-call]
    largest = max(float(p.grad.abs().max()) for p in stage.module.parameters() if p.grad is not None)
    entropy = 0.0
    for row in ROWS:
        shares = functional.softmax(look(pupil, row.text).logits / 3.0, 0)
        entropy -= float((shares * shares.log()).sum()) * 9
    assert largest < 1e-3 and loss_of(stage, 4).item() == pytest.approx(entropy, rel=1e-4)
