"""ExecuTorch with XNNPACK: the module as it is, and its dynamic int8 through PT2E; a method for each length."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.layout import Inputs, Layout, PeerSubject
from benchmarks.peers.registry import Peer, register
from benchmarks.peers.stock_module import example, load_stock, read_stock

_PACKAGES = {"transformers": "bench", "executorch": "executorch", "torchao": "executorch"}


def _method(length: int) -> str:
    return f"len_{length}"


def _make(quantize: Callable[[Any, Any], Any]) -> Callable[..., tuple[int, ...]]:
    def make(source: Path, lengths: tuple[int, ...], path: Path, threads: int) -> tuple[int, ...]:
        import torch
        from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
        from executorch.exir import to_edge_transform_and_lower

        module, stock, programs = load_stock(source), read_stock(source), {}
        for length in lengths:
            inputs = tuple(example(stock, length).values())
            programs[_method(length)] = torch.export.export(quantize(module, inputs), inputs)
        lowered = to_edge_transform_and_lower(programs, partitioner=[XnnpackPartitioner()])
        path.write_bytes(lowered.to_executorch().buffer)
        return lengths

    return make


def _dynamic_int8(module: Any, inputs: Any) -> Any:
    import torch
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    class Quantizer(XNNPACKQuantizer):
        def transform_for_annotation(self, model: Any) -> Any:
            # It would make floats of the whole numbers with which `transformers` indexes its mask, and then fail. Only
            # additions and products need it, which dynamic quantization leaves alone.
            return model

    config = get_symmetric_quantization_config(is_per_channel=True, is_dynamic=True)
    prepared = prepare_pt2e(torch.export.export(module, inputs).module(), Quantizer().set_global(config))
    prepared(*inputs)
    return convert_pt2e(prepared)


def _ready(params: Mapping[str, Any]) -> Callable[[], PeerSubject]:
    import torch

    from mobilekit.runtimes.executorch import load_library

    library, layout = load_library(int(params["threads"])), Layout.of(params)

    def load() -> PeerSubject:
        program = library._load_program(params["path"])
        methods = {length: program.load_method(_method(length)) for length in layout.lengths}

        def adapt(length: int, inputs: Inputs) -> list[Any]:
            return [torch.from_numpy(values) for values in inputs.values()]

        def call(length: int, given: list[Any]) -> NDArray[np.float32]:
            output: NDArray[np.float32] = methods[length](given)[0].numpy()
            return output

        return PeerSubject(layout, adapt, call)

    return load


register(
    Peer(
        name="stock-executorch-fp32",
        about="torch.export and ExecuTorch's XNNPACK partitioner, a method for each length",
        tool="executorch",
        scheme="fp32",
        packages=_PACKAGES,
        suffix=".pte",
        make=_make(lambda module, inputs: module),
        ready=_ready,
    )
)
register(
    Peer(
        name="stock-executorch-int8",
        about="the same after PT2E quantization: XNNPACKQuantizer, dynamic, a scale a channel",
        tool="executorch",
        scheme="int8",
        packages=_PACKAGES,
        suffix=".pte",
        make=_make(_dynamic_int8),
        ready=_ready,
    )
)
