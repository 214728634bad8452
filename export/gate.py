"""What artifacts are judged by on data, and what of it can be refused before any work."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mobilekit.artifact import Manifest
from mobilekit.compression.compressed import RECORDS_FILE
from mobilekit.errors import InputError, short
from mobilekit.models.config import HeadConfig
from mobilekit.models.model import Model
from mobilekit.models.tasks import TASKS
from mobilekit.text.data.rows import AnswerRow, TextData, TextRow
from mobilekit.text.same_ids import same_ids
from mobilekit.text.tokenizer import TextTokenizer
from mobilekit.training.teachers import in_order

ASKING = "question-answering"
# Tasks whose data have labels, or right answers.
LABELLED = ("sequence-classification", "token-classification", ASKING)
_MOST_POINTS = 100


@dataclass(frozen=True)
class Gate:
    """What artifacts are judged by on data.

    data: rows, labelled for the model's task in the order of its labels, or plain text (`judging_data` reads both).
    max_drop: points that the artifact may lose to the float model, None: it is only measured. limit: most rows, drawn
    so that each label has its share; None: all. teacher: measured on the same rows. against: the float model, where the
    one that is exported is none: its folder has records, and decoded weights. Raises InputError for numbers that say
    nothing.
    """

    data: TextData
    max_drop: float | None = None
    limit: int | None = None
    teacher: Model | None = None
    against: Model | None = None

    def __post_init__(self) -> None:
        check_numbers(self.max_drop, self.limit)

    def check(self, model: Model) -> None:
        """Raise InputError where data, teacher or float model are not those of a model's task."""
        _check_data(self.data, model.head, model.name)
        if self.float_of(model) is None and self.max_drop is not None:
            raise InputError(
                f"{model.folder}: holds records, and its weights are the compressed ones; --max-drop needs the float "
                "model that they were made from: give --against MODEL."
            )
        head = model.head
        width = head.dense[-1].out_size if head.dense else model.config.hidden_size
        self._check_models(head, model.name, model.tokenizer, width)

    def check_artifact(self, manifest: Manifest, tokenizer: TextTokenizer) -> None:
        """The same for an artifact that is there."""
        name, head = str(manifest.content["name"]), head_in(manifest)
        _check_data(self.data, head, name)
        refuse_pairs(self.data, manifest)
        labelled = bool(self.data.task) and head.task in LABELLED
        if self.against is None and (self.max_drop is not None or not labelled):
            who = "--max-drop: the artifact is" if labelled else f"{self.data.name}: without labels, answers are"
            raise InputError(
                f"{who} held against the float model, which {name} does not carry; give --against MODEL (it was made "
                f"from '{short(manifest.content['source']['id'])}')."
            )
        self._check_models(head, name, tokenizer, manifest.output_size)

    def float_of(self, model: Model) -> Model | None:
        """The float model that artifacts of `model` are held against, or None where its weights are decoded ones."""
        if self.against is not None:
            return ordered(self.against, model.head)
        records = model.folder is not None and (model.folder / RECORDS_FILE).exists()
        return None if records else model

    def _check_models(self, head: HeadConfig, name: str, tokenizer: TextTokenizer, width: int) -> None:
        for option, model in (("--teacher", self.teacher), ("--against", self.against)):
            if model is not None:
                _check_answers(f"{option} {model.name}", model, head, name)
                _check_comparable(f"{option} {model.name}", model, name, tokenizer, width)


def check_float_model(model: Model, manifest: Manifest, tokenizer: TextTokenizer) -> None:
    """Raise InputError where a model, given as --against, cannot be the one that an artifact was made from."""
    name, head, who = str(manifest.content["name"]), head_in(manifest), f"--against {model.name}"
    _check_answers(who, model, head, name)
    _check_comparable(who, model, name, tokenizer, manifest.output_size)


def check_numbers(max_drop: float | None, limit: int | None) -> None:
    """Raise InputError for numbers that say nothing."""
    if max_drop is not None and not (math.isfinite(max_drop) and 0 <= max_drop <= _MOST_POINTS):
        raise InputError(f"--max-drop {max_drop:g}: expected points from 0 to {_MOST_POINTS}, such as 0.5.")
    if limit is not None and limit < 1:
        raise InputError(f"--limit {short(limit)}: expected a number of rows >= 1; leave it out for all rows.")


def ordered(model: Model | None, head: HeadConfig) -> Model | None:
    """A model, if there is one, with its labels in the order of `head`."""
    return None if model is None else in_order(model, head)


def head_in(manifest: Manifest) -> HeadConfig:
    """The head that an artifact says it has."""
    return HeadConfig(manifest.task, manifest.labels, manifest.content["problem_type"] or HeadConfig.problem_type)


def refuse_pairs(data: TextData, manifest: Manifest) -> None:
    """Raise InputError for pairs of texts where an artifact takes none."""
    first = next(iter(data.rows), None)
    pair = isinstance(first, AnswerRow) or (isinstance(first, TextRow) and first.pair is not None)
    reads = manifest.task in ("sequence-classification", ASKING)
    if pair and reads and not manifest.content["tokenizer"]["pair_template"]:
        raise InputError(
            f"{data.name}: holds pairs of texts, and {manifest.content['name']} takes no token types, so it cannot "
            "tell the two apart; give data of single texts."
        )


def _check_data(data: TextData, head: HeadConfig, name: str) -> None:
    first = next(iter(data.rows), None)
    if first is None:
        raise InputError(f"{data.name}: has no rows.")
    kind = f"{name} is a {head.task} model"
    if not data.task and isinstance(first, TextRow):
        if head.task == ASKING:
            raise InputError(f"{data.name}: is plain text, and {kind}; give questions with contexts and answers.")
        return
    if head.task not in LABELLED:
        if not isinstance(first, TextRow):
            raise InputError(f"{data.name}: is for {data.task}, and {kind}; give plain text.")
        return
    if data.task != head.task:
        raise InputError(f"{data.name}: is for {data.task}, and {kind}; give data of its own task.")
    regression = head.task == "sequence-classification" and head.problem_type == "regression"
    same = data.problem_type == "regression" if regression else data.labels == head.labels or head.task == ASKING
    if not same:
        raise InputError(
            f"{data.name}: its labels ({', '.join(data.labels)}) are not those of {name} ({', '.join(head.labels)}), "
            "or in another order."
        )


def _check_answers(who: str, model: Model, head: HeadConfig, name: str) -> None:
    theirs = model.head
    if theirs.task != head.task:
        raise InputError(f"{who}: is a {theirs.task} model, and {name} a {head.task} model; give one of the same task.")
    if head.task == "sequence-classification" and theirs.problem_type != head.problem_type:
        raise InputError(
            f"{who}: was trained for {theirs.problem_type}, and {name} for {head.problem_type}; give one of the same."
        )
    # A value has no name that would matter.
    regression = head.task == "sequence-classification" and head.problem_type == "regression"
    if len(theirs.labels) != len(head.labels) or not (regression or set(theirs.labels) == set(head.labels)):
        raise InputError(
            f"{who}: its labels ({', '.join(theirs.labels)}) are not those of {name} ({', '.join(head.labels)}); give "
            "one that was trained on the same labels."
        )


def _check_comparable(who: str, model: Model, name: str, tokenizer: TextTokenizer, width: int) -> None:
    """Answers without labels are compared as they are: words by their ids, embeddings value by value."""
    if TASKS[model.head.task].asks_token and not same_ids(model.tokenizer, tokenizer, ()):
        raise InputError(f"{who}: has another vocabulary than {name}, and the words that they guess are compared.")
    own = model.head.dense[-1].out_size if model.head.dense else model.config.hidden_size
    if model.head.task == "sentence-embedding" and own != width:
        raise InputError(f"{who}: its embeddings have {own} values, those of {name} {width}, and they are compared.")
