"""Core ML packages for tests, made in one worker process, and what only coremltools itself can say about them."""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from support import random_compressed

from export.registry import StoredWeight, target
from mobilekit.compression.compressed import CompressedModel, load_records, save_records
from mobilekit.compression.records import Clustered, Dense, Quantized
from mobilekit.models.config import EncoderConfig, HeadConfig
from mobilekit.process import Arrays, EngineProcess

LENGTHS = (16, 32)
COREML = target("coreml")
POSITIONS = "embeddings.position.weight"
WEIGHT_FILE = "Data/com.apple.CoreML/weights/weight.bin"
MODEL_FILE = "Data/com.apple.CoreML/model.mlmodel"
METADATA = {"mobilekit": "tiny", "licence": "Apache-2.0 \N{LATIN SMALL LETTER E WITH ACUTE}"}


@dataclass(frozen=True)
class Exported:
    model: CompressedModel
    path: Path
    entries: dict[int, str]
    input_names: tuple[str, ...]
    emission: dict[str, Any]


def start_worker() -> EngineProcess:
    """A process with coremltools that nothing else has to share."""
    worker = EngineProcess("coreml_support:service", hide=("tensorflow",))
    atexit.register(worker.close)
    return worker


@functools.cache
def worker() -> EngineProcess:
    return start_worker()


@functools.cache
def scratch() -> Path:
    folder = tempfile.TemporaryDirectory(prefix="mobilekit-test-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


def emit(
    model: CompressedModel,
    name: str,
    lengths: tuple[int, ...] = LENGTHS,
    ios: int = 18,
    process: EngineProcess | None = None,
    method: str = "emit",
) -> Exported:
    """Export a model to `name`.mlpackage in the scratch folder."""
    folder = scratch() / name
    folder.mkdir(parents=True)
    records, path = folder / "records.safetensors", folder / "Tiny.mlpackage"
    save_records(model, records)
    params = {"target": "coreml", "records": str(records), "out": str(path), "lengths": list(lengths), "name": "Tiny"}
    params |= {"minimum_ios": ios, "metadata": METADATA}
    fields = (process or worker()).call(method, params)[0]
    return Exported(model, path, dict(fields["entry_points"]), tuple(fields["input_names"]), fields)


@functools.cache
def exported(
    encoder: EncoderConfig, head: HeadConfig, scheme: str, lengths: tuple[int, ...] = LENGTHS, ios: int = 18
) -> Exported:
    """A random model as a package; the same arguments give the same one."""
    name = f"{abs(hash((encoder, head, scheme, lengths, ios)))}"
    return emit(random_compressed(encoder, head, scheme), name, lengths, ios)


def inputs(of: Exported, length: int, tokens: int, garbage: bool = False) -> dict[str, NDArray[np.int32]]:
    """Ids with `tokens` real ones, the same at every length; the rest is padding, or garbage that the mask hides."""
    rng = np.random.default_rng(tokens)
    config = of.model.encoder
    ids = rng.integers(1, config.vocab_size, (1, 512)).astype(np.int32)[:, :length]
    real = (np.arange(length) < tokens)[None]
    if not garbage:
        ids = np.where(real, ids, config.pad_id).astype(np.int32)
    types = np.full_like(ids, int(garbage)) * ~real
    made = {"input_ids": ids, "attention_mask": real.astype(np.int32), "token_type_ids": types.astype(np.int32)}
    return {name: made[name] for name in of.input_names}


def torch_output(of: Exported, length: int, tokens: int) -> NDArray[np.float32]:
    """The traced graph in torch, in float32, on the decoded weights and the same inputs."""
    import torch

    from export.blocks import Blocks
    from export.graph import EncoderGraph

    given = inputs(of, length, tokens)
    given.setdefault("attention_mask", (given["input_ids"] != of.model.encoder.pad_id).astype(np.int32))
    given.setdefault("token_type_ids", np.zeros_like(given["input_ids"]))
    with torch.no_grad():
        graph = EncoderGraph(Blocks(of.model), length).eval()
        outputs = graph(**{name: torch.from_numpy(values) for name, values in given.items()})
    (output,) = outputs.values()
    return np.asarray(output.numpy())


def holding(weights: list[StoredWeight], record: Quantized | Clustered | NDArray[Any]) -> list[StoredWeight]:
    """The stored weights that are equal to a compressed record, or to values of the file's own float type."""
    if isinstance(record, Quantized | Clustered):
        codebook = record.codebook if isinstance(record, Clustered) else None
        return [
            w
            for w in weights
            if w.codes is not None
            and w.scale is not None
            and np.array_equal(w.codes, record.codes)
            and np.array_equal(w.scale, record.scale)
            and w.bits == record.bits
            and (w.codebook is None) == (codebook is None)
            and (codebook is None or np.array_equal(w.codebook, codebook))  # type: ignore[arg-type]
        ]
    return [
        w
        for w in weights
        if w.values is not None and w.values.dtype == record.dtype and np.array_equal(w.values, record)
    ]


def expected(of: Exported, name: str) -> Quantized | Clustered | NDArray[Any]:
    """What the file has to hold of a record: compressed ones as they are, the rest in the graph's float type."""
    record = of.model.records[name]
    if not isinstance(record, Dense):
        return record
    values = record.values[: max(of.entries)] if name == POSITIONS else record.values
    return values.astype(np.float32 if of.model.scheme == "fp32" else np.float16)


def missing(of: Exported, path: Path | None = None) -> list[str]:
    weights = COREML.read_weights(path or of.path)
    return [name for name in of.model.records if not holding(weights, expected(of, name))]


def copied(of: Exported, tmp_path: Path) -> Path:
    path = tmp_path / of.path.name
    shutil.copytree(of.path, path)
    return path


def service() -> Callable[..., tuple[Any, Arrays]]:
    """Runs in the worker; takes what the export worker takes, and the methods below."""
    from export.worker import service as export_service

    emit_service = export_service()
    extra = {"emit_changed": _emit_changed, "twins": _twins, "spec": _spec, "evaluate": _evaluate, "fp16": _fp16}

    def call(method: str, params: dict[str, Any], arrays: Arrays, progress: Callable[[str], None]) -> Any:
        if method in extra:
            return extra[method](params, arrays)
        return emit_service(method, params, arrays, progress)

    return call


def _emit_changed(params: dict[str, Any], arrays: Arrays) -> Any:
    """Export with a converter that scales one matrix, as a folded norm would."""
    from export.blocks import Linear
    from export.coreml.blocks import CoreMLBlocks
    from export.worker import service as export_service

    original = CoreMLBlocks.make_linear

    def changed(self: CoreMLBlocks, weight: Any, bias: Any) -> Any:
        same = weight is self.model.records["layers.1.ffn.up.weight"]
        return Linear(Dense(weight.decode() * np.float32(1.25)) if same else weight, bias)

    CoreMLBlocks.make_linear = changed  # type: ignore[method-assign]
    try:
        return export_service()("emit", params, arrays, lambda _: None)
    finally:
        CoreMLBlocks.make_linear = original  # type: ignore[method-assign]


def _twins(params: dict[str, Any], arrays: Arrays) -> Any:
    """Two records of other codes and the same values."""
    from export.coreml.engine import import_coremltools

    import_coremltools()
    from export.coreml.records_pass import RecordTable

    model = load_records(Path(params["records"]))
    codes = np.full((8, 4), 2, np.int8)
    scale = np.full((8, 1), 0.5, np.float32)
    twins = {"a.weight": Quantized(codes, scale), "b.weight": Quantized(codes * 2, scale / 2)}
    RecordTable.of(CompressedModel(model.encoder, model.head, "int8", twins), True, True, 8)
    return None, {}


def _spec(params: dict[str, Any], arrays: Arrays) -> Any:
    """What coremltools' own loader says: specification version, functions, the default one."""
    from export.coreml.engine import import_coremltools

    import_coremltools()
    import coremltools as ct

    spec = ct.models.MLModel(params["path"], skip_model_load=True).get_spec()
    names = sorted(spec.mlProgram.functions)
    return {
        "version": spec.specificationVersion,
        "functions": names,
        "default": spec.description.defaultFunctionName,
        "described": [f.name for f in spec.description.functions],
    }, {}


def _evaluate(params: dict[str, Any], arrays: Arrays) -> Any:
    """A function's outputs by coremltools: every operation built again on constants, which it then folds."""
    import coremltools as ct
    from coremltools.converters.mil.frontend.milproto.load import load
    from coremltools.converters.mil.mil import Builder as mb
    from coremltools.converters.mil.mil import Function

    model = ct.models.MLModel(params["path"], skip_model_load=True)
    spec = model.get_spec()
    program = load(spec, specification_version=spec.specificationVersion, file_weights_dir=model.weights_dir)
    function = program.functions[params["entry"]]
    known: dict[Any, Any] = {}

    def value(var: Any) -> Any:
        if isinstance(var, (list, tuple)):
            return [value(v) for v in var]
        # Its reductions take a bool of Python only.
        return bool(var.val) if isinstance(var.val, np.bool_) else known.get(var, var.val)

    with Function({"unused": mb.placeholder(shape=(1,))}, opset_version=function.opset_version):
        known.update({var: mb.const(val=arrays[name]) for name, var in function.inputs.items()})
        for operation in function.operations:
            if operation.op_type == "const":
                continue
            if operation.op_type.startswith("constexpr"):
                known[operation.outputs[0]] = mb.const(val=operation.materialized_val_inference())
                continue
            given = {name: value(var) for name, var in operation.inputs.items() if var is not None}
            results = getattr(mb, operation.op_type)(**given)
            results = results if isinstance(results, (list, tuple)) else [results]
            known.update(zip(operation.outputs, results, strict=True))
        outputs = {var.name: np.asarray(known[var].val) for var in function.outputs}
    return None, outputs


def _fp16(params: dict[str, Any], arrays: Arrays) -> Any:
    """What our overflow check says of each array as a constant operand."""
    from export.coreml.engine import import_coremltools

    import_coremltools()
    from coremltools.converters.mil.mil import Builder as mb
    from coremltools.converters.mil.mil import Function
    from coremltools.converters.mil.mil.passes.defs.quantization import add_fp16_cast

    from export.coreml.fp16_pass import cast_to_fp16

    def both(values: Iterable[Any]) -> list[list[bool]]:
        return [[bool(check.fp16_overflow(v.op)) for v in values] for check in (add_fp16_cast, cast_to_fp16)]

    with Function({"x": mb.placeholder(shape=(1,))}) as function:
        x = function.inputs["x"]
        return both([mb.add(x=x, y=mb.const(val=arrays[name])) for name in sorted(arrays)]), {}
