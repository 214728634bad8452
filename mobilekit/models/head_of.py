"""Which head a checkpoint has, from its configuration and from what is asked for."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from mobilekit.errors import InputError, short
from mobilekit.models.checkpoint import CONFIG_FILE
from mobilekit.models.config import MOST_LABELS, HeadConfig, head_from_dict
from mobilekit.models.families.registry import Family, Json, get
from mobilekit.models.sentence_transformers import SentenceModules
from mobilekit.models.tasks import SPAN_LABELS, TASKS


def head_of(
    folder: Path, family: Family, config: Json, modules: SentenceModules | None, task: str | None
) -> HeadConfig:
    """The head of a checkpoint: what its config.json or modules.json says, or the `task` that is asked for.

    Any backbone can embed sentences, and one without a head does (the mean of all states, unit length). Raises
    InputError when it has no head for `task`, or is of a class that is not known.
    """
    if family.model_type == "mobilekit":
        with _values_of(folder):
            found = head_from_dict(get(config, "head", dict))
        if task is not None and task != found.task:
            raise InputError(f"{folder}: is a {found.task} model; it has no {task} head.")
        return found
    if modules is not None:
        if task in (None, "sentence-embedding"):
            return modules.head
        raise InputError(f"{folder}: is a sentence-transformers model; it has no {task} head.")
    with _values_of(folder):
        architectures = get(config, "architectures", list, [])
    # A checkpoint that names no class is a backbone, as many that are there to be fine-tuned.
    has = family.task_of(architectures[0]) if architectures else "sentence-embedding"
    if (task or has) == "sentence-embedding":
        return HeadConfig("sentence-embedding")
    if has in (None, "sentence-embedding"):
        if task is not None:
            raise InputError(f"{folder}: architecture {short(architectures)} has no {task} head; fine-tune one first.")
        raise InputError(
            f"{folder}: architecture {short(architectures)} says of no head what it is for; "
            "--task sentence-embedding exports it with mean pooling."
        )
    if task not in (None, has):
        raise InputError(f"{folder}: is a {has} model; it has no {task} head.")
    with _values_of(folder):
        return _made(family, config, str(has))


@contextlib.contextmanager
def _values_of(folder: Path) -> Iterator[None]:
    """Put the file's name before what is wrong with a value in it."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{folder / CONFIG_FILE}: {error}") from error


def _made(family: Family, config: Json, task: str) -> HeadConfig:
    if task == "sequence-classification":
        labels = _labels(config)
        default = "regression" if len(labels) == 1 else "single_label_classification"
        return HeadConfig(task, labels, config.get("problem_type") or default, family.head_activation)
    if task == "token-classification":
        return HeadConfig(task, _labels(config))
    if task == "question-answering":
        return HeadConfig(task, SPAN_LABELS)
    tied = get(config, "tie_word_embeddings", bool, True)
    return HeadConfig(task, activation=family.word_activation or _encoder_activation(family, config), tied=tied)


def _encoder_activation(family: Family, config: Json) -> str:
    return family.read(config).activation


def _labels(config: Json) -> tuple[str, ...]:
    labels = config.get("id2label") or {}
    if not isinstance(labels, dict):
        raise InputError(f"id2label is {short(repr(labels))}; it has to map numbers to names.")
    if not labels:
        count = get(config, "num_labels", int, 2)
        if not 1 <= count <= MOST_LABELS:
            raise InputError(f"num_labels is {short(count)}; it has to be 1 to {MOST_LABELS:,}.")
        return tuple(f"LABEL_{i}" for i in range(count))
    for name in labels.values():
        if not isinstance(name, str | int | float):
            raise InputError(f"id2label has {short(repr(name))}; it has to map numbers to names.")
    try:
        return tuple(str(labels[str(i)]) for i in range(len(labels)))
    except KeyError as error:
        raise InputError(f"id2label has no entry {error}; expected 0 to {len(labels) - 1}.") from error


def label_rows(config: Json, head: HeadConfig) -> Callable[[str, tuple[int, ...]], str]:
    """For `read_tensors`: what to say where the weights are for another number of labels than the configuration."""
    count = len(head.labels)
    names = f"{CONFIG_FILE} has no id2label, which means {count}"
    if config.get("num_labels"):
        names = f"num_labels in {CONFIG_FILE} is {count}"
    if config.get("id2label") or config.get("head"):
        names = f"{'id2label' if config.get('id2label') else 'head'} in {CONFIG_FILE} names {count}"

    def explain(name: str, shape: tuple[int, ...]) -> str:
        outputs = {f"head.{layer}.{part}" for layer in ("classifier", "outputs") for part in ("weight", "bias")}
        rows = name in outputs and len(shape) == (2 if name.endswith(".weight") else 1)
        if not rows or not TASKS[head.task].labelled or shape[0] == count:
            return ""
        return (
            f"the weights of the head are for {shape[0]} labels, {names}; let id2label name each row of the head, or "
            "take the weights that were trained with it."
        )

    return explain
