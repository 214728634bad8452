"""Rows of data put to systems: which rows, how an artifact reads them, what is no answer, how answers are judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from export.gate import LABELLED
from mobilekit.errors import EngineError, MobilekitError
from mobilekit.evaluation.comparison import Yardstick, yardstick
from mobilekit.models.config import HeadConfig
from mobilekit.runtimes.answer import artifact_tokenizer
from mobilekit.runtimes.runner import Runner
from mobilekit.text.data.judging import plain_rows
from mobilekit.text.data.rows import Row, TextData
from mobilekit.text.tokenizer import TextTokenizer
from mobilekit.training.exam import Exam, Outputs


@dataclass(frozen=True)
class ArtifactReader:
    """What an artifact reads rows with."""

    head: HeadConfig
    tokenizer: TextTokenizer
    prefix: str


def reader_of(runner: Runner, head: HeadConfig) -> ArtifactReader:
    """Of an artifact that is open. head: with its labels in the data's order."""
    manifest = runner.artifact.manifest
    return ArtifactReader(head, artifact_tokenizer(runner.artifact), manifest.content["tokenizer"]["prefix"])


def askable(data: TextData, task: str) -> tuple[list[Row], bool]:
    """The rows that a model of a task can be asked, and whether they say what is right."""
    labelled = bool(data.task) and task in LABELLED
    # Of plain text only a classifier reads two texts as one.
    alone = not labelled and task != "sequence-classification"
    return list(plain_rows(data.rows) if alone else data.rows), labelled


def artifact_outputs(runner: Runner, of: Exam) -> Outputs:
    """What an artifact gives for the rows of an exam: number and output of each."""
    return runner.run_many([each.ids for each in of.features], [each.types for each in of.features], of.places)


def finite(outputs: Outputs, where: str = "", error: type[MobilekitError] = EngineError) -> Outputs:
    """The same outputs; raises `error`, which begins with `where`, at one that has values that are no numbers."""
    for i, output in outputs:
        if not np.isfinite(output).all():
            raise error(f"{where}row {i + 1}: the output has values that are not finite (NaN or infinity).")
        yield i, output


def yardstick_of(head: HeadConfig, references: Any) -> Yardstick:
    """What answers of a head are measured by. references: what is right, None where nobody says it."""
    kind = head.problem_type if head.task == "sequence-classification" else None
    return yardstick(head.task, kind, len(head.labels), references)
