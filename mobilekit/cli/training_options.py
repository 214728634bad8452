"""What `train`, `distill` and `pretrain` are asked alike: the data, the settings of the loop, and where it goes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mobilekit.errors import InputError

if TYPE_CHECKING:
    from mobilekit.text.data.rows import TextData, TextRow
    from mobilekit.training.train import Splits

Command = Callable[..., Any]
COLUMNS = (
    click.option("--text-column", help="The column with the text.  [default: text]"),
    click.option("--pair-column", help="The column with a second text.  [default: text_pair]"),
    click.option("--label-column", help="The column with the label.  [default: label]"),
)
_DATA = (
    click.option("--data", required=True, help="movie-sentiment, hub:NAME, or a CSV, TSV, JSONL, Parquet, CoNLL file."),
    click.option("--dev", help="Data that choose the best epoch.  [default: the data's own dev split, if any]"),
    click.option("--test", help="Data that judge the result.  [default: the data's own test split, if any]"),
    click.option("--task", help="What the labels are for, where the data do not say."),
    click.option("--problem-type", help="multi_label_classification, regression, ... where labels do not show it."),
    *COLUMNS,
)
_LOOP = (
    click.option("--epochs", type=int, default=3, show_default=True, help="Passes over the data."),
    click.option("--batch", type=int, default=32, show_default=True, help="Inputs a step, over all processes."),
    click.option("--parts", type=int, default=1, show_default=True, help="Pieces of a batch, for little memory."),
    click.option("--learning-rate", type=float, default=1e-4, show_default=True, help="The highest."),
    click.option("--warm-up", type=float, default=0.1, show_default=True, help="Share of all steps that it rises in."),
    click.option("--decay", type=float, default=0.01, show_default=True, help="Weight decay, not of biases, norms."),
    click.option("--clip", type=float, default=1.0, show_default=True, help="The gradient's largest norm."),
    click.option("--length", type=int, default=128, show_default=True, help="Most ids of an input."),
    click.option("--dropout", type=float, help="Instead of the model's own."),
    click.option("--seed", type=int, default=0, show_default=True, help="Of everything random."),
    click.option("--save-every", type=int, default=0, help="Steps between checkpoints.  [default: one epoch]"),
    click.option("--precision", default="auto", show_default=True, help="auto, fp32 or bf16."),
    click.option("--optimizer", default="adamw", show_default=True, help="adamw, or lamb for large batches."),
)
_POOLING = (
    click.option("--freeze", default="", help="What stays as it is: embeddings, or (train) the encoder."),
    click.option("--pooling", help="mean, or family: as the family's class does.  [default: the model's own, family]"),
)
_RUN = (
    click.option("--out", type=click.Path(path_type=Path), required=True, help="Output folder."),
    click.option("--resume", is_flag=True, help="Go on with a run that was ended."),
    click.option("--force", is_flag=True, help="Replace what is there."),
)
_SETTINGS = tuple(
    "epochs batch parts learning_rate warm_up decay clip length dropout seed save_every precision optimizer".split()
)


def loop_options(command: Command) -> Command:
    """Adds the settings of the loop; the command gets `settings` instead."""

    @functools.wraps(command)
    def wrapped(**given: Any) -> Any:
        from mobilekit.training.settings import Settings

        settings = Settings(**{name: given.pop(name) for name in _SETTINGS})
        return command(settings=settings, **given)

    for option in reversed(_LOOP):
        wrapped = option(wrapped)
    return wrapped


def training_options(command: Command) -> Command:
    """Adds those of the data, the loop and the head; the command gets `read` (the data, when called), `settings` and
    `mean` instead."""

    @functools.wraps(command)
    def wrapped(**given: Any) -> Any:
        from mobilekit.errors import unknown

        pooling = given.pop("pooling")
        if pooling not in (None, "family", "mean"):
            raise unknown("pooling", pooling, ("family", "mean"))
        columns = named_columns(given)
        data = [given.pop(name) for name in ("data", "dev", "test", "task", "problem_type")]
        mean = None if pooling is None else pooling == "mean"
        return command(read=functools.partial(_splits, data, columns), mean=mean, **given)

    made = loop_options(wrapped)
    for option in reversed((*_DATA, *_POOLING)):
        made = option(made)
    return made


def run_options(command: Command) -> Command:
    """Adds `--out`, `--resume` and `--force`, of which the last two exclude each other."""

    @functools.wraps(command)
    def wrapped(**given: Any) -> Any:
        if given["resume"] and given["force"]:
            raise InputError("--resume goes on with a run, --force begins it anew; give one of them.")
        return command(**given)

    for option in reversed(_RUN):
        wrapped = option(wrapped)
    return wrapped


class Corpora:
    """Plain text that was asked for: specs of it, read when it is called."""

    def __init__(self, specs: Sequence[str], column: str | None) -> None:
        self.specs, self._column = tuple(specs), column

    def __call__(self) -> Sequence[TextRow]:
        """All of it, one after the other."""
        from mobilekit.text.data.plain import plain_texts

        return plain_texts(self.specs, self._column)

    def split(self, spec: str | None, split: str) -> Sequence[TextRow]:
        """Texts to choose by or to judge by (see `split_texts`)."""
        from mobilekit.text.data.plain import split_texts

        return split_texts(spec, self.specs, split, self._column)


def text_options(command: Command) -> Command:
    """Adds `--text` and `--corpus-column`; the command gets `texts`, a `Corpora`, instead."""

    @functools.wraps(command)
    def wrapped(**given: Any) -> Any:
        return command(texts=Corpora(given.pop("text_specs"), given.pop("corpus_column")), **given)

    about = "Plain text to learn from: a .txt file, a column of a table, built-in data; may repeat."
    column = click.option("--corpus-column", help="The column of plain text in a table.  [default: text]")
    return click.option("--text", "text_specs", multiple=True, help=about)(column(wrapped))


def _splits(given: list[Any], names: Mapping[str, str]) -> Splits:
    """Training, dev and test data (given: their specs, and the task; names: of columns that were said); all have the
    training data's labels."""
    from mobilekit.text.data.builtin import builtin_names
    from mobilekit.text.data.load import load_data
    from mobilekit.text.data.request import Columns
    from mobilekit.training.train import Splits

    data, dev, test, task, problem_type = given
    columns, own = Columns(**names), data in builtin_names()
    rows = load_data(data, task, columns, problem_type=problem_type)
    refuse_unread(names, [data, dev, test], rows)

    def other(given: str | None, split: str) -> TextData | None:
        if given is None and not own:
            return None
        spec = given if given is not None else data
        part = split if spec in builtin_names() else None
        return load_data(spec, rows.task, columns, part, rows.labels or None, rows.problem_type)

    return Splits(rows, other(dev, "dev"), other(test, "test"))


def named_columns(given: dict[str, Any]) -> dict[str, str]:
    """The columns that were named, taken out of a command's arguments."""
    columns = {name: given.pop(f"{name}_column") for name in ("text", "pair", "label")}
    return {name: column for name, column in columns.items() if column is not None}


def refuse_unread(names: Mapping[str, str], specs: Sequence[str | None], rows: TextData) -> None:
    """Raise InputError for a column that was named and is not read."""
    from mobilekit.text.data.load import has_columns
    from mobilekit.text.data.rows import TextRow

    for name, column in names.items():
        if not any(spec is not None and has_columns(spec) for spec in specs):
            raise InputError(
                f"--{name}-column '{column}': none of the data are a table with named columns; leave it out."
            )
        if rows.task == "question-answering" or (rows.task == "token-classification" and name == "pair"):
            raise InputError(f"--{name}-column '{column}': is not read for {rows.task}; leave it out.")
        first = rows.rows[0] if has_columns(str(specs[0])) else None
        if name == "pair" and isinstance(first, TextRow) and first.pair is None:
            raise InputError(f"{specs[0]}: has no column '{column}'; leave out --pair-column, or correct it.")
