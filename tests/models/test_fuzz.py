"""Checkpoints damaged at random: they load, or one error says what is wrong, soon and in little memory."""

from __future__ import annotations

import json
import shutil
import struct
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from fuzz_support import damaged
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mobilekit.errors import MobilekitError
from mobilekit.models.load import load
from mobilekit.models.save import save_model

# Of a file of some 100 kB nothing may take more than Python itself and torch do for any model.
_BASE = 12_000_000
fuzzed = settings(
    max_examples=40, deadline=timedelta(seconds=4), suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module", params=["tiny-classifier", "tiny-embedding", "tiny-shared"])
def good(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(request.param)
    save_model(load(request.param), folder)
    return folder


@pytest.fixture
def folder(good: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(good, tmp_path / "m"))


@contextmanager
def little_memory(*files: Path) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 3 * sum(file.stat().st_size for file in files) + _BASE


def load_or_one_line(folder: Path, changed: Path) -> None:
    with little_memory(changed, folder / "model.safetensors"):
        try:
            load(folder)
        except MobilekitError as error:
            assert str(error) and len(str(error)) < 2000


@pytest.mark.parametrize(
    "name",
    ["config.json", "tokenizer_config.json", "modules.json", "1_Pooling/config.json", "sentence_bert_config.json"],
)
@fuzzed
@given(data=st.data())
def test_damaged_json(name: str, folder: Path, data: st.DataObject) -> None:
    file = folder / name
    if not file.exists():
        return
    before = file.read_text()
    file.write_text(json.dumps(data.draw(damaged(json.loads(before)))))
    try:
        load_or_one_line(folder, file)
    finally:
        file.write_text(before)


def with_header(data: bytes, header: Any) -> bytes:
    size = struct.unpack("<Q", data[:8])[0]
    head = json.dumps(header).encode()
    return struct.pack("<Q", len(head)) + head + data[8 + size :]


@fuzzed
@given(data=st.data())
def test_damaged_header_of_weights(folder: Path, data: st.DataObject) -> None:
    file = folder / "model.safetensors"
    before = file.read_bytes()
    size = struct.unpack("<Q", before[:8])[0]
    file.write_bytes(with_header(before, data.draw(damaged(json.loads(before[8 : 8 + size])))))
    try:
        load_or_one_line(folder, file)
    finally:
        file.write_bytes(before)


@fuzzed
@given(
    dtype=st.sampled_from("F64 F32 F16 BF16 F8_E4M3 F8_E5M2 F4 F6_E2M3 F8_E8M0 I8 U8 I64 BOOL C64".split()),
    data=st.data(),
)
def test_other_types_of_the_right_size(dtype: str, folder: Path, data: st.DataObject) -> None:
    """Headers that fit the file, and so come further than damaged ones."""
    file = folder / "model.safetensors"
    before = file.read_bytes()
    size = struct.unpack("<Q", before[:8])[0]
    header = json.loads(before[8 : 8 + size])
    for name in data.draw(st.lists(st.sampled_from(sorted(header)), min_size=1, max_size=9)):
        if name == "__metadata__":
            continue
        first, last = header[name]["data_offsets"]
        bits = {"F64": 64, "C64": 64, "I64": 64, "F32": 32, "F16": 16, "BF16": 16, "F4": 4, "F6_E2M3": 6}.get(dtype, 8)
        count = (last - first) * 8 // bits
        rows = data.draw(st.sampled_from([1, 2, 4, 8]))
        shape = data.draw(st.sampled_from([[count], [rows, count // rows], [1, 1, count], header[name]["shape"]]))
        header[name] |= {"dtype": dtype, "shape": shape}
    file.write_bytes(with_header(before, header))
    try:
        load_or_one_line(folder, file)
    finally:
        file.write_bytes(before)


@fuzzed
@given(data=st.data(), place=st.integers(0, 8000), flip=st.integers(1, 255))
def test_damaged_bytes_of_weights(folder: Path, data: st.DataObject, place: int, flip: int) -> None:
    file = folder / "model.safetensors"
    before = file.read_bytes()
    start, cut = data.draw(st.binary(max_size=60)), data.draw(st.integers(0, 600))
    flipped = before[:place] + bytes([before[place] ^ flip]) + before[place + 1 :]
    bad = [flipped, flipped, start + before[len(start) :], start, before[: len(before) - cut], before + start]
    file.write_bytes(data.draw(st.sampled_from(bad)))
    try:
        load_or_one_line(folder, file)
    finally:
        file.write_bytes(before)
