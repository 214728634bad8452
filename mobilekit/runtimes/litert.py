"""LiteRT with XNNPACK, its default delegate on a phone's CPU too."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import ArtifactError
from mobilekit.runtimes.base import EngineInfo, register

_DELEGATE = "DELEGATE"


class LitertEngine:
    """A .tflite file in one interpreter, entered by its signatures."""

    def __init__(self, path: Path, entries: tuple[str, ...], threads: int) -> None:
        from ai_edge_litert.interpreter import Interpreter

        try:
            self._interpreter = Interpreter(str(path), num_threads=threads)
            # Applies the delegate to every graph: a graph that cannot run fails here and not at its first call.
            self._interpreter.allocate_tensors()
        except (ValueError, RuntimeError) as error:
            reason = " ".join(str(error).split())
            raise ArtifactError(f"{path}: LiteRT cannot load it ({reason}); export it again.") from error
        signatures = self._interpreter.get_signature_list()
        missing = [entry for entry in entries if entry not in signatures]
        if missing:
            raise ArtifactError(f"{path}: it has no signature {missing[0]!r}, only {', '.join(signatures)}.")
        self._runners = {entry: self._interpreter.get_signature_runner(entry) for entry in entries}

    def run(self, entry: str, inputs: Mapping[str, NDArray[np.int32]]) -> dict[str, NDArray[np.float32]]:
        """Run one signature; inputs int32 [1, length] by name; outputs float32 by name."""
        return dict(self._runners[entry](**inputs))

    def delegation(self) -> Mapping[str, int]:
        """How many operators of the file's first graph XNNPACK runs, and how many there are."""
        # Delegated nodes stay in the list behind the delegate that took them over.
        nodes = self._interpreter._get_ops_details()
        original = [node for node in nodes if node["op_name"] != _DELEGATE]
        producer = {int(output): node for node in original for output in node["outputs"]}
        taken: set[int] = set()
        for delegate in (node for node in nodes if node["op_name"] == _DELEGATE):
            taken |= _inside(delegate, producer)
        return {"delegated": len(taken), "total": len(original)}


def _inside(delegate: Mapping[str, Any], producer: Mapping[int, Mapping[str, Any]]) -> set[int]:
    """Indices of the original nodes between a delegate's outputs and its inputs."""
    inputs = {int(tensor) for tensor in delegate["inputs"]}
    waiting, found = [int(tensor) for tensor in delegate["outputs"]], set()
    while waiting:
        tensor = waiting.pop()
        node = producer.get(tensor)
        if tensor in inputs or node is None or node["index"] in found:
            continue
        found.add(node["index"])
        waiting.extend(int(source) for source in node["inputs"])
    return found


register(EngineInfo("litert", "tflite", "tflite", ("ai_edge_litert",), LitertEngine))
