"""torch itself: the module as it is, and compiled."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.layout import Inputs, Layout, PeerSubject
from benchmarks.peers.registry import Peer, register
from benchmarks.peers.stock_module import FILES, example, import_stock, load_stock, read_stock

_PACKAGES = {"torch": "", "transformers": "bench"}


def _copy(source: Path, lengths: tuple[int, ...], path: Path, threads: int) -> tuple[int, ...]:
    path.mkdir()
    for name in FILES:
        if (source / name).exists():
            shutil.copy(source / name, path)
    return ()


def _compile(source: Path, lengths: tuple[int, ...], path: Path, threads: int) -> tuple[int, ...]:
    """Copy the checkpoint, and leave what is compiled in the compiler's cache beside it."""
    _copy(source, lengths, path, threads)
    _use_cache(path)
    _compiled(path, lengths, threads)
    return ()


def _use_cache(path: Path) -> None:
    # Before torch is imported. Compiler processes of its own would go on waiting beside what is measured.
    os.environ.update(TORCHINDUCTOR_CACHE_DIR=str(path.with_suffix(".cache")), TORCHINDUCTOR_COMPILE_THREADS="1")


def _compiled(path: Path, lengths: tuple[int, ...], threads: int) -> Any:
    """The module, compiled for any length; it has run at `lengths`, since compiling waits for the first run."""
    import torch

    torch.set_num_threads(threads)
    module = torch.compile(load_stock(path), dynamic=True)
    with torch.no_grad():
        for length in reversed(lengths):
            module(*example(read_stock(path), length).values())
    return module


def _subject(module: Any, params: Mapping[str, Any]) -> PeerSubject:
    import torch

    def adapt(length: int, inputs: Inputs) -> list[Any]:
        return [torch.from_numpy(values) for values in inputs.values()]

    def call(length: int, given: list[Any]) -> NDArray[np.float32]:
        with torch.no_grad():
            output: NDArray[np.float32] = module(*given).numpy()
        return output

    return PeerSubject(Layout.of(params), adapt, call)


def _eager_ready(params: Mapping[str, Any]) -> Callable[[], PeerSubject]:
    import torch

    path = Path(params["path"])
    import_stock(path)
    torch.set_num_threads(int(params["threads"]))
    return lambda: _subject(load_stock(path), params)


def _compiled_ready(params: Mapping[str, Any]) -> Callable[[], PeerSubject]:
    path = Path(params["path"])
    _use_cache(path)
    import_stock(path)
    return lambda: _subject(_compiled(path, tuple(params["warm"]), int(params["threads"])), params)


register(
    Peer(
        name="torch-eager",
        about="the transformers module as it is",
        tool="torch",
        scheme="fp32",
        packages=_PACKAGES,
        suffix="",
        make=_copy,
        ready=_eager_ready,
    )
)
register(
    Peer(
        name="torch-compiled",
        about="the transformers module through torch.compile (inductor), for any length",
        tool="torch",
        scheme="fp32",
        packages=_PACKAGES,
        suffix="",
        make=_compile,
        ready=_compiled_ready,
    )
)
