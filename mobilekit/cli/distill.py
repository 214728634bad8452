"""`mobilekit distill`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mobilekit.cli.options import as_json, print_json, print_table, progress_lines, quiet
from mobilekit.cli.training_options import training_options

if TYPE_CHECKING:
    from mobilekit.training.distill import Distilled
    from mobilekit.training.settings import Settings
    from mobilekit.training.train import Splits


@click.command()
@click.option("--teacher", "teachers", multiple=True, required=True, help="A fine-tuned model; may repeat.")
@click.option("--student", default="minilm-l6", show_default=True, help="A built-in name, a folder or a hub id.")
@click.option("--recipe", default="hinton", show_default=True, help="See `list recipes`.")
@click.option("--temperature", type=float, default=2.0, show_default=True, help="How far answers are softened.")
@click.option("--soft", type=float, default=0.9, show_default=True, help="Share of the loss against the teacher.")
@click.option("--match", default="probabilities", show_default=True, help="probabilities or logits.")
@training_options
@click.option("--anyway", is_flag=True, help="Also from a teacher that is no better than guessing.")
@click.option("--skip-alone", is_flag=True, help="Do not train the same student without a teacher for comparison.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Output folder.")
@click.option("--force", is_flag=True, help="Replace what is there.")
@as_json
@quiet
def command(
    teachers: tuple[str, ...],
    student: str,
    recipe: str,
    temperature: float,
    soft: float,
    match: str,
    read: Callable[[], Splits],
    settings: Settings,
    mean: bool,
    anyway: bool,
    skip_alone: bool,
    out: Path,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Teach a small model what a large one knows.

    \b
    Examples:
      mobilekit distill --teacher teacher --student minilm-l6 --data movie-sentiment --out student
      mobilekit distill --teacher one --teacher other --student ./small --data train.csv --dev dev.csv --out student

    Teacher and student may differ in everything but the labels. The report says what teacher, the same student
    without a teacher, and the student get right.
    """
    from mobilekit.models.load import load, load_backbone
    from mobilekit.training.distill import Teaching, distill
    from mobilekit.training.recipes.registry import recipe as find_recipe

    find_recipe(recipe)
    teaching = Teaching(recipe, temperature, soft, match, mean, anyway, not skip_alone)
    with progress_lines(not quiet and not as_json) as report:
        splits = read()
        report("distill", "loading the models")
        made = distill(
            load_backbone(student),
            [load(name) for name in teachers],
            splits,
            out,
            settings,
            teaching,
            force,
            lambda text: report("distill", text),
        )
    _show(made, out, as_json)


def _show(made: Distilled, out: Path, as_json: bool) -> None:
    if as_json:
        print_json({"folder": str(out), "rows": [{**vars(row), "interval": vars(row.interval)} for row in made.rows]})
        return
    for note in made.student.notes:
        click.echo(f"note: {note}", err=True)
    names = list(made.rows[0].values)
    columns = ["model", *names, "of the teacher", "95 % interval", "parameters", "multiply-adds at 128", "trained"]
    rows = [
        [
            row.name,
            *(f"{row.values[name]:.4f}" for name in names),
            f"{row.retained:.1%}",
            f"{row.interval.low:.1%} to {row.interval.high:.1%}",
            f"{row.parameters / 1e6:.2f} M",
            f"{row.multiply_adds / 1e6:.0f} M",
            f"{row.seconds / 60:.1f} min" if row.seconds else "-",
        ]
        for row in made.rows
    ]
    print_table(columns, rows)
    click.echo(f"{out}")
