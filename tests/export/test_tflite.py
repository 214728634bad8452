"""What the exporter writes into a .tflite, read back from the file's own structure."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from support import CLASSIFIER, DENSE_EMBEDDING, EMBEDDING, SHARED, TINY, foreign_codes, random_compressed

from export.registry import Emission, GraphSpec, StoredWeight, target
from export.stored import compare, tensor_entries
from mobilekit.compression.compressed import CompressedModel, save_records
from mobilekit.compression.nibbles import pack_nibbles
from mobilekit.compression.records import Clustered, Dense, Quantized, Record
from mobilekit.errors import ArtifactError, EngineError
from mobilekit.models.config import EncoderConfig, HeadConfig
from mobilekit.process import EngineProcess

TFLITE = target("tflite")
LENGTHS = (8, 32)
METADATA = {"name": "tiny", "licence": "Apache-2.0 \N{LATIN SMALL LETTER E WITH ACUTE}"}
POSITIONS = "embeddings.position.weight"
MINILM = EncoderConfig(
    vocab_size=30522, hidden_size=384, layers=6, heads=12, intermediate_size=1536, embedding_size=384
)
SHARED_BASE = EncoderConfig(
    vocab_size=30000,
    hidden_size=768,
    layers=12,
    heads=12,
    intermediate_size=3072,
    embedding_size=128,
    sharing="all",
)


@dataclass(frozen=True)
class Exported:
    model: CompressedModel
    path: Path
    emission: Emission
    weights: list[StoredWeight]


Export = Callable[[EncoderConfig, HeadConfig, str], Exported]


@pytest.fixture(scope="session")
def export(tmp_path_factory: pytest.TempPathFactory) -> Export:
    made: dict[object, Exported] = {}

    def once(encoder: EncoderConfig, head: HeadConfig, scheme: str) -> Exported:
        key = (encoder, head, scheme)
        if key not in made:
            path = tmp_path_factory.mktemp("tflite") / "model.tflite"
            model = random_compressed(encoder, head, scheme)
            emission = emit(model, path)
            made[key] = Exported(model, path, emission, TFLITE.read_weights(path))
        return made[key]

    return once


def emit(model: CompressedModel, path: Path, lengths: tuple[int, ...] = LENGTHS) -> Emission:
    return TFLITE.emit(model, GraphSpec(lengths, "Tiny", metadata=METADATA), path, lambda _: None)


def holding(weights: list[StoredWeight], record: Record) -> list[StoredWeight]:
    """The stored weights that are equal to a record, bit for bit and in its own types; a clustered one as int8."""
    if isinstance(record, Clustered):
        record = record.as_quantized()
    if isinstance(record, Quantized):
        return [
            w
            for w in weights
            if w.codes is not None
            and w.scale is not None
            and np.array_equal(w.codes, record.codes)
            and np.array_equal(w.scale, record.scale)
            and w.bits == record.bits
        ]
    return [
        w
        for w in weights
        if w.values is not None and w.values.dtype == record.values.dtype and np.array_equal(w.values, record.values)
    ]


def place(path: Path, data: bytes) -> int:
    content = path.read_bytes()
    assert content.count(data) == 1
    return content.index(data)


@pytest.mark.parametrize("scheme", ["fp32", "fp16", "int8", "int4", "pal4", "pal1"])
@pytest.mark.parametrize(
    ("encoder", "head"), [(TINY, CLASSIFIER), (SHARED, DENSE_EMBEDDING)], ids=["classifier", "shared"]
)
def test_every_record_is_in_the_file_once_bit_for_bit(
    export: Export, encoder: EncoderConfig, head: HeadConfig, scheme: str
) -> None:
    made = export(encoder, head, scheme)
    for name, record in made.model.records.items():
        if name != POSITIONS:
            assert [w.copies for w in holding(made.weights, record)] == [1], name


@pytest.mark.parametrize("scheme", ["int8", "int4", "pal4"])
def test_codes_in_the_file_are_all_records(export: Export, scheme: str) -> None:
    made = export(TINY, CLASSIFIER, scheme)
    records = [r for r in made.model.records.values() if not isinstance(r, Dense)]
    assert len([w for w in made.weights if w.codes is not None]) == len(records)


@pytest.mark.parametrize("scheme", ["fp32", "fp16", "int8"])
def test_position_rows_of_each_length_are_those_of_the_record(export: Export, scheme: str) -> None:
    made = export(TINY, CLASSIFIER, scheme)
    record = made.model.records[POSITIONS]
    assert isinstance(record, Dense)
    for length in LENGTHS:
        assert len(holding(made.weights, Dense(record.values[:length].copy()))) == 1


def test_a_changed_code_is_seen(export: Export, tmp_path: Path) -> None:
    made = export(TINY, CLASSIFIER, "int8")
    record = made.model.records["layers.1.ffn.up.weight"]
    assert isinstance(record, Quantized)
    content = bytearray(made.path.read_bytes())
    content[place(made.path, record.codes.tobytes()) + 5] ^= 1
    changed = tmp_path / "changed.tflite"
    changed.write_bytes(content)
    assert holding(made.weights, record)
    assert not holding(TFLITE.read_weights(changed), record)


def test_a_changed_half_of_a_byte_is_seen(export: Export, tmp_path: Path) -> None:
    made = export(TINY, CLASSIFIER, "int4")
    record = made.model.records["embeddings.token.weight"]
    assert isinstance(record, Quantized)
    content = bytearray(made.path.read_bytes())
    content[place(made.path, pack_nibbles(record.codes).tobytes()) + 5] ^= 16
    changed = tmp_path / "changed.tflite"
    changed.write_bytes(content)
    assert holding(made.weights, record)
    (found,) = [w for w in TFLITE.read_weights(changed) if w.codes is not None and w.codes.shape == record.shape]
    assert found.codes is not None
    assert np.argwhere(found.codes != record.codes).tolist() == [[0, 11]]


def test_what_the_format_has_no_fast_kernel_for_is_an_error_that_names_it(tmp_path: Path) -> None:
    model = random_compressed(TINY, CLASSIFIER, "int4")
    name, rng = "layers.1.ffn.up.weight", np.random.default_rng(0)
    for bits, block, form in ((4, 32, "4-bit codes with 2 scales a row"), (6, None, "6-bit codes with 1 scales")):
        other = foreign_codes(rng, model.records[name].shape, bits, block)
        with pytest.raises(EngineError, match=rf"layers\.1\.ffn\.up\.weight has {form}"):
            emit(replace(model, records={**model.records, name: other}), tmp_path / "model.tflite")


def test_codes_are_joined_with_the_scale_that_the_file_attaches(export: Export, tmp_path: Path) -> None:
    made = export(TINY, CLASSIFIER, "int8")
    record = made.model.records["embeddings.token.weight"]
    assert isinstance(record, Quantized)
    content = bytearray(made.path.read_bytes())
    content[place(made.path, record.scale.tobytes()) + 2] ^= 1
    changed = tmp_path / "changed.tflite"
    changed.write_bytes(content)
    found = [w for w in TFLITE.read_weights(changed) if np.array_equal(w.codes, record.codes)]
    assert len(found) == 1
    assert found[0].scale is not None
    assert np.count_nonzero(found[0].scale != record.scale) == 1


def test_a_second_copy_of_a_weight_is_counted(export: Export, tmp_path: Path) -> None:
    from ai_edge_litert.tools import flatbuffer_utils

    made = export(TINY, CLASSIFIER, "int8")
    record = made.model.records["embeddings.token.weight"]
    model = flatbuffer_utils.read_model(str(made.path))
    table = next(t for t in model.subgraphs[1].tensors if t.name == b"embeddings.token.weight")
    model.buffers.append(copy(model.buffers[table.buffer]))
    table.buffer = len(model.buffers) - 1
    twice = tmp_path / "twice.tflite"
    twice.write_bytes(flatbuffer_utils.convert_object_to_bytearray(model))
    assert [w.copies for w in holding(TFLITE.read_weights(twice), record)] == [2]


@pytest.mark.parametrize("scheme", ["fp32", "int8", "int4"])
def test_a_second_length_adds_a_graph_and_no_weights(export: Export, scheme: str, tmp_path: Path) -> None:
    model = random_compressed(replace(SHARED, vocab_size=2000), EMBEDDING, scheme)
    one, two = tmp_path / "one.tflite", tmp_path / "two.tflite"
    emit(model, one, (32,))
    emit(model, two, (8, 32))
    # Not even scales and zero points come twice; a graph of 4 layers takes some 30 KB.
    payload = sum(record.payload_bytes for record in model.records.values())
    added = two.stat().st_size - one.stat().st_size
    assert added < 32_000 < payload


@pytest.mark.parametrize("encoder", [TINY, replace(TINY, token_types=0)], ids=["types", "no-types"])
def test_inputs_are_int32_by_name_in_each_signature(encoder: EncoderConfig, tmp_path: Path) -> None:
    model = random_compressed(encoder, CLASSIFIER, "int8")
    records = {n: r for n, r in model.records.items() if encoder.token_types or n != "embeddings.token_type.weight"}
    path = tmp_path / "model.tflite"
    emission = emit(replace(model, records=records), path)
    names = ("input_ids", "attention_mask", "token_type_ids")[: 3 if encoder.token_types else 2]
    assert emission.input_names == names
    assert emission.entry_points == {8: "len_8", 32: "len_32"}
    assert [(i.entry, i.name, i.dtype, i.shape) for i in TFLITE.read_inputs(path)] == [
        (entry, name, "int32", (1, length)) for length, entry in emission.entry_points.items() for name in names
    ]


def test_a_record_that_the_graph_does_not_use_is_an_error_that_names_it(tmp_path: Path) -> None:
    model = random_compressed(TINY, CLASSIFIER, "int8")
    extra = {"layers.7.ffn.up.weight": model.records["layers.0.ffn.up.weight"]}
    path = tmp_path / "model.tflite"
    with pytest.raises(EngineError, match=r"layers\.7\.ffn\.up\.weight"):
        emit(replace(model, records={**model.records, **extra}), path)
    assert not path.exists()


def test_an_operator_that_cannot_be_written_is_an_error_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    from export.tflite import lower

    monkeypatch.delitem(lower._HANDLERS, torch.ops.aten.gelu.default)
    with pytest.raises(EngineError, match=r"aten\.gelu\.default"):
        emit(random_compressed(TINY, CLASSIFIER, "int8"), Path("unwritten.tflite"))


def test_another_process_writes_the_same_bytes(export: Export, tmp_path: Path) -> None:
    with EngineProcess("export.worker:service", hide=("tensorflow",)) as process:
        for scheme in ("fp16", "int8", "int4"):
            made = export(SHARED, DENSE_EMBEDDING, scheme)
            records, again = tmp_path / f"{scheme}.safetensors", tmp_path / f"{scheme}.tflite"
            save_records(made.model, records)
            params = {
                "target": "tflite",
                "records": str(records),
                "out": str(again),
                "lengths": list(LENGTHS),
                "name": "Tiny",
                "minimum_ios": 18,
                "metadata": METADATA,
            }
            process.call("emit", params)
            assert again.read_bytes() == made.path.read_bytes()


def test_the_file_holds_the_metadata(export: Export) -> None:
    from export.tflite.read import read_metadata

    assert read_metadata(export(TINY, CLASSIFIER, "int8").path) == METADATA


@pytest.mark.parametrize("scheme", ["int8", "int4"])
def test_engines_that_know_one_scale_a_tensor_refuse_the_file(export: Export, scheme: str) -> None:
    # Their kernels would take the first row's scale for all rows; the operators' versions keep them off.
    from ai_edge_litert import schema_py_generated as schema

    model = schema.Model.GetRootAs(export(TINY, CLASSIFIER, scheme).path.read_bytes(), 0)
    codes = [model.OperatorCodes(i) for i in range(model.OperatorCodesLength())]
    versions = {(code.BuiltinCode(), code.Version()) for code in codes}
    kinds = schema.BuiltinOperator
    assert (kinds.FULLY_CONNECTED, 12) in versions
    assert (kinds.EMBEDDING_LOOKUP, 4) in versions
    assert (kinds.FULLY_CONNECTED, 1) not in versions


@pytest.mark.parametrize("scheme", ["int8", "int4", "pal4"])
def test_linear_maps_have_kernels_that_scale_every_row_on_every_processor(export: Export, scheme: str) -> None:
    # Asked for symmetric ranges, LiteRT's kernels for ARM and for x86 without SSE leave the rows' scales out.
    from ai_edge_litert import schema_py_generated as schema

    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(export(TINY, CLASSIFIER, scheme).path.read_bytes(), 0))
    linear = schema.BuiltinOperator.FULLY_CONNECTED
    maps = [
        (graph.tensors[operator.inputs[1]].type, operator.builtinOptions.asymmetricQuantizeInputs)
        for graph in model.subgraphs
        for operator in graph.operators
        if model.operatorCodes[operator.opcodeIndex].builtinCode == linear
    ]
    assert maps
    assert all(asymmetric == (kind != schema.TensorType.FLOAT32) for kind, asymmetric in maps)


@pytest.mark.parametrize("scheme", ["fp16", "int8", "int4"])
def test_constants_are_aligned_for_the_kernels(export: Export, scheme: str) -> None:
    from export.tflite.read import _File

    file = _File(export(TINY, CLASSIFIER, scheme).path)
    offsets = [c.offset for graph in file.graphs() for c in file.constants(graph).values()]
    assert len(offsets) > 50
    assert not [offset for offset in offsets if offset % 16]


def test_reading_needs_neither_torch_nor_an_engine(export: Export) -> None:
    path = export(TINY, CLASSIFIER, "int8").path
    script = (
        "import sys, pathlib; from export.registry import target; t = target('tflite');"
        f"p = pathlib.Path({str(path)!r}); assert t.read_weights(p) and t.read_inputs(p);"
        "print(sorted(m for m in sys.modules if m in ('torch', 'tensorflow', 'ai_edge_litert.interpreter')"
        " or m.endswith('_wrapper')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=Path.cwd())
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04" * 8], ids=["empty", "zip"])
def test_another_file_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match="not a LiteRT file"):
        TFLITE.read_weights(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoder", "scheme", "limit"),
    [
        (MINILM, "int8", 23_800_000),
        (SHARED_BASE, "int8", 12_600_000),
        (MINILM, "int4", 12_500_000),
        (SHARED_BASE, "int4", 7_000_000),
    ],
)
def test_size_of_real_shapes(encoder: EncoderConfig, scheme: str, limit: int, tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    model = random_compressed(encoder, EMBEDDING, scheme)
    emit(model, path, (32, 128))
    stored = sum(record.payload_bytes for name, record in model.records.items() if name != POSITIONS)
    assert stored < path.stat().st_size <= limit


def test_clustered_records_are_written_as_int8_and_compared_as_such(export: Export, tmp_path: Path) -> None:
    made = export(TINY, CLASSIFIER, "pal4")
    entries = tensor_entries(made.model, max(LENGTHS))
    assert not compare(made.weights, entries).missing
    name = "layers.1.ffn.up.weight"
    record = made.model.records[name]
    assert isinstance(record, Clustered)
    codes = record.as_quantized().codes
    assert len(np.unique(codes)) <= 16
    # Another of its own levels is another weight.
    content = bytearray(made.path.read_bytes())
    at = place(made.path, codes.tobytes())
    content[at] = next(int(v) for v in np.unique(codes) if v != codes[0, 0]) % 256
    changed = tmp_path / "changed.tflite"
    changed.write_bytes(content)
    assert compare(TFLITE.read_weights(changed), entries).missing == (name,)
