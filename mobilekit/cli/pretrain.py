"""`mobilekit pretrain`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mobilekit.cli.options import as_json, is_first_process, print_json, progress_lines, quiet
from mobilekit.cli.recipe_options import student_options, text_recipe_options
from mobilekit.cli.training_options import Corpora, loop_options, run_options, text_options
from mobilekit.errors import InputError
from mobilekit.training.options import flag
from mobilekit.training.processes import one_message
from mobilekit.training.recipes.registry import GENERAL_TEACHER, Recipe
from mobilekit.training.recipes.registry import recipe as find_recipe
from mobilekit.training.students.registry import StudentOptions, students

if TYPE_CHECKING:
    from mobilekit.training.pretrain import Pretrained
    from mobilekit.training.settings import Settings


@click.command()
@one_message()
@click.option("--model", default="minilm-l6", show_default=True, help="A name of `list students`, or any model.")
@click.option("--teacher", help="What a student of `list students` is made from, and what guides it (--recipe).")
@text_options
@click.option("--dev", help="Text that chooses the best epoch.  [default: the dev split of a built-in --text]")
@click.option("--test", help="Text that judges the result.  [default: the test split of a built-in --text]")
@click.option("--pair-task", default="none", show_default=True, help="none, nsp (next segment) or sop (their order).")
@click.option("--head-only", is_flag=True, help="Fit a fill-mask head; the encoder stays as it is.")
@click.option("--recipe", default="", help="A recipe's stages on plain text: distilbert, tinybert.")
@loop_options
@student_options
@text_recipe_options
@run_options
@as_json
@quiet
def command(
    model: str,
    teacher: str | None,
    texts: Corpora,
    dev: str | None,
    test: str | None,
    pair_task: str,
    head_only: bool,
    recipe: str,
    settings: Settings,
    making: StudentOptions,
    options: Mapping[str, Any],
    out: Path,
    resume: bool,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Train on plain text: masked words, and the order of segments.

    \b
    Examples:
      mobilekit pretrain --model e5-small-enpt --head-only --text movie-sentiment --out words
      mobilekit pretrain --model albert --teacher words --pair-task sop --optimizer lamb --text editorials --out albert
      mobilekit pretrain --model distil6 --teacher words --recipe distilbert --text corpus.txt --out six-layers

    The result is a fill-mask model: a general teacher, a student to fine-tune, or a model to go on with.
    """
    from mobilekit.models.load import load_backbone
    from mobilekit.training.pretrain import Corpus, Pretraining, pretrain
    from mobilekit.training.students.find import find_student

    how = find_recipe(recipe) if recipe else None
    _refuse_unread(how, model, teacher, dev, options)
    if not texts.specs:
        raise InputError("pretraining learns from plain text: name it with --text.")
    with progress_lines(not quiet and not as_json) as report:
        plain = texts()
        corpus = Corpus(plain, texts.split(dev, "dev"), texts.split(test, "test"))
        report("pretrain", f"loading {model}")
        guide = None if teacher is None else load_backbone(teacher)
        made = pretrain(
            find_student(model, guide, making, how.layers if how else "", settings.seed, plain),
            corpus,
            out,
            settings,
            Pretraining(pair_task, head_only, recipe, guide, options),
            resume=resume,
            force=force,
            report=lambda text: report("pretrain", text),
        )
    if is_first_process():
        _show(made, out, as_json)


def _refuse_unread(
    how: Recipe | None, model: str, teacher: str | None, dev: str | None, options: Mapping[str, Any]
) -> None:
    """Raise InputError for what was given and would change nothing."""
    if how is None:
        if options:
            raise InputError(f"{flag(next(iter(options)))} is an option of recipes; give --recipe.")
    elif dev is not None and how.general is not None and not how.chooses:
        raise InputError(
            f"recipe {how.name}: no text chooses its best epoch, the last one is; leave out --dev, and name text for "
            "figures with --test."
        )
    guided = how is not None and GENERAL_TEACHER in how.needs(how.options())
    if teacher is not None and model not in students() and not guided:
        raise InputError(
            f"--teacher is what a student ({', '.join(students())}) is made from, or what guides a recipe; '{model}' "
            f"is what it is{f', and recipe {how.name} has no teacher here' if how else ''}: leave it out."
        )


def _show(made: Pretrained, out: Path, as_json: bool) -> None:
    figures = None if made.test is None else vars(made.test)
    if as_json:
        print_json({"folder": str(out), "test": figures, "unigram_entropy": made.unigram_entropy})
        return
    for note in made.model.notes:
        click.echo(f"note: {note}", err=True)
    if made.test is not None:
        found = made.test
        click.echo(
            f"test: masked loss {found.loss:.3f} nats a word (their entropy without context: "
            f"{made.unigram_entropy:.3f}), {found.accuracy:.1%} of {found.words} words right"
        )
        if found.pair_accuracy is not None and made.pair_interval is not None:
            low, high = made.pair_interval.low, made.pair_interval.high
            click.echo(f"test: pairs {found.pair_accuracy:.1%} right (95 % interval {low:.1%} to {high:.1%})")
    click.echo(f"{out}")
