"""`mobilekit export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mobilekit.cli.calibration import calibration_option, calibration_texts
from mobilekit.cli.gate_options import GateRequest, gate_options, show_accuracy
from mobilekit.cli.options import (
    Folder,
    Lengths,
    as_json,
    print_json,
    print_table,
    progress_lines,
    quiet,
    scheme_option,
)
from mobilekit.errors import InputError

if TYPE_CHECKING:
    from export.pipeline import ExportResult
    from export.registry import Target
    from mobilekit.compression.plan import Plan


@click.command()
@click.option("--model", default="minilm-l6", show_default=True, help="A built-in name, a folder or a hub id.")
@click.option("--target", "targets", multiple=True, help="executorch, coreml or tflite; may repeat.  [default: all]")
@scheme_option
@calibration_option
@click.option(
    "--lengths", type=Lengths(), default="32,128", show_default=True, help="Sequence lengths of the one file."
)
@click.option("--minimum-ios", type=int, help="16, 17 or 18, for coreml.  [default: 18]")
@click.option("--task", help="What the head is for, where the checkpoint does not say: sentence-embedding, ...")
@click.option("--revision", help="Branch, tag or commit of a hub id.")
@click.option("--name", help="What the model is called in folders and files.  [default: as it comes]")
@gate_options
@click.option("--out", type=Folder(), default=Path("out"), show_default=True, help="Output folder.")
@click.option("--force", is_flag=True, help="Replace artifacts that are there.")
@click.option("--keep-failing", is_flag=True, help="Keep an artifact that fails a check, marked as failed.")
@as_json
@quiet
def command(
    model: str,
    targets: tuple[str, ...],
    scheme: str,
    calibration: str | None,
    lengths: tuple[int, ...],
    minimum_ios: int | None,
    task: str | None,
    revision: str | None,
    name: str | None,
    request: GateRequest,
    out: Path,
    force: bool,
    keep_failing: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compress a model and write it for phones; every file is run and checked.

    \b
    Examples:
      mobilekit export                                       the built-in MiniLM, int8, all targets
      mobilekit export --target coreml                       for iOS only
      mobilekit export --model ./my-bert --scheme fp16 --target coreml --target tflite
      mobilekit export --model sentence-transformers/all-MiniLM-L6-v2 --lengths 64
      mobilekit export --model ./my-bert --scheme int4 --calibration train.csv
      mobilekit export --model ./my-bert --scheme plan.toml
      mobilekit export --model ./my-bert --data test.csv --max-drop 0.5 --teacher ./teacher
      mobilekit export --model ./my-bert --target coreml --data test.csv --max-drop 0.5 --limit 200

    The artifacts are folders: OUT/<model>-<scheme>/<target>, with the model file, manifest.json, tokenizer.json and a
    README with the lines that run it. Exit code 3: a check failed.

    With --data each file answers the rows itself, and is held against the float model in the task's metric; where rows
    have no labels, by how many answers are the same (embeddings: by their cosine). Built-in and hub data give their
    test split, or NAME:SPLIT.
    """
    from export.manifest import LATEST_IOS, checked_name
    from export.pipeline import ExportError, export, prepare
    from export.registry import targets as registered
    from mobilekit.compression.plan import plan_of
    from mobilekit.models.load import load

    with progress_lines(not quiet and not as_json) as report:
        # The cheap refusals come before a model is loaded.
        least = LATEST_IOS if minimum_ios is None else minimum_ios
        plan = plan_of(scheme)
        chosen = prepare(list(targets) or None, plan, least)
        _refuse_early(chosen, minimum_ios, lengths, name, out)
        _note_left_out(plan, [] if targets else [t for name, t in registered().items() if name not in chosen])
        texts = calibration_texts(calibration, plan)
        report("model", f"loading {model}")
        loaded = load(model, task, revision)
        loaded.name = name or checked_name(loaded.name, given=False)
        for note in loaded.notes:
            click.echo(f"note: {note}", err=True)
        gate = request.gate(loaded.head, lambda text: report("model", text))
        report("model", "loaded")
        failure = None
        try:
            results = export(
                loaded,
                chosen,
                plan,
                texts=texts,
                lengths=lengths,
                minimum_ios=least,
                out=out,
                force=force,
                keep_failing=keep_failing,
                gate=gate,
                report=report,
            )
        except ExportError as error:
            results, failure = error.results, error
    if as_json:
        print_json([result.to_dict() for result in results])
    else:
        show(results)
    if failure is not None:
        raise failure


def _note_left_out(plan: Plan, targets: list[Target]) -> None:
    from export.manifest import not_held, refusal

    for left in targets:
        rule = not_held(left, plan)
        if rule is not None:
            click.echo(f"note: {rule.where}{refusal(left, rule)}, and is left out.", err=True)


def _refuse_early(
    chosen: list[str], minimum_ios: int | None, lengths: tuple[int, ...], name: str | None, out: Path
) -> None:
    from export.manifest import checked_lengths, checked_name
    from mobilekit.staging import refuse_unwritable

    if minimum_ios is not None and "coreml" not in chosen:
        raise InputError(f"--minimum-ios is for target coreml, not for {', '.join(chosen)}: leave it out.")
    if name is not None:
        checked_name(name, given=True)
    checked_lengths(lengths)
    refuse_unwritable(out)


def show(results: list[ExportResult]) -> None:
    """The table that ends an export, and where the artifacts are."""
    from export.judge import data_result

    lengths = sorted({n for result in results for n in result.run_ms})
    times = [f"ms at {n}" for n in lengths]
    columns = ["target", "file", "MB", "parameters", "load ms", *times, "output error", "delegated", "checks"]
    print_table(columns, [_cells(result, lengths) for result in results], left=2)
    measured = {result.target: data_result(result.checks) for result in results}
    show_accuracy({target: found for target, found in measured.items() if found is not None})
    for result in results:
        if result.folder is not None:
            click.echo(f"{result.target}: {result.folder}")


def _cells(result: ExportResult, lengths: list[int]) -> list[str]:
    manifest = result.manifest
    if not manifest:
        return [result.target, "failed", *["-"] * (len(lengths) + 6)]
    measured = {check.name: check.measured for check in result.checks}
    passed = sum(check.passed for check in result.checks)
    times = [result.run_ms.get(n) for n in lengths]
    return [
        result.target,
        manifest["file"],
        f"{manifest['bytes'] / 1e6:.2f}",
        f"{manifest['parameters'] / 1e6:.2f} M",
        _ms(result.load_ms),
        *(_ms(time) for time in times),
        f"{manifest['tolerance']['host']['metric']} {measured.get('output', '-').split(';')[0]}",
        measured.get("delegation", "-").split(" of ")[0],
        f"{passed} of {len(result.checks)}",
    ]


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"
