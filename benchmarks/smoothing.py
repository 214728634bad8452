"""What smoothing does to int8 and int4: the built-in model with and without it, run by LiteRT on the golden inputs.

python -m benchmarks.smoothing --out benchmarks/results/smoothing.json
"""

from __future__ import annotations

import itertools
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from benchmarks.environment import environment
from benchmarks.writing import write_results
from export.golden import golden
from export.registry import GraphSpec
from export.worker import Workers
from mobilekit.compression.compress import compress
from mobilekit.compression.compressed import CompressedModel, save_records
from mobilekit.compression.schemes.registry import scheme
from mobilekit.models.load import load
from mobilekit.models.model import Model
from mobilekit.runtimes.base import engine

_LENGTHS = (32, 128)
_SCHEMES = ("int8", "int4")


def outputs(model: Model, compressed: CompressedModel, workers: Workers, folder: Path) -> list[np.ndarray[Any, Any]]:
    """What LiteRT gives on the golden inputs."""
    records, path = folder / "records.safetensors", folder / "model.tflite"
    save_records(compressed, records)
    entries = workers.emit("tflite", records, GraphSpec(_LENGTHS, "Smoothing"), path, lambda _: None).entry_points
    loaded = engine("litert").load(path, tuple(entries.values()), 1)
    found = []
    for entry in golden(compressed, model, _LENGTHS):
        ids, length = entry["input_ids"], entry["length"]
        inputs = {name: np.zeros((1, length), np.int32) for name in ("input_ids", "attention_mask", "token_type_ids")}
        inputs["input_ids"][0, : len(ids)], inputs["attention_mask"][0, : len(ids)] = ids, 1
        inputs["token_type_ids"][0, : len(ids)] = entry["token_type_ids"]
        found.append(loaded.run(entries[length], inputs)["embedding"][0])
    return found


def cosines(got: list[np.ndarray[Any, Any]], expected: list[np.ndarray[Any, Any]]) -> dict[str, float]:
    """Mean and least cosine of pairs of unit vectors."""
    pairs = zip(got, expected, strict=True)
    values = [float(g.astype(np.float64) @ e / np.linalg.norm(g) / np.linalg.norm(e)) for g, e in pairs]
    return {"mean": round(float(np.mean(values)), 6), "least": round(min(values), 6)}


@click.command()
@click.option("--out", type=click.Path(path_type=Path), required=True)
def main(out: Path) -> None:
    """Compare schemes with and without smoothing, against torch on the same weights and on the float ones."""
    model, rows = load("minilm-l6"), []
    exact = [np.array(e["output"]) for e in golden(compress(model, "fp32"), model, _LENGTHS)]
    workers = Workers()
    try:
        for chosen, smooth in itertools.product(map(scheme, _SCHEMES), (False, True)):
            compressed = compress(model, replace(chosen, smooth=chosen.smooth if smooth else 0.0))
            decoded = [np.array(e["output"]) for e in golden(compressed, model, _LENGTHS)]
            with tempfile.TemporaryDirectory() as folder:
                got = outputs(model, compressed, workers, Path(folder))
            rows.append(
                {
                    "scheme": chosen.name,
                    "smooth": smooth,
                    "engine_against_decoded_weights": cosines(got, decoded),
                    "decoded_weights_against_float": cosines(decoded, exact),
                    "engine_against_float": cosines(got, exact),
                }
            )
    finally:
        workers.close()
    content = {"model": model.name, "inputs": len(exact), "environment": environment(), "rows": rows}
    write_results(out, content)


if __name__ == "__main__":
    main()
