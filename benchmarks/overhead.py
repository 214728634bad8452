"""What a target's files take over their weights: the measurement behind `Target.overhead` and the byte budget.

    python -m benchmarks.overhead --out benchmarks/results/overhead.json

Random models of a few shapes are exported for each target; what the file has over the floor of its records (and each
shorter length's rows of positions) is split into a part for the file, one for each length, one for each layer and
length, and one for each use of a linear map between activations with fixed scales, and length.
"""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from benchmarks.writing import write_results
from export.budget import floor_bytes, graph_bytes, static_uses
from export.registry import GraphSpec, Target, targets
from export.stored import tensor_entries
from export.thresholds import precision
from export.worker import Workers
from mobilekit.artifact import size_and_hash
from mobilekit.compression.compress import compress
from mobilekit.compression.compressed import save_records
from mobilekit.compression.schemes.registry import scheme as find_scheme
from mobilekit.host import versions
from mobilekit.models.config import EncoderConfig, HeadConfig
from mobilekit.models.load import load
from mobilekit.models.model import Model, fresh_module

_SHAPE = EncoderConfig(
    vocab_size=600, hidden_size=64, layers=2, heads=4, intermediate_size=128, embedding_size=64, max_positions=128
)
_HEADS = (
    HeadConfig("sentence-embedding"),
    HeadConfig("sequence-classification", ("negative", "positive")),
    # The largest graph of all heads.
    HeadConfig("fill-mask", activation="gelu_new"),
)
_SHAPES = (
    replace(_SHAPE, layers=1),
    replace(_SHAPE, layers=6),
    replace(_SHAPE, layers=6, embedding_size=32, sharing="all"),
)
_LENGTHS = ((32,), (32, 128))
# Room for names and metadata that a user's model has longer, and for a scheme not measured here.
_ROOM = 1.25
# What a row is of.
_SAME = ("layers", "sharing", "task", "scheme", "lengths")


def measure(target: Target, names: Collection[str], workers: Workers, folder: Path) -> list[dict[str, Any]]:
    """Bytes over the floor for every shape, head, scheme (of those named) and set of lengths."""
    rows: list[dict[str, Any]] = []
    base = load("tiny-embedding")
    chosen = (name for name in target.schemes if name in names)
    for shape, head, scheme, lengths in itertools.product(_SHAPES, _HEADS, chosen, _LENGTHS):
        if find_scheme(scheme).static and (shape, head) != (_SHAPES[0], _HEADS[0]):
            # What fixed scales take is a map's own; what layers and heads take, the other schemes have measured.
            continue
        model = Model("overhead", fresh_module(shape, head), head, base.tokenizer, base.source)
        compressed = compress(model, scheme)
        save_records(compressed, folder / "records.safetensors")
        path = folder / f"Overhead{len(rows)}{target.suffix}"
        workers.emit(target.name, folder / "records.safetensors", GraphSpec(lengths, "Overhead"), path, lambda _: None)
        entries = tensor_entries(compressed, max(lengths), target.codebooks)
        kept = precision(entries)
        bare = replace(target, overhead=replace(target.overhead, once=0, per_length=0, per_layer=0, per_static=0))
        floor = floor_bytes(target, kept, entries) + graph_bytes(bare, kept, entries, shape.layers, lengths)
        size = size_and_hash(path)[0]
        rows.append(
            {
                "layers": shape.layers,
                "sharing": shape.sharing,
                "task": head.task,
                "scheme": scheme,
                "static_uses": static_uses(entries, shape.layers),
                "lengths": list(lengths),
                "file_bytes": size,
                "floor_bytes": floor,
                "over_bytes": size - floor,
            }
        )
    return rows


def fitted(rows: list[dict[str, Any]]) -> dict[str, int]:
    """Bytes a length, bytes a layer and length (least squares, with room), once what then covers every row; and for a
    map with fixed scales and length what such a file has over that of int8."""
    static, plain = [row for row in rows if _uses(row)], [row for row in rows if not _uses(row)]
    lengths = np.array([len(row["lengths"]) for row in plain], np.float64)
    layers = np.array([row["layers"] for row in plain], np.float64) * lengths
    over = np.array([row["over_bytes"] for row in plain], np.float64)
    _, a_length, a_layer = np.linalg.lstsq(np.stack([np.ones_like(over), lengths, layers], 1), over)[0]
    per_length, per_layer = (int(max(v, 0.0) * _ROOM) for v in (a_length, a_layer))
    rest = float((over - per_length * lengths - per_layer * layers).max())
    return {
        "once_bytes": max(int(rest * _ROOM), 0),
        "per_length_bytes": per_length,
        "per_layer_and_length_bytes": per_layer,
        "per_static_use_and_length_bytes": int(_ROOM * max((_a_use(row, plain) for row in static), default=0.0)),
    }


def _uses(row: dict[str, Any]) -> int:
    """Rows from before there were fixed scales do not say that they have none."""
    uses: int = row.get("static_uses", 0)
    return uses


def _a_use(row: dict[str, Any], plain: list[dict[str, Any]]) -> float:
    same = [{**row, "scheme": "int8"}[key] for key in _SAME]
    (int8,) = (each["over_bytes"] for each in plain if [each[key] for key in _SAME] == same)
    return float(row["over_bytes"] - int8) / _uses(row) / len(row["lengths"])


@click.command()
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--target", "names", multiple=True, help="Only these.")
@click.option("--scheme", "schemes", multiple=True, help="Only these; what is known of others stays.")
def main(names: tuple[str, ...], schemes: tuple[str, ...], out: Path) -> None:
    """Measure the bytes that graphs take, for all targets, and write them as JSON."""
    known = json.loads(out.read_text()) if (names or schemes) and out.exists() else {"targets": {}}
    result: dict[str, Any] = known | {"versions": {name: version for name, version in versions().items() if version}}
    workers = Workers()
    try:
        for name, target in targets().items():
            if names and name not in names:
                continue
            wanted = schemes or target.schemes
            rows = [row for row in result["targets"].get(name, {}).get("rows", ()) if row["scheme"] not in wanted]
            with tempfile.TemporaryDirectory() as folder:
                rows += measure(target, wanted, workers, Path(folder))
            result["targets"][name] = {**fitted(rows), "rows": rows}
            click.echo(f"{name}: {fitted(rows)}")
    finally:
        workers.close()
    write_results(out, result)


if __name__ == "__main__":
    main()
