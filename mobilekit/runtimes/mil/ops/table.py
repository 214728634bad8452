"""The table of operations: a function registers itself under the name that MIL gives it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from mobilekit.registry import import_modules

Compute = Callable[..., NDArray[Any]]


@dataclass(frozen=True)
class Kernel:
    """An operation: what computes it, its parameters, and whether it only moves values (so needs no rounding)."""

    compute: Compute
    parameters: frozenset[str]
    moves: bool


_kernels: dict[str, Kernel] = {}


def kernel(name: str, moves: bool = False) -> Callable[[Compute], Compute]:
    """Register a function as the operation `name`; its parameters are named as MIL names them."""

    def register(compute: Compute) -> Compute:
        _kernels[name] = Kernel(compute, frozenset(inspect.signature(compute).parameters), moves)
        return compute

    return register


@functools.cache
def kernels() -> Mapping[str, Kernel]:
    """All operations by name: every module beside this one registers its own."""
    import mobilekit.runtimes.mil.ops as package

    import_modules(package)
    return dict(sorted(_kernels.items()))
