"""The one interface of all engines. An engine object lives in a process of its own (`runtimes/service.py`)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mobilekit.registry import import_modules, named


class Engine(Protocol):
    """A loaded artifact. Made by the factory of an `EngineInfo`; imports its library only when made."""

    def run(self, entry: str, inputs: Mapping[str, NDArray[np.int32]]) -> dict[str, NDArray[np.float32]]:
        """Run one entry point; inputs int32 [1, length] by name; outputs float32 by name."""
        ...

    def delegation(self) -> Mapping[str, int] | None:
        """{"delegated": operations in the accelerated backend, "total": all operations}, or None if unknown.

        Counts the operations of the original graph, so that "delegated / total" is comparable over engines.
        """
        ...


@dataclass(frozen=True)
class EngineInfo:
    """An engine: its name, the target whose files it runs, the modules it needs, and how it is made.

    packages: imported in its process before anything is loaded or timed.
    load(path, entries, threads) reads the model file and prepares every entry point. timed: whether its
    milliseconds mean anything (a reference interpreter's do not). platform: sys.platform it is native to, or "".
    on_request: whether it only runs what asks for it by name.
    """

    name: str
    target: str
    extra: str
    packages: tuple[str, ...]
    load: Callable[[Path, tuple[str, ...], int], Engine]
    timed: bool = True
    platform: str = ""
    on_request: bool = False


_engines: dict[str, EngineInfo] = {}


def register(info: EngineInfo) -> EngineInfo:
    """Add an engine to the registry."""
    _engines[info.name] = info
    return info


@functools.cache
def engines() -> Mapping[str, EngineInfo]:
    """All engines by name: every module of `mobilekit.runtimes` may register one."""
    import mobilekit.runtimes

    import_modules(mobilekit.runtimes)
    return dict(sorted(_engines.items()))


def engine(name: str) -> EngineInfo:
    """The engine called `name`; raises InputError with a did-you-mean."""
    return named("engine", name, engines())
