from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from mobilekit.compression.compress import compress
from mobilekit.compression.compressed import load_records, save_records
from mobilekit.compression.folder import compressed_of, records_of, save_compressed
from mobilekit.compression.plan import Plan, Rule
from mobilekit.compression.quantize import quantize_groups
from mobilekit.compression.records import Clustered, Dense, Quantized
from mobilekit.compression.schemes.registry import scheme
from mobilekit.errors import CompressionError, InputError
from mobilekit.models.load import load

SOME = ("a good film", "a bad film, and a long one", "what a pity")


def test_int8_compresses_every_matrix_and_the_token_table() -> None:
    compressed = compress(load("tiny-classifier"), "int8")
    kept = {n for n, r in compressed.records.items() if isinstance(r, Dense) and len(r.shape) == 2}
    assert kept == {"embeddings.position.weight", "embeddings.token_type.weight"}
    assert isinstance(compressed.records["embeddings.token.weight"], Quantized)
    assert isinstance(compressed.records["head.classifier.weight"], Quantized)


def test_int4_compresses_the_same_to_half_the_bytes() -> None:
    eight, four = (compress(load("tiny-classifier"), scheme).records for scheme in ("int8", "int4"))
    for name, record in eight.items():
        other = four[name]
        assert type(other) is type(record)
        if isinstance(record, Quantized):
            assert isinstance(other, Quantized) and other.bits == 4
            assert 2 * other.payload_bytes == record.payload_bytes


def test_odd_rows_are_refused_at_int4() -> None:
    model = load("tiny-classifier")
    model.module.head.classifier.weight.data = model.module.head.classifier.weight.data[:, :31]
    with pytest.raises(CompressionError, match=r"head.classifier.weight: int4 needs an even number .*, not 31"):
        compress(model, replace(scheme("int4"), smooth=0.0))


def test_groups_that_do_not_divide_a_row_are_refused_by_name() -> None:
    model = load("tiny-classifier")
    model.module.head.classifier.weight.data = model.module.head.classifier.weight.data[:, :30]
    with pytest.raises(CompressionError, match=r"head.classifier.weight: groups of 32 do not divide its 30 columns"):
        compress(model, replace(scheme("int4-g32"), smooth=0.0))


def test_shared_layer_has_one_record() -> None:
    names = compress(load("tiny-shared"), "int8").records
    assert [n for n in names if n.endswith("query.weight")] == ["layers.0.attention.query.weight"]


@pytest.mark.parametrize("bits", [8, 6, 4, 3, 2, 1])
def test_pal_clusters_what_int8_quantizes(bits: int) -> None:
    model = load("tiny-shared")
    eight, found = compress(model, "int8", SOME).records, compress(model, f"pal{bits}", SOME).records
    assert list(found) == list(eight)
    for name, record in found.items():
        if isinstance(eight[name], Quantized):
            assert isinstance(record, Clustered) and (record.bits, record.groups) == (bits, 1)
            assert record.payload_bytes == (record.codes.size * bits + 7) // 8
        else:
            assert isinstance(record, Dense)


def test_fewer_levels_lose_more_of_the_output() -> None:
    model, ids = load("tiny-embedding"), torch.arange(2, 60, 2)[None]
    with torch.no_grad():
        exact, lost = model.module(ids), []
        for name in ("pal8", "pal4", "pal2"):
            other = load("tiny-embedding")
            other.load_tensors(compress(model, name, SOME).decoded())
            lost.append(float((other.module(ids) - exact).norm()))
    assert lost == sorted(lost) and lost[0] < 0.01


@pytest.mark.parametrize("scheme", ["fp32", "fp16", "int8", "int4", "int4-g32", "pal3"])
def test_records_are_saved_verbatim_and_the_same_twice(scheme: str, tmp_path: Path) -> None:
    compressed = compress(load("tiny-shared"), scheme)
    first, second = tmp_path / "a", tmp_path / "b"
    save_records(compressed, first)
    save_records(compressed, second)
    assert first.read_bytes() == second.read_bytes()
    again = load_records(first)
    assert (again.encoder, again.head, again.scheme) == (compressed.encoder, compressed.head, scheme)
    assert {n: r.fingerprint() for n, r in again.records.items()} == {
        n: r.fingerprint() for n, r in compressed.records.items()
    }


def test_groups_are_saved_verbatim(tmp_path: Path) -> None:
    compressed = compress(load("tiny-shared"), "int8")
    name = "layers.0.ffn.up.weight"
    grouped = quantize_groups(compressed.records[name].decode(), 4, 32)
    assert grouped.groups > 1
    save_records(replace(compressed, records={**compressed.records, name: grouped}), tmp_path / "a")
    again = load_records(tmp_path / "a").records[name]
    assert isinstance(again, Quantized) and again.scale.shape == grouped.scale.shape
    assert again.fingerprint() == grouped.fingerprint()


@pytest.mark.parametrize("scheme", ["int8", "int4", "int4-g32", "pal4"])
def test_saved_folder_carries_its_records_to_the_next_export(scheme: str, tmp_path: Path) -> None:
    model = load("tiny-classifier")
    compressed = compress(model, scheme)
    save_compressed(model, compressed, tmp_path / "out")
    again = load(tmp_path / "out")
    found = records_of(again, tmp_path / "out", scheme)
    assert found is not None
    assert all(found.records[n].fingerprint() == r.fingerprint() for n, r in compressed.records.items())
    # The checkpoint beside the records computes with the decoded weights.
    assert torch.equal(again.module(torch.tensor([[2, 7, 3]])), model.module(torch.tensor([[2, 7, 3]])))
    with pytest.raises(InputError, match=f"holds records of scheme '{scheme}'"):
        records_of(again, tmp_path / "out", "fp32")
    again.module.head.classifier.weight.data[0, 0] += 1
    with pytest.raises(InputError, match="does not belong to the weights"):
        records_of(again, tmp_path / "out", scheme)


def test_tensor_that_does_not_fit_is_named() -> None:
    model = load("tiny-classifier")
    model.module.encoder.layers[1].ffn.up.weight.data[0, 0] = 1e6
    with pytest.raises(CompressionError, match=r"layers.1.ffn.up.weight: a value of 1e\+06 does not fit float16"):
        compress(model, "fp16")


@pytest.mark.parametrize("name", ["int8", "int8-static", "int4", "pal2"])
def test_model_that_overflows_on_text_is_refused_where_it_does(name: str) -> None:
    model = load("tiny-classifier")
    with torch.no_grad():
        model.module.encoder.layers[0].attention.value.weight.mul_(1e38)
    with pytest.raises(CompressionError, match=r"^layers.0.ffn.up: on the calibration text .* too large or not finite"):
        compress(model, name, ("a film that works.",))


@pytest.mark.parametrize("name", ["int8-static", "pal2"])
def test_overflow_is_seen_where_nothing_is_smoothed(name: str) -> None:
    model = load("tiny-classifier")
    with torch.no_grad():
        model.module.encoder.layers[0].ffn.up.bias.fill_(1e30)
    plan = Plan("p", (Rule("layers.1.ffn.down", scheme(name)),))
    with pytest.raises(CompressionError, match=r"^layers.1.ffn.down: on the calibration text .* too large or not"):
        compress(model, plan, ("a film that works.",))


def test_broken_record_files_are_named(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    file = tmp_path / "records.safetensors"
    file.write_bytes(b"nothing")
    with pytest.raises(InputError, match="cannot be read as records"):
        load_records(file)
    save_file({"a": np.zeros(3, np.float32)}, file)
    with pytest.raises(InputError, match="not a records file"):
        load_records(file)
    save_file({"a": np.zeros(3, np.float32)}, file, metadata={"mobilekit": '{"format": "mobilekit-records-1"}'})
    with pytest.raises(InputError, match="incomplete records"):
        load_records(file)


def test_records_that_are_there_are_not_calibrated_again(tmp_path: Path) -> None:
    model = load("tiny-classifier")
    compressed = compress(model, "int4", ["good film", "bad film"])
    save_compressed(model, compressed, tmp_path / "out")
    again = load(tmp_path / "out")
    found = compressed_of(again, "int4")
    assert {n: r.fingerprint() for n, r in found.records.items()} == {
        n: r.fingerprint() for n, r in compressed.records.items()
    }
    with pytest.raises(InputError, match="its records are taken as they are"):
        compressed_of(again, "int4", ["good film"])
    fresh = compressed_of(load("tiny-classifier"), "int4", ["good film", "bad film"])
    assert all(fresh.records[n].fingerprint() == r.fingerprint() for n, r in compressed.records.items())
