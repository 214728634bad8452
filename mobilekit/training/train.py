"""`train`: fine-tune a model on labelled rows, keep its best epoch, and say what it is worth."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch import nn

from mobilekit.compression.compressed import CompressedModel
from mobilekit.compression.folder import write_compressed
from mobilekit.errors import InputError, unknown
from mobilekit.evaluation.metric import Scores
from mobilekit.models.checkpoint import CONFIG_FILE
from mobilekit.models.config import HeadConfig
from mobilekit.models.cost import COST_LENGTH, multiply_adds
from mobilekit.models.families.registry import families
from mobilekit.models.model import Model
from mobilekit.models.rehead import with_head
from mobilekit.models.save import save_model
from mobilekit.models.tasks import SPAN_LABELS
from mobilekit.staging import staged
from mobilekit.text.data.checks import require_trainable
from mobilekit.text.data.rows import TextData
from mobilekit.training.clustered import ClusteredModule
from mobilekit.training.features import encode_rows
from mobilekit.training.identity import Identity, Part, data_part, model_part
from mobilekit.training.lengths import require_room_for
from mobilekit.training.lock import claim, work_folder
from mobilekit.training.loop import Objective, Outcome
from mobilekit.training.objectives.frozen import Frozen
from mobilekit.training.objectives.supervised import Supervised
from mobilekit.training.optimize import make_accelerator
from mobilekit.training.predict import measure
from mobilekit.training.settings import Settings
from mobilekit.training.stages import Stage, run_stage

METRICS_FILE = "metrics.json"
FREEZES = ("encoder", "embeddings")
Report = Callable[[str], None]


@dataclass(frozen=True)
class Splits:
    """What a run learns from, chooses its best epoch by, and is judged by at the end (None: not at all)."""

    train: TextData
    dev: TextData | None = None
    test: TextData | None = None


@dataclass(frozen=True)
class Fitting:
    """What of a model is trained. mean: a classifier of the mean of all tokens (see `head_for`). freeze: a name of
    `FREEZES`: what stays as it is. clustered: records of the model, whose clustered weights stay so
    (`ClusteredModule`); those that come of it are written beside the weights."""

    mean: bool | None = None
    freeze: str = ""
    clustered: CompressedModel | None = None


@dataclass(frozen=True)
class Trained:
    """What came of a run: the model of the best epoch, the course of the run, its figures on the test data, and its
    records, where weights stayed clustered."""

    model: Model
    outcome: Outcome
    test: Scores | None
    compressed: CompressedModel | None = None


def head_for(model: Model, data: TextData, mean: bool | None = None) -> HeadConfig:
    """The head that data train: the model's own where its task, labels and pooling are those asked for, else a fresh
    one's.

    mean: a classifier of the mean of all tokens (`HeadConfig.mean`), or as the family's class does; None: the model's
    own, and else the family's. Raises InputError when nothing can be learnt from the labels, and for a pooling where
    no whole texts are classified.
    """
    require_trainable(data)
    own, classifies = model.head, data.task == "sequence-classification"
    if mean is not None and not classifies:
        raise InputError(f"pooling: is of classifiers of whole texts; leave it out for {data.task}.")
    kind = data.problem_type or "single_label_classification"
    same = own.task == data.task and (own.labels == data.labels or (kind == "regression" and len(own.labels) == 1))
    if same and (not classifies or (mean in (None, own.mean) and own.problem_type == kind)):
        return own
    activation = families()[model.family].head_activation
    if classifies:
        return HeadConfig(data.task, data.labels, kind, activation, mean=bool(mean))
    return HeadConfig(data.task, SPAN_LABELS if data.task == "question-answering" else data.labels)


def train(
    model: Model,
    splits: Splits,
    out: Path,
    settings: Settings | None = None,
    how: Fitting = Fitting(),
    *,
    resume: bool = False,
    force: bool = False,
    report: Report = lambda text: None,
) -> Trained:
    """Fine-tune `model` on labelled data and write it to `out`, with `metrics.json` beside its weights.

    Checkpoints are in `OUT.training` until the run is done; `resume` goes on from there. Raises InputError when data
    and model do not fit, when another run uses that folder, or when data, model or settings are not those of the run
    that would go on.
    """
    settings = settings or Settings()
    place = claim(out, resume, force)
    head = head_for(model, splits.train, how.mean)
    if how.clustered is not None:
        _require_tunable(model, head, how.freeze)
    student = model if head == model.head else with_head(model, head, settings.seed)
    require_room_for(student, (splits.train, splits.dev, splits.test), settings.length)
    set_dropout(student, settings.dropout)
    freeze_part(student, how.freeze)
    accelerator = make_accelerator(settings.precision)
    report("reading the text")
    asked = {"verb": "train", "settings": settings.to_dict(), "pooling": pooling_name(how.mean), "freeze": how.freeze}
    if how.clustered is not None:
        asked |= {"clustered": how.clustered.scheme, "records": how.clustered.digest()}
    identity = Identity(asked, {"model": model_part(f"model {model.name}", model), **parts_of(splits)})
    tuned = None if how.clustered is None else ClusteredModule(student, how.clustered, how.freeze != "embeddings")
    with work_folder(place, accelerator, identity):
        # Also what is not trained, and so not moved by the loop.
        (tuned or student.module).to(accelerator.device)
        stage = _stage(student, splits, settings, how.freeze == "encoder", place.work, tuned)
        judge = judge_for(student, splits, settings, tuned)
        outcome = run_stage(stage, place.work, judge, resume, {"run": identity.digest()}, report)
        trained = Trained(student, outcome, None, None if tuned is None else tuned.settled())
        if accelerator.is_main_process:
            report("measuring")
            trained = _measured(trained, splits, settings)
            with staged(out, place.replaces, CONFIG_FILE) as folder:
                _write(trained, splits, settings, how.freeze, folder)
    return trained


def _require_tunable(model: Model, head: HeadConfig, freeze: str) -> None:
    if head != model.head:
        raise InputError(
            f"model {model.name}: has no head for these data, and weights are clustered when the model is as good as "
            "it gets; fine-tune it first: mobilekit train without --clustered."
        )
    if freeze == "encoder":
        raise InputError("freeze encoder: leaves no clustered weights to train; leave out one of the two.")


def _write(trained: Trained, splits: Splits, settings: Settings, frozen: str, folder: Path) -> None:
    if trained.compressed is None:
        trained.model.notes += save_model(trained.model, folder)
    else:
        trained.model.notes += write_compressed(trained.model, trained.compressed, folder)
    (folder / METRICS_FILE).write_text(_metrics(trained, splits, settings, frozen), encoding="utf-8")


def pooling_name(mean: bool | None) -> str:
    """What was asked for (see `head_for`), as the command line says it."""
    return {None: "own", True: "mean", False: "family"}[mean]


def parts_of(splits: Splits) -> dict[str, Part]:
    """What tells the data from others."""
    who = {"train": "the training data", "dev": "the dev data", "test": "the test data"}
    return {name: data_part(who[name], data) for name, data in vars(splits).items() if data is not None}


def _stage(
    student: Model, splits: Splits, settings: Settings, alone: bool, folder: Path, tuned: ClusteredModule | None
) -> Stage:
    """The only one. alone: the head is trained, on states of an encoder that stays as it is. tuned: the student, where
    its weights stay clustered."""

    def objective() -> Objective:
        features = encode_rows(student, splits.train.rows, settings.length)
        return Frozen(student, features, folder) if alone else Supervised(student, features)

    module = student.module.head if alone else tuned or student.module
    return Stage("", objective, module, settings, judged=True)


def _measured(trained: Trained, splits: Splits, settings: Settings) -> Trained:
    if splits.test is None:
        return trained
    return replace(trained, test=measure(trained.model, splits.test.rows, settings.length))


def judge_for(
    model: Model, splits: Splits, settings: Settings, tuned: ClusteredModule | None = None
) -> Callable[[], tuple[float, dict[str, float]]] | None:
    """The task's main metric and all metrics of `model` on the dev data, as a function; None without dev data.

    tuned: what is trained, where the model's own weights are made of it.
    """
    dev = splits.dev
    if dev is None:
        return None
    features = encode_rows(model, dev.rows, settings.length)

    def judge() -> tuple[float, dict[str, float]]:
        if tuned is not None:
            tuned.settle()
        scores = measure(model, dev.rows, settings.length, features)
        return scores.value, dict(scores.values)

    return judge


def freeze_part(model: Model, part: str) -> None:
    """Let the encoder, or its embeddings, be what they are ("": nothing); raises InputError for another name."""
    if part and part not in FREEZES:
        raise unknown("freeze", part, FREEZES)
    for name, parameter in model.module.named_parameters():
        own = {"encoder": name.startswith("encoder."), "embeddings": name.startswith("encoder.embeddings.")}
        parameter.requires_grad_(not own.get(part, False))


def set_dropout(model: Model, share: float | None) -> None:
    """Another dropout everywhere; None: as it is."""
    if share is None:
        return
    for module in model.module.modules():
        if isinstance(module, nn.Dropout):
            module.p = share


def _metrics(trained: Trained, splits: Splits, settings: Settings, frozen: str) -> str:
    from accelerate import PartialState

    from mobilekit.host import versions

    content: dict[str, Any] = {
        "task": trained.model.head.task,
        "labels": list(trained.model.head.labels),
        "frozen": frozen or None,
        "clustered": None if trained.compressed is None else trained.compressed.scheme,
        "pooling": "mean" if trained.model.head.mean else "family",
        "settings": settings.to_dict(),
        "data": {name: {"name": d.name, "rows": len(d.rows)} for name, d in vars(splits).items() if d is not None},
        "parameters": sum(p.numel() for p in trained.model.module.parameters()),
        "multiply_adds": multiply_adds(trained.model.config, COST_LENGTH),
        **trained.outcome.summary(),
        "test": None if trained.test is None else dict(trained.test.values),
        "processes": PartialState().num_processes,
        "versions": {name: version for name, version in versions().items() if version},
    }
    return json.dumps(content, indent=1, sort_keys=True) + "\n"
