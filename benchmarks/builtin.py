"""The built-in model at every scheme on every target: bytes, checks, load and run milliseconds, wall time.

python -m benchmarks.builtin --out benchmarks/results/builtin.json
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

import click

from benchmarks.environment import environment
from export.pipeline import export, prepare
from export.worker import shared_workers
from mobilekit.models.load import load

_SCHEMES = ("int8", "int4", "int4-g32", "fp16", "fp32")


@click.command()
@click.option("--out", type=click.Path(path_type=Path), required=True)
def main(out: Path) -> None:
    """Export the built-in model at every scheme and write what came out as JSON."""
    rows: list[dict[str, Any]] = []
    walls: dict[str, float] = {}
    for scheme in _SCHEMES:
        # Every scheme begins as a user's command does: with engines that are not running yet.
        shared_workers().close()
        started = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            results = export(load("minilm-l6"), prepare(None, scheme, 18), scheme, out=folder)
            walls[scheme] = round(time.perf_counter() - started, 1)
            for result in results:
                row = result.to_dict()
                del row["folder"]
                rows.append({"scheme": scheme, **row, "lengths": sorted(result.run_ms)})
                click.echo(f"{scheme} {result.target}: {row['bytes'] / 1e6:.2f} MB")
    content = {"model": "minilm-l6", "environment": environment(), "export_wall_s": walls, "rows": rows}
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
