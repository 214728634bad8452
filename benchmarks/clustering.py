"""Clustering of the built-in model's matrices: time and error of ours, of coremltools' k-means and of scikit-learn's.

    python -m benchmarks.clustering --out benchmarks/results/clustering.json

One process with one thread runs them all. Each matrix goes to all of them in turn, so that what else the machine does
falls on all; seconds are those of the processor, since others may use it, too. The error is the sum
of squares over that of the weights, always of the float32 weights themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from benchmarks.environment import environment
from benchmarks.writing import write_results
from mobilekit.compression.plan import is_weight
from mobilekit.models.load import load
from mobilekit.process import EngineProcess

Tensors = Mapping[str, NDArray[np.float32]]

# What is compared on what: a name of the rows, which tensors, which bits, how often, and who.
_PLANS: tuple[tuple[str, str, tuple[int, ...], int, tuple[str, ...]], ...] = (
    ("all matrices", "", (4,), 3, ("ours", "coremltools")),
    (
        "table and first layer",
        "embeddings layers.0.",
        (2, 3, 4, 6, 8),
        1,
        ("ours", "coremltools", "coremltools_scaled", "ours_one_scale"),
    ),
    ("attention of the second layer", "layers.1.attention.", (2, 3, 4), 1, ("ours", "coremltools", "scikit_learn")),
    ("attention of the second layer", "layers.1.attention.", (2, 3, 4, 6), 1, ("ours_largest", "free_levels")),
)


def routes_process() -> EngineProcess:
    """The process that clusters; close it."""
    return EngineProcess("benchmarks.clustering_routes:service", hide=("tensorflow",), threads=1)


def compare(
    process: EngineProcess, tensors: Tensors, bits: int, rounds: int, routes: Sequence[str]
) -> list[dict[str, Any]]:
    """A row for each route: seconds and error of all tensors, and how both relate to the first route's."""
    seconds = np.zeros((len(routes), rounds))
    waited, errors = np.zeros_like(seconds), np.zeros((len(routes), len(tensors)))
    for route in routes:
        # Imports are no part of clustering.
        process.call("run", {"route": route, "bits": bits}, {"weight": np.eye(8, 64, dtype=np.float32) + 1})
    for turn in range(rounds):
        for place, weight in enumerate(tensors.values()):
            for i, route in enumerate(routes):
                found = process.call("run", {"route": route, "bits": bits}, {"weight": weight})[0]
                seconds[i, turn] += found["cpu_seconds"]
                waited[i, turn] += found["seconds"]
                errors[i, place] = found["error"]
    energy = sum(float((weight.astype(np.float64) ** 2).sum()) for weight in tensors.values())
    return [
        {
            "route": route,
            "bits": bits,
            "cpu_seconds": round(float(np.median(seconds[i])), 3),
            "seconds": round(float(np.median(waited[i])), 3),
            "error": float(f"{errors[i].sum() / energy:.5g}"),
            "seconds_over_first": round(float(np.median(seconds[i] / seconds[0])), 2),
            "error_over_first": round(float(errors[i].sum() / errors[0].sum()), 4),
            "error_over_first_least": round(float((errors[i] / errors[0]).min()), 4),
        }
        for i, route in enumerate(routes)
    ]


@click.command()
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The JSON file to write.")
def main(out: Path) -> None:
    """Compare on the built-in model's matrices and write the result; takes some ten minutes."""
    model = load("minilm-l6")
    matrices = {name: values for name, values in model.tensors().items() if is_weight(name, values.ndim)}
    rows: list[dict[str, Any]] = []
    with routes_process() as process:
        for name, prefixes, all_bits, rounds, routes in _PLANS:
            chosen = {n: w for n, w in matrices.items() if n.startswith(tuple(prefixes.split(" ")))}
            size = sum(weight.size for weight in chosen.values())
            for bits in all_bits:
                for row in compare(process, chosen, bits, rounds, routes):
                    rows.append({"tensors": name, "weights": size, "rounds": rounds, **row})
                    click.echo(f"{name}, {bits} bits, {row['route']}: {row['cpu_seconds']} s, error {row['error']}")
    content = {"model": model.name, "environment": environment(), "rows": rows}
    content["scikit_learn"] = version("scikit-learn")
    write_results(out, content)


if __name__ == "__main__":
    main()
