"""What systems say of the same rows: float model, teacher, artifacts and peers, each held against the first two."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring.figures import Said, figures
from export.asking import artifact_outputs, askable, finite, reader_of, yardstick_of
from export.gate import head_in
from mobilekit.models.config import HeadConfig
from mobilekit.models.model import Model
from mobilekit.runtimes.runner import Runner
from mobilekit.text.data.judging import rows_sha256, sample_places
from mobilekit.text.data.rows import TextData
from mobilekit.training.exam import Exam, Outputs, Report, answers, exam, model_outputs
from mobilekit.training.features import Reader

FLOAT, TEACHER = "float", "teacher"
# Rows for an engine that takes a good part of a second for each.
SLOW_ROWS = 100
Json = dict[str, Any]


class Examiner:
    """Puts the same rows to all.

    head: of the task, with its labels in the data's order. length: the most ids of an input, the same for all, so that
    a difference is never the cut's. limit: the most rows (None: all), each label with its share; slow_rows: the most
    that an engine gets whose milliseconds mean nothing.
    """

    def __init__(
        self, data: TextData, head: HeadConfig, length: int, limit: int | None = None, slow_rows: int = SLOW_ROWS
    ) -> None:
        self._head, self._length, self._name = head, length, data.name
        self._all, self.labelled = askable(data, head.task)
        self._rows = np.array(sample_places(self._all, limit))
        few = sample_places([self._all[i] for i in self._rows], slow_rows)
        self._few = self._rows[few]
        self._known: dict[str, Said] = {}

    def ask_model(self, name: str, model: Model, tell: Report = lambda done, count: None) -> Json:
        """Have a model in torch answer; name: FLOAT or TEACHER, which others are held against from now on."""
        of = self._exam(model, self._rows)
        self._known[name] = said = self._said(self._rows, of, model_outputs(model, of, tell))
        return self._figures(said)

    def ask_artifact(self, runner: Runner) -> Json:
        """Have an artifact answer; slow engines fewer rows."""
        places = self._rows if runner.engine.timed else self._few
        of = self._exam(reader_of(runner, head_in(runner.artifact.manifest)), places)
        return self._figures(self._said(places, of, artifact_outputs(runner, of)))

    def asked(self, reader: Reader, slow: bool = False) -> Exam:
        """The rows as someone else reads them; `figures_of` takes their outputs."""
        return self._exam(reader, self._few if slow else self._rows)

    def figures_of(self, of: Exam, outputs: NDArray[np.float32], slow: bool = False) -> Json:
        """What outputs, [rows, size], of all rows of an exam come to."""
        return self._figures(self._said(self._few if slow else self._rows, of, enumerate(outputs)))

    def _exam(self, reader: Reader, places: NDArray[np.intp]) -> Exam:
        return exam(reader, [self._all[i] for i in places], self._length)

    def _said(self, places: NDArray[np.intp], of: Exam, outputs: Outputs) -> Said:
        kept: list[NDArray[np.float32]] = [np.empty(0, np.float32)] * len(of.rows)
        classifies = self._head.task == "sequence-classification" and self._head.problem_type != "regression"

        def watched() -> Iterator[tuple[int, NDArray[np.float32]]]:
            for i, output in finite(outputs):
                if classifies:
                    kept[i] = np.array(output, np.float32)
                yield i, output

        given, references = answers(of, watched())
        tokens = np.array([len(each.ids) for each in of.features])
        logits = np.stack(kept) if classifies else None
        return Said(places, given, references if self.labelled else None, logits, tokens, of.cut)

    def _figures(self, said: Said) -> Json:
        float_model, teacher = (self._before(name, said) for name in (FLOAT, TEACHER))
        return {
            "data": self._about(said),
            **figures(yardstick_of(self._head, said.references), said, float_model, teacher, self._head),
        }

    def _before(self, name: str, said: Said) -> Said | None:
        """What FLOAT or TEACHER said of the same rows; None where it did not, or is the one that says it now."""
        known = self._known.get(name)
        return None if known is None or known is said else known.at(said.places)

    def _about(self, said: Said) -> Json:
        rows = [self._all[i] for i in said.places]
        return {
            "name": self._name,
            "sha256": rows_sha256(rows),
            "rows": len(rows),
            "of": len(self._all),
            "cut": said.cut,
        }
