"""What is computed once and read many times: rows of numbers in a file that is mapped, not held."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mobilekit.staging import require_space, staged_file

# index of an input, its rows [n, width]
Put = Callable[[int, NDArray[np.float32]], None]
_BYTES = 4


class Kept:
    """Rows of each input, float32 [rows of that input, width].

    compute: is given a function that takes an input's index and its rows, and calls it once for each input. A file
    that is there already is taken as it is: what lies in a run's folder is of that run. With several processes the
    first of each machine computes while the others wait. Raises InputError when the disk is full.
    """

    def __init__(self, file: Path, rows: Sequence[int], width: int, compute: Callable[[Put], None]) -> None:
        from accelerate import PartialState

        self._starts = np.concatenate([[0], np.cumsum(rows)]).astype(np.int64)
        shape = (max(1, int(self._starts[-1])), width)
        with PartialState().local_main_process_first():
            if not file.is_file() or file.stat().st_size != shape[0] * shape[1] * _BYTES:
                self._write(file, shape, compute)
        self._values = np.memmap(file, np.float32, "r", shape=shape)

    def __getitem__(self, index: int) -> NDArray[np.float32]:
        return np.array(self._values[self._starts[index] : self._starts[index + 1]])

    def _write(self, file: Path, shape: tuple[int, int], compute: Callable[[Put], None]) -> None:
        size = shape[0] * shape[1] * _BYTES
        # Before a teacher is asked for hours.
        require_space(file.parent, size)
        # Not through a map, which kills the process when the disk is full.
        with staged_file(file, force=True) as beside, beside.open("wb") as out:

            def put(index: int, rows: NDArray[np.float32]) -> None:
                first, last = self._starts[index], self._starts[index + 1]
                if rows.shape != (last - first, shape[1]):
                    raise ValueError(f"input {index} has {last - first} rows of {shape[1]}, got {rows.shape}")
                out.seek(int(first) * shape[1] * _BYTES)
                out.write(rows.astype(np.float32).tobytes())

            compute(put)
            out.truncate(size)
