"""Lessons by hand, for the tests of recipes: a deep teacher with much dropout, a shallow student, a few rows."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from support import randomise
from torch import Tensor
from torch.nn import functional

from mobilekit.models.config import HeadConfig
from mobilekit.models.load import load
from mobilekit.models.model import Model, Source, fresh_module
from mobilekit.text.data.rows import Row, TextRow
from mobilekit.training.recipes.registry import Lesson, recipe
from mobilekit.training.settings import Settings
from mobilekit.training.stages import Stage

CPU = torch.device("cpu")
CLASSIFIER = HeadConfig("sequence-classification", ("bad", "so-so", "good"))
WORDS = HeadConfig("fill-mask", activation="gelu")
# Of different lengths, so that padding shows; each word is one token.
TEXTS = ("a good film", "this is not the very great movie that it was", "bad", "it was good and great")
ROWS = [TextRow(text, None, label) for text, label in zip(TEXTS, (2, 0, 0, 1), strict=True)]
SETTINGS = Settings(epochs=3, batch=4, learning_rate=7e-4, length=32, seed=5, precision="fp32")


def model(head: HeadConfig = CLASSIFIER, layers: int = 4, seed: int = 1, **changes: Any) -> Model:
    """A model whose every weight shows. changes: of its configuration."""
    tiny = load("tiny-classifier")
    config = replace(tiny.config, layers=layers, initializer_range=0.15, dropout=0.5, **changes)
    module = fresh_module(config, head, seed)
    randomise(module)
    return Model(f"model-{seed}", module, head, tiny.tokenizer, Source(f"model-{seed}"))


def teacher(head: HeadConfig = CLASSIFIER, seed: int = 1, **changes: Any) -> Model:
    """A model of four layers that was left in training mode: who asks it without care gets its dropout."""
    made = model(head, seed=seed, **changes)
    made.module.train()
    return made


def student(head: HeadConfig = CLASSIFIER, layers: int = 2, **changes: Any) -> Model:
    """A model of two layers, other than all teachers here."""
    return model(head, layers, seed=77, **changes)


def lesson(
    name: str,
    folder: Path,
    pupil: Model,
    teachers: Sequence[Model],
    options: dict[str, Any],
    rows: Sequence[Row] = ROWS,
    settings: Settings = SETTINGS,
    **given: Any,
) -> Lesson:
    """A lesson of recipe `name`, checked. given: other parts of it, such as `general` and `texts`."""
    how = recipe(name)
    made = Lesson(pupil, teachers, rows, settings, folder, how.options(**options), **given)
    how.check(made)
    return made


@dataclass(frozen=True)
class Look:
    """What a model computes of one input alone, without padding and without dropout. logits: of its head, with a row
    for each token where the head has. hidden: [layers + 1, length, width]. scores: [layers, heads, length, length]."""

    ids: list[int]
    logits: Tensor
    hidden: Tensor
    scores: Tensor
    embeddings: Tensor


def look(of: Model, text: str, pair: str | None = None, limit: int = 32) -> Look:
    """A text as it is read, behind the model's prefix."""
    encoded = of.tokenizer.encode(of.prefix + text, pair, limit)
    return look_at(of, encoded.ids.tolist(), encoded.type_ids.tolist())


def look_at(of: Model, ids: list[int], types: list[int]) -> Look:
    """The same of ids."""
    module = copy.deepcopy(of.module).eval()
    given = torch.from_numpy(np.array(ids))[None]
    kinds = torch.from_numpy(np.array(types))[None] if of.config.token_types > 1 else None
    with torch.no_grad():
        out = module.encoder(given, None, kinds, intermediate=True)
        logits = module.head(out.last, torch.ones_like(given))[0]
    return Look(ids, logits, torch.cat(out.hidden), torch.cat(out.scores), out.embeddings[0])


def loss_of(stage: Stage, count: int) -> Tensor:
    """A stage's loss of its first `count` inputs, with a student without dropout."""
    objective = stage.objective()
    stage.module.eval()
    with torch.no_grad():
        return objective.loss(stage.module, range(count), CPU)


def soft_targets(ours: Tensor, theirs: Sequence[Tensor], temperature: float) -> Tensor:
    """Hinton et al. 2015: cross-entropy with the mean of the teachers' softened answers; times T squared (section 2).

    ours: [labels]; theirs: [labels] each.
    """
    total, size = torch.zeros(()), len(ours)
    softened = [torch.exp(each / temperature) for each in theirs]
    own = torch.exp(ours / temperature)
    for label in range(size):
        target = sum(float(each[label] / each.sum()) for each in softened) / len(softened)
        total = total - target * torch.log(own[label] / own.sum())
    return total * temperature * temperature


def labelled(ours: Tensor, label: int) -> Tensor:
    """Cross-entropy with a label. ours: [labels]."""
    return functional.nll_loss(functional.log_softmax(ours, 0)[None], torch.tensor([label]))


@dataclass(frozen=True)
class Riddle:
    """A text with words to guess, and what the student made of it: of the pass that its loss was computed from. ids: as
    the student got them. asked: the true id of each place that is asked for. logits: the student's at these places.
    last, embeddings: its states, [length, width]."""

    ids: list[int]
    types: list[int]
    asked: dict[int, int]
    logits: dict[int, Tensor]
    last: Tensor
    embeddings: Tensor

    def look(self, of: Model) -> Look:
        """What another model sees in it."""
        return look_at(of, self.ids, self.types)


def riddles_of(stage: Stage, count: int) -> tuple[Tensor, list[Riddle]]:
    """A loss of a stage that is about masked words, and the first `count` of `TEXTS` as they were masked for it."""
    passes: list[tuple[dict[str, Tensor], Any]] = []
    hook = stage.module.register_forward_hook(lambda _, __, given, out: passes.append((given, out)), with_kwargs=True)
    losses = loss_of(stage, count)
    hook.remove()
    ((given, out),) = passes
    riddles, answers = [], iter(out.words)
    for row, text in enumerate(TEXTS[:count]):
        true = load("tiny-classifier").tokenizer.encode(text).ids.tolist()
        assert int(given["attention_mask"][row].sum()) == len(true)
        asked = {i: true[i] for i in range(len(true)) if given["asked"][row, i]}
        logits = {i: next(answers) for i in asked}
        own = slice(0, len(true))
        ids = given["input_ids"][row, own].tolist()
        riddles.append(Riddle(ids, [0] * len(ids), asked, logits, out.last[row, own], out.embeddings[row, own]))
    return losses, riddles
