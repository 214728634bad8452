"""What the exporter writes into a .pte, read back from the file's own structure."""

from __future__ import annotations

import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from executorch_files import LENGTHS, METADATA, MODELS, ONE_LAYER, emit, exported, shared_worker
from support import CLASSIFIER, EMBEDDING, TINY, foreign_codes, random_compressed

from export.executorch.program import Program
from export.executorch.read import NOTES_METHOD, read_notes
from export.executorch.sharing import share_constants
from export.registry import StoredWeight, target
from mobilekit.compression.records import Clustered, Dense, Quantized, Record
from mobilekit.errors import ArtifactError, EngineError
from mobilekit.models.config import EncoderConfig

TARGET = target("executorch")
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
INT8 = "classifier-int8"
FOUR_BITS = ("classifier-int4", "shared-int4-g32")


def holding(weights: list[StoredWeight], record: Record) -> list[StoredWeight]:
    """The stored weights that are equal to a record, bit for bit; vectors may come in another shape, clustered ones
    come as int8."""
    if isinstance(record, Clustered):
        record = record.as_quantized()
    if isinstance(record, Quantized):
        pairs = [w for w in weights if w.codes is not None and w.scale is not None]
        pairs = [w for w in pairs if w.bits == record.bits and np.array_equal(w.scale, record.scale)]
        return [w for w in pairs if np.array_equal(w.codes, record.codes)]
    content = record.values.tobytes()
    return [w for w in weights if w.values is not None and w.values.tobytes() == content]


def quantized(name: str, tensor: str) -> Quantized:
    record = exported(name).model.records[tensor]
    record = record.as_quantized() if isinstance(record, Clustered) else record
    assert isinstance(record, Quantized)
    return record


def stored_codes(record: Quantized) -> bytes:
    """A record's codes as they lie in the file: of 4 bits two a byte, the first in the low half, each plus 8."""
    if record.bits == 8:
        return record.codes.tobytes()
    raised = (record.codes + 8).astype(np.uint8)
    return (raised[:, ::2] | raised[:, 1::2] << 4).tobytes()


def stored_scale(record: Quantized) -> bytes:
    """A record's scales as they lie in the file: where a row has several the upper half of each float32."""
    return (record.scale if record.groups == 1 else record.scale.view(np.uint16)[:, 1::2]).tobytes()


def changed(tmp_path: Path, old: bytes, new: bytes, name: str = INT8) -> Path:
    """A file with the only occurrence of `old` replaced by `new`."""
    content = exported(name).path.read_bytes()
    assert content.count(old) == 1
    assert len(old) == len(new)
    path = tmp_path / "changed.pte"
    path.write_bytes(content.replace(old, new))
    return path


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


@pytest.mark.parametrize("name", [name for name in MODELS if "gelu" not in name and "types" not in name])
def test_every_record_is_in_the_file_once_bit_for_bit(name: str) -> None:
    weights = TARGET.read_weights(exported(name).path)
    for tensor, record in exported(name).model.records.items():
        if tensor != POSITIONS:
            assert [w.copies for w in holding(weights, record)] == [1], tensor


@pytest.mark.parametrize("name", ["words-int8", "words-int4", "words-int4-g32", "words-pal4", "words-fp32"])
def test_table_and_tied_decoder_are_one_place_in_the_file(name: str) -> None:
    program = Program(exported(name).path)
    table = exported(name).model.records["embeddings.token.weight"]
    table = table.as_quantized() if isinstance(table, Clustered) else table
    size = table.payload_bytes
    content = stored_codes(table) if isinstance(table, Quantized) else table.values.tobytes()
    assert exported(name).path.read_bytes().count(content) == 1
    inside = [i for i, place in enumerate(program.segments) if place.size == size and program.is_named(i)]
    assert len(inside) == 1 and bytes(program.bytes_at(program.segments[inside[0]])) == content
    # The delegate's weight lies inside of the constants' segment, and the header counts what is there.
    first, last = program.segments[0], max(place.offset + place.size for place in program.segments)
    assert first.offset <= program.segments[inside[0]].offset < first.offset + first.size
    assert last <= len(program.data)
    assert struct.unpack_from("<Q", program.data, Program.SIZE_OF_SEGMENTS)[0] == len(program.data) - program.base


def test_sharing_again_changes_nothing(tmp_path: Path) -> None:
    for name, twice in (("words-int8", 0), (INT8, 0)):
        copy = tmp_path / "copy.pte"
        copy.write_bytes(exported(name).path.read_bytes())
        before = copy.read_bytes()
        assert share_constants(copy) == twice
        assert copy.read_bytes() == before


def test_scales_of_groups_are_one_place_in_the_file_too() -> None:
    scale = stored_scale(quantized("words-int4-g32", "embeddings.token.weight"))
    assert len(scale) == 2 * TINY.vocab_size * 2
    assert exported("words-int4-g32").path.read_bytes().count(scale) == 1


@pytest.mark.parametrize("name", [INT8, "shared-int8", "classifier-int4", "shared-int4-g32"])
def test_codes_in_the_file_are_all_records(name: str) -> None:
    records = [r for r in exported(name).model.records.values() if isinstance(r, Quantized)]
    stored = [w for w in TARGET.read_weights(exported(name).path) if w.codes is not None]
    assert len(stored) == len(records)


def test_position_rows_of_each_length_are_those_of_the_record() -> None:
    record = exported(INT8).model.records[POSITIONS]
    weights = TARGET.read_weights(exported(INT8).path)
    assert isinstance(record, Dense)
    for length in LENGTHS:
        assert len(holding(weights, Dense(record.values[:length].copy()))) == 1


CHANGED = [
    (INT8, "layers.1.ffn.up.weight"),
    (INT8, "embeddings.token.weight"),
    ("classifier-int4", "layers.1.ffn.up.weight"),
    ("classifier-int4", "embeddings.token.weight"),
    ("shared-int4-g32", "layers.0.ffn.up.weight"),
    ("classifier-pal3", "layers.1.ffn.up.weight"),
]


@pytest.mark.parametrize(("name", "tensor"), CHANGED)
def test_a_changed_code_is_seen(tmp_path: Path, name: str, tensor: str) -> None:
    record = quantized(name, tensor)
    codes = stored_codes(record)
    weights = TARGET.read_weights(changed(tmp_path, codes, flipped(codes, 5), name))
    assert holding(TARGET.read_weights(exported(name).path), record)
    assert not holding(weights, record)


@pytest.mark.parametrize(("name", "tensor"), CHANGED)
def test_codes_are_joined_with_the_scale_that_the_file_attaches(tmp_path: Path, name: str, tensor: str) -> None:
    record = quantized(name, tensor)
    scale = stored_scale(record)
    weights = TARGET.read_weights(changed(tmp_path, scale, flipped(scale, 2), name))
    found = [w for w in weights if np.array_equal(w.codes, record.codes)]
    assert len(found) == 1
    assert found[0].scale is not None
    assert np.count_nonzero(found[0].scale != record.scale) == 1


def test_a_second_copy_of_a_weight_is_counted(tmp_path: Path) -> None:
    query, key = (quantized(INT8, f"layers.0.attention.{part}.weight") for part in ("query", "key"))
    path = changed(tmp_path, key.codes.tobytes(), query.codes.tobytes())
    content = path.read_bytes()
    path.write_bytes(content.replace(key.scale.tobytes(), query.scale.tobytes()))
    assert [w.copies for w in holding(TARGET.read_weights(path), query)] == [2]


def test_a_second_length_adds_a_graph_and_no_weights(tmp_path: Path) -> None:
    two, one = exported("shared-int8"), tmp_path / "one.pte"
    emit(shared_worker(), two.model, one, (32,))
    payload = sum(record.payload_bytes for record in two.model.records.values())
    added = two.path.stat().st_size - one.stat().st_size
    # Position rows and some 10 kB a layer.
    assert added < 24_000 < payload


@pytest.mark.parametrize(
    ("name", "inputs"),
    [(INT8, ("input_ids", "attention_mask", "token_type_ids")), ("no-types-int8", ("input_ids", "attention_mask"))],
)
def test_inputs_are_int32_by_name_in_each_method(name: str, inputs: tuple[str, ...]) -> None:
    made = exported(name)
    assert tuple(made.emission["input_names"]) == inputs
    assert made.emission["entry_points"] == [[8, "len_8"], [32, "len_32"]]
    found = {(i.entry, i.name, i.dtype, i.shape) for i in TARGET.read_inputs(made.path)}
    assert found == {(f"len_{n}", name, "int32", (1, n)) for n in LENGTHS for name in inputs}


@pytest.mark.parametrize("name", [INT8, "classifier-fp32", "shared-int8", "shared-fp32", *FOUR_BITS])
def test_a_method_is_one_delegate_behind_the_lookups(name: str) -> None:
    methods = Program(exported(name).path).methods
    assert sorted(methods) == sorted([*(f"len_{n}" for n in LENGTHS), NOTES_METHOD])
    outside = {"aten::select_copy.int_out", "aten::embedding.out", "dim_order_ops::_to_dim_order_copy.out"}
    for length in LENGTHS:
        method = methods[f"len_{length}"]
        assert len(method.delegates) == 1
        assert {call.operator for call in method.calls[:-1]} == outside
        assert not method.calls[-1].operator


def test_the_file_holds_the_metadata() -> None:
    notes = read_notes(exported(INT8).path)
    assert notes["metadata"] == METADATA
    assert notes["output"] == "logits"


@pytest.mark.parametrize(
    ("bits", "block", "form"),
    [(8, 32, "8-bit codes in blocks of 32"), (4, 16, "4-bit codes in blocks of 16"), (6, None, "6-bit codes")],
)
def test_what_xnnpack_has_no_kernel_for_is_an_error(tmp_path: Path, bits: int, block: int | None, form: str) -> None:
    model = random_compressed(ONE_LAYER, CLASSIFIER, "int8")
    name = "layers.0.ffn.up.weight"
    record = foreign_codes(np.random.default_rng(0), model.records[name].shape, bits, block)
    with pytest.raises(EngineError, match=f"XNNPACK has no {form}"):
        emit(shared_worker(), replace(model, records={**model.records, name: record}), tmp_path / "model.pte", (8,))


def test_a_record_that_the_graph_does_not_use_is_an_error_that_names_it(tmp_path: Path) -> None:
    model = random_compressed(ONE_LAYER, CLASSIFIER, "int8")
    extra = {"layers.7.ffn.up.weight": random_compressed(ONE_LAYER, seed=9).records["layers.0.ffn.up.weight"]}
    path = tmp_path / "model.pte"
    with pytest.raises(EngineError, match=r"layers\.7\.ffn\.up\.weight"):
        emit(shared_worker(), replace(model, records={**model.records, **extra}), path, (8,))
    assert not path.exists()


_PLAIN_LOWERING = """
import contextlib, pathlib, sys
from executorch_files import LENGTHS, METADATA, MODELS
from export.executorch import write
from export.registry import GraphSpec
write.fast_lowering = contextlib.nullcontext
spec = GraphSpec(LENGTHS, "Tiny", metadata=METADATA)
write.emit(MODELS[sys.argv[1]](), spec, pathlib.Path(sys.argv[2]), lambda _: None)
"""


@pytest.mark.parametrize("name", ["shared-int8", *FOUR_BITS])
def test_another_process_writes_the_same_bytes_also_without_fast_lowering(name: str, tmp_path: Path) -> None:
    paths = ":".join(path for path in (str(Path(__file__).parents[1]), *sys.path) if path)
    again = tmp_path / "again.pte"
    command = [sys.executable, "-c", _PLAIN_LOWERING, name, str(again)]
    subprocess.run(command, check=True, capture_output=True, env={"PYTHONPATH": paths})
    assert again.read_bytes() == exported(name).path.read_bytes()


def test_reading_needs_neither_torch_nor_an_engine() -> None:
    script = (
        "import sys, pathlib; from export.registry import target; t = target('executorch');"
        f"p = pathlib.Path({str(exported(INT8).path)!r}); assert t.read_weights(p) and t.read_inputs(p);"
        "print(sorted(m for m in sys.modules if m.split('.')[0] in ('torch', 'executorch', 'torchao')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=Path.cwd())
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04" * 20, b"\x20\0\0\0ET12" + b"\xff" * 64], ids=["empty", "zip", "bad"]
)
def test_another_file_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.pte"
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match=r"model\.pte: cannot be read as an ExecuTorch program"):
        TARGET.read_weights(path)


def test_a_file_that_was_cut_short_is_refused(tmp_path: Path) -> None:
    content = exported(INT8).path.read_bytes()
    path = tmp_path / "model.pte"
    for kept in (len(content) // 4, len(content) - 20_000):
        path.write_bytes(content[:kept])
        with pytest.raises(ArtifactError, match="cannot be read as an ExecuTorch program"):
            TARGET.read_weights(path)


def test_an_offset_that_leads_nowhere_is_an_artifact_error(tmp_path: Path) -> None:
    content = bytearray(exported(INT8).path.read_bytes())
    struct.pack_into("<I", content, 0, len(content) + 1)
    path = tmp_path / "model.pte"
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match="cannot be read"):
        TARGET.read_inputs(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoder", "scheme", "limit"),
    [
        (MINILM, "int8", 23_800_000),
        (SHARED_BASE, "int8", 12_600_000),
        (MINILM, "int4", 12_300_000),
        (SHARED_BASE, "int4-g32", 7_100_000),
    ],
)
def test_size_of_real_shapes(encoder: EncoderConfig, scheme: str, limit: int, tmp_path: Path) -> None:
    path = tmp_path / "model.pte"
    model = random_compressed(encoder, EMBEDDING, scheme)
    emit(shared_worker(), model, path, (32, 128))
    stored = sum(record.payload_bytes for name, record in model.records.items() if name != POSITIONS)
    assert stored < path.stat().st_size <= limit
