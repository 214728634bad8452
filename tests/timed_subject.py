"""A subject of the benchmark harness whose work is to wait, for tests of how it is measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring.service import Ids, TimedService


class Waiting:
    """Takes `milliseconds` a run, and as much memory as it is told."""

    def __init__(self, milliseconds: float, megabytes: int, runs: float, gives: float) -> None:
        """runs: after so many it fails. gives: what its outputs are multiplied by."""
        self._seconds, self._kept, self._left = milliseconds / 1e3, np.ones(megabytes * 2**17), runs
        self._gives = np.float32(gives)

    def prepare(self, ids: Ids, types: Ids) -> NDArray[np.float32]:
        # Were this in a run's time, tests would see it.
        time.sleep(0.02)
        return np.array([ids.sum(), types.sum()], np.float32)

    def run(self, prepared: NDArray[np.float32]) -> NDArray[np.float32]:
        self._left -= 1
        if self._left < 0:
            raise ValueError("the engine gave up")
        time.sleep(self._seconds)
        return prepared * self._gives

    def answer(self, text: str, pair: str | None) -> object:
        time.sleep(2 * self._seconds)
        return text, pair


def _ready(params: Mapping[str, Any]) -> Callable[[], Waiting]:
    time.sleep(0.05)
    if params.get("fails"):
        raise ValueError("no such file")

    def load() -> Waiting:
        time.sleep(0.03)
        more = float(params.get("runs", "inf")), float(params.get("gives", 1))
        return Waiting(float(params["milliseconds"]), int(params.get("megabytes", 0)), *more)

    return load


def service() -> TimedService:
    return TimedService(_ready)
