"""What is measured, in a process of its own: it loads one subject, and reads its own clock and its own memory."""

from __future__ import annotations

import contextlib
import ctypes
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring.memory import forget_peak, memory
from mobilekit.process import Arrays

Ids = NDArray[np.int32]
# Does all that costs an app nothing (imports, hashes), and gives the function that loads: only that is timed.
Ready = Callable[[Mapping[str, Any]], "Callable[[], Subject]"]
_PARENT_DIES = 1  # PR_SET_PDEATHSIG


class Subject(Protocol):
    """Something loaded that answers inputs: an artifact, or a peer."""

    def prepare(self, ids: Ids, types: Ids) -> Any:
        """One input, int32 [n] all real tokens, as the engine takes it: padded, of its types. Never timed."""
        ...

    def run(self, prepared: Any) -> NDArray[np.float32]:
        """The output: [size], or [n, size] where each token has a row."""
        ...

    def answer(self, text: str, pair: str | None) -> object:
        """The whole way from text to what an app shows: tokenize, run, decode."""
        ...


class TimedService:
    """The service of `mobilekit.process` around one `Subject`.

    load: what `ready` wants -> {load_ms, idle, loaded}, memory before and after. time: {runs, seconds} and one input ->
    ms of each run. rows: inputs -> ms of each. texts: {texts} -> ms of each, the whole
    way. outputs: inputs -> "output" [inputs, size]. memory: -> what there is now, and the peak since before loading.
    """

    def __init__(self, ready: Ready) -> None:
        self._ready = ready
        self._subject: Subject | None = None
        _die_with_parent()

    def __call__(
        self, method: str, params: dict[str, Any], arrays: Arrays, progress: Callable[[str], None]
    ) -> tuple[Any, Arrays]:
        """Answer one call."""
        if method == "load":
            return self._load(params), {}
        if method == "memory":
            return asdict(memory()), {}
        subject = self._subject
        if subject is None:
            raise ValueError(f"no method {method} before load")
        if method == "time":
            return _burst(subject, arrays, float(params["seconds"])), {}
        if method == "rows":
            return [_ms(subject.run, subject.prepare(*row)) for row in unpacked(arrays)], {}
        if method == "texts":
            return [_ms(subject.answer, text, pair) for text, pair in params["texts"]], {}
        if method == "outputs":
            # Copied: some engines give a view of memory that the next run writes over.
            rows = [np.array(subject.run(subject.prepare(*row)), np.float32) for row in unpacked(arrays)]
            return None, {"output": np.stack(rows)}
        raise ValueError(f"no method {method}")

    def _load(self, params: Mapping[str, Any]) -> dict[str, Any]:
        load = self._ready(params)
        forget_peak()
        idle = memory()
        started = time.perf_counter()
        self._subject = load()
        milliseconds = (time.perf_counter() - started) * 1e3
        return {"load_ms": milliseconds, "idle": asdict(idle), "loaded": asdict(memory())}


def packed(rows: Sequence[tuple[Ids, Ids]]) -> dict[str, NDArray[np.int32]]:
    """Inputs (ids and token types, int32 [n] each) as arrays of a message."""
    return {
        "ids": np.concatenate([ids for ids, _ in rows]).astype(np.int32),
        "types": np.concatenate([types for _, types in rows]).astype(np.int32),
        "sizes": np.array([len(ids) for ids, _ in rows], np.int32),
    }


def unpacked(arrays: Arrays) -> Iterator[tuple[Ids, Ids]]:
    """Inputs from a message's arrays."""
    ends = np.cumsum(arrays["sizes"])[:-1]
    ids, types = (np.split(np.asarray(arrays[name], np.int32), ends) for name in ("ids", "types"))
    yield from zip(ids, types, strict=True)


def _burst(subject: Subject, arrays: Arrays, seconds: float) -> list[float]:
    """Milliseconds of runs, one at least, until that time is over.

    One more comes first and does not count: it finds the caches as another process left them.
    """
    prepared = subject.prepare(*next(unpacked(arrays)))
    subject.run(prepared)
    times, ends = [_ms(subject.run, prepared)], time.perf_counter() + seconds
    while time.perf_counter() < ends:
        times.append(_ms(subject.run, prepared))
    return times


def _ms(function: Callable[..., object], *given: object) -> float:
    started = time.perf_counter()
    function(*given)
    return (time.perf_counter() - started) * 1e3


def _die_with_parent() -> None:
    """A subject is stopped while others are measured, and one that is stopped cannot see that its parent is gone."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PARENT_DIES, signal.SIGKILL)
