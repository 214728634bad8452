"""`mobilekit distill`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mobilekit.cli.options import as_json, is_first_process, print_json, print_table, progress_lines, quiet
from mobilekit.cli.recipe_options import recipe_options, student_options
from mobilekit.cli.training_options import Corpora, run_options, text_options, training_options
from mobilekit.errors import InputError
from mobilekit.training.options import make_options
from mobilekit.training.processes import one_message
from mobilekit.training.recipes.registry import GENERAL_TEACHER, PLAIN_TEXT, Recipe
from mobilekit.training.recipes.registry import recipe as find_recipe
from mobilekit.training.students.registry import StudentOptions, students

if TYPE_CHECKING:
    from mobilekit.training.distill import Distilled
    from mobilekit.training.settings import Settings
    from mobilekit.training.train import Splits


@click.command()
@one_message()
@click.option("--teacher", "teachers", multiple=True, required=True, help="A fine-tuned model; may repeat.")
@click.option("--student", help="A name of `list students`, a built-in model, a folder or a hub id.  [the recipe's]")
@click.option("--recipe", default="hinton", show_default=True, help="See `list recipes`.")
@click.option("--general-teacher", help="A model that is not fine-tuned, for stages on plain text.")
@text_options
@training_options
@student_options
@recipe_options
@click.option("--anyway", is_flag=True, help="Also from a teacher that is no better than guessing.")
@click.option("--skip-alone", is_flag=True, help="Do not train the same student without a teacher for comparison.")
@run_options
@as_json
@quiet
def command(
    teachers: tuple[str, ...],
    student: str | None,
    recipe: str,
    general_teacher: str | None,
    texts: Corpora,
    read: Callable[[], Splits],
    settings: Settings,
    mean: bool | None,
    freeze: str,
    making: StudentOptions,
    options: Mapping[str, Any],
    anyway: bool,
    skip_alone: bool,
    out: Path,
    resume: bool,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Teach a small model what a large one knows.

    \b
    Examples:
      mobilekit distill --teacher teacher --student minilm-l6 --data movie-sentiment --out student
      mobilekit distill --teacher teacher --recipe pkd --data movie-sentiment --out six-layers
      mobilekit distill --teacher teacher --recipe distilbert --general-teacher words --text movie-sentiment \\
          --data movie-sentiment --out six-layers
      mobilekit distill --teacher one --teacher other --student ./small --data train.csv --dev dev.csv --out student

    A student of `list students` is made from the general teacher, or from the first teacher where there is none. The
    report says what teacher, the same student without a teacher, and the student get right.
    """
    from mobilekit.models.load import load, load_backbone
    from mobilekit.training.distill import Teaching, distill
    from mobilekit.training.students.find import find_student

    how, name = find_recipe(recipe), student or find_recipe(recipe).student
    _refuse_unread(how, name, general_teacher, bool(texts.specs), options)
    with progress_lines(not quiet and not as_json) as report:
        splits, plain = read(), texts()
        report("distill", "loading the models")
        loaded = [load(each) for each in teachers]
        general = None if general_teacher is None else load_backbone(general_teacher)
        made = distill(
            find_student(name, general or loaded[0], making, how.layers, settings.seed, plain),
            loaded,
            splits,
            out,
            settings,
            Teaching(recipe, options, general, plain, mean, freeze, anyway, not skip_alone),
            resume=resume,
            force=force,
            report=lambda text: report("distill", text),
        )
    if is_first_process():
        _show(made, out, as_json)


def _refuse_unread(how: Recipe, student: str, general: str | None, texts: bool, options: Mapping[str, Any]) -> None:
    """Raise InputError for what was given and would change nothing."""
    needs, kind = how.needs(make_options(how.options, options, f"recipe {how.name}")), students().get(student)
    if general is not None and kind is None and GENERAL_TEACHER not in needs:
        raise InputError(f"recipe {how.name} has no use for a general teacher here: leave out --general-teacher.")
    if texts and PLAIN_TEXT not in needs and not (kind and kind.counts):
        raise InputError(f"recipe {how.name} has no stage on plain text here: leave out --text.")


def _show(made: Distilled, out: Path, as_json: bool) -> None:
    if as_json:
        print_json({"folder": str(out), "rows": [asdict(row) for row in made.rows]})
        return
    for note in made.student.notes:
        click.echo(f"note: {note}", err=True)
    names = list(made.rows[0].values)
    columns = ["model", *names, "of the teacher", "95 % interval", "parameters", "multiply-adds at 128", "trained"]
    rows = [
        [
            row.name,
            *(f"{row.values[name]:.4f}" for name in names),
            "-" if row.retained is None else f"{row.retained:.1%}",
            "-" if row.interval is None else f"{row.interval.low:.1%} to {row.interval.high:.1%}",
            f"{row.parameters / 1e6:.2f} M",
            f"{row.multiply_adds / 1e6:.0f} M",
            f"{row.seconds / 60:.1f} min" if row.seconds else "-",
        ]
        for row in made.rows
    ]
    print_table(columns, rows)
    click.echo(f"{out}")
