"""`mobilekit train`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mobilekit.cli.options import as_json, print_json, progress_lines, quiet
from mobilekit.errors import InputError

if TYPE_CHECKING:
    from mobilekit.text.data.request import Columns
    from mobilekit.text.data.rows import TextData
    from mobilekit.training.train import Splits, Trained


@click.command()
@click.option("--model", default="minilm-l6", show_default=True, help="A built-in name, a folder or a hub id.")
@click.option(
    "--data", required=True, help="movie-sentiment, hub:NAME, or a CSV, TSV, JSONL, Parquet, CoNLL, SQuAD file."
)
@click.option("--dev", help="Data that choose the best epoch.  [default: the data's own dev split, if it has one]")
@click.option("--test", help="Data that judge the result.  [default: the data's own test split, if it has one]")
@click.option("--task", help="What the labels are for, where the data do not say.")
@click.option("--text-column", default="text", show_default=True, help="Name of the column with the text.")
@click.option("--pair-column", default="text_pair", show_default=True, help="Name of the column with a second text.")
@click.option("--label-column", default="label", show_default=True, help="Name of the column with the label.")
@click.option("--pooling", default="family", show_default=True, help="family: as the family's class does; mean.")
@click.option("--freeze", help="encoder: train the head alone.")
@click.option("--epochs", type=int, default=3, show_default=True, help="Passes over the data.")
@click.option("--batch", type=int, default=32, show_default=True, help="Inputs a step, over all processes.")
@click.option("--parts", type=int, default=1, show_default=True, help="Pieces of a batch, for little memory.")
@click.option("--learning-rate", type=float, default=1e-4, show_default=True, help="The highest.")
@click.option("--length", type=int, default=128, show_default=True, help="Most ids of an input.")
@click.option("--dropout", type=float, help="Instead of the model's own.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of everything random.")
@click.option("--save-every", type=int, default=0, help="Steps between checkpoints.  [default: one epoch]")
@click.option("--precision", default="auto", show_default=True, help="auto, fp32 or bf16.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Output folder.")
@click.option("--resume", is_flag=True, help="Go on with a run that was ended.")
@click.option("--force", is_flag=True, help="Replace what is there.")
@as_json
@quiet
def command(
    model: str,
    data: str,
    dev: str | None,
    test: str | None,
    task: str | None,
    text_column: str,
    pair_column: str,
    label_column: str,
    pooling: str,
    freeze: str | None,
    epochs: int,
    batch: int,
    parts: int,
    learning_rate: float,
    length: int,
    dropout: float | None,
    seed: int,
    save_every: int,
    precision: str,
    out: Path,
    resume: bool,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Fine-tune a model on labelled text: a classifier, a tagger, a reader.

    \b
    Examples:
      mobilekit train --data movie-sentiment --out my-sentiment
      mobilekit train --model ./my-bert --data train.csv --dev dev.csv --test test.csv --out my-classifier
      mobilekit train --model e5-small-enpt --data movie-sentiment --pooling mean --epochs 2 --out teacher
      mobilekit export --model my-sentiment
      accelerate launch --num_processes 2 -m mobilekit train --data movie-sentiment --out my-sentiment

    The folder is a checkpoint, with metrics.json beside it. A run that was ended goes on with --resume.
    """
    from mobilekit.errors import unknown
    from mobilekit.models.load import load
    from mobilekit.text.data.request import Columns
    from mobilekit.training.settings import Settings
    from mobilekit.training.train import train

    if pooling not in ("family", "mean"):
        raise unknown("pooling", pooling, ("family", "mean"))
    if freeze not in (None, "encoder"):
        raise unknown("freeze", freeze, ("encoder",))
    if resume and force:
        raise InputError("--resume goes on with a run, --force begins it anew; give one of them.")
    settings = Settings(
        epochs=epochs,
        batch=batch,
        parts=parts,
        learning_rate=learning_rate,
        length=length,
        dropout=dropout,
        seed=seed,
        save_every=save_every,
        precision=precision,
    )
    with progress_lines(not quiet and not as_json) as report:
        splits = read_splits(data, dev, test, task, Columns(text_column, pair_column, label_column))
        report("train", f"loading {model}")
        # Any head will do: data of another task give it a new one.
        loaded = load(model)
        trained = train(
            loaded,
            splits,
            out,
            settings,
            mean=pooling == "mean",
            freeze=freeze is not None,
            resume=resume,
            force=force,
            report=lambda text: report("train", text),
        )
    _show(trained, out, as_json)


def read_splits(data: str, dev: str | None, test: str | None, task: str | None, columns: Columns) -> Splits:
    """Training, dev and test data; those of one set carry the training data's labels."""
    from mobilekit.text.data.builtin import builtin_names
    from mobilekit.text.data.load import load_data
    from mobilekit.training.train import Splits

    own = data in builtin_names()
    rows = load_data(data, task, columns)

    def other(given: str | None, split: str) -> TextData | None:
        if given is None and not own:
            return None
        spec, part = (given, None) if given is not None else (data, split)
        part = split if spec in builtin_names() else part
        return load_data(spec, rows.task, columns, part, rows.labels or None, rows.problem_type)

    return Splits(rows, other(dev, "dev"), other(test, "test"))


def _show(trained: Trained, out: Path, as_json: bool) -> None:
    values = {} if trained.test is None else dict(trained.test.values)
    if as_json:
        about = {"folder": str(out), "best_epoch": trained.outcome.best_epoch, "seconds": trained.outcome.seconds}
        print_json({**about, "epochs": trained.outcome.epochs, "test": values or None})
        return
    for note in trained.model.notes:
        click.echo(f"note: {note}", err=True)
    for row in trained.outcome.epochs:
        scores = ", ".join(f"{name} {value:.4f}" for name, value in row.items() if name != "epoch")
        click.echo(f"epoch {row['epoch']}: {scores or 'no dev data'}")
    said = ", ".join(f"{name} {value:.4f}" for name, value in values.items())
    click.echo(f"{out}: epoch {trained.outcome.best_epoch}" + (f"; test: {said}" if said else ""))
