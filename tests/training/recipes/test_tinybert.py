"""TinyBERT (Jiao et al. 2020): losses of the insides by hand, who teaches in which stage, projections, variations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from lessons import (
    CLASSIFIER,
    ROWS,
    SETTINGS,
    TEXTS,
    WORDS,
    labelled,
    lesson,
    look,
    loss_of,
    soft_targets,
    student,
    teacher,
)
from torch.nn import functional

from mobilekit.errors import InputError
from mobilekit.models.model import Model
from mobilekit.text.data.rows import TextRow
from mobilekit.training.augmentation.store import read_rows, write_rows
from mobilekit.training.recipes.registry import Lesson, recipe
from mobilekit.training.stages import Stage

OPTIONS: dict[str, Any] = {
    "general_epochs": 2,
    "general_rate": 3e-4,
    "general_batch": 3,
    "inner_epochs": 6,
    "inner_rate": 9e-4,
    "embedding": 0.5,
    "attention": 2.0,
    "hidden": 3.0,
    "layer_map": "0,3",
    "temperature": 1.7,
    "soft": 0.6,
    "copies": 0,
}
NARROW = {"hidden_size": 32, "embedding_size": 32}
PLAIN = [TextRow(text) for text in TEXTS]
# Of the embeddings, attention scores and hidden states; as `OPTIONS` has them.
WEIGHTS = (0.5, 2.0, 3.0)


def given(folder: Path, pupil: Model, taught: Model, general: Model | None = None, **options: Any) -> Lesson:
    chosen = {**OPTIONS, **options}
    if general is None:
        chosen["general_epochs"] = 0
    return lesson("tinybert", folder, pupil, [taught], chosen, general=general, texts=PLAIN)


def general_stage(made: Lesson) -> Stage:
    how = recipe("tinybert")
    assert how.general is not None
    (stage,) = how.general(made)
    return stage


def by_hand(
    stage: Stage,
    pupil: Model,
    taught: Model,
    layers: Sequence[int] = (0, 3),
    weights: tuple[float, float, float] = WEIGHTS,
    rows: Sequence[TextRow] = ROWS,
    limit: int = 32,
) -> float:
    """Equations 7 to 11 there. layers: of the teacher, from 0, for each of the student's."""
    maps = {name: p.detach() for name, p in stage.module.named_parameters() if name.startswith("projections.")}
    first, rest = maps.get("projections.embedding.weight"), maps.get("projections.hidden.weight")
    total = 0.0
    for row in rows:
        ours, theirs = look(pupil, row.text, row.pair, limit), look(taught, row.text, row.pair, limit)
        state = ours.hidden[0] if first is None else ours.hidden[0] @ first.T
        total += weights[0] * float(functional.mse_loss(state, theirs.hidden[0]))
        for own, layer in enumerate(layers):
            heads = zip(ours.scores[own], theirs.scores[layer], strict=True)
            total += weights[1] * sum(float(functional.mse_loss(a, b)) for a, b in heads) / 4
            state = ours.hidden[own + 1] if rest is None else ours.hidden[own + 1] @ rest.T
            total += weights[2] * float(functional.mse_loss(state, theirs.hidden[layer + 1]))
    return total


def test_the_general_teacher_shows_its_insides_on_plain_text(tmp_path: Path) -> None:
    pupil, general = student(**NARROW), teacher(WORDS, seed=3)
    stage = general_stage(given(tmp_path, pupil, teacher(), general))
    assert loss_of(stage, 4).item() == pytest.approx(by_hand(stage, pupil, general), rel=1e-4)
    assert stage.settings == replace(SETTINGS, epochs=2, learning_rate=3e-4, batch=3)
    assert not stage.judged and stage.judge is None and stage.objective().count(range(4)) == 4


def test_the_tasks_teacher_shows_its_insides_on_the_tasks_text(tmp_path: Path) -> None:
    pupil, taught = student(**NARROW), teacher()
    inner, answers = recipe("tinybert").task(given(tmp_path, pupil, taught, teacher(WORDS, seed=3)))
    assert loss_of(inner, 4).item() == pytest.approx(by_hand(inner, pupil, taught), rel=1e-4)
    assert inner.settings == replace(SETTINGS, epochs=6, learning_rate=9e-4) and not inner.judged
    assert answers.settings == SETTINGS and answers.judged and answers.module is pupil.module


@pytest.mark.parametrize("weights", [(2.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 2.0)])
def test_each_part_has_its_own_weight(weights: tuple[float, float, float], tmp_path: Path) -> None:
    pupil, taught = student(), teacher()
    parts = dict(zip(("embedding", "attention", "hidden"), weights, strict=True))
    inner, _ = recipe("tinybert").task(given(tmp_path, pupil, taught, **parts))
    assert loss_of(inner, 4).item() == pytest.approx(by_hand(inner, pupil, taught, weights=weights), rel=1e-4)


@pytest.mark.parametrize(("shallow", "layers"), [(2, (1, 3)), (4, (0, 1, 2, 3)), (1, (3,))])
def test_without_a_map_layers_are_spread_evenly(shallow: int, layers: tuple[int, ...], tmp_path: Path) -> None:
    """Section 4.2 there: g(m) = m * N / M, counted from 1."""
    pupil, taught = student(layers=shallow), teacher()
    inner, _ = recipe("tinybert").task(given(tmp_path, pupil, taught, layer_map=""))
    assert loss_of(inner, 4).item() == pytest.approx(by_hand(inner, pupil, taught, layers), rel=1e-4)


def test_answers_come_last(tmp_path: Path) -> None:
    pupil, taught = student(), teacher()
    stages = recipe("tinybert").task(given(tmp_path, pupil, taught, teacher(WORDS, seed=3)))
    assert [stage.name for stage in stages] == ["insides", "answers"]
    expected = 0.0
    for row in ROWS:
        ours, theirs = look(pupil, row.text).logits, look(taught, row.text).logits
        expected += float(0.6 * soft_targets(ours, [theirs], 1.7) + 0.4 * labelled(ours, int(row.label or 0)))
    assert loss_of(stages[1], 4).item() == pytest.approx(expected, rel=1e-4)


def test_what_projections_learned_on_plain_text_is_kept_for_the_task(tmp_path: Path) -> None:
    pupil, taught = student(**NARROW), teacher()
    made = given(tmp_path, pupil, taught, teacher(WORDS, seed=3))
    general = general_stage(made)
    learned = {n: p for n, p in general.module.named_parameters() if n.startswith("projections.")}
    assert {n: tuple(p.shape) for n, p in learned.items()} == {
        "projections.embedding.weight": (64, 32),
        "projections.hidden.weight": (64, 32),
    }
    assert not torch.equal(*learned.values())
    with torch.no_grad():
        for parameter in learned.values():
            parameter.mul_(1.5)
    inner, _ = recipe("tinybert").task(made)
    kept = {n: p for n, p in inner.module.named_parameters() if n.startswith("projections.")}
    assert kept.keys() == learned.keys() and all(torch.equal(learned[n], p) for n, p in kept.items())
    assert loss_of(inner, 4).item() == pytest.approx(by_hand(inner, pupil, taught), rel=1e-4)


def test_a_student_as_wide_as_its_teacher_is_compared_as_it_is(tmp_path: Path) -> None:
    pupil = student()
    inner, _ = recipe("tinybert").task(given(tmp_path, pupil, teacher()))
    assert {id(p) for p in inner.module.parameters()} == {id(p) for p in pupil.module.parameters()}


def test_the_teacher_reads_token_types_that_its_student_has_not(tmp_path: Path) -> None:
    pupil, taught = student(token_types=0), teacher()
    rows = [TextRow(row.text, "that was the film", row.label) for row in ROWS]
    options = {**OPTIONS, "general_epochs": 0}
    made = lesson("tinybert", tmp_path, pupil, [taught], options, rows, replace(SETTINGS, length=9))
    inner, _ = recipe("tinybert").task(made)
    assert loss_of(inner, 4).item() == pytest.approx(by_hand(inner, pupil, taught, rows=rows, limit=9), rel=1e-4)


def test_both_stages_of_the_task_read_its_text_and_its_variations(tmp_path: Path) -> None:
    pupil, taught = student(), teacher()
    more = [TextRow("a bad film", None, 1, "+1"), TextRow("not very great", None, 2, "+2")]
    write_rows(tmp_path / "varied.jsonl", more)
    made = given(tmp_path, pupil, taught, copies=2, augmented=str(tmp_path / "varied.jsonl"))
    inner, answers = recipe("tinybert").task(made)
    assert inner.objective().lengths == answers.objective().lengths == [5, 12, 3, 7, 5, 5]
    assert loss_of(inner, 6).item() == pytest.approx(by_hand(inner, pupil, taught, rows=[*ROWS, *more]), rel=1e-4)
    expected = 0.0
    for row in [*ROWS, *more]:
        ours, theirs = look(pupil, row.text).logits, look(taught, row.text).logits
        expected += float(0.6 * soft_targets(ours, [theirs], 1.7) + 0.4 * labelled(ours, int(row.label or 0)))
    assert loss_of(answers, 6).item() == pytest.approx(expected, rel=1e-4)


def test_variations_are_made_once_by_the_general_teacher_as_the_options_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mobilekit.training.augmentation import augment as module
    from mobilekit.training.augmentation.neighbours import Neighbours

    asked: list[tuple[Any, ...]] = []

    def augment(rows: list[TextRow], words: Model, near: Neighbours, *how: Any) -> list[TextRow]:
        asked.append((rows, words, *how[:3]))
        return [TextRow("it was bad", None, 0)]

    monkeypatch.setattr(module, "augment", augment)
    general = teacher(WORDS, seed=3)
    options = {"copies": 7, "probability": 0.3, "candidates": 4, "at_once": 0.2}
    inner, answers = recipe("tinybert").task(given(tmp_path, student(), teacher(), general, **options))
    assert not asked, "nothing is computed before a stage's turn comes"
    assert len(inner.objective().lengths) == len(answers.objective().lengths) == len(ROWS) + 1
    ((rows, words, how, length, seed),) = asked
    assert list(rows) == ROWS and words is general and vars(how) == options
    assert (length, seed) == (SETTINGS.length, SETTINGS.seed)
    assert [row.text for row in read_rows(tmp_path / "augmented.jsonl")] == ["it was bad"]


def test_variations_of_other_rows_are_refused_before_anything_is_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mobilekit.training.augmentation import augment as module

    monkeypatch.setattr(module, "augment", lambda *_: [TextRow("it was bad", None, 0)])
    taught, general, file = teacher(), teacher(WORDS, seed=3), str(tmp_path / "varied.jsonl")
    first = given(tmp_path, student(), taught, general, copies=2, augmented=file)
    recipe("tinybert").task(first)[0].objective()
    recipe("tinybert").check(first)
    for other, message in [
        (replace(first, rows=ROWS[:3]), "of other rows"),
        (replace(first, general=teacher(WORDS, seed=4)), "by another general teacher"),
        (replace(first, options=replace(first.options, copies=3)), "with other options"),
    ]:
        with pytest.raises(InputError, match=f"varied.jsonl: its variations were made {message}"):
            recipe("tinybert").check(other)


def test_stages_that_are_left_out_are_not_there(tmp_path: Path) -> None:
    how, general = recipe("tinybert"), teacher(WORDS, seed=3)
    assert how.general is not None
    made = given(tmp_path, student(), teacher(CLASSIFIER), general, inner_epochs=0)
    assert [stage.name for stage in (*how.general(made), *how.task(made))] == ["insides, plain text", "answers"]
    made = given(tmp_path, student(), teacher(CLASSIFIER), general, general_epochs=0)
    assert [stage.name for stage in (*how.general(made), *how.task(made))] == ["insides", "answers"]
