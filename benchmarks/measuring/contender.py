"""A contender: what is measured, its process, and how it is kept still while others are measured."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.measuring.memory import Memory
from benchmarks.measuring.service import Ids
from mobilekit.errors import EngineError, short
from mobilekit.process import Arrays, EngineProcess


@dataclass(frozen=True)
class Contender:
    """What is measured.

    name: of its row. service: `module:factory` of its process, a `TimedService`. params: of its `load`. lengths: those
    that it runs at, in tokens. filler: the token that inputs of one length are made of. rows: the texts that come as
    they come, as its tokens and token types, int32 [n] each; texts: the same as text with its pair, for what tokenizes
    itself. may_fail: another tool's, which is left out where its engine fails, and the others go on.
    """

    name: str
    service: str
    params: Mapping[str, Any] = field(default_factory=dict)
    lengths: tuple[int, ...] = ()
    filler: int = 0
    rows: Sequence[tuple[Ids, Ids]] = ()
    texts: Sequence[tuple[str, str | None]] = ()
    may_fail: bool = False


@contextlib.contextmanager
def forgiven(contender: Contender, failed: dict[str, str]) -> Iterator[None]:
    """Note in `failed`, by name, why the engine of a contender failed that may; of others the EngineError goes on."""
    try:
        yield
    except EngineError as error:
        if not contender.may_fail:
            raise
        failed[contender.name] = short(str(error).splitlines()[0], 200)


class Opened:
    """A contender loaded in its process, which is stopped but for the calls to it. A context manager."""

    def __init__(self, contender: Contender, threads: int) -> None:
        self.contender = contender
        self._process = EngineProcess(contender.service, hide=("tensorflow",), threads=threads)
        try:
            found = self._process.call("load", {**contender.params, "threads": threads})[0]
            self._stop()
        except BaseException:
            self._process.close()
            raise
        self.load_ms = float(found["load_ms"])
        self.idle, self.loaded = Memory(**found["idle"]), Memory(**found["loaded"])

    def call(self, method: str, params: Mapping[str, Any], arrays: Arrays | None = None) -> tuple[Any, Arrays]:
        """A call to its service, alone on the machine as far as contenders go."""
        with self._awake():
            return self._process.call(method, dict(params), arrays or {})

    def memory(self) -> Memory:
        """Of its process, now."""
        return Memory(**self.call("memory", {})[0])

    def close(self) -> None:
        """End its process."""
        self._signal("SIGCONT")
        self._process.close()

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def _awake(self) -> Iterator[None]:
        self._signal("SIGCONT")
        try:
            yield
        finally:
            self._stop()

    def _stop(self) -> None:
        # Waiting threads of some engines (ONNX Runtime's) spin, and slow whatever is measured beside them. Where a
        # process cannot say that it ends with its parent, it would be left behind, stopped, for ever.
        if sys.platform == "linux":
            self._signal("SIGSTOP")

    def _signal(self, name: str) -> None:
        with contextlib.suppress(ProcessLookupError, AttributeError):
            os.kill(self._process.pid, getattr(signal, name))


def cold_loads(contender: Contender, threads: int, times: int) -> list[float]:
    """Milliseconds of loading it in so many new processes. The file is in the system's cache, as after an install."""
    found = []
    for _ in range(times):
        with Opened(contender, threads) as opened:
            found.append(opened.load_ms)
    return found
