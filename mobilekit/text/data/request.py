"""What a reader is asked for: the task, which columns, which labels."""

from __future__ import annotations

from dataclasses import dataclass, field

from mobilekit.errors import InputError, unknown

PROBLEM_TYPES = ("single_label_classification", "multi_label_classification", "regression")
# Tasks whose data have labels; "" is plain text.
DATA_TASKS = ("sequence-classification", "token-classification", "question-answering", "")
REGRESSION_LABELS = ("value",)


@dataclass(frozen=True)
class Columns:
    """Names of the columns that hold a row's text, its second text (where it is a pair), and its label."""

    text: str = "text"
    pair: str = "text_pair"
    label: str = "label"


DEFAULT_COLUMNS = Columns()


@dataclass(frozen=True)
class Request:
    """What is wanted of a file.

    task: one of DATA_TASKS, None for what the file holds. labels: names in the order of their indices, None for those
    in the file. problem_type: of sequence classification, None for what the labels look like. plain_too: data that have
    no labels are taken as plain text, whatever task is asked for. Raises InputError for a name that is not known and
    for a combination that makes no sense.
    """

    task: str | None = None
    columns: Columns = field(default_factory=Columns)
    labels: tuple[str, ...] | None = None
    problem_type: str | None = None
    plain_too: bool = False

    def __post_init__(self) -> None:
        if self.task is not None and self.task not in DATA_TASKS:
            raise unknown("task of data", self.task, [task for task in DATA_TASKS if task])
        if self.problem_type is not None:
            self._check_problem_type(self.problem_type)
        if self.labels is not None and (not self.labels or len(set(self.labels)) != len(self.labels)):
            raise InputError(f"labels: expected names, each once; got {', '.join(self.labels) or 'none'}.")
        if self.problem_type == "regression" and self.labels not in (None, REGRESSION_LABELS):
            raise InputError("labels: regression has values and no labels; leave labels out, or the problem type.")

    def _check_problem_type(self, problem_type: str) -> None:
        if problem_type not in PROBLEM_TYPES:
            raise unknown("problem type", problem_type, PROBLEM_TYPES)
        if self.task not in (None, "sequence-classification"):
            raise InputError(
                f"problem type: {self.task or 'plain text'} has none; it belongs to sequence-classification."
            )
