"""The artifacts of `benchmarks.drops`: every row of ours on every target, made of the first fold's model; bytes, packed
bytes, milliseconds, and what the files themselves say of some of the sentences that the fold holds out.

    python -m benchmarks.drop_artifacts --work drops
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import click

from benchmarks.drops import VARIANTS, Variant, asked_for, weights_of
from benchmarks.environment import environment
from benchmarks.folds import LENGTH, Fold, folds
from benchmarks.writing import write_results
from export.gate import Gate
from export.pipeline import ExportError, export, prepare
from export.result import ExportResult
from mobilekit.compression.pack.pack import pack
from mobilekit.models.load import load
from mobilekit.text.data.load import load_data

RESULTS = Path(__file__).parent / "results/dropartifacts.json"
# A row of Core ML's reference interpreter takes half a second.
LIMIT = 200


def measured(fold: Fold, variant: Variant, limit: int = LIMIT) -> list[dict[str, Any]]:
    """A record a target that holds the variant; a failed check is in it, and what no target holds is not."""
    own, tuned = weights_of(fold, variant)
    exact = load(own)
    gate = Gate(load_data(str(fold.held_out), labels=exact.head.labels), limit=limit, against=exact if tuned else None)
    with tempfile.TemporaryDirectory() as out:
        try:
            results = export(
                load(tuned or own),
                prepare(None, variant.scheme, 18),
                variant.scheme,
                lengths=(LENGTH,),
                out=out,
                keep_failing=True,
                gate=gate,
            )
        except ExportError as error:
            results = error.results
        return [_record(variant, result, Path(out)) for result in results]


def _record(variant: Variant, result: ExportResult, place: Path) -> dict[str, Any]:
    packed = None
    if result.folder is not None:
        packed = pack(result.folder, place / f"{result.target}.mkpack")[1].size
    kept = {name: value for name, value in result.to_dict().items() if name != "folder"}
    return {"variant": variant.name, **kept, "packed_bytes": packed}


@click.command()
@click.option("--work", type=click.Path(path_type=Path), default=Path("drops"), show_default=True)
@click.option("--only", multiple=True, help="A row; may repeat.")
@click.option("--limit", type=click.IntRange(1), default=LIMIT, show_default=True, help="Sentences.")
def main(work: Path, only: tuple[str, ...], limit: int) -> None:
    """Export every row on every target, and write benchmarks/results/dropartifacts.json."""
    wanted, fold = [row for row in asked_for(only) if not row.plain], folds(work.resolve())[0]
    rows = read_rows()
    for variant in wanted:
        rows[variant.name] = measured(fold, variant, limit)
        for row in rows[variant.name]:
            click.echo(json.dumps({key: row[key] for key in ("variant", "target", "bytes", "packed_bytes", "passed")}))
        kept = [row for each in VARIANTS for row in rows.get(each.name, [])]
        content = {"environment": environment(), "sentences": limit, "length": LENGTH, "rows": kept}
        write_results(RESULTS, content)


def read_rows() -> dict[str, list[dict[str, Any]]]:
    """Records by row; none where there is no file."""
    found: dict[str, list[dict[str, Any]]] = {}
    if RESULTS.is_file():
        for row in json.loads(RESULTS.read_text(encoding="utf-8"))["rows"]:
            found.setdefault(row["variant"], []).append(row)
    return found


if __name__ == "__main__":
    main()
