"""`inspect --sensitivity`: what each part of a model bears, measured on data."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mobilekit.cli.calibration import calibration_texts
from mobilekit.cli.inspect_plan import float_model
from mobilekit.cli.options import Folder, print_table
from mobilekit.cli.training_options import COLUMNS, Command, named_columns, refuse_unread
from mobilekit.errors import InputError, short

if TYPE_CHECKING:
    from mobilekit.compression.schemes.registry import Scheme
    from mobilekit.models.model import Model
    from mobilekit.text.data.rows import TextData
    from mobilekit.training.sensitivity import Measured, Sensitivity

JSON_FILE, PLOT_FILE = "sensitivity.json", "sensitivity.svg"
_DEFAULT_SCHEMES = ("int8", "int4", "pal4")
_LENGTH = 128
_OPTIONS = (
    click.option("--sensitivity", is_flag=True, help="Compress part by part and measure each on --data."),
    click.option("--data", help="For --sensitivity: movie-sentiment, hub:NAME, or a file of rows."),
    click.option("--scheme", "schemes", multiple=True, help="What to try; may repeat.  [default: int8, int4, pal4]"),
    click.option("--limit", type=int, help="Most rows, each label with its share.  [default: all]"),
    click.option("--length", type=int, help=f"Most ids of an input.  [default: {_LENGTH}]"),
    click.option("--out", type=Folder(), help=f"Folder for {JSON_FILE} and {PLOT_FILE}."),
    click.option("--force", is_flag=True, help="Replace what is there."),
    *COLUMNS,
)
_NAMES = ("data", "schemes", "limit", "length", "out", "force")


@dataclass(frozen=True)
class SensitivityRequest:
    """What was asked for on the command line; nothing of it is read yet."""

    data: str | None
    schemes: tuple[str, ...]
    limit: int | None
    length: int | None
    out: Path | None
    force: bool
    columns: Mapping[str, str]

    def refuse_any(self) -> None:
        """Raise InputError for an option that only `--sensitivity` reads."""
        given = {"scheme" if name == "schemes" else name: getattr(self, name) for name in _NAMES}
        given |= {f"{name}-column": column for name, column in self.columns.items()}
        for name, value in given.items():
            if value is not None and value is not False and value != ():
                raise InputError(f"--{name} is for --sensitivity; leave it out.")

    def run(self, what: str, calibration: str | None, report: Callable[[str], None]) -> Sensitivity:
        """Measure, and write what came out where that was asked for."""
        from mobilekit.staging import refuse_existing, refuse_unwritable
        from mobilekit.training.sensitivity import sensitivity

        # The cheap refusals come before a model is loaded.
        schemes = self._schemes()
        if self.data is None:
            raise InputError("--sensitivity measures on data: give --data, for example --data movie-sentiment.")
        if self.limit is not None and self.limit < 1:
            raise InputError(f"--limit {short(self.limit)}: expected a number of rows >= 1; leave it out for all rows.")
        if self.out is not None:
            refuse_existing(self.out, self.force, JSON_FILE)
            refuse_unwritable(self.out.parent)
        elif self.force:
            raise InputError("--force is for --out; leave it out.")
        texts = self._texts(calibration, schemes)
        report(f"loading {what}")
        model = float_model(what)
        length = min(_LENGTH if self.length is None else self.length, model.tokenizer.max_length)
        data = self._read(model)
        found = sensitivity(model, schemes, data, length, limit=self.limit, texts=texts, report=report)
        if self.out is not None:
            self._write(found, self.out)
        return found

    def _schemes(self) -> list[Scheme]:
        from mobilekit.compression.schemes.registry import scheme, schemes

        names = self.schemes or tuple(name for name in _DEFAULT_SCHEMES if name in schemes())
        return [scheme(name) for name in dict.fromkeys(names)]

    def _texts(self, calibration: str | None, schemes: list[Scheme]) -> list[str] | None:
        from mobilekit.compression.plan import Plan, Rule

        return calibration_texts(calibration, Plan(schemes[0].name, tuple(Rule("*", scheme) for scheme in schemes)))

    def _read(self, model: Model) -> TextData:
        from mobilekit.text.data.builtin import builtin_names
        from mobilekit.text.data.judging import judging_data
        from mobilekit.text.data.request import DATA_TASKS, Columns

        head, spec = model.head, str(self.data)
        # Plans are chosen by this, and judged by the test split.
        spec = f"{spec}:dev" if spec in builtin_names() else spec
        task = head.task if head.task in DATA_TASKS else ""
        data = judging_data(spec, task, head.labels, head.problem_type, Columns(**self.columns))
        refuse_unread(self.columns, [str(self.data)], data)
        return data

    def _write(self, found: Sensitivity, out: Path) -> None:
        from mobilekit.staging import staged
        from mobilekit.training.sensitivity_plot import plot

        with staged(out, self.force, JSON_FILE) as beside:
            text = json.dumps(found.to_json(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
            (beside / JSON_FILE).write_text(text, encoding="utf-8")
            (beside / PLOT_FILE).write_text(plot(found), encoding="utf-8")


def sensitivity_options(command: Command) -> Command:
    """Adds them; the command gets `sensitivity` (whether it is asked for) and `request`, a SensitivityRequest."""

    @functools.wraps(command)
    def wrapped(**given: Any) -> Any:
        columns = named_columns(given)
        asked = {name: given.pop(name) for name in _NAMES}
        return command(request=SensitivityRequest(**asked, columns=columns), **given)

    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped


def show_sensitivity(found: Sensitivity, out: Path | None) -> None:
    """A row a group and scheme, and where it was written."""
    data, base = found.data, found.base
    loss = "" if base["loss"] is None else f", loss {base['loss']:.4f}"
    values = ", ".join(f"{name} {100 * value:.2f}" for name, value in base["figures"].items())
    click.echo(f"{found.model} on {data['name']}, {data['rows']} of {data['of']} rows: {values or 'no labels'}{loss}")
    columns = ["group", "scheme", "bits", f"{found.metric}: points lost", "in 95 %", "loss", "distance"]
    print_table(columns, [_cells(row) for row in found.rows], left=2)
    for row in found.rows:
        if row.refused:
            click.echo(f"note: {row.group} as {row.scheme}: {row.refused}", err=True)
    if out is not None:
        click.echo(f"{out}: {JSON_FILE}, {PLOT_FILE}")


def _cells(row: Measured) -> list[str]:
    from mobilekit.evaluation.comparison import shown

    if row.drop is None:
        return [row.group, row.scheme, "refused", "-", "-", "-", "-"]
    rise = "-" if row.rise is None else f"{row.rise:+.4f}"
    range_ = f"{shown(row.drop.low)} to {shown(row.drop.high)}"
    return [row.group, row.scheme, f"{row.bits:.2f}", shown(row.drop.points), range_, rise, f"{row.distance:.4f}"]
