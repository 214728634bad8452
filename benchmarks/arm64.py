"""What artifacts give on a phone's instruction set, under emulation, against torch and against this machine.

    python -m benchmarks.schemes --work schemes       # makes artifacts of the built-in model
    python -m benchmarks.arm64 schemes/minilm-l6-int8/tflite schemes/minilm-l6-int8/executorch

Outputs only: what a run takes under emulation says nothing of a phone. Needs what `make arm64` fetches.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from benchmarks.environment import environment
from benchmarks.markdown import table as markdown
from benchmarks.writing import write_results
from export.arm64 import emulated_outputs
from export.check import golden_output, hold_golden, listed, tolerances
from mobilekit.artifact import Artifact, open_folder
from mobilekit.runtimes.arm64.emulation import CPU, Emulation, emulation
from mobilekit.runtimes.runner import open_artifact

RESULTS = Path(__file__).parent / "results/arm64.json"
Vector = NDArray[np.float32]


@click.command()
@click.argument("artifacts", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS, show_default="benchmarks/results/arm64.json")
def main(artifacts: tuple[Path, ...], out: Path) -> None:
    """Run golden inputs of artifacts on arm64 and here."""
    opened = [open_folder(folder) for folder in artifacts]
    emulated = [emulation(artifact.manifest.target) for artifact in opened]
    rows = []
    for artifact, each in zip(opened, emulated, strict=True):
        rows.append(measured(artifact, each))
        click.echo(json.dumps(rows[-1], sort_keys=True))
    write_results(out, {"environment": environment(), "cpu": CPU, "emulator": emulated[0].versions(), "rows": rows})


def measured(artifact: Artifact, emulator: Emulation) -> dict[str, Any]:
    """Distances of one artifact's outputs, on arm64 and here, to torch's on the same decoded weights and to each
    other; over the values that the manifest lists."""
    content = artifact.manifest.content
    with open_artifact(artifact) as runner:
        there = emulated_outputs(emulator, artifact, runner)
        here = [golden_output(runner, entry) for entry in content["golden"]]
    held = hold_golden("arm64", artifact, there, tolerances(artifact).device)
    torch = [np.array(entry["output"], np.float32) for entry in content["golden"]]
    arm64, host = _listed(artifact, there), _listed(artifact, here)
    return {
        "name": content["name"],
        "target": artifact.manifest.target,
        "scheme": content["scheme"],
        "inputs": len(torch),
        "arm64_against_torch": _apart(arm64, torch),
        "host_against_torch": _apart(host, torch),
        "arm64_against_host": _apart(arm64, host),
        "limit": held.limit,
        "passed": held.passed,
    }


def _listed(artifact: Artifact, outputs: Sequence[Vector]) -> list[Vector]:
    golden = artifact.manifest.content["golden"]
    return [listed(o, e["rows"], e["columns"]).ravel() for o, e in zip(outputs, golden, strict=True)]


def _apart(first: Sequence[Vector], second: Sequence[Vector]) -> dict[str, float]:
    pairs = [(a.astype(np.float64), b.astype(np.float64)) for a, b in zip(first, second, strict=True)]
    cosines = [float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b))) for a, b in pairs]
    return {
        "max_abs": float(f"{max(np.abs(a - b).max() for a, b in pairs):.3g}"),
        "cosine_mean": round(float(np.mean(cosines)), 7),
        "cosine_least": round(min(cosines), 7),
    }


def table(content: dict[str, Any]) -> str:
    """A row an artifact."""
    head = ["scheme", "target", "arm64 against torch", "x86-64 against torch", "arm64 against x86-64", "limit", "holds"]
    lines = []
    for row in content["rows"]:
        cells = [_said(row[name]) for name in ("arm64_against_torch", "host_against_torch", "arm64_against_host")]
        lines.append([f"`{row['scheme']}`", row["target"], *cells, row["limit"], "yes" if row["passed"] else "no"])
    rows = content["rows"]
    names = sorted({row["name"].removesuffix(f"-{row['scheme']}") for row in rows})
    emulator = content["emulator"]["qemu-user"].partition(":")[2].partition("+")[0]
    note = (
        f"Golden inputs of {', '.join(names)} ({rows[0]['inputs']} texts): the largest difference of a value, and the "
        f"least cosine. Torch computes with the same decoded weights. Emulated: {content['cpu']}, by QEMU {emulator}."
    )
    return "\n".join([*markdown(head, lines), "", note])


def _said(apart: dict[str, float]) -> str:
    return f"{apart['max_abs']:.1e}, {apart['cosine_least']:.5f}"


if __name__ == "__main__":
    main()
