"""What the exporter writes into an .mlpackage, read back from the package's own structure."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from coreml_support import (
    COREML,
    LENGTHS,
    METADATA,
    MODEL_FILE,
    WEIGHT_FILE,
    Exported,
    copied,
    emit,
    expected,
    exported,
    holding,
    missing,
    start_worker,
    worker,
)
from support import CLASSIFIER, DENSE_EMBEDDING, EMBEDDING, SHARED, TINY, WORDS, random_compressed

from mobilekit.compression.compressed import CompressedModel
from mobilekit.compression.nibbles import pack_nibbles
from mobilekit.compression.records import Dense, Quantized
from mobilekit.errors import ArtifactError, CompressionError, EngineError, InputError
from mobilekit.models.config import EncoderConfig, HeadConfig
from mobilekit.runtimes.mil.package import open_package
from mobilekit.runtimes.mil.program import read_functions
from mobilekit.runtimes.mil.weights import HEADER, RECORD, WeightFile, aligned

CASES: dict[str, tuple[EncoderConfig, HeadConfig, str, tuple[int, ...], int]] = {
    "int8-functions": (TINY, CLASSIFIER, "int8", LENGTHS, 18),
    "int8-shared": (SHARED, DENSE_EMBEDDING, "int8", LENGTHS, 18),
    "int8-one-length-ios16": (TINY, EMBEDDING, "int8", (16,), 16),
    "int8-shapes-ios17": (SHARED, CLASSIFIER, "int8", LENGTHS, 17),
    "int4-functions": (TINY, CLASSIFIER, "int4", LENGTHS, 18),
    "int4-shared": (SHARED, DENSE_EMBEDDING, "int4", LENGTHS, 18),
    "int4-g32-functions": (TINY, CLASSIFIER, "int4-g32", LENGTHS, 18),
    "int4-g32-shared-words": (SHARED, WORDS, "int4-g32", (16,), 18),
    "pal4-functions": (TINY, CLASSIFIER, "pal4", LENGTHS, 18),
    "pal3-shared-words": (SHARED, WORDS, "pal3", (16,), 18),
    "pal2-shared-words-ios16": (SHARED, WORDS, "pal2", (16,), 16),
    "pal6-shapes-ios17": (TINY, CLASSIFIER, "pal6", LENGTHS, 17),
    "fp16": (TINY, CLASSIFIER, "fp16", LENGTHS, 18),
    "fp16-shapes-ios16": (SHARED, EMBEDDING, "fp16", LENGTHS, 16),
    "fp32": (SHARED, EMBEDDING, "fp32", LENGTHS, 18),
    "fp32-one-length": (TINY, CLASSIFIER, "fp32", (16,), 18),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_record_is_in_the_file_bit_for_bit_and_once(case: tuple[Any, ...]) -> None:
    of = exported(*case)
    weights = COREML.read_weights(of.path)
    for name, record in of.model.records.items():
        found = holding(weights, expected(of, name))
        assert found, name
        if len(record.shape) == 2:
            assert [w.copies for w in found] == [1], name
    compressed = [r for r in of.model.records.values() if not isinstance(r, Dense)]
    assert sum(w.codes is not None for w in weights) == len(compressed)


def test_codes_made_again_from_the_decoded_weights_would_not_pass() -> None:
    of = exported(*CASES["int8-functions"])
    weights = COREML.read_weights(of.path)
    for record in of.model.records.values():
        if isinstance(record, Quantized):
            scale = (np.abs(record.decode()).max(1, keepdims=True) / 127).astype(np.float16).astype(np.float32)
            own = Quantized(np.clip(np.rint(record.decode() / scale), -127, 127).astype(np.int8), scale)
            assert not holding(weights, own)


@pytest.mark.parametrize("case", ["int8-functions", "int4-functions", "int4-g32-functions"])
def test_a_changed_code_or_scale_is_seen(case: str, tmp_path: Path) -> None:
    of = exported(*CASES[case])
    record = of.model.records["layers.0.ffn.up.weight"]
    assert isinstance(record, Quantized)
    codes = record.codes if record.bits == 8 else pack_nibbles(record.codes)
    for number, wanted in enumerate((codes.tobytes(), record.scale.astype(np.float16).tobytes())):
        path = copied(of, tmp_path / str(number))
        content = bytearray((path / WEIGHT_FILE).read_bytes())
        assert content.count(wanted) == 1
        content[content.index(wanted)] ^= 1
        (path / WEIGHT_FILE).write_bytes(content)
        assert missing(of, path) == ["layers.0.ffn.up.weight"]


def test_codes_belong_to_the_scale_that_the_file_gives_them(tmp_path: Path) -> None:
    of = exported(*CASES["int8-functions"])
    path = copied(of, tmp_path)
    model = open_package(path).model
    names = ["layers.0.attention.query.weight", "layers.0.attention.key.weight"]
    for function in model.mlProgram.functions.values():
        first, second = (_operation_of(of, function, name) for name in names)
        kept = first.inputs["scale"].SerializeToString()
        first.inputs["scale"].CopyFrom(second.inputs["scale"])
        second.inputs["scale"].ParseFromString(kept)
    (path / MODEL_FILE).write_bytes(model.SerializeToString())
    assert missing(of, path) == sorted(names)


def _operation_of(of: Exported, function: Any, name: str) -> Any:
    """The operation of a function that holds a record's codes."""
    record = of.model.records[name]
    assert isinstance(record, Quantized)
    file = WeightFile(of.path / WEIGHT_FILE)
    for operation in function.block_specializations[function.opset].operations:
        if operation.type.startswith("constexpr"):
            place = operation.inputs["data"].arguments[0].value.blobFileValue.offset
            if file.blob(place).data.tobytes() == record.codes.tobytes():
                return operation
    raise AssertionError(name)


def test_a_second_copy_of_a_weight_is_counted(tmp_path: Path) -> None:
    of = exported(*CASES["int8-functions"])
    path = copied(of, tmp_path)
    record = of.model.records["layers.0.ffn.up.weight"]
    assert isinstance(record, Quantized)
    content = bytearray((path / WEIGHT_FILE).read_bytes())
    place = content.index(record.codes.tobytes()) - RECORD.size
    sentinel, kind, size, _, padding = RECORD.unpack(content[place : place + RECORD.size])
    count, version = HEADER.unpack(content[: HEADER.size])
    content[: HEADER.size] = HEADER.pack(count + 1, version)
    content += RECORD.pack(sentinel, kind, size, len(content) + RECORD.size, padding)
    content += record.codes.tobytes() + bytes(aligned(size) - size)
    (path / WEIGHT_FILE).write_bytes(content)
    (found,) = holding(COREML.read_weights(path), record)
    assert found.copies == 2


def test_a_weight_that_the_converter_changed_is_an_error_that_names_it() -> None:
    with pytest.raises(EngineError, match=r"layers\.1\.ffn\.up\.weight"):
        emit(random_compressed(TINY, EMBEDDING), "changed", method="emit_changed")


def test_records_that_the_file_could_not_keep_apart_are_refused() -> None:
    of = exported(*CASES["int8-functions"])
    with pytest.raises(CompressionError, match=r"b\.weight and a\.weight"):
        worker().call("twins", {"records": str(of.path.parent / "records.safetensors")})


@pytest.mark.parametrize("scheme", ["int4", "int4-g32"])
def test_codes_that_old_systems_do_not_know_are_an_error_that_names_them(scheme: str) -> None:
    with pytest.raises(EngineError, match=r"embeddings\.token\.weight has 4-bit codes .* before iOS 18 only 8 bits"):
        emit(random_compressed(TINY, EMBEDDING, scheme), f"old-{scheme}", (16,), 17)


def test_int4_takes_half_a_byte_a_weight() -> None:
    eight, four = (exported(TINY, CLASSIFIER, scheme, (16,), 18) for scheme in ("int8", "int4"))
    sizes = [(of.path / WEIGHT_FILE).stat().st_size for of in (eight, four)]
    saved = sum(r.codes.size // 2 for r in eight.model.records.values() if isinstance(r, Quantized))
    # Each of the two dozen blobs begins at a multiple of 64.
    assert abs(sizes[0] - sizes[1] - saved) <= 64 * 24


def test_values_that_float16_rounds_to_nothing_stay_nothing() -> None:
    model = random_compressed(TINY, CLASSIFIER)
    records = dict(model.records)
    small = np.array([1e-9, -2e-8, 5e-8, 1e-7, -3e-6] * 13, np.float32)[:64]
    records["layers.0.attention.query.bias"] = Dense(small)
    records["layers.1.ffn.norm.bias"] = Dense(-small)
    of = emit(CompressedModel(TINY, CLASSIFIER, "int8", records), "small", (16,))
    assert missing(of) == []


def test_epsilon_of_the_norms_is_not_zero_in_float16_and_exact_in_float32() -> None:
    for case, epsilon in (("int8-functions", 2.0**-23), ("fp16-shapes-ios16", 2.0**-23), ("fp32", 1e-12)):
        for function in read_functions(open_package(exported(*CASES[case]).path)).values():
            constants = {o.name: o.literal("val").value for o in function.operations if o.kind == "const"}
            norms = [o for o in function.operations if o.kind == "layer_norm"]
            names = {o.operands["epsilon"][0].name for o in norms}  # type: ignore[union-attr]
            assert norms
            assert {float(constants[name]) for name in names} == {float(np.float32(epsilon))}


def test_two_lengths_add_no_weights_but_rows_of_positions() -> None:
    two = exported(*CASES["int8-functions"])
    one = exported(TINY, CLASSIFIER, "int8", LENGTHS[-1:], 18)
    added = (two.path / WEIGHT_FILE).stat().st_size - (one.path / WEIGHT_FILE).stat().st_size
    rows = aligned(LENGTHS[0] * TINY.embedding_size * 2)
    assert added == RECORD.size + rows


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_inputs_are_int32_and_the_output_is_float32(case: tuple[Any, ...]) -> None:
    of = exported(*case)
    inputs = COREML.read_inputs(of.path)
    assert {i.dtype for i in inputs} == {"int32"}
    got = sorted((i.entry, i.name, i.shape) for i in inputs)
    assert got == sorted((entry, name, (1, n)) for n, entry in of.entries.items() for name in of.input_names)
    package = open_package(of.path)
    for function in package.functions.values():
        (output,) = function.output
        assert output.name == of.model.head.output_name
        kind = output.type.multiArrayType
        assert kind.ArrayDataType.Name(kind.dataType) == "FLOAT32"
    for program in read_functions(package).values():
        assert {i.type.dtype for i in program.inputs} == {"int32"}


def test_several_lengths_are_functions_from_ios_18_on_and_shapes_before() -> None:
    functions, shapes = exported(*CASES["int8-functions"]), exported(*CASES["int8-shapes-ios17"])
    assert functions.entries == {16: "len_16", 32: "len_32"}
    assert functions.input_names == ("input_ids", "attention_mask", "token_type_ids")
    assert functions.emission["minimum_os"] == {"ios": "18", "macos": "15"}
    assert shapes.entries == {16: "main", 32: "main"}
    assert shapes.input_names == ("input_ids",)
    assert shapes.emission["minimum_os"] == {"ios": "17", "macos": "14"}


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("int8-functions", {"version": 9, "functions": ["len_16", "len_32"], "default": "len_32"}),
        ("int8-shapes-ios17", {"version": 8, "functions": ["main"], "default": ""}),
        ("int8-one-length-ios16", {"version": 7, "functions": ["main"], "default": ""}),
    ],
)
def test_coremltools_loads_the_package(case: str, said: dict[str, Any]) -> None:
    got = worker().call("spec", {"path": str(exported(*CASES[case]).path)})[0]
    described = got.pop("described")
    assert got == said
    assert described == ([] if said["default"] == "" else said["functions"])


def test_the_same_export_gives_the_same_bytes_in_another_process() -> None:
    cases = {name: CASES[name] for name in ("int8-functions", "int8-shapes-ios17", "fp32-one-length")}
    with start_worker() as other:
        for name, case in cases.items():
            encoder, head, scheme, lengths, ios = case
            first = exported(*case)
            second = emit(random_compressed(encoder, head, scheme), f"again-{name}", lengths, ios, other)
            assert _files(first.path) == _files(second.path)


def _files(path: Path) -> dict[str, bytes]:
    return {str(f.relative_to(path)): f.read_bytes() for f in path.rglob("*") if f.is_file()}


def test_nothing_of_the_machine_or_the_day_is_in_the_package() -> None:
    of = exported(*CASES["int8-functions"])
    files = _files(of.path)
    assert set(files) == {"Manifest.json", MODEL_FILE, WEIGHT_FILE}
    strange = [str(of.path.parent), str(Path.cwd()), "conversion_date", "site-packages", "+cu", "+cpu"]
    for name, content in files.items():
        assert not [text for text in strange if text.encode() in content], name


def test_metadata_and_labels_are_in_the_file() -> None:
    labels = ("negativo", "positivo \N{LATIN SMALL LETTER E WITH ACUTE}")
    head = replace(CLASSIFIER, labels=labels)
    about = open_package(exported(TINY, head, "int8", (16,), 18).path).model.description.metadata
    assert METADATA.items() <= dict(about.userDefined).items()
    assert tuple(json.loads(about.userDefined["labels"])) == labels
    assert about.shortDescription.startswith("Text classifier")


def test_an_unknown_ios_is_refused() -> None:
    with pytest.raises(InputError, match="choose 16, 17 or 18"):
        emit(random_compressed(TINY, EMBEDDING), "ios15", (16,), 15)


def test_float16_check_agrees_with_coremltools_own() -> None:
    arrays = {
        "a": np.array([1.0, -3.0], np.float32),
        "b": np.array([1.0, -65505.0], np.float32),
        "c": np.array([65504.0, -65504.0], np.float32),
        "d": np.array([np.inf, -np.inf], np.float32),
        "e": np.array([7e4, 1.0], np.float32),
    }
    theirs, ours = worker().call("fp16", {}, arrays)[0]
    assert ours == theirs == [False, True, False, False, True]


def test_reading_needs_neither_coremltools_nor_torch() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from pathlib import Path; from export.registry import target\n"
        f"t = target('coreml'); p = Path({str(exported(*CASES['int8-functions']).path)!r})\n"
        "assert t.read_weights(p) and t.read_inputs(p)\n"
        "heavy = {'coremltools', 'torch', 'tensorflow'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": ":".join(p for p in sys.path if p)})


@pytest.mark.parametrize("file", ["Manifest.json", MODEL_FILE, WEIGHT_FILE])
def test_a_damaged_package_is_one_clear_error(file: str, tmp_path: Path) -> None:
    path = copied(exported(*CASES["int8-functions"]), tmp_path)
    content = (path / file).read_bytes()
    for damage in (content[: len(content) // 2], b""):
        (path / file).write_bytes(damage)
        with pytest.raises(ArtifactError):
            COREML.read_weights(path)
    (path / file).unlink()
    with pytest.raises(ArtifactError):
        COREML.read_weights(path)


MINILM = EncoderConfig(
    vocab_size=30522, hidden_size=384, layers=6, heads=12, intermediate_size=1536, embedding_size=384
)
SHARED_BASE = EncoderConfig(
    vocab_size=30000, hidden_size=768, layers=12, heads=12, intermediate_size=3072, embedding_size=128, sharing="all"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoder", "scheme", "limit"),
    [
        (MINILM, "int8", 23_800_000),
        (SHARED_BASE, "int8", 12_600_000),
        (MINILM, "int4", 12_500_000),
        (SHARED_BASE, "int4-g32", 7_000_000),
    ],
)
def test_real_sizes_stay_small_with_two_lengths(encoder: EncoderConfig, scheme: str, limit: int) -> None:
    of = exported(encoder, CLASSIFIER, scheme, (32, 128), 18)
    assert sum(len(content) for content in _files(of.path).values()) <= limit
    codes = [w for w in COREML.read_weights(of.path) if w.codes is not None]
    assert {w.copies for w in codes} == {1}
    assert len(codes) == sum(isinstance(r, Quantized) for r in of.model.records.values())
