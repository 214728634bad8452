"""What runs in an engine's own process: it loads one artifact and answers `run`, `time` and `delegation`."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mobilekit.process import Arrays
from mobilekit.runtimes.base import Engine, engine


class EngineService:
    """The service of `mobilekit.process` around one `Engine`."""

    def __init__(self) -> None:
        self._engine: Engine | None = None

    def __call__(
        self, method: str, params: dict[str, Any], arrays: Arrays, progress: Callable[[str], None]
    ) -> tuple[Any, Arrays]:
        """load: {engine, path, entries, threads} -> ms. run: {entry} and inputs -> outputs. run_many: {entry, output}
        and inputs [n, length] -> that output of each, [n, ...]. time: {entry, repeats} and inputs -> ms of each.
        delegation: -> counts or None."""
        if method == "load":
            return self._load(params), {}
        if self._engine is None:
            raise ValueError(f"no method {method} before load")
        if method == "run":
            return None, self._engine.run(params["entry"], _int32(arrays))
        if method == "run_many":
            return None, self._run_many(params, _int32(arrays))
        if method == "time":
            return self._time(params, _int32(arrays)), {}
        if method == "delegation":
            return self._engine.delegation(), {}
        raise ValueError(f"no method {method}")

    def _load(self, params: dict[str, Any]) -> float:
        info = engine(params["engine"])
        # Not counted: importing an engine's library costs an app nothing.
        for package in info.packages:
            importlib.import_module(package)
        started = time.perf_counter()
        self._engine = info.load(Path(params["path"]), tuple(params["entries"]), int(params["threads"]))
        return (time.perf_counter() - started) * 1e3

    def _run_many(self, params: dict[str, Any], inputs: dict[str, NDArray[np.int32]]) -> Arrays:
        assert self._engine is not None
        name, rows = str(params["output"]), []
        for i in range(len(next(iter(inputs.values())))):
            outputs = self._engine.run(params["entry"], {key: values[i : i + 1] for key, values in inputs.items()})
            # Copied: some engines give a view of memory that the next run writes over.
            rows.append(np.array(outputs.get(name, np.empty((1, 0))), np.float32))
        return {name: np.concatenate(rows)}

    def _time(self, params: dict[str, Any], inputs: dict[str, NDArray[np.int32]]) -> list[float]:
        assert self._engine is not None
        times = []
        for _ in range(int(params["repeats"])):
            started = time.perf_counter()
            self._engine.run(params["entry"], inputs)
            times.append((time.perf_counter() - started) * 1e3)
        return times


def service() -> EngineService:
    """Factory for `mobilekit.process`."""
    return EngineService()


def _int32(arrays: Arrays) -> dict[str, NDArray[np.int32]]:
    return {name: np.ascontiguousarray(a, dtype=np.int32) for name, a in arrays.items()}
