"""The check `arm64`: golden inputs on a phone's instruction set, under emulation, before there is a phone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from export.check import CheckResult, golden_output, hold_golden, tolerances
from mobilekit.artifact import Artifact
from mobilekit.errors import EngineError
from mobilekit.runtimes.arm64.emulation import Emulation, Run
from mobilekit.runtimes.runner import Runner

NAME = "arm64"
Vector = NDArray[np.float32]


def arm64_check(
    emulation: Emulation | None, artifact: Artifact, runner: Runner
) -> Mapping[str, Callable[[], CheckResult]]:
    """The check by its name, or nothing where there is no emulation."""
    return {} if emulation is None else {NAME: lambda: check_arm64(emulation, artifact, runner)}


def check_arm64(emulation: Emulation, artifact: Artifact, runner: Runner) -> CheckResult:
    """Outputs on arm64 lie within the device's tolerance of torch's; and how far from this machine's own they are."""
    got = emulated_outputs(emulation, artifact, runner)
    held = hold_golden(NAME, artifact, got, tolerances(artifact).device)
    own = [golden_output(runner, entry) for entry in artifact.manifest.content["golden"]]
    if any(g.shape != o.shape for g, o in zip(got, own, strict=True)):
        return replace(held, passed=False, measured=f"{held.measured}; not the shapes of this machine's")
    apart = np.max([np.abs(g - o).max() for g, o in zip(got, own, strict=True)])
    return replace(held, measured=f"{held.measured}; {apart:.1e} from this machine's")


def emulated_outputs(emulation: Emulation, artifact: Artifact, runner: Runner) -> list[Vector]:
    """What the file gives for each golden input on arm64, padding's rows left out. runner: pads the inputs."""
    manifest, runs = artifact.manifest, []
    for entry in manifest.content["golden"]:
        ids, types, length = _row(entry["input_ids"]), _row(entry["token_type_ids"]), entry["length"]
        runs.append(Run(manifest.lengths[length], runner.padded(ids, None, types, length, entry["predict"])))
    found = []
    for outputs, entry in zip(emulation.run(artifact.model_path, runs), manifest.content["golden"], strict=True):
        if manifest.output_name not in outputs:
            raise EngineError(f"on arm64 the file gives {', '.join(outputs) or 'nothing'}, not {manifest.output_name}")
        values = outputs[manifest.output_name][0]
        found.append(values[: len(entry["input_ids"])] if manifest.per_token else values)
    return found


def _row(values: list[int]) -> NDArray[np.int32]:
    return np.array(values, np.int32)
