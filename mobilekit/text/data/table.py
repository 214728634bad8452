"""Tables with named columns, and the rows of data that they make."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, overload

from mobilekit.errors import InputError, short
from mobilekit.text.data.labels import LabelCode, learn_labels
from mobilekit.text.data.nested import ANSWER_COLUMNS, answer_row, check_words, tag_index
from mobilekit.text.data.request import DEFAULT_COLUMNS, Columns, Request
from mobilekit.text.data.rows import Row, TextData, TextRow, TokensRow

Record = Mapping[str, Any]
# Tasks whose tables have a column of labels.
LABELLED = ("sequence-classification", "token-classification")


class Table(Protocol):
    """Records by number, from 0."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns; of the first record where they differ."""

    def __len__(self) -> int: ...

    def record(self, index: int) -> Record:
        """The record at `index`, by column; labels that the source names are names."""

    def where(self, index: int) -> str:
        """Where that record is, as messages begin: "FILE:LINE: "."""

    def scan(self, texts: Sequence[str], label: str | None) -> Iterator[object]:
        """Check that each of the columns `texts` holds a text in every record; give the values of column `label`.

        Raises InputError, naming the place, where one does not. Has to be run to its end, also where `label` is None
        and nothing comes.
        """

    def label_names(self, column: str) -> tuple[str, ...] | None:
        """Names of the labels in the order of their indices, where the source knows them."""


@dataclass(frozen=True)
class MemoryTable:
    """A table of texts that is held in memory. lines: where each row begins in its file, from 1."""

    name: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    lines: Sequence[int]

    def __len__(self) -> int:
        return len(self.rows)

    def record(self, index: int) -> Record:
        """The row at `index` by column."""
        return dict(zip(self.columns, self.rows[index], strict=True))

    def where(self, index: int) -> str:
        """FILE:LINE."""
        return f"{self.name}:{self.lines[index]}: "

    def scan(self, texts: Sequence[str], label: str | None) -> Iterator[object]:
        """The values of column `label`; every cell is a text."""
        if label is not None:
            column = self.columns.index(label)
            yield from (row[column] for row in self.rows)

    def label_names(self, column: str) -> tuple[str, ...] | None:
        """None: a file of texts names no labels."""
        return None


class TableRows(Sequence[Row]):
    """Rows that are made from the records of a table when they are asked for."""

    def __init__(self, table: Table, make: Callable[[int, Record], Row]) -> None:
        self._table, self._make = table, make

    def __len__(self) -> int:
        return len(self._table)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        return self._make(place, self._table.record(place))


def table_data(table: Table, request: Request) -> TextData:
    """A table's rows for the task that was asked for, or that its columns are for.

    Raises InputError for a column that is not there (naming those that are), a table without rows, and what
    `learn_labels` and `Table.scan` refuse.
    """
    if len(table) == 0:
        raise InputError(f"{table.name}: has no rows.")
    task = _task_of(table, request) if request.task is None else request.task
    if request.plain_too and task in LABELLED and _unlabelled(table, request):
        task = ""
    if task == "question-answering":
        return _answers(table)
    columns = request.columns
    require_column(table.name, table.columns, columns.text, "the texts (--text-column; for --text, --corpus-column)")
    if task == "token-classification":
        require_column(table.name, table.columns, columns.label, "the tags (--label-column)")
        return _tokens(table, request)
    pair = _optional(table, columns.pair, DEFAULT_COLUMNS.pair, "the second texts (--pair-column)")
    texts = (columns.text,) if pair is None else (columns.text, pair)
    if task == "":
        for _ in table.scan(texts, None):
            pass
        return TextData(table.name, "", (), None, TableRows(table, _TextRows(texts, "", None)))
    require_column(table.name, table.columns, columns.label, "the labels (--label-column)")
    values = table.scan(texts, columns.label)
    code = learn_labels(values, table.where, request, table.label_names(columns.label))
    rows = TableRows(table, _TextRows(texts, columns.label, code))
    return TextData(table.name, task, code.names, code.problem_type, rows)


def require_column(name: str, columns: Sequence[str], wanted: str, purpose: str) -> None:
    """Raise InputError when there is no column `wanted`, naming those that there are."""
    if wanted not in columns:
        there = ", ".join(short(column) for column in columns[:50])
        raise InputError(f"{name}: has no column '{wanted}'; its columns are {there}. Say which one holds {purpose}.")


def refuse_double_columns(name: str, columns: Sequence[str]) -> None:
    """Raise InputError when two columns have one name."""
    double = next((column for column in columns if columns.count(column) > 1), None)
    if double is not None:
        raise InputError(f"{name}: has two columns '{short(double)}'; give each a name of its own in the first line.")


@dataclass(frozen=True)
class _TextRows:
    texts: tuple[str, ...]
    label: str
    code: LabelCode | None

    def __call__(self, index: int, record: Record) -> TextRow:
        pair = record[self.texts[1]] if len(self.texts) > 1 else None
        label = None if self.code is None else self.code.encode(record[self.label])
        return TextRow(record[self.texts[0]], pair, label, str(record.get("id", "")))


def _task_of(table: Table, request: Request) -> str:
    if request.columns == DEFAULT_COLUMNS and set(ANSWER_COLUMNS) <= set(table.columns):
        return "question-answering"
    label = _optional(table, request.columns.label, DEFAULT_COLUMNS.label, "the labels (--label-column)")
    asks = label is not None or request.labels is not None or request.problem_type is not None
    return "sequence-classification" if asks else ""


def _unlabelled(table: Table, request: Request) -> bool:
    """Whether a table has no labels, and the user named no column that would hold them."""
    return request.columns.label == DEFAULT_COLUMNS.label and request.columns.label not in table.columns


def _optional(table: Table, column: str, usual: str, purpose: str) -> str | None:
    """The column, or None where a table does not have it and the user did not name it."""
    if column != usual:
        require_column(table.name, table.columns, column, purpose)
    return column if column in table.columns else None


def _tokens(table: Table, request: Request) -> TextData:
    columns: Columns = request.columns
    tags: dict[str, int] = {}
    for i in range(len(table)):
        record = table.record(i)
        for tag in check_words(record.get(columns.text), record.get(columns.label), table.where(i))[1]:
            tags.setdefault(tag, i)
    known = request.labels or table.label_names(columns.label)
    names, index = tag_index(tags, known, table.where)

    def make(row: int, record: Record) -> TokensRow:
        words, spelled = check_words(record[columns.text], record[columns.label], table.where(row))
        return TokensRow(words, tuple(index[tag] for tag in spelled))

    return TextData(table.name, "token-classification", names, None, TableRows(table, make))


def _answers(table: Table) -> TextData:
    for column in ANSWER_COLUMNS:
        require_column(table.name, table.columns, column, "it, under that name")
    rows = TableRows(table, lambda row, record: answer_row(record, table.where(row)))
    for _ in rows:  # an answer that is not where it says is refused now, not in the middle of training
        pass
    return TextData(table.name, "question-answering", (), None, rows)
