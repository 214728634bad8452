"""Whatever becomes of a pack is found, or gives the very same files; never a traceback, never much memory."""

from __future__ import annotations

import struct
import tempfile
import tracemalloc
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packs import plain
from packs.building import LANE, Content, Pack, coded, levels, one, pack_of, raw, stored, weights
from packs.good import GOOD

from mobilekit.compression.pack.codings import huffman
from mobilekit.compression.pack.directory import (
    LARGEST_DIRECTORY,
    MAGIC,
    PackedFile,
    PackedSegment,
    Stream,
    directory_bytes,
)
from mobilekit.compression.pack.pack import pack as pack_artifact
from mobilekit.compression.pack.reader import extract, opened
from mobilekit.errors import InputError


def outcome(data: bytes, place: Path) -> dict[str, bytes] | str:
    """The files of a pack, or why it was refused; anything but an InputError fails the test."""
    (place / "p").write_bytes(data)
    folder = Path(tempfile.mkdtemp(dir=place))
    try:
        with opened(place / "p") as (file, directory):
            extract(file, directory, folder)
    except InputError as error:
        assert "\n" not in str(error)
        return str(error)
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def small() -> Pack:
    """Every coding in one pack of some hundred bytes."""
    codes = levels(150, 4)
    return pack_of(
        Content("a", b"raw" + codes.tobytes(), [[raw(b"raw")], [huffman(codes, 8, LANE)]]),
        Content("b/c", b"12345678", [[raw(b"1357"), raw(b"2468")]]),
    )


def test_every_flipped_bit_is_found(tmp_path: Path) -> None:
    good = small().to_bytes()
    assert isinstance(outcome(good, tmp_path), dict) and len(good) < 500
    for i in range(8 * len(good)):
        bad = bytearray(good)
        bad[i // 8] ^= 1 << i % 8
        assert isinstance(outcome(bytes(bad), tmp_path), str), f"bit {i}"


def test_every_truncation_and_every_tail_is_found(tmp_path: Path) -> None:
    good = small().to_bytes()
    for size in range(len(good)):
        said = outcome(good[:size], tmp_path)
        assert isinstance(said, str) and ("cut off" in said or "instead of" in said or "not a pack" in said), size
    for tail in (b"\0", b"\n", good):
        assert "instead of" in str(outcome(good + tail, tmp_path))


def test_every_flipped_bit_of_what_pack_writes_is_found(tmp_path: Path) -> None:
    from packs.artifact import fake_artifact

    file, _ = pack_artifact(fake_artifact(tmp_path / "artifact", 4000))
    good = file.read_bytes()
    rng = np.random.default_rng(0)
    for i in [*range(68 * 8), *rng.integers(68 * 8, 8 * len(good), 400).tolist()]:
        bad = bytearray(good)
        bad[i // 8] ^= 1 << i % 8
        assert isinstance(outcome(bytes(bad), tmp_path), str), f"bit {i}"


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_directories_with_any_bytes_are_refused_or_right(data: st.DataObject, tmp_path: Path) -> None:
    """Their checksums are right, so every check behind those is asked."""
    good = data.draw(st.sampled_from([small, *(make for _, make in GOOD.values())]))()
    body = bytearray(directory_bytes(good.directory))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(body) - 1))
        new = data.draw(st.sampled_from([b"\0", b"\1", b"\2", b"\xff", b"\xff" * 4, b"\0" * 4]) | st.binary(max_size=6))
        body[at : at + data.draw(st.integers(0, 6))] = new
    whole = good.to_bytes(bytes(body))
    found = outcome(whole, tmp_path)
    try:
        expected: object = plain.unpack(whole)
    except plain.RefusedError:
        expected = None
    assert found == expected if isinstance(found, dict) else expected is None


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_streams_with_any_bytes_are_refused(data: st.DataObject, tmp_path: Path) -> None:
    """The same for the coded bytes; that the file is another one is found at the latest by its sha256."""
    good = data.draw(st.sampled_from([make for name, (_, make) in GOOD.items() if "empty" not in name]))()
    changed = bytearray(good.data)
    at = data.draw(st.integers(0, len(changed) - 1))
    changed[at] ^= data.draw(st.integers(1, 255))
    bad = _with_checksums(good, bytes(changed)).to_bytes()
    found = outcome(bad, tmp_path)
    # Bits behind the end of a lane mean nothing.
    assert isinstance(found, str) or found == plain.unpack(good.to_bytes())


def _with_checksums(pack: Pack, data: bytes) -> Pack:
    at = 0

    def again(stream: Stream) -> Stream:
        nonlocal at
        at += stream.size
        made = replace(stream, crc=zlib.crc32(data[at - stream.size : at]))
        return made if stream.escaped is None else replace(made, escaped=again(stream.escaped))

    files = [
        replace(
            file,
            segments=tuple(replace(s, streams=tuple(again(stream) for stream in s.streams)) for s in file.segments),
        )
        for file in pack.directory.files
    ]
    return Pack(replace(pack.directory, files=tuple(files)), data)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=300), magic=st.booleans())
def test_any_file_is_refused(data: bytes, magic: bool, tmp_path: Path) -> None:
    assert isinstance(outcome((MAGIC if magic else b"") + data, tmp_path), str)


def _bomb(pack: Pack, size: int) -> bytes:
    """A pack whose directory inflates to much more than its few bytes."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = directory_bytes(pack.directory) + bytes(size)
    squeezed = deflate.compress(body) + deflate.flush()
    whole = bytearray(pack.to_bytes(b"", body=min(len(body), LARGEST_DIRECTORY), coded=len(squeezed)))
    whole[20:24] = struct.pack("<I", zlib.crc32(squeezed))
    whole[64:68] = struct.pack("<I", zlib.crc32(whole[:64]))
    return bytes(whole[:68]) + squeezed + pack.data


def _declared(*files: PackedFile) -> bytes:
    return Pack(replace(small().directory, books=(), files=files), b"").to_bytes()


HUGE = PackedFile("f", 2**62, bytes(32), (PackedSegment(2**22, (Stream(0, 2**22, 0),)),) * 9)
LIARS = {
    "directory that swells": _bomb(small(), 10**8),
    "directory with a tail that swells": _bomb(small(), 10**6),
    "file of 2^62 bytes": _declared(HUGE),
    "segments that are not there": _declared(replace(HUGE, size=9 * 2**22)),
    "stream that swells": one(bytes(400), replace(raw(b""), coding=1, data=_bomb(small(), 10**5)[68:300])).to_bytes(),
    "directory of 4 GB": coded(weights(200, 9)).to_bytes(body=2**32 - 1),
    "directory that is longer than the file": coded(weights(200, 9)).to_bytes(coded=2**32 - 1),
    "65,536 segments of nothing": _declared(
        replace(HUGE, size=0, segments=(PackedSegment(0, (Stream(0, 0, 0),)),) * 4000)
    ),
    "stored directory with a wrong size": stored(bytes(9)),
}


@pytest.mark.parametrize("name", LIARS)
def test_lies_about_sizes_take_no_memory(name: str, tmp_path: Path) -> None:
    tracemalloc.start()
    said = outcome(LIARS[name], tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(said, str)
    assert peak < 2 * LARGEST_DIRECTORY + 2**20
