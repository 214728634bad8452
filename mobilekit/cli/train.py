"""`mobilekit train`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mobilekit.cli.options import as_json, is_first_process, print_json, progress_lines, quiet
from mobilekit.cli.training_options import run_options, training_options
from mobilekit.training.processes import one_message

if TYPE_CHECKING:
    from mobilekit.training.settings import Settings
    from mobilekit.training.train import Splits, Trained


@click.command()
@one_message()
@click.option("--model", default="minilm-l6", show_default=True, help="A built-in name, a folder or a hub id.")
@click.option("--clustered", help="Keep weights clustered as this scheme does (pal2), and train codebooks and scales.")
@training_options
@run_options
@as_json
@quiet
def command(
    model: str,
    clustered: str | None,
    read: Callable[[], Splits],
    settings: Settings,
    mean: bool | None,
    freeze: str,
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
      mobilekit train --model my-sentiment --clustered pal2 --data movie-sentiment --out my-sentiment-2
      mobilekit export --model my-sentiment-2 --scheme pal2
      accelerate launch --num_processes 2 -m mobilekit train --data movie-sentiment --out my-sentiment

    The folder is a checkpoint, with metrics.json beside it. A run that was ended goes on with --resume.
    """
    from mobilekit.compression.folder import compressed_of
    from mobilekit.models.load import load_backbone
    from mobilekit.training.train import Fitting, train

    with progress_lines(not quiet and not as_json) as report:
        splits = read()
        report("train", f"loading {model}")
        loaded = load_backbone(model)
        if clustered is not None:
            report("train", f"clustering {loaded.name}")
        trained = train(
            loaded,
            splits,
            out,
            settings,
            Fitting(mean, freeze, None if clustered is None else compressed_of(loaded, clustered)),
            resume=resume,
            force=force,
            report=lambda text: report("train", text),
        )
    if is_first_process():
        _show(trained, out, as_json)


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
