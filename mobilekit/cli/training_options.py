"""What `train`, `distill` and `pretrain` are asked alike: the data, the settings of the loop, and where it goes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mobilekit.errors import InputError

if TYPE_CHECKING:
    from mobilekit.text.data.rows import TextData, TextRow
    from mobilekit.training.train import Splits

Command = Callable[..., Any]
_DATA = (
    click.option("--data", required=True, help="movie-sentiment, hub:NAME, or a CSV, TSV, JSONL, Parquet, CoNLL file."),
    click.option("--dev", help="Data that choose the best epoch.  [default: the data's own dev split, if any]"),
    click.option("--test", help="Data that judge the result.  [default: the data's own test split, if any]"),
    click.option("--task", help="What the labels are for, where the data do not say."),
    click.option("--problem-type", help="multi_label_classification, regression, ... where labels do not show it."),
    click.option("--text-column", default="text", show_default=True, help="The column with the text."),
    click.option("--pair-column", default="text_pair", show_default=True, help="The column with a second text."),
    click.option("--label-column", default="label", show_default=True, help="The column with the label."),
)
_LOOP = (
    click.option("--epochs", type=int, default=3, show_default=True, help="Passes over the data."),
    click.option("--batch", type=int, default=32, show_default=True, help="Inputs a step, over all processes."),
    click.option("--parts", type=int, default=1, show_default=True, help="Pieces of a batch, for little memory."),
    click.option("--learning-rate", type=float, default=1e-4, show_default=True, help="The highest."),
    click.option("--length", type=int, default=128, show_default=True, help="Most ids of an input."),
    click.option("--dropout", type=float, help="Instead of the model's own."),
    click.option("--seed", type=int, default=0, show_default=True, help="Of everything random."),
    click.option("--save-every", type=int, default=0, help="Steps between checkpoints.  [default: one epoch]"),
    click.option("--precision", default="auto", show_default=True, help="auto, fp32 or bf16."),
    click.option("--optimizer", default="adamw", show_default=True, help="adamw, or lamb for large batches."),
)
_POOLING = (
    click.option("--freeze", default="", help="What stays as it is: embeddings, or (train) the encoder."),
    click.option("--pooling", default="family", show_default=True, help="family: as the family's class does; mean."),
)
_RUN = (
    click.option("--out", type=click.Path(path_type=Path), required=True, help="Output folder."),
    click.option("--resume", is_flag=True, help="Go on with a run that was ended."),
    click.option("--force", is_flag=True, help="Replace what is there."),
)
_SETTINGS = tuple("epochs batch parts learning_rate length dropout seed save_every precision optimizer".split())


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
        if pooling not in ("family", "mean"):
            raise unknown("pooling", pooling, ("family", "mean"))
        columns = [given.pop(f"{name}_column") for name in ("text", "pair", "label")]
        data = [given.pop(name) for name in ("data", "dev", "test", "task", "problem_type")]
        return command(read=functools.partial(_splits, data, columns), mean=pooling == "mean", **given)

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


def text_options(command: Command) -> Command:
    """Adds `--text`; the command gets `texts`, which reads all of them when it is called, instead."""

    @functools.wraps(command)
    def wrapped(**given: Any) -> Any:
        specs = given.pop("text_specs")

        def texts() -> Sequence[TextRow]:
            from mobilekit.text.data.plain import plain_texts

            return plain_texts(specs)

        texts.specs = specs  # type: ignore[attr-defined]
        return command(texts=texts, **given)

    about = "Plain text to learn from: a .txt file, a column of a table, built-in data; may repeat."
    return click.option("--text", "text_specs", multiple=True, help=about)(wrapped)


def _splits(given: list[Any], names: list[str]) -> Splits:
    """Training, dev and test data (given: their specs, and the task); all have the training data's labels."""
    from mobilekit.text.data.builtin import builtin_names
    from mobilekit.text.data.load import load_data
    from mobilekit.text.data.request import Columns
    from mobilekit.training.train import Splits

    data, dev, test, task, problem_type = given
    columns, own = Columns(*names), data in builtin_names()
    rows = load_data(data, task, columns, problem_type=problem_type)

    def other(given: str | None, split: str) -> TextData | None:
        if given is None and not own:
            return None
        spec = given if given is not None else data
        part = split if spec in builtin_names() else None
        return load_data(spec, rows.task, columns, part, rows.labels or None, rows.problem_type)

    return Splits(rows, other(dev, "dev"), other(test, "test"))
