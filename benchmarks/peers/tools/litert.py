"""litert-torch: the module as it is, and through the recipes of ai_edge_quantizer; a signature for each length."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.layout import Inputs, Layout, PeerSubject
from benchmarks.peers.registry import Peer, register
from benchmarks.peers.stock_module import example, load_stock, read_stock

_PACKAGES = {"transformers": "bench", "litert_torch": "bench", "ai_edge_litert": "tflite"}


def _signature(length: int) -> str:
    return f"len_{length}"


def _convert(source: Path, lengths: tuple[int, ...], path: Path, threads: int) -> tuple[int, ...]:
    import litert_torch

    module, stock, converter = load_stock(source), read_stock(source), litert_torch
    for length in lengths:
        converter = converter.signature(_signature(length), module, sample_kwargs=example(stock, length))
    converter.convert().export(str(path))
    return lengths


def _quantize(recipe_name: str) -> Callable[..., tuple[int, ...]]:
    def make(source: Path, lengths: tuple[int, ...], path: Path, threads: int) -> tuple[int, ...]:
        from ai_edge_quantizer import quantizer, recipe

        whole = path.with_name(f"{path.stem}.float.tflite")
        made = _convert(source, lengths, whole, threads)
        quantized = quantizer.Quantizer(str(whole), getattr(recipe, recipe_name)()).quantize()
        quantized.export_model(str(path))
        whole.unlink()
        return made

    return make


def _ready(params: Mapping[str, Any]) -> Callable[[], PeerSubject]:
    from ai_edge_litert.interpreter import Interpreter

    layout = Layout.of(params)

    def load() -> PeerSubject:
        interpreter = Interpreter(params["path"], num_threads=int(params["threads"]))
        interpreter.allocate_tensors()
        runners = {length: interpreter.get_signature_runner(_signature(length)) for length in layout.lengths}
        # The converter makes int32 of int64 where it sees fit.
        details = {length: runner.get_input_details() for length, runner in runners.items()}

        def adapt(length: int, inputs: Inputs) -> dict[str, NDArray[Any]]:
            return {name: values.astype(details[length][name]["dtype"]) for name, values in inputs.items()}

        def call(length: int, given: dict[str, NDArray[Any]]) -> NDArray[np.float32]:
            (output,) = runners[length](**given).values()
            found: NDArray[np.float32] = output
            return found

        return PeerSubject(layout, adapt, call)

    return load


for _scheme, _about, _make in (
    ("fp32", "litert-torch, a signature for each length", _convert),
    ("int8", "the same through ai_edge_quantizer's recipe dynamic_wi8_afp32", _quantize("dynamic_wi8_afp32")),
    ("int4", "the same through ai_edge_quantizer's recipe dynamic_wi4_afp32", _quantize("dynamic_wi4_afp32")),
):
    register(
        Peer(
            name=f"stock-tflite-{_scheme}",
            about=_about,
            tool="litert-torch",
            scheme=_scheme,
            packages=_PACKAGES,
            suffix=".tflite",
            make=_make,
            ready=_ready,
        )
    )
