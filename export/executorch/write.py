"""Writes a compressed model as an ExecuTorch program and proves from the file that every record is in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from export.executorch.blocks import ExecutorchBlocks, ExecutorchGraph
from export.executorch.faster import fast_lowering
from export.executorch.read import NOTES_METHOD, read_weights
from export.executorch.sharing import share_constants
from export.graph import example_inputs
from export.registry import Emission, GraphSpec, Progress
from export.stored import compare, tensor_entries
from mobilekit.errors import EngineError

if TYPE_CHECKING:
    from executorch.exir import EdgeProgramManager
    from torch.export import ExportedProgram
    from torch.fx import GraphModule, Node

    from mobilekit.compression.compressed import CompressedModel

# The oldest release that was seen to run files of every scheme and head: docs/engines.md.
_LEAST_EXECUTORCH = "1.0.1"


def emit(model: CompressedModel, spec: GraphSpec, path: Path, progress: Progress) -> Emission:
    """Write `model` to `path` with a method `len_N` for each length N; weights are stored once for all of them.

    Inputs int32 [1, N], output float32 [1, size]. A .pte names neither and has no place for metadata: the names, the
    metadata and the delegated share are a JSON string that the method `metadata` returns. Raises EngineError when a
    record is not in the file bit for bit.
    """
    entries = {length: f"len_{length}" for length in spec.lengths}
    blocks, programs = ExecutorchBlocks(model), {}
    for length, entry in entries.items():
        progress(f"tracing length {length}")
        programs[entry] = _trace(model, blocks, length)
    names = tuple(example_inputs(model, 1))
    notes = {"inputs": names, "output": model.head.output_name, "metadata": dict(sorted(spec.metadata.items()))}
    progress("lowering to XNNPACK")
    manager = _lower(programs, notes)
    progress("writing")
    with path.open("wb") as file:
        manager.to_executorch().write_to_file(file)
    share_constants(path)
    _prove(model, spec, path)
    return Emission(
        entry_points=entries,
        input_names=names,
        engine="executorch",
        engine_version=_LEAST_EXECUTORCH,
    )


def _trace(model: CompressedModel, blocks: ExecutorchBlocks, length: int) -> ExportedProgram:
    graph = ExecutorchGraph(blocks, length).eval()
    return torch.export.export(graph, (), example_inputs(model, length), strict=False)


def _lower(programs: dict[str, ExportedProgram], notes: dict[str, Any]) -> EdgeProgramManager:
    """All programs to the edge dialect and to XNNPACK; `notes` and the delegated share become a constant method."""
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    with fast_lowering():
        manager = to_edge_transform_and_lower(programs, partitioner=[XnnpackPartitioner()])
    shares = {entry: delegation(manager.exported_program(entry)) for entry in programs}
    text = json.dumps({**notes, "delegation": shares}, sort_keys=True, ensure_ascii=False)
    # Constant methods are an argument of the lowering, but the shares are only known after it.
    manager._config_methods = {NOTES_METHOD: text}
    return manager


def delegation(program: ExportedProgram) -> dict[str, int]:
    """{"delegated", "total"}: operations on the inputs' data; those on constants, getitem and the delegate's call don't
    count."""
    from executorch.exir.lowered_backend_module import get_lowered_submodules

    lowered = [module.original_module for _, module, _ in get_lowered_submodules(program.graph_module)]
    delegated = sum(1 for inner in lowered for _ in _operations(inner))
    return {"delegated": delegated, "total": delegated + sum(1 for _ in _operations(program))}


def _operations(program: ExportedProgram) -> Iterator[Node]:
    module: GraphModule = program.graph_module
    given = set(program.graph_signature.user_inputs)
    live: set[Node] = set()
    for node in module.graph.nodes:
        if node.op == "placeholder" and node.name in given:
            live.add(node)
        elif node.op == "call_function" and any(source in live for source in node.all_input_nodes):
            live.add(node)
            if not any(part in str(node.target) for part in ("getitem", "call_delegate")):
                yield node


def _prove(model: CompressedModel, spec: GraphSpec, path: Path) -> None:
    found = compare(read_weights(path), tensor_entries(model, max(spec.lengths)))
    if not found.holds:
        path.unlink()
        raise EngineError(
            f"{path}: ExecuTorch did not write the records as they are; {found.faults}. This is a bug of the exporter."
        )
