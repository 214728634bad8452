"""Core ML's reference engine: a package's program evaluated in numpy, on any system. Slow, exact, never timed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import EngineError
from mobilekit.runtimes.base import EngineInfo, register


class CoreMLReference:
    """A package whose functions `entries` are ready to run."""

    def __init__(self, path: Path, entries: tuple[str, ...]) -> None:
        from mobilekit.runtimes.mil.interpreter import Constants, Interpreter
        from mobilekit.runtimes.mil.package import input_shapes, open_package
        from mobilekit.runtimes.mil.program import read_functions

        package = open_package(path)
        functions, shared = read_functions(package), Constants()
        self._interpreters: dict[str, Interpreter] = {}
        self._shapes: dict[str, dict[str, list[tuple[int, ...]]]] = {}
        for entry in entries:
            if entry not in functions or entry not in package.functions:
                raise EngineError(f"{path}: no function '{entry}'; it has {', '.join(functions)}.")
            self._interpreters[entry] = Interpreter(functions[entry], shared)
            self._shapes[entry] = {item.name: input_shapes(item) for item in package.functions[entry].input}

    def run(self, entry: str, inputs: Mapping[str, NDArray[np.int32]]) -> dict[str, NDArray[np.float32]]:
        """Run a function; raises EngineError when an input has a shape that Core ML would refuse."""
        for name, shapes in self._shapes[entry].items():
            if name in inputs and inputs[name].shape not in shapes:
                raise EngineError(f"{entry}: input '{name}' has shape {inputs[name].shape}, takes only {shapes}.")
        outputs = self._interpreters[entry].run(inputs)
        return {name: value.astype(np.float32) for name, value in outputs.items()}

    def delegation(self) -> None:
        """Nothing to tell: what Core ML puts on the Neural Engine is not known here."""
        return


def _load(path: Path, entries: tuple[str, ...], threads: int) -> CoreMLReference:
    return CoreMLReference(path, entries)


# Of coremltools only its protobuf classes are read, which say themselves when they are not there: a package named
# here is imported before the file is loaded, and coremltools takes 16 s.
INFO = register(EngineInfo("coreml_reference", "coreml", "coreml", ("google.protobuf",), _load, timed=False))
