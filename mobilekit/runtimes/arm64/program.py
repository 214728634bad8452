"""What the emulated Python runs: `program.py PARENT MODEL INPUTS OUTPUTS LIBRARY`. Needs numpy and the file's engine.

INPUTS is an .npz with an array `NUMBER:ENTRY:INPUT` for each input of each run; OUTPUTS gets `NUMBER:OUTPUT`.
LIBRARY is what scripts/arm64.cpp was built as, for .pte files. PARENT is the process that waits for it.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[np.generic]]
# A method of the file, as in `mobilekit.runtimes.executorch`.
_NOTES = b"metadata"
_PR_SET_PDEATHSIG = 1
_MOST_SIZES = 8


def main(parent: str, model: str, inputs: str, outputs: str, library: str) -> None:
    """Run a file's entries on the inputs, one after the other, and write what they give."""
    # Minutes of emulation must not outlive the one who waits for them; who may be gone by now.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(parent):
        return
    runs: dict[tuple[str, str], Arrays] = {}
    with np.load(inputs, allow_pickle=False) as given:
        for key in given.files:
            number, entry, name = key.split(":")
            runs.setdefault((number, entry), {})[name] = given[key]
    run = _executorch(model, library) if model.endswith(".pte") else _litert(model)
    found = {}
    for (number, entry), values in runs.items():
        found.update({f"{number}:{name}": output for name, output in run(entry, values).items()})
    np.savez(outputs, allow_pickle=False, **found)


def _litert(model: str) -> Callable[[str, Arrays], Arrays]:
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model, num_threads=1)
    interpreter.allocate_tensors()

    def run(entry: str, values: Arrays) -> Arrays:
        # Copied: an output is a view of memory that the next run writes over.
        return {name: np.array(a) for name, a in interpreter.get_signature_runner(entry)(**values).items()}

    return run


def _executorch(model: str, path: str) -> Callable[[str, Arrays], Arrays]:
    library = ctypes.CDLL(path)
    library.pte_open.restype, library.pte_text.restype = ctypes.c_void_p, ctypes.c_char_p
    module = ctypes.c_void_p(library.pte_open(model.encode()))
    text = library.pte_text(module, _NOTES) if module else None
    if text is None:
        raise RuntimeError("ExecuTorch cannot load the file")
    notes = json.loads(text)

    def run(entry: str, values: Arrays) -> Arrays:
        given = [np.ascontiguousarray(values[name], np.int32) for name in notes["inputs"]]
        pointers = (ctypes.c_void_p * len(given))(*(a.ctypes.data for a in given))
        output, sizes = ctypes.POINTER(ctypes.c_float)(), (ctypes.c_int32 * _MOST_SIZES)()
        length = given[0].shape[1]
        count = library.pte_run(module, entry.encode(), pointers, len(given), length, ctypes.byref(output), sizes)
        if count < 0:
            raise RuntimeError(f"method {entry} failed with ExecuTorch's error {-count:#x}")
        return {notes["output"]: np.ctypeslib.as_array(output, tuple(sizes[:count])).copy()}

    return run


if __name__ == "__main__":
    main(*sys.argv[1:])
