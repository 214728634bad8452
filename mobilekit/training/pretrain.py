"""`pretrain`: masked words and the order of segments from plain text, alone or guided by a teacher."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from mobilekit.errors import InputError
from mobilekit.evaluation.intervals import Interval
from mobilekit.models.checkpoint import CONFIG_FILE
from mobilekit.models.model import Model
from mobilekit.models.save import save_model
from mobilekit.staging import staged
from mobilekit.text.data.rows import TextRow
from mobilekit.training.identity import Identity, model_part, texts_part
from mobilekit.training.lock import claim, work_folder
from mobilekit.training.loop import Outcome
from mobilekit.training.masking import Masker
from mobilekit.training.objectives.words import PairHead, WordModule, Words
from mobilekit.training.optimize import make_accelerator
from mobilekit.training.options import GENERAL, make_options
from mobilekit.training.passages import SegmentPairs, Texts, passages_for
from mobilekit.training.pretraining import (
    WordFigures,
    as_word_model,
    begin_pairs,
    measure_words,
    token_counts,
    unigram_entropy,
    word_judge,
)
from mobilekit.training.recipes.registry import GENERAL_TEACHER, Lesson, recipe
from mobilekit.training.segments import PAIR_TASKS
from mobilekit.training.settings import Settings
from mobilekit.training.stages import Stage, run_stage
from mobilekit.training.train import set_dropout

REPORT_FILE = "pretrain.json"
Report = Callable[[str], None]
# A pair is drawn anew each time: more of them say more.
_ROUNDS = 8


@dataclass(frozen=True)
class Corpus:
    """Plain text: texts are learned from, dev chooses the best epoch (without it the last is the best), and figures
    are measured on test (on dev, where there is none)."""

    texts: Sequence[TextRow]
    dev: Sequence[TextRow] = ()
    test: Sequence[TextRow] = ()


@dataclass(frozen=True)
class Pretraining:
    """What is learned. pair_task: none, nsp or sop. head_only: the encoder stays as it is. recipe, teacher, options:
    a recipe's stages on plain text instead, guided by a teacher."""

    pair_task: str = "none"
    head_only: bool = False
    recipe: str = ""
    teacher: Model | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        from mobilekit.errors import unknown

        if self.pair_task not in PAIR_TASKS:
            raise unknown("pair task", self.pair_task, PAIR_TASKS)
        if self.recipe and (self.head_only or self.pair_task != "none"):
            raise InputError("a recipe has its own stages on plain text: leave out --head-only and --pair-task.")


@dataclass(frozen=True)
class Pretrained:
    """The fill-mask model, the course of each stage, figures on the text that judges, and the entropy of the words of
    the text it learned from, in nats."""

    model: Model
    stages: Mapping[str, Outcome]
    test: WordFigures | None
    unigram_entropy: float

    @property
    def pair_interval(self) -> Interval | None:
        """Of the pair task's share that is right; None where there is no such task or nothing that judges."""
        return None if self.test is None else self.test.pair_interval


def pretrain(
    model: Model,
    corpus: Corpus,
    out: Path,
    settings: Settings | None = None,
    pretraining: Pretraining = Pretraining(),
    *,
    resume: bool = False,
    force: bool = False,
    report: Report = lambda text: None,
) -> Pretrained:
    """Train a model on plain text and write it to `out` as a fill-mask model, with `pretrain.json` beside it.

    Raises InputError as `train` does, and when text has no neighbouring sentences for a pair task.
    """
    settings = settings or Settings()
    place = claim(out, resume, force)
    set_dropout(model, settings.dropout)
    accelerator = make_accelerator(settings.precision)
    report("reading the text")
    identity = _identity(model, corpus, settings, pretraining)
    with work_folder(place, accelerator, identity):
        run = _Run(model, corpus, settings, pretraining, place.work, report)
        made = run.made(resume, {"run": identity.digest()})
        if accelerator.is_main_process:
            with staged(out, place.replaces, CONFIG_FILE) as folder:
                made.model.notes += save_model(made.model, folder)
                (folder / REPORT_FILE).write_text(_json(made, run), encoding="utf-8")
    return made


def _identity(model: Model, corpus: Corpus, settings: Settings, pretraining: Pretraining) -> Identity:
    """What tells this run from others."""
    how = {name: value for name, value in vars(pretraining).items() if name not in ("teacher", "options")}
    asked = {"verb": "pretrain", **how, "options": dict(pretraining.options), "settings": settings.to_dict()}
    parts = {"model": model_part(f"model {model.name}", model, made=True)}
    if pretraining.teacher is not None:
        parts["teacher"] = model_part(f"teacher {pretraining.teacher.name}", pretraining.teacher)
    who = {"texts": "the texts", "dev": "the dev texts", "test": "the test texts"}
    parts |= {name: texts_part(who[name], rows) for name, rows in vars(corpus).items() if rows}
    return Identity(asked, parts)


class _Run:
    """One run: its inputs, its stages, and what is measured at the end."""

    def __init__(
        self,
        model: Model,
        corpus: Corpus,
        settings: Settings,
        pretraining: Pretraining,
        work: Path,
        report: Report,
    ) -> None:
        self.settings, self.how, self.work, self.report = settings, pretraining, work, report
        self.corpus, self.options = corpus, _recipe_options(pretraining, settings)
        plain = Texts(model, corpus.texts, settings.length, work)
        self.counts = token_counts(plain, model.config.vocab_size)
        self.model = as_word_model(model, pretraining.teacher, self.counts, settings.seed)
        self.masker = Masker(self.model.tokenizer, self.model.config.vocab_size)
        self.passages: Texts | SegmentPairs = plain
        if pretraining.pair_task != "none":
            self.passages = passages_for(self.model, corpus.texts, settings.length, pretraining.pair_task)
        self.chosen, self.judged = (
            passages_for(self.model, own, settings.length, pretraining.pair_task, name) if own else None
            for own, name in ((corpus.dev, "the dev text"), (corpus.test or corpus.dev, "the test text"))
        )
        pair = None
        if pretraining.pair_task != "none":
            with torch.random.fork_rng():
                torch.manual_seed(settings.seed)
                pair = PairHead(self.model.config)
        self.module = WordModule(self.model.module, pair, pretraining.head_only)
        if pair is not None:
            begin_pairs(self.model, self.module, self.passages, self.masker)

    def stages(self) -> Sequence[Stage]:
        """What is trained."""
        if self.how.recipe:
            return self._recipe_stages()
        judge = None
        if self.chosen is not None:
            judge = word_judge(self.model, self.module, self.chosen, self.masker)
        if self.how.head_only:
            _freeze(self.model.module.encoder)
        objective = Words(self.model, self.passages, self.masker)
        return [Stage("plain text", lambda: objective, self.module, self.settings, judge=judge)]

    def _recipe_stages(self) -> Sequence[Stage]:
        how = recipe(self.how.recipe)
        assert how.general is not None
        lesson = Lesson(
            self.model,
            (),
            (),
            self.settings,
            self.work,
            self.options,
            general=self.how.teacher,
            texts=self.corpus.texts,
            held_out=self.corpus.dev,
            report=self.report,
        )
        how.check(lesson)
        return how.general(lesson)

    def made(self, resume: bool, about: dict[str, Any]) -> Pretrained:
        """Run the stages and measure. resume, about: as for `run_stage`."""
        outcomes = {}
        for i, stage in enumerate(self.stages(), 1):
            outcomes[stage.name] = run_stage(stage, self.work / f"stage-{i}", None, resume, about, self.report)
        figures = None
        if self.judged is not None:
            self.report("measuring")
            rounds = 1 if self.how.pair_task == "none" else _ROUNDS
            figures = measure_words(self.model, self.module, self.judged, self.masker, rounds)
        entropy = unigram_entropy(self.counts, list(self.model.tokenizer.special_ids().values()))
        return Pretrained(self.model, outcomes, figures, entropy)


def _recipe_options(pretraining: Pretraining, settings: Settings) -> Any:
    """The options of the recipe, where there is one: its stage on plain text is as long as the run where they do not
    say.

    Raises InputError when it has no such stage, lacks its teacher, or has options that are not of that stage.
    """
    if not pretraining.recipe:
        return None
    how, owner = recipe(pretraining.recipe), f"recipe {pretraining.recipe}"
    if how.general is None:
        raise InputError(f"{owner}: has no stage on plain text; use it with mobilekit distill.")
    own = {"general_epochs": settings.epochs, "general_rate": settings.learning_rate, "general_batch": settings.batch}
    if pretraining.options.get("general_epochs") == 0:
        raise InputError(f"{owner}: general-epochs is 0: nothing is left to learn.")
    options = make_options(how.options, {**own, **pretraining.options}, owner, (GENERAL,))
    if GENERAL_TEACHER in how.needs(options) and pretraining.teacher is None:
        raise InputError(f"{owner}: needs --teacher, a model that is not fine-tuned (pretrain --head-only makes one).")
    return options


def _freeze(module: nn.Module) -> None:
    for parameter in module.parameters():
        parameter.requires_grad_(False)


def _json(made: Pretrained, run: _Run) -> str:
    from accelerate import PartialState

    from mobilekit.host import versions

    content = {
        "pair_task": run.how.pair_task,
        "head_only": run.how.head_only,
        "recipe": run.how.recipe or None,
        "teacher": run.how.teacher.name if run.how.teacher else None,
        "settings": run.settings.to_dict(),
        "texts": len(run.corpus.texts),
        "passages": len(run.passages.lengths),
        "unigram_entropy": made.unigram_entropy,
        "test": None if made.test is None else {n: v for n, v in asdict(made.test).items() if n != "pair_interval"},
        "pair_interval": None if made.pair_interval is None else asdict(made.pair_interval),
        "stages": {name: outcome.summary() for name, outcome in made.stages.items()},
        "processes": PartialState().num_processes,
        "versions": {name: version for name, version in versions().items() if version},
    }
    return json.dumps(content, indent=1, sort_keys=True) + "\n"
