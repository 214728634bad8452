"""What a process has in memory, by kind."""

from __future__ import annotations

import mmap
import sys
from pathlib import Path

import pytest

from benchmarks.measuring.memory import Memory, memory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells kinds of pages apart")
_SIZE = 32 * 2**20


def grown(path: Path) -> Memory:
    """What mapping a file and reading all of it adds."""
    path.write_bytes(b"x" * _SIZE)
    before = memory()
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        assert sum(mapped[i] for i in range(0, _SIZE, 4096)) > 0
        after = memory()
    return Memory(
        after.anonymous_bytes - before.anonymous_bytes,
        after.file_bytes - before.file_bytes,
        None,
        after.library_bytes - before.library_bytes,
    )


def near(value: int, wanted: int) -> bool:
    return abs(value - wanted) < 4 * 2**20


def test_a_mapped_model_is_of_files(tmp_path: Path) -> None:
    found = grown(tmp_path / "model.tflite")
    assert near(found.file_bytes, _SIZE) and near(found.library_bytes, 0) and near(found.anonymous_bytes, 0)


@pytest.mark.parametrize("name", ["engine.so", "libengine.so.1.2"])
def test_code_of_libraries_is_the_engines_own(tmp_path: Path, name: str) -> None:
    found = grown(tmp_path / name)
    assert near(found.library_bytes, _SIZE) and near(found.file_bytes, 0) and near(found.anonymous_bytes, 0)


def test_what_is_written_is_anonymous() -> None:
    before = memory()
    # Fresh pages: the heap may have some left that are resident already.
    with mmap.mmap(-1, _SIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as kept:
        kept[:] = b"x" * _SIZE
        after = memory()
    assert near(after.anonymous_bytes - before.anonymous_bytes, _SIZE)
    assert after.resident_bytes == after.anonymous_bytes + after.file_bytes + after.library_bytes
    assert after.peak_bytes is not None and after.peak_bytes >= after.resident_bytes - 2**20
