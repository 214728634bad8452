"""LiteRT's newer API, with packed weights in a file: they are mapped, and all lengths share them.

XNNPACK packs weights for its kernels when a file is loaded. The older API (`litert.py`) does so in memory, once for
each length; here once, into a file beside the other caches of the user, which the next load finds.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import ArtifactError, EngineError, InputError
from mobilekit.host import versions
from mobilekit.runtimes.base import EngineInfo, register
from mobilekit.staging import disk_errors
from mobilekit.text.data.fetch import CACHE_VARIABLE, cache_folder

_FOLDER = "xnnpack"
# Caches of files that are gone would pile up: of so many the oldest goes when one is made.
_MOST = 20


class CompiledEngine:
    """A .tflite file as a compiled model on the processor, entered by its signatures."""

    def __init__(self, path: Path, entries: tuple[str, ...], threads: int) -> None:
        from ai_edge_litert.compiled_model import CompiledModel, HardwareAccelerator, Options

        options = Options.create()
        options.hardware_accelerators = HardwareAccelerator.CPU
        options.cpu_options.num_threads = threads
        options.cpu_options.xnnpack_weight_cache_path = str(weight_cache(path))
        try:
            self._model = CompiledModel.from_file(str(path), options=options)
            signatures = self._model.get_signature_list()
            missing = [entry for entry in entries if entry not in signatures]
            if missing:
                raise ArtifactError(f"{path}: it has no signature {missing[0]!r}, only {', '.join(signatures)}.")
            self._buffers = {entry: self._made(entry, signatures[entry]) for entry in entries}
        except (ValueError, RuntimeError) as error:
            reason = " ".join(str(error).split())
            raise ArtifactError(f"{path}: LiteRT cannot load it ({reason}); export it again.") from error
        self._path = path

    def _made(self, entry: str, names: Mapping[str, list[str]]) -> tuple[dict[str, Any], dict[str, Any]]:
        inputs = {name: self._model.create_input_buffer_by_name(entry, name) for name in names["inputs"]}
        outputs = {name: self._model.create_output_buffer_by_name(entry, name) for name in names["outputs"]}
        return inputs, outputs

    def run(self, entry: str, inputs: Mapping[str, NDArray[np.int32]]) -> dict[str, NDArray[np.float32]]:
        """Run one signature; inputs int32 [1, length] by name; outputs float32 by name. Raises EngineError."""
        given, outputs = self._buffers[entry]
        try:
            for name, buffer in given.items():
                buffer.write(inputs[name])
            self._model.run_by_name(entry, given, outputs)
            return {name: _values(buffer) for name, buffer in outputs.items()}
        except RuntimeError as error:
            raise EngineError(f"{self._path}: signature {entry} failed: {' '.join(str(error).split())}") from error

    def delegation(self) -> None:
        """This API does not tell."""
        return


def weight_cache(path: Path) -> Path:
    """The file that holds a model file's packed weights: another one for a file that was written again, or for another
    version of LiteRT. XNNPACK itself does not look whether a cache belongs to the model."""
    about = path.stat()
    mark = f"{path.resolve()} {about.st_size} {about.st_mtime_ns} {versions().get('ai-edge-litert')}"
    folder = cache_folder() / _FOLDER
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{hashlib.sha256(mark.encode()).hexdigest()[:32]}.bin"
        if not file.exists():
            _refuse_no_room(folder, about.st_size)
            newest = sorted(folder.glob("*.bin"), key=lambda each: each.stat().st_mtime, reverse=True)
            for old in newest[_MOST - 1 :]:
                old.unlink(missing_ok=True)
    return file


def _refuse_no_room(folder: Path, needed: int) -> None:
    """Raise InputError where XNNPACK could not write a cache: it would do without one, or end the whole process."""
    if shutil.disk_usage(folder).free < needed or not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(
            f"{folder}: packed weights take up to {needed / 1e6:.1f} MB in a folder that can be written; make room, or "
            f"set {CACHE_VARIABLE} to another folder."
        )


def _values(buffer: Any) -> NDArray[np.float32]:
    shape = buffer.get_tensor_details()["shape"]
    values: NDArray[np.float32] = buffer.read(int(np.prod(shape)), np.float32)
    return values.reshape(shape)


register(
    EngineInfo(
        "litert_compiled", "tflite", "tflite", ("ai_edge_litert.compiled_model",), CompiledEngine, on_request=True
    )
)
