"""ExecuTorch with XNNPACK, through the library that its wheel ships: the kernels that an Android app has too."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import ArtifactError, EngineError
from mobilekit.runtimes.base import EngineInfo, register

# A method of the file: a JSON string with the names of inputs and output and the delegated share.
_NOTES = "metadata"


class ExecutorchEngine:
    """A .pte file, mapped into memory; a method for each entry."""

    def __init__(self, path: Path, entries: tuple[str, ...], threads: int) -> None:
        library = _library()
        _size_pool(library, threads)
        self._path = path
        try:
            self._program = library._load_program(str(path), program_verification=library.Verification.InternalConsistency)
            names = {self._program.get_method_name(i) for i in range(self._program.num_methods())}
            for entry in (*entries, _NOTES):
                if entry not in names:
                    raise ArtifactError(f"{path}: it has no method {entry!r}, only {', '.join(sorted(names))}.")
            self._methods = {entry: self._program.load_method(entry) for entry in entries}
            self._notes: dict[str, Any] = json.loads(self._program.load_method(_NOTES)(())[0])
        except RuntimeError as error:
            reason = " ".join(str(error).split())
            raise ArtifactError(f"{path}: ExecuTorch cannot load it ({reason}); export it again.") from error
        self._entries = entries

    def run(self, entry: str, inputs: Mapping[str, NDArray[np.int32]]) -> dict[str, NDArray[np.float32]]:
        """Run one method; inputs int32 [1, length] by name; output float32 by name. Raises EngineError."""
        import torch

        given = [torch.from_numpy(inputs[name]) for name in self._notes["inputs"]]
        try:
            (output,) = self._methods[entry](given)
        except RuntimeError as error:
            raise EngineError(f"{self._path}: method {entry} failed: {' '.join(str(error).split())}") from error
        return {self._notes["output"]: output.numpy()}

    def delegation(self) -> Mapping[str, int]:
        """Operations that XNNPACK runs and all there are, as the exporter counted them before lowering."""
        counts: Mapping[str, int] = self._notes["delegation"][self._entries[0]]
        return counts


@functools.cache
def _library() -> Any:
    """ExecuTorch's extension module. `executorch.runtime` has the same and takes seconds more to import."""
    import torch  # noqa: F401  (loads the libraries that the extension is linked against)
    from executorch.extension.pybindings import _C

    return _C


_sized: dict[str, int] = {}


def _size_pool(library: Any, threads: int) -> None:
    # A loaded program keeps its thread pool, and setting the size frees that pool: so only once in a process.
    if _sized.setdefault("threads", threads) != threads:
        raise EngineError(f"this process runs ExecuTorch with {_sized['threads']} threads; take another for {threads}.")
    if library._threadpool_get_thread_count() != threads:
        library._unsafe_reset_threadpool(threads)


register(EngineInfo("executorch", "executorch", "executorch", ("torch", "executorch"), ExecutorchEngine))
