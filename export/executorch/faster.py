"""Halves the time of a lowering without changing a byte of its result (a test compares the two).

Most of that time goes into traces of the graph that nothing comes of: measured on a shared 4-layer int8 encoder with
two lengths, 34 s of processor time without these and 16 s with them.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from typing import Any
from unittest import mock


@contextlib.contextmanager
def fast_lowering() -> Iterator[None]:
    """Within it ExecuTorch lowers this project's graphs faster; affects the whole process, so use it in a worker."""
    import torch
    from executorch.backends.xnnpack import _passes, xnnpack_preprocess

    def needed(program: Any, passes: list[Any] | None = None) -> Any:
        # The others look for convolutions, batch norms, images, statically quantized or 4-D attention: 13 traces.
        chosen = [
            _passes.XNNPACKRemoveCloneOpsTransform,
            _passes.DimOrderOpsRevertPass,
            _passes.ConvertToLinearPass,
            _passes.RemoveRedundantCopyPass,
        ]
        return _passes.XNNPACKPassManager(program, passes or chosen)

    # Every pass gives a node its history and copies it, with the history's own history: quadratic in the passes.
    with (
        mock.patch.object(xnnpack_preprocess, "XNNPACKPassManager", needed),
        mock.patch.object(torch.fx.traceback.NodeSource, "__deepcopy__", _itself, create=True),
        _no_collections(),
    ):
        yield


def _itself(source: Any, memo: dict[int, Any]) -> Any:
    return source


@contextlib.contextmanager
def _no_collections() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
        gc.collect()
