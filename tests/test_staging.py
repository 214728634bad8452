from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mobilekit.errors import InputError
from mobilekit.staging import refuse_unwritable, require_space, scratch, staged, staged_file


def write(folder: Path, text: str, force: bool = False) -> None:
    with staged(folder, force) as beside:
        (beside / "file").write_text(text)


def hidden(folder: Path) -> list[str]:
    return [p.name for p in folder.parent.iterdir() if p.name.startswith(".")]


def test_folder_appears_whole_and_is_replaced_only_by_force(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "out"
    write(folder, "1")
    with pytest.raises(InputError, match="--force replaces it"):
        write(folder, "2")
    assert (folder / "file").read_text() == "1"
    write(folder, "2", force=True)
    assert (folder / "file").read_text() == "2"
    assert not hidden(folder)


def test_failure_leaves_what_was_there(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    write(folder, "1")
    with pytest.raises(RuntimeError), staged(folder, force=True) as beside:
        (beside / "file").write_text("half")
        raise RuntimeError
    assert (folder / "file").read_text() == "1" and not hidden(folder)


def test_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(InputError, match="is a file"):
        write(tmp_path / "out", "1", force=True)
    with pytest.raises(InputError, match="part of the path is a file"):
        write(tmp_path / "out" / "below", "1")


@pytest.mark.skipif(os.geteuid() == 0 and sys.platform == "darwin", reason="root writes everywhere on macOS")
def test_name_that_leaves_no_room_is_refused_at_once(tmp_path: Path) -> None:
    """The folder is written under a longer name."""
    from mobilekit.staging import refuse_existing

    for place in (tmp_path, tmp_path / "new"):
        refuse_existing(place / ("x" * 200), False)
        for long in (240, 255, 5000):
            with pytest.raises(InputError, match="too long"):
                refuse_existing(place / ("x" * long), False)
    with staged(tmp_path / ("y" * 220)) as folder:
        (folder / "a").touch()


def test_place_that_cannot_be_written_is_named() -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write(Path("/proc/mobilekit"), "1")


def test_what_killed_runs_left_is_removed_and_what_they_moved_is_put_back(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    partial, old = tmp_path / f".out.partial-{dead.pid}", tmp_path / f".out.old-{dead.pid}"
    partial.mkdir()
    old.mkdir()
    (old / "file").write_text("the last good one")
    with pytest.raises(InputError, match="--force"):
        write(folder, "new")
    assert (folder / "file").read_text() == "the last good one"
    assert not partial.exists()
    write(folder, "new", force=True)
    assert (folder / "file").read_text() == "new" and not hidden(folder)


_HOLDER = """
import sys, time
from pathlib import Path
from mobilekit.staging import scratch, staged
with staged(Path(sys.argv[1])) as beside, scratch(Path(sys.argv[1]).parent, "records"):
    print(beside.name, flush=True)
    time.sleep(300)
"""


def test_living_run_is_left_alone_and_swept_when_it_is_dead(tmp_path: Path) -> None:
    call = [sys.executable, "-c", _HOLDER, str(tmp_path / "out")]
    with subprocess.Popen(call, cwd=Path(__file__).parents[1], stdout=subprocess.PIPE, text=True) as living:
        assert living.stdout is not None
        name = living.stdout.readline().strip()
        write(tmp_path / "out", "1")
        with scratch(tmp_path, "records"):
            pass
        assert (tmp_path / name).is_dir() and len(hidden(tmp_path / "out")) == 2
        living.kill()
    write(tmp_path / "out", "2", force=True)
    with scratch(tmp_path, "records"):
        pass
    assert not hidden(tmp_path / "out")


@pytest.mark.parametrize("process", [os.getpid(), os.getppid(), 1], ids=["own", "parent", "first"])
def test_what_was_left_is_swept_though_a_living_process_has_the_same_number(tmp_path: Path, process: int) -> None:
    for name in (f".out.partial-0-{process}", f".out.partial-{process}", f".out.old-0-{process}"):
        (tmp_path / name).mkdir()
    (tmp_path / f".out.old-0-{process}" / "file").write_text("the last good one")
    with pytest.raises(InputError, match="--force"):
        write(tmp_path / "out", "1")
    assert (tmp_path / "out" / "file").read_text() == "the last good one" and not hidden(tmp_path / "out")


def test_threads_of_one_process_leave_each_other_alone(tmp_path: Path) -> None:
    with scratch(tmp_path, "out") as first, scratch(tmp_path, "out") as second:
        (first / "file").touch()
        (second / "file").touch()
        with staged(tmp_path / "out") as third:
            (third / "file").touch()
        assert first.is_dir() and second.is_dir() and first != second
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_was_swept_before_it_was_held_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, swept = fcntl.flock, []

    def sweep_first(held: int, kind: int) -> None:
        if not swept:
            swept.extend(tmp_path.glob(".out.partial-*"))
            swept[0].rmdir()
        lock(held, kind)

    monkeypatch.setattr("mobilekit.staging.fcntl.flock", sweep_first)
    write(tmp_path / "out", "1")
    assert swept and (tmp_path / "out" / "file").read_text() == "1" and not hidden(tmp_path / "out")


def test_without_locks_nothing_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(held: int, kind: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("mobilekit.staging.fcntl.flock", fail)
    (tmp_path / ".out.partial-0").mkdir()
    write(tmp_path / "out", "1")
    write(tmp_path / "out", "2", force=True)
    assert (tmp_path / "out" / "file").read_text() == "2" and hidden(tmp_path / "out") == [".out.partial-0"]


_WRITER = """
import sys, time
from pathlib import Path
from mobilekit.staging import staged
folder = Path(sys.argv[1])
n = 0
while True:
    n += 1
    with staged(folder, force=True) as beside:
        for name in "abcdef":
            (beside / name).write_text(str(n) * 50_000)
"""


def test_kill_at_any_moment_leaves_a_whole_folder(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    for i in range(10):
        child = subprocess.Popen([sys.executable, "-c", _WRITER, str(folder)], cwd=Path(__file__).parents[1])
        time.sleep(0.3 + 0.037 * i)
        child.kill()
        child.wait()
        write(tmp_path / "sweeper", "1", force=True)
        with scratch(tmp_path, "out"):
            pass
        if folder.exists():
            contents = {p.read_text() for p in folder.iterdir()}
            assert len(list(folder.iterdir())) == 6 and len(contents) == 1
    assert folder.exists()
    assert not [name for name in hidden(folder) if name.startswith(".out")]


def test_scratch_goes_away(tmp_path: Path) -> None:
    with scratch(tmp_path / "out", "records") as place:
        (place / "x").write_text("1")
    assert list(tmp_path.iterdir()) == []


def test_force_replaces_only_what_has_the_mark(tmp_path: Path) -> None:
    own, ours, empty = tmp_path / "own", tmp_path / "ours", tmp_path / "empty"
    for folder in (own, ours, empty):
        folder.mkdir()
    (own / "thesis").write_text("1")
    (ours / "mark").write_text("1")
    for folder in (ours, empty):
        with staged(folder, force=True, mark="mark") as beside:
            (beside / "file").write_text("2")
        assert [p.name for p in folder.iterdir()] == ["file"]
    with pytest.raises(InputError, match="has no mark, so mobilekit did not write it"), staged(own, True, "mark"):
        pass
    assert (own / "thesis").read_text() == "1" and not hidden(own)


def test_link_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    for target in ("real", "nothing"):
        link = tmp_path / f"to-{target}"
        link.symlink_to(tmp_path / target)
        with pytest.raises(InputError, match="is a link; remove it"):
            write(link, "1", force=True)
        assert link.is_symlink() and not hidden(link)


@pytest.mark.parametrize("name", [".", "..", "/"])
def test_folder_without_a_name_of_its_own_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="needs a folder of its own name"):
        write(Path(name), "1", force=True)


def test_folders_made_for_a_failure_go_again(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), staged(tmp_path / "a" / "b" / "out"):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_brackets_in_a_name_are_no_pattern(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    other = tmp_path / f".out1.old-{dead.pid}"
    other.mkdir()
    write(tmp_path / "out[1]", "1")
    assert other.exists() and (tmp_path / "out[1]" / "file").read_text() == "1"


def test_what_cannot_be_written_is_said_before_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_unwritable(tmp_path / "not" / "there" / "yet")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file is a file; choose another --out"):
        refuse_unwritable(tmp_path / "file" / "below")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(InputError, match="no permission to write to"):
        refuse_unwritable(tmp_path / "not" / "there" / "yet")


def test_space_is_asked_for_before_work(tmp_path: Path) -> None:
    require_space(tmp_path / "not" / "there" / "yet", 1)
    with pytest.raises(InputError, match="MB free, this needs about"):
        require_space(tmp_path, 10**15)


def test_file_appears_whole_and_is_replaced_only_by_force(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "out.bin"

    def write(data: bytes, force: bool = False) -> None:
        with staged_file(file, force, b"OURS") as place:
            place.write_bytes(data)

    write(b"OURS1")
    with pytest.raises(InputError, match="--force replaces it"):
        write(b"OURS2")
    assert file.read_bytes() == b"OURS1"
    write(b"OURS2", force=True)
    assert file.read_bytes() == b"OURS2"
    file.write_bytes(b"YOURS")
    with pytest.raises(InputError, match="--force does not replace it"):
        write(b"OURS3", force=True)
    assert file.read_bytes() == b"YOURS" and [p.name for p in file.parent.iterdir()] == ["out.bin"]


def test_failure_leaves_the_file_that_was_there_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "out.bin"
    with pytest.raises(RuntimeError), staged_file(file) as place:
        place.write_bytes(b"half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("what", ["folder", "link"])
def test_what_is_no_file_is_not_replaced_by_one(what: str, tmp_path: Path) -> None:
    file = tmp_path / "out.bin"
    if what == "folder":
        file.mkdir()
    else:
        file.symlink_to("elsewhere")
    with pytest.raises(InputError, match="choose another output file"), staged_file(file, force=True):
        pass
