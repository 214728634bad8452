"""Core ML itself, on macOS, through coremltools' `MLModel`."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import EngineError
from mobilekit.runtimes.base import EngineInfo, register

PLATFORM = "darwin"


class CoreML:
    """A package that Core ML has compiled and loaded, once for each of its functions `entries`."""

    def __init__(self, path: Path, entries: tuple[str, ...]) -> None:
        if sys.platform != PLATFORM:
            raise EngineError(
                f"Core ML runs on macOS only, this is {sys.platform}; the engine 'coreml_reference' "
                f"runs {path.name} here."
            )
        import coremltools

        from mobilekit.runtimes.mil.package import open_package

        # A plain model has no names for functions, and systems before macOS 15 refuse one.
        several = bool(open_package(path).model.description.functions)
        self._models: dict[str, Any] = {}
        for entry in entries:
            options = {"function_name": entry} if several else {}
            with warnings.catch_warnings():
                # coremltools warns when Core ML refuses a model, and fails at the first prediction.
                warnings.simplefilter("error", RuntimeWarning)
                try:
                    model = coremltools.models.MLModel(str(path), compute_units=coremltools.ComputeUnit.ALL, **options)
                except RuntimeWarning as refusal:
                    raise EngineError(f"{path}: Core ML refuses function '{entry}': {refusal}") from refusal
            self._models[entry] = model

    def run(self, entry: str, inputs: Mapping[str, NDArray[np.int32]]) -> dict[str, NDArray[np.float32]]:
        """Run a function; what Core ML raises becomes an EngineError."""
        try:
            # predict changes the dictionary that it is given.
            outputs = self._models[entry].predict(dict(inputs))
        except RuntimeError as error:
            raise EngineError(f"Core ML failed in function '{entry}': {error}") from error
        return {name: np.asarray(value, dtype=np.float32) for name, value in outputs.items()}

    def delegation(self) -> None:
        """Not known: Core ML plans for each device anew and counts its own operations."""
        return


def _load(path: Path, entries: tuple[str, ...], threads: int) -> CoreML:
    return CoreML(path, entries)


INFO = register(EngineInfo("coreml", "coreml", "coreml", ("coremltools",), _load, platform=PLATFORM))
