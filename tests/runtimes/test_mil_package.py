"""Weight files and packages that are not as they have to be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from export.coreml.package import WeightStore
from mobilekit.compression.bitfields import pack_bits
from mobilekit.compression.nibbles import pack_nibbles
from mobilekit.errors import ArtifactError
from mobilekit.runtimes.mil.package import open_package
from mobilekit.runtimes.mil.weights import HEADER, RECORD, Blob, WeightFile


def blob(values: np.ndarray, kind: int) -> Blob:
    return Blob(kind, values.view(np.uint8).reshape(-1))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    store = WeightStore()
    first = store.add(blob(np.arange(100, dtype=np.int8), 4))
    second = store.add(blob(np.arange(3, dtype=np.float32), 2))
    assert (first, second) == (64, 64 + 64 + 128)
    assert store.add(Blob(8, pack_nibbles(np.int8([3, -2, -8])), 4)) == 256 + 64 + 64
    store.write(tmp_path / "weight.bin")
    return tmp_path / "weight.bin"


def test_blobs_come_back_by_offset_and_in_order(file: Path) -> None:
    weights = WeightFile(file)
    assert weights.blob(64).dtype == "int8"
    np.testing.assert_array_equal(weights.blob(64).data.view(np.int8), np.arange(100))
    np.testing.assert_array_equal(weights.blob(256).data.view(np.float32), [0, 1, 2])
    assert [b.kind for b in weights.blobs()] == [4, 2, 8]
    assert file.stat().st_size % 64 == 0


def test_equal_bytes_are_stored_once_and_only_if_of_one_type() -> None:
    store = WeightStore()
    codes = np.arange(8, dtype=np.int8)
    assert store.add(blob(codes, 4)) == store.add(blob(codes.copy(), 4))
    assert store.add(blob(codes, 3)) != store.add(blob(codes, 4))


def test_int4_has_two_elements_a_byte_and_says_where_it_ends(tmp_path: Path) -> None:
    store = WeightStore()
    even, odd = pack_nibbles(np.int8([[1, -7], [5, 7]])), pack_nibbles(np.int8([3, -2, -8]))
    places = [store.add(Blob(8, even)), store.add(Blob(8, odd, 4))]
    store.write(tmp_path / "weight.bin")
    blobs = [WeightFile(tmp_path / "weight.bin").blob(place) for place in places]
    assert [(b.dtype, b.data.size) for b in blobs] == [("int4", 2), ("int4", 2)]
    assert [b.values().tolist() for b in blobs] == [[1, -7, 5, 7], [3, -2, -8]]


@pytest.mark.parametrize(("kind", "bits"), [(9, 1), (10, 2), (12, 3), (11, 4), (13, 6)])
def test_codes_of_few_bits_come_back(kind: int, bits: int) -> None:
    codes = np.random.default_rng(bits).integers(0, 2**bits, 21).astype(np.uint8)
    packed = pack_bits(codes, bits)
    blob = Blob(kind, packed, 8 * packed.size - 21 * bits)
    assert blob.dtype == f"uint{bits}"
    assert np.array_equal(blob.values(), codes)
    if bits == 3:
        with pytest.raises(ArtifactError, match="ends with 0 bits of filling"):
            Blob(kind, packed, 0).values()


def test_coremltools_writes_codes_of_few_bits_as_they_are_read(tmp_path: Path) -> None:
    file = tmp_path / "theirs.bin"
    writer = _their_writer(file)
    codes = {bits: np.random.default_rng(bits).integers(0, 2**bits, 21).astype(np.uint8) for bits in (1, 2, 3, 4, 6)}
    places = {bits: getattr(writer, f"write_uint{bits}_data")(values) for bits, values in codes.items()}
    del writer
    for bits, place in places.items():
        found = WeightFile(file).blob(place)
        assert found.dtype == f"uint{bits}"
        assert np.array_equal(found.values(), codes[bits])
        assert np.array_equal(found.data, pack_bits(codes[bits], bits))


def test_coremltools_writer_and_ours_give_the_same_file(file: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs.bin"
    writer = _their_writer(theirs)
    assert writer.write_int8_data(np.arange(100, dtype=np.int8)) == 64
    assert writer.write_float_data(np.arange(3, dtype=np.float32)) == 256
    assert writer.write_int4_data(np.int8([3, -2, -8])) == 384
    del writer
    ours = file.read_bytes()
    # Ours also fills the last blob up to the alignment.
    assert ours.rstrip(b"\0") == theirs.read_bytes().rstrip(b"\0")


def _their_writer(path: Path) -> Any:
    """It is a compiled module that needs nothing of the rest of coremltools."""
    import importlib.util

    found = importlib.util.find_spec("coremltools")
    assert found is not None
    assert found.submodule_search_locations is not None
    library = Path(next(iter(found.submodule_search_locations))) / "libmilstoragepython.so"
    spec = importlib.util.spec_from_file_location("libmilstoragepython", library)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module._BlobStorageWriter(str(path))


@pytest.mark.parametrize(
    ("place", "content", "said"),
    [
        (0, HEADER.pack(2, 1), "version is 1"),
        (64, RECORD.pack(0xDEADBEE0, 4, 100, 128, 0), "no sentinel"),
        (64, RECORD.pack(0xDEADBEEF, 4, 10**9, 128, 0), "beyond the end"),
        (64, RECORD.pack(0xDEADBEEF, 4, 100, 128, 8), "8 bits of filling"),
    ],
)
def test_a_damaged_weight_file_is_refused(file: Path, place: int, content: bytes, said: str) -> None:
    damaged = bytearray(file.read_bytes())
    damaged[place : place + len(content)] = content
    file.write_bytes(damaged)
    with pytest.raises(ArtifactError, match=said):
        WeightFile(file).blob(64)


@pytest.mark.parametrize("offset", [0, 65, -64, 10**6])
def test_an_offset_without_a_record_is_refused(file: Path, offset: int) -> None:
    with pytest.raises(ArtifactError, match=r"no record|no sentinel"):
        WeightFile(file).blob(offset)


def test_a_type_that_is_not_read_is_named(file: Path) -> None:
    with pytest.raises(ArtifactError, match="type 5"):
        _ = Blob(5, WeightFile(file).blob(64).data).dtype


@pytest.mark.parametrize("content", [b"", b"x"])
def test_what_is_no_weight_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "weight.bin").write_bytes(content)
    with pytest.raises(ArtifactError, match=r"weight\.bin"):
        WeightFile(tmp_path / "weight.bin")


def test_a_folder_that_is_no_package_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="not a Core ML package"):
        open_package(tmp_path)
    manifest = {"rootModelIdentifier": "a", "itemInfoEntries": {"a": {"path": "model"}}}
    (tmp_path / "Manifest.json").write_text(json.dumps(manifest))
    (tmp_path / "Data").mkdir()
    (tmp_path / "Data" / "model").write_bytes(b"\xff\xff\xff")
    with pytest.raises(ArtifactError, match="not a Core ML model"):
        open_package(tmp_path)
    (tmp_path / "Data" / "model").write_bytes(b"")
    with pytest.raises(ArtifactError, match="not an ML program"):
        open_package(tmp_path)
