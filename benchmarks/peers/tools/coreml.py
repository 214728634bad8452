"""coremltools: an ML program of the module at the longest length, in float16 and through its own compression.

Off macOS the outputs are those of our reference interpreter, where that knows the program's operations.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.layout import Inputs, Layout, PeerSubject
from benchmarks.peers.registry import Peer, register
from benchmarks.peers.stock_module import example, load_stock, read_stock

_PACKAGES = {"transformers": "bench", "coremltools": "coreml", "google.protobuf": "coreml"}
# The name of a plain model's one function.
_ENTRY = "main"


def _make(compress: Callable[[Any], Any]) -> Callable[..., tuple[int, ...]]:
    def make(source: Path, lengths: tuple[int, ...], path: Path, threads: int) -> tuple[int, ...]:
        from export.coreml.engine import import_coremltools

        import_coremltools()
        import coremltools as ct
        import torch

        _add_new_ones()
        length, module = max(lengths), load_stock(source)
        inputs = example(read_stock(source), length)
        with torch.no_grad():
            traced = torch.jit.trace(module, tuple(inputs.values()))
        program = ct.convert(
            traced,
            inputs=[ct.TensorType(name, shape=(1, length), dtype=np.int32) for name in inputs],
            convert_to="mlprogram",
            minimum_deployment_target=ct.target.iOS18,
            skip_model_load=True,
        )
        compress(program).save(str(path))
        return (length,)

    return make


def _add_new_ones() -> None:
    """Register the one operation of `transformers`' mask that coremltools 9.0 lacks, as its documentation shows.

    Through torch.export it lacks more.
    """
    from coremltools.converters.mil import Builder
    from coremltools.converters.mil.frontend.torch.ops import _get_inputs
    from coremltools.converters.mil.frontend.torch.torch_op_registry import _TORCH_OPS_REGISTRY, register_torch_op
    from coremltools.converters.mil.frontend.torch.utils import NUM_TO_NUMPY_DTYPE

    def new_ones(context: Any, node: Any) -> None:
        _, size, dtype, *_ = _get_inputs(context, node)
        shape = [int(n) for n in np.reshape(size.val, -1)]
        value = np.ones(shape, NUM_TO_NUMPY_DTYPE[int(dtype.val)])
        context.add(Builder.const(val=value, name=node.name))

    if "new_ones" not in _TORCH_OPS_REGISTRY:
        register_torch_op(new_ones)


def _linear(**options: Any) -> Callable[[Any], Any]:
    def compress(program: Any) -> Any:
        import coremltools.optimize.coreml as cto

        config = cto.OpLinearQuantizerConfig(mode="linear_symmetric", **options)
        return cto.linear_quantize_weights(program, cto.OptimizationConfig(global_config=config))

    return compress


def _palettized(program: Any) -> Any:
    import coremltools.optimize.coreml as cto

    config = cto.OpPalettizerConfig(mode="kmeans", nbits=4)
    return cto.palettize_weights(program, cto.OptimizationConfig(global_config=config))


def _ready(params: Mapping[str, Any]) -> Callable[[], PeerSubject]:
    from mobilekit.runtimes.runner import engine_for

    info = engine_for("coreml")
    for package in info.packages:
        importlib.import_module(package)

    def load() -> PeerSubject:
        engine = info.load(Path(params["path"]), (_ENTRY,), int(params["threads"]))

        def adapt(length: int, inputs: Inputs) -> dict[str, NDArray[np.int32]]:
            return {name: values.astype(np.int32) for name, values in inputs.items()}

        def call(length: int, given: dict[str, NDArray[np.int32]]) -> NDArray[np.float32]:
            (output,) = engine.run(_ENTRY, given).values()
            return output

        return PeerSubject(Layout.of(params), adapt, call)

    return load


for _scheme, _about, _compress in (
    ("fp16", "coremltools at its defaults, the longest length", lambda program: program),
    ("int8", "the same through linear_quantize_weights", _linear(dtype="int8")),
    (
        "int4",
        "the same through linear_quantize_weights, int4 in blocks of 32 (iOS 18)",
        _linear(dtype="int4", granularity="per_block", block_size=32),
    ),
    ("pal4", "the same through palettize_weights, k-means to 4 bits", _palettized),
):
    register(
        Peer(
            name=f"stock-coreml-{_scheme}",
            about=_about,
            tool="coremltools",
            scheme=_scheme,
            packages=_PACKAGES,
            suffix=".mlpackage",
            make=_make(_compress),
            ready=_ready,
            timed=sys.platform == "darwin",
        )
    )
