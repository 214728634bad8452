"""ExecuTorch with XNNPACK, through the library that its wheel ships: the kernels that an Android app has too."""

from __future__ import annotations

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
        library = load_library(threads)
        self._path = path
        try:
            # The library's default looks at the header alone, and a damaged file then crashes the process.
            check = library.Verification.InternalConsistency
            self._program = library._load_program(str(path), program_verification=check)
            names = {self._program.get_method_name(i) for i in range(self._program.num_methods())}
            for entry in (*entries, _NOTES):
                if entry not in names:
                    raise ArtifactError(f"{path}: it has no method {entry!r}, only {', '.join(sorted(names))}.")
            self._methods = {entry: self._program.load_method(entry) for entry in entries}
            self._notes: dict[str, Any] = json.loads(self._program.load_method(_NOTES)(())[0])
        except (RuntimeError, ValueError) as error:
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


_sized: dict[str, int] = {}


def load_library(threads: int) -> Any:
    """ExecuTorch's extension module, its thread pool sized; `executorch.runtime` has the same and imports for seconds.

    Raises EngineError when this process runs ExecuTorch with another number of threads: a loaded program keeps its
    pool, and setting the size frees that pool.
    """
    import torch  # noqa: F401  (loads the libraries that the extension is linked against)
    from executorch.extension.pybindings import _C

    if _sized.setdefault("threads", threads) != threads:
        raise EngineError(f"this process runs ExecuTorch with {_sized['threads']} threads; take another for {threads}.")
    if _C._threadpool_get_thread_count() != threads:
        _C._unsafe_reset_threadpool(threads)
    return _C


register(EngineInfo("executorch", "executorch", "executorch", ("torch", "executorch"), ExecutorchEngine))
