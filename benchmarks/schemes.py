"""Models at every scheme on every target: bytes, packed bytes, checks, wall time.

    python -m benchmarks.schemes --work schemes                                  # the built-in model
    python -m benchmarks.schemes --work schemes --model students/albert-0        # one more, its rows beside the others
    python -m benchmarks.schemes --work schemes --model minilm-l6 --only pal4

A model that is a folder goes by the folder's name. Artifacts stay in `--work`, for other benchmarks to read.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from benchmarks.environment import environment
from benchmarks.writing import write_results
from export.pipeline import ExportError, export, prepare
from export.result import ExportResult
from export.worker import shared_workers
from mobilekit.compression.pack.pack import pack
from mobilekit.compression.schemes.registry import scheme, schemes
from mobilekit.models.load import load
from mobilekit.models.model import Model

RESULTS = Path(__file__).parent / "results/schemes.json"
# Milliseconds are those of `benchmarks.measured`, which takes them in turn.
_LEFT_OUT = ("folder", "accuracy", "load_ms", "run_ms")


def measured(model: Model, name: str, work: Path) -> list[dict[str, Any]]:
    """A row a target that holds the scheme, failed checks and all."""
    # Every scheme begins as a user's command does: with engines that are not running yet.
    shared_workers().close()
    started = time.perf_counter()
    try:
        results = export(model, prepare(None, name, 18), name, out=work, force=True, keep_failing=True)
    except ExportError as error:
        results = error.results
    seconds = round(time.perf_counter() - started, 1)
    return [_row(model, name, seconds, result, work) for result in results]


def _row(model: Model, name: str, seconds: float, result: ExportResult, work: Path) -> dict[str, Any]:
    packed = None
    if result.folder is not None:
        file = work / "p.mkpack"
        packed = pack(result.folder, file)[1].size
        file.unlink()
    kept = {name: value for name, value in result.to_dict().items() if name not in _LEFT_OUT}
    return {"model": model.name, "scheme": name, "export_wall_s": seconds, **kept, "packed_bytes": packed}


@click.command()
@click.option("--work", type=click.Path(path_type=Path), default=Path("schemes"), show_default=True)
@click.option("--model", "models", multiple=True, default=("minilm-l6",), show_default=True, help="May repeat.")
@click.option("--only", multiple=True, help="A scheme; may repeat.")
def main(work: Path, models: tuple[str, ...], only: tuple[str, ...]) -> None:
    """Export models at every scheme, and write benchmarks/results/schemes.json."""
    wanted = [scheme(name).name for name in only] or list(schemes())
    work.mkdir(parents=True, exist_ok=True)
    for name in models:
        for each in wanted:
            made = measured(load(name), each, work)
            for row in made:
                click.echo(json.dumps({key: row[key] for key in ("model", "scheme", "target", "bytes", "passed")}))
            write_rows(made)


def write_rows(made: Iterable[dict[str, Any]], file: Path = RESULTS) -> None:
    """Write new rows, in the place of those of the same model, scheme and target."""
    content = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {"rows": []}
    rows = {_key(row): row for row in [*content["rows"], *made]}
    order = {name: i for i, name in enumerate(schemes())}
    kept = sorted(rows.values(), key=lambda row: (row["model"] != "minilm-l6", row["model"], order[row["scheme"]]))
    content = {"environment": environment(), "rows": kept}
    write_results(file, content)


def _key(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["model"], row["scheme"], row["target"]


if __name__ == "__main__":
    main()
