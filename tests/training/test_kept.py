"""Numbers that are computed once: each input has its own rows, and a broken file is made again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mobilekit.training.kept import Kept, Put

ROWS = [2, 0, 1]


def fill(put: Put, first: float = 0.0) -> None:
    """In another order than they lie in the file."""
    put(2, np.full((1, 3), first + 7, np.float32))
    put(0, first + np.arange(6, dtype=np.float32).reshape(2, 3))
    put(1, np.zeros((0, 3), np.float32))


def never(put: Put) -> None:
    raise AssertionError("computed again")


def test_each_input_has_its_own_rows(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "deep/er/states.f32", ROWS, 3, fill)
    assert kept[0].tolist() == [[0, 1, 2], [3, 4, 5]] and kept[1].shape == (0, 3) and kept[2].tolist() == [[7, 7, 7]]
    assert [path.name for path in (tmp_path / "deep/er").iterdir()] == ["states.f32"]


def test_what_is_there_is_read_and_not_computed(tmp_path: Path) -> None:
    Kept(tmp_path / "states.f32", ROWS, 3, fill)
    again = Kept(tmp_path / "states.f32", ROWS, 3, never)
    assert again[0].tolist() == [[0, 1, 2], [3, 4, 5]] and again[2].tolist() == [[7, 7, 7]]


@pytest.mark.parametrize("size", [0, 4, 9 * 4 - 1, 9 * 4 + 1, 12 * 4, 18 * 4])
def test_a_file_of_another_size_is_made_again(size: int, tmp_path: Path) -> None:
    (tmp_path / "states.f32").write_bytes(b"\1" * size)
    kept = Kept(tmp_path / "states.f32", ROWS, 3, lambda put: fill(put, 10))
    assert kept[0].tolist() == [[10, 11, 12], [13, 14, 15]] and kept[2].tolist() == [[17, 17, 17]]
    assert (tmp_path / "states.f32").stat().st_size == 9 * 4


def test_what_was_not_computed_to_the_end_is_not_there(tmp_path: Path) -> None:
    def broken(put: Put) -> None:
        put(0, np.ones((2, 3), np.float32))
        raise MemoryError

    with pytest.raises(MemoryError):
        Kept(tmp_path / "states.f32", ROWS, 3, broken)
    assert list(tmp_path.iterdir()) == []


def test_rows_that_were_read_are_the_readers_own(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "states.f32", ROWS, 3, fill)
    kept[2][:] = 0
    assert kept[2].tolist() == [[7, 7, 7]]
