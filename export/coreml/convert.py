"""From a torch graph to the message of Model.proto. Only for the worker process: it imports coremltools."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import coremltools as ct
import numpy as np
import torch

from export.coreml import fp16_pass
from export.coreml.blocks import CoreMLBlocks, IdsGraph
from export.coreml.records_pass import PASS, RecordTable
from export.graph import EncoderGraph, example_inputs
from mobilekit.compression.compressed import CompressedModel

_TARGETS = {16: ct.target.iOS16, 17: ct.target.iOS17, 18: ct.target.iOS18}
# It guards a gather against negative ids, which no tokenizer makes, with five operations.
_LEFT_OUT = {"common::guard_negative_gather_indices"}
# They would move and change the scales around activations that a record fixes.
_LEFT_OUT |= {
    "common::int_op_canonicalization",
    "common::nullify_redundant_quantization_zero_point",
    "common::dequantize_quantize_pair_elimination",
    "common::distributive_quantized_binary_op_scale_normalization",
}


@dataclass(frozen=True)
class Converted:
    """A converted graph: the message of Model.proto with one function, and the folder of its weight file."""

    model: Any
    folder: Path


class Converter:
    """Converts graphs of one model to ML programs that hold its records."""

    def __init__(self, model: CompressedModel, minimum_ios: int) -> None:
        self.model, self.minimum_ios = model, minimum_ios
        # Only float32 weights need float32 arithmetic; the phone's accelerators work in float16.
        self.half = not model.is_single
        self._blocks = CoreMLBlocks(model, self.half)

    @contextlib.contextmanager
    def fixed(self, length: int) -> Iterator[Converted]:
        """The graph for one length."""
        graph = self._rounded(EncoderGraph(self._blocks, length))
        inputs = example_inputs(self.model, length)
        exported = _export(graph, (), inputs, None)
        with self._converted(exported, None, length) as converted:
            yield converted

    @contextlib.contextmanager
    def enumerated(self, lengths: tuple[int, ...]) -> Iterator[Converted]:
        """The graph that takes any of `lengths`, with input_ids as its only input."""
        longest = max(lengths)
        graph = self._rounded(IdsGraph(self._blocks, longest))
        ids = example_inputs(self.model, longest)["input_ids"]
        length = torch.export.Dim("length", min=1, max=longest)
        exported = _export(graph, (ids,), {}, ({1: length},))
        shapes = ct.EnumeratedShapes([(1, length) for length in lengths], default=(1, longest))
        inputs = [ct.TensorType("input_ids", shape=shapes, dtype=np.int32)]
        with self._converted(exported, inputs, longest) as converted:
            yield converted

    def _rounded(self, graph: torch.nn.Module) -> torch.nn.Module:
        """The graph with weights that its float type holds: coremltools makes 6e-8 of one that float16 rounds to 0."""
        if self.half:
            with torch.no_grad():
                for tensor in (*graph.parameters(), *graph.buffers()):
                    tensor.copy_(tensor.half())
        return graph.eval()

    @contextlib.contextmanager
    def _converted(
        self, exported: torch.export.ExportedProgram, inputs: list[Any] | None, positions: int
    ) -> Iterator[Converted]:
        table = RecordTable.of(self.model, self.half, self.minimum_ios >= 18, positions)
        passes = ct.PassPipeline.DEFAULT
        passes.remove_passes(_LEFT_OUT)
        if self.half:
            passes.insert_pass(passes.passes.index(fp16_pass.REPLACED), fp16_pass.PASS)
            passes.remove_passes({fp16_pass.REPLACED})
        passes.append_pass(PASS)
        passes.set_options(PASS, {"table": table})
        with tempfile.TemporaryDirectory(prefix="mobilekit-") as folder:
            converted = ct.convert(
                exported,
                inputs=inputs,
                outputs=[ct.TensorType(self.model.head.output_name, dtype=np.float32)],
                convert_to="mlprogram",
                minimum_deployment_target=_TARGETS[self.minimum_ios],
                compute_precision=ct.precision.FLOAT16 if self.half else ct.precision.FLOAT32,
                pass_pipeline=passes,
                skip_model_load=True,
                package_dir=f"{folder}/graph.mlpackage",
            )
            table.check_complete()
            yield Converted(converted.get_spec(), Path(converted.weights_dir).parent)


def _export(
    graph: torch.nn.Module, inputs: tuple[torch.Tensor, ...], named: dict[str, torch.Tensor], shapes: Any
) -> torch.export.ExportedProgram:
    with torch.no_grad():
        return torch.export.export(graph, inputs, named, dynamic_shapes=shapes).run_decompositions({})
