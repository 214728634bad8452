"""Write a compressed model as a LiteRT flatbuffer: one signature a length, every weight stored once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from ai_edge_litert import schema_py_generated as schema

from export.graph import EncoderGraph, example_inputs
from export.registry import Emission, GraphSpec, Progress
from export.tflite.blocks import RecordedBlocks
from export.tflite.builder import ModelBuilder
from export.tflite.lower import Lowering, Named
from export.tflite.mediapipe import PROBABILITIES, attachment
from export.tflite.metadata import BUFFER_NAME, append_files, write_metadata
from export.tflite.read import METADATA_NAME
from mobilekit.compression.compressed import POSITIONS, CompressedModel
from mobilekit.compression.records import Clustered, Dense, Quantized
from mobilekit.errors import EngineError

# The oldest LiteRT; it reads all that is written here.
_LEAST_LITERT = "1.0.1"
# The least TensorFlow Lite that was seen to run float operators and BITCAST of int16, and scales a row.
_LEAST_FLOAT, _LEAST_PER_ROW = "2.14.0", "2.18.0"


def emit(model: CompressedModel, spec: GraphSpec, path: Path, progress: Progress) -> Emission:
    """Write `path`. Raises EngineError when the graph has an operator or a record that cannot be written."""
    blocks, builder = RecordedBlocks(model), ModelBuilder()
    inputs = tuple(example_inputs(model, 1))
    attached = attachment(model, spec, inputs)
    scores = attached.scores if attached else None
    written: set[str] = set()
    entries = {length: f"len_{length}" for length in spec.lengths}
    for length, entry in entries.items():
        progress(f"tracing length {length}")
        written |= _add_graph(blocks, length, entry, builder, scores)
    missing = sorted(set(model.records) - written)
    if missing:
        raise EngineError(f"tflite: the graph does not use {', '.join(missing)}; nothing was written.")
    per_row = any(isinstance(record, Quantized | Clustered) for record in model.records.values())
    builder.metadata("min_runtime_version", (_LEAST_PER_ROW if per_row else _LEAST_FLOAT).encode())
    builder.metadata(METADATA_NAME, json.dumps(dict(spec.metadata), sort_keys=True, ensure_ascii=False).encode())
    if attached is not None:
        builder.metadata(BUFFER_NAME, write_metadata(attached.about))
    progress("writing")
    path.write_bytes(builder.serialize())
    if attached is not None:
        append_files(path, attached.files)
    return Emission(
        entries,
        inputs,
        "litert",
        _LEAST_LITERT,
        opened_by=attached.task if attached else "",
        more_outputs=(PROBABILITIES,) if scores else (),
    )


def _add_graph(blocks: RecordedBlocks, length: int, entry: str, builder: ModelBuilder, scores: str | None) -> set[str]:
    """Trace one length and append its graph; gives the names of the records that it holds.

    scores: the operator that makes probabilities of the output, for one more output; None: no such output.
    """
    graph = EncoderGraph(blocks, length).eval()
    inputs = example_inputs(blocks.model, length)
    with torch.no_grad():
        program = torch.export.export(graph, (), kwargs=inputs, strict=False)
    built = builder.graph(entry)
    values = {name: built.input(name, (1, length), schema.TensorType.INT32) for name in inputs}
    lowering = Lowering(built, _constants(blocks, graph, program, length), values)
    lowering.run(list(program.graph.nodes))
    (output,) = program.graph_signature.user_outputs
    result = lowering.result(output)
    if scores is not None:
        # Before the logits: what task libraries show first is what their users take for the answer.
        options: dict[str, Any] = {"beta": 1.0} if scores == "SOFTMAX" else {}
        built.output(PROBABILITIES, built.operator(scores, [result], result.shape, **options))
    built.output(blocks.model.head.output_name, result)
    return lowering.written


def _constants(blocks: RecordedBlocks, graph: EncoderGraph, program: Any, length: int) -> dict[str, Named]:
    """What each placeholder of the traced graph holds: a record, the first position rows, or a constant of ours."""
    made: dict[str, Named] = {}
    for placeholder, target in program.graph_signature.inputs_to_parameters.items():
        name = blocks.names[graph.get_parameter(target)]
        made[placeholder] = (name, blocks.model.records[name])
    for placeholder, target in program.graph_signature.inputs_to_buffers.items():
        made[placeholder] = (target, Dense(graph.get_buffer(target).numpy()))
        if target == "position":
            made[placeholder] = (POSITIONS, Dense(blocks.model.position_rows(length)))
    return made
