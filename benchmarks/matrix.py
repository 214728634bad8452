"""Every family with every head, on every target, at int8 and fp16: what `make test-all` runs.

    python -m benchmarks.matrix --out benchmarks/results/matrix.json

A folder written by `transformers` is exported without a flag, every file with all its checks. Exit code 3 if one fails.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import click

from benchmarks.environment import environment
from benchmarks.matrix_models import LENGTHS, family_names, tasks, write_folder
from benchmarks.writing import write_results
from export.pipeline import ExportError, ExportResult, export
from export.registry import targets
from mobilekit.errors import CheckFailedError

SCHEMES = ("int8", "fp16")


def measure(family: str, task: str, folder: Path) -> list[dict[str, Any]]:
    """A row for each scheme and target that holds it."""
    write_folder(family, task, folder / "model")
    rows = []
    for scheme in SCHEMES:
        chosen = [name for name, target in targets().items() if scheme in target.schemes]
        try:
            results = export(folder / "model", chosen, scheme, lengths=LENGTHS, out=folder / "out")
        except ExportError as error:
            results = error.results
        rows += [_row(family, task, scheme, result) for result in results]
    return rows


def _row(family: str, task: str, scheme: str, result: ExportResult) -> dict[str, Any]:
    measured = {check.name: check.measured for check in result.checks}
    return {
        "family": family,
        "task": task,
        "scheme": scheme,
        "target": result.target,
        "bytes": result.manifest.get("bytes"),
        "output": measured.get("output"),
        "padding": measured.get("padding"),
        "passed": result.passed,
        "failed": [f"{c.name}: {c.measured} ({c.limit})" for c in result.checks if not c.passed],
        "error": None if result.error is None else str(result.error),
    }


@click.command()
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--family", "wanted", multiple=True, help="Only these; other families keep their rows.")
def main(out: Path, wanted: tuple[str, ...]) -> None:
    """Export every combination and write what became of it as JSON."""
    old = json.loads(out.read_text(encoding="utf-8")) if wanted and out.exists() else {"rows": []}
    rows = [row for row in old["rows"] if row["family"] not in wanted]
    combinations = [(family, task) for family in wanted or family_names() for task in tasks()]
    with click.progressbar(combinations, label="families and heads", width=40) as bar:
        for family, task in bar:
            with tempfile.TemporaryDirectory() as folder:
                rows += measure(family, task, Path(folder))
    rows.sort(key=lambda row: (row["family"], row["task"], row["scheme"], row["target"]))
    content = {"environment": environment(), "lengths": list(LENGTHS), "rows": rows}
    write_results(out, content)
    failed = [row for row in rows if not row["passed"]]
    for row in failed:
        said = row["error"] or "; ".join(row["failed"])
        click.echo(f"{row['family']} {row['task']} {row['scheme']} {row['target']}: {said}", err=True)
    click.echo(f"{len(rows) - len(failed)} of {len(rows)} passed: {out}")
    if failed:
        raise CheckFailedError(f"{len(failed)} of {len(rows)} combinations failed.")


if __name__ == "__main__":
    main()
