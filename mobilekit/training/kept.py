"""What is computed once and read many times: rows of numbers in a file that is mapped, not held."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

# index of an input, its rows [n, width]
Put = Callable[[int, NDArray[np.float32]], None]


class Kept:
    """Rows of each input, float32 [rows of that input, width].

    compute: is given a function that takes an input's index and its rows, and calls it once for each input. A file
    that is there already is taken as it is: a run that goes on finds its own. With several processes the first of each
    machine computes while the others wait.
    """

    def __init__(self, file: Path, rows: Sequence[int], width: int, compute: Callable[[Put], None]) -> None:
        from accelerate import PartialState

        self._starts = np.concatenate([[0], np.cumsum(rows)]).astype(np.int64)
        shape = (max(1, int(self._starts[-1])), width)
        with PartialState().local_main_process_first():
            if not file.is_file() or file.stat().st_size != shape[0] * shape[1] * 4:
                self._write(file, shape, compute)
        self._values = np.memmap(file, np.float32, "r", shape=shape)

    def __getitem__(self, index: int) -> NDArray[np.float32]:
        return np.array(self._values[self._starts[index] : self._starts[index + 1]])

    def _write(self, file: Path, shape: tuple[int, int], compute: Callable[[Put], None]) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        beside = file.with_name(f".{file.name}-{os.getpid()}")
        values = np.memmap(beside, np.float32, "w+", shape=shape)

        def put(index: int, rows: NDArray[np.float32]) -> None:
            values[self._starts[index] : self._starts[index + 1]] = rows

        try:
            compute(put)
            values.flush()
            beside.replace(file)
        finally:
            beside.unlink(missing_ok=True)
