"""ONNX Runtime: the file of torch's ONNX exporter, and its dynamic int8."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.layout import Inputs, Layout, PeerSubject
from benchmarks.peers.registry import Peer, register
from benchmarks.peers.stock_module import example, load_stock, read_stock

_PACKAGES = dict.fromkeys(("transformers", "onnx", "onnxscript", "onnxruntime"), "bench")


def _export(source: Path, lengths: tuple[int, ...], path: Path, threads: int) -> tuple[int, ...]:
    import torch

    inputs = example(read_stock(source), max(lengths))
    torch.onnx.export(
        load_stock(source),
        tuple(inputs.values()),
        path,
        input_names=list(inputs),
        output_names=["output"],
        dynamic_shapes=tuple({1: torch.export.Dim.DYNAMIC} for _ in inputs),
        external_data=False,
    )
    return ()


def _quantize(source: Path, lengths: tuple[int, ...], path: Path, threads: int) -> tuple[int, ...]:
    from onnxruntime.quantization import quantize_dynamic

    whole = path.with_name(f"{path.stem}.float.onnx")
    made = _export(source, lengths, whole, threads)
    quantize_dynamic(whole, path)
    whole.unlink()
    return made


def _ready(params: Mapping[str, Any]) -> Callable[[], PeerSubject]:
    import onnxruntime

    def load() -> PeerSubject:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = int(params["threads"])
        # Waiting threads would slow whatever is measured beside them.
        for pool in ("intra", "inter"):
            options.add_session_config_entry(f"session.{pool}_op.allow_spinning", "0")
        session = onnxruntime.InferenceSession(params["path"], options, providers=["CPUExecutionProvider"])

        def adapt(length: int, inputs: Inputs) -> Inputs:
            return inputs

        def call(length: int, given: Inputs) -> NDArray[np.float32]:
            output: NDArray[np.float32] = session.run(None, given)[0]
            return output

        return PeerSubject(Layout.of(params), adapt, call)

    return load


register(
    Peer(
        name="onnxruntime-fp32",
        about="torch's ONNX exporter, any length, run by ONNX Runtime on the processor",
        tool="onnxruntime",
        scheme="fp32",
        packages=_PACKAGES,
        suffix=".onnx",
        make=_export,
        ready=_ready,
    )
)
register(
    Peer(
        name="onnxruntime-int8",
        about="the same through ONNX Runtime's quantize_dynamic",
        tool="onnxruntime",
        scheme="int8",
        packages=_PACKAGES,
        suffix=".onnx",
        make=_quantize,
        ready=_ready,
    )
)
