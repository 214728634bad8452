"""`--data` and what goes with it: what `export` and `check` judge artifacts by."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from mobilekit.cli.options import print_table
from mobilekit.cli.training_options import COLUMNS, Command, named_columns, refuse_unread
from mobilekit.errors import InputError

if TYPE_CHECKING:
    from export.gate import Gate
    from export.judge import DataResult
    from mobilekit.models.config import HeadConfig

_OPTIONS = (
    click.option(
        "--data",
        help="Rows to judge by: movie-sentiment, hub:NAME, or a CSV, TSV, JSONL, Parquet, CoNLL, SQuAD or text file.",
    ),
    click.option("--max-drop", type=float, help="Points that it may lose to the float model.  [default: any]"),
    click.option("--limit", type=int, help="Most rows, each label with its share.  [default: all]"),
    click.option("--teacher", help="A model that is measured on the same rows."),
    click.option("--against", help="The float model, where the one that is exported is none (folders with records)."),
    *COLUMNS,
)
_FOR_DATA = ("max_drop", "limit", "teacher", "against")
_SHOWN = {"teacher": "teacher", "float": "float model", "decoded": "compressed weights"}


@dataclass(frozen=True)
class GateRequest:
    """What was asked for on the command line; nothing of it is read yet. alone: options that need no data."""

    data: str | None
    max_drop: float | None
    limit: int | None
    teacher: str | None
    against: str | None
    columns: Mapping[str, str]
    alone: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        named = [name for name in _FOR_DATA if name not in self.alone and getattr(self, name) is not None]
        named += [f"{name}_column" for name in self.columns]
        option = f"--{named[0].replace('_', '-')}" if named else None
        if self.data is None and option is not None:
            raise InputError(f"{option} is for judging on data: give --data, or leave it out.")
        if self.data is not None:
            from export.gate import check_numbers

            check_numbers(self.max_drop, self.limit)

    def gate(self, head: HeadConfig, report: Callable[[str], None]) -> Gate | None:
        """The gate for a head, data and models read; None where no data were given."""
        from export.gate import LABELLED, Gate
        from mobilekit.models.load import load
        from mobilekit.text.data.judging import judging_data
        from mobilekit.text.data.request import Columns

        if self.data is None:
            return None
        task = head.task if head.task in LABELLED else ""
        report("reading the data")
        data = judging_data(self.data, task, head.labels, head.problem_type, Columns(**self.columns))
        refuse_unread(self.columns, [self.data], data)
        if "label" in self.columns and not data.task:
            raise InputError(f"--label-column '{self.columns['label']}': is not read for {head.task}; leave it out.")
        models = {}
        for option, name in (("teacher", self.teacher), ("against", self.against)):
            if name is not None:
                report(f"loading {name}")
                models[option] = load(name)
        return Gate(data, self.max_drop, self.limit, **models)


def gate_options(command: Command, alone: tuple[str, ...] = ()) -> Command:
    """Adds them; the command gets `request`, a GateRequest, instead. alone: options that it reads without data too."""

    @functools.wraps(command)
    def wrapped(**given: Any) -> Any:
        columns = named_columns(given)
        asked = {name: given.pop(name) for name in ("data", *_FOR_DATA)}
        return command(request=GateRequest(**asked, columns=columns, alone=alone), **given)

    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped


def show_accuracy(results: Mapping[str, DataResult]) -> None:
    """The table of what artifacts came to on data, by their targets, and the notes; nothing where there are none."""
    if not results:
        return
    first = next(iter(results.values())).accuracy
    data, metric = first["data"], first["metric"]
    rows = {_SHOWN[each["system"]]: each for each in first["systems"] if each["system"] in _SHOWN}
    artifacts = {name: each.accuracy["systems"][-1] for name, each in results.items()}
    columns = list(dict.fromkeys([metric, *artifacts[next(iter(artifacts))]["values"]]))
    count = f"{data['rows']} of {data['of']} rows" if data["rows"] < data["of"] else f"{data['rows']} rows"
    parts = {"compressed weights": [*_drop(first, "float", "decoded"), *_NONE]}
    for name, each in results.items():
        parts[name] = [*_drop(each.accuracy, "float", "artifact"), *_drop(each.accuracy, "decoded", "artifact")]
    print_table(
        [f"on {data['name']}, {count}", *columns, "points lost", "in 95 %", "by the engine", "in 95 %"],
        [
            [name, *(_percent(each["values"].get(c)) for c in columns), *parts.get(name, [*_NONE, *_NONE])]
            for name, each in {**rows, **artifacts}.items()
        ],
    )
    if data["cut"]:
        many = f"{data['cut']} of {data['rows']} rows were cut to the longest exported length"
        click.echo(f"note: {many}, for all models alike.", err=True)
    for name, result in results.items():
        if result.warning:
            click.echo(f"note: {name}: {result.warning}", err=True)


_NONE = ("-", "-")


def _drop(accuracy: Mapping[str, Any], first: str, second: str) -> tuple[str, str]:
    from mobilekit.evaluation.comparison import shown

    for drop in accuracy["drops"]:
        if (drop["from"], drop["to"]) == (first, second):
            return shown(drop["points"]), f"{shown(drop['low'])} to {shown(drop['high'])}"
    return _NONE


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.2f}"
