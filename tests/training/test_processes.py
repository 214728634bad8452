"""Several processes of one run: whichever fails, and however, there is one message, and nobody waits for ever."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
import torch
from training_program import ROWS

from mobilekit.cli.main import main
from mobilekit.errors import EngineError, FellowError, InputError
from mobilekit.training import processes
from mobilekit.training.processes import one_message

BROKEN = "[/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [127.0.0.1]:40835."


class Store:
    """Counts for all processes."""

    def __init__(self, failed: int) -> None:
        self.failed = failed

    def add(self, name: str, count: int) -> int:
        self.failed += count
        return self.failed


@pytest.fixture
def failed(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Be one of several processes, of which so many have failed."""

    def be(count: int) -> None:
        monkeypatch.setattr(processes, "_is_one_of_many", lambda: True)
        store = Store(count)
        monkeypatch.setattr("torch.distributed.distributed_c10d._get_default_store", lambda: store)

    return be


def fail(error: BaseException) -> None:
    with one_message():
        raise error


def test_the_first_that_fails_says_why_and_the_next_does_not(failed: Callable[[int], None]) -> None:
    failed(0)
    with pytest.raises(InputError, match="wrong"):
        fail(InputError("wrong"))
    for error in (InputError("wrong"), RuntimeError(BROKEN), KeyboardInterrupt()):
        with pytest.raises(FellowError):
            fail(error)


@pytest.mark.parametrize("error", [RuntimeError(BROKEN), torch.distributed.DistBackendError("NCCL error")])
def test_who_is_left_alone_says_so(failed: Callable[[int], None], error: RuntimeError) -> None:
    failed(0)
    with pytest.raises(EngineError, match="another process of this run was ended"):
        fail(error)


def test_a_bug_is_a_bug(failed: Callable[[int], None]) -> None:
    failed(0)
    with pytest.raises(RuntimeError, match="shapes"):
        fail(RuntimeError("shapes do not fit"))


def test_who_cannot_ask_any_more_is_not_the_first(
    failed: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(name: str, count: int) -> int:
        raise torch.distributed.DistNetworkError("Connection reset by peer")

    failed(0)
    monkeypatch.setattr(Store, "add", lambda self, name, count: gone(name, count))
    with pytest.raises(FellowError):
        fail(RuntimeError(BROKEN))


def test_one_process_fails_as_it_does() -> None:
    with pytest.raises(RuntimeError, match="gloo"):
        fail(RuntimeError(BROKEN))


def test_fellows_are_silent(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fellow(**_: object) -> None:
        raise FellowError("another process of this run failed.")

    monkeypatch.setattr("mobilekit.cli.main.group.main", fellow)
    with pytest.raises(SystemExit, match="1"):
        main(["train"])
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("rank", "said"), [("0", 1), ("1", 0)])
def test_wrong_arguments_are_said_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], rank: str, said: int
) -> None:
    monkeypatch.setenv("RANK", rank)
    with pytest.raises(SystemExit, match="2"):
        main(["train", "--dat", "x"])
    assert capsys.readouterr().err.count("error: ") == said


def test_who_waits_for_a_teacher_to_be_asked_does_not_give_up(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, timedelta] = {}
    monkeypatch.setattr("accelerate.PartialState", lambda **given: seen.update(given))
    processes.start_processes()
    assert seen["timeout"] >= timedelta(days=1)


def started(place: Path, *more: str) -> subprocess.Popen[str]:
    """`train` on two processes."""
    with (place / "data.csv").open("w", newline="") as file:
        rows = [(row.text, ("negative", "positive")[int(row.label or 0)]) for row in ROWS]  # type: ignore[arg-type]
        csv.writer(file).writerows([("text", "label"), *rows])
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root, "OMP_NUM_THREADS": "1"}
    call = "-m torch.distributed.run --standalone --nproc_per_node 2 -m mobilekit train --model tiny-classifier"
    given = ["--epochs", "1", "--quiet", "--save-every", "1", "--data", "data.csv", "--out", "out", *more]
    return subprocess.Popen(
        [sys.executable, *call.split(), *given],
        cwd=place,
        env=environment,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )


def ended(place: Path) -> None:
    (place / "out.training" / "checkpoint").mkdir(parents=True)
    (place / "out.training" / ".mobilekit-run").touch()


def nothing(place: Path) -> None:
    pass


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "more", "message"),
    [
        # The first process alone, all of them before and while they run.
        (ended, (), "a run was ended there"),
        (nothing, ("--data", "other.csv"), "other.csv: not found"),
        (nothing, ("--learning-rate", "1e30"), "a lower learning rate"),
    ],
)
def test_two_processes_say_one_thing(
    tmp_path: Path, spoil: Callable[[Path], None], more: tuple[str, ...], message: str
) -> None:
    spoil(tmp_path)
    _, said = started(tmp_path, *more).communicate(timeout=300)
    lines = [line for line in said.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1 and message in lines[0] and "bug" not in said, said


@pytest.mark.slow
def test_when_one_is_killed_the_other_says_one_thing_and_the_run_goes_on(tmp_path: Path) -> None:
    import psutil

    run = started(tmp_path, "--epochs", "500")
    deadline = time.monotonic() + 300
    while not (tmp_path / "out.training" / "checkpoint").is_dir() and time.monotonic() < deadline:
        time.sleep(0.05)
    last = max(psutil.Process(run.pid).children(), key=lambda child: child.pid)
    last.send_signal(signal.SIGKILL)
    _, said = run.communicate(timeout=300)
    lines = [line for line in said.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1 and "bug" not in said, said
    assert (tmp_path / "out.training" / "checkpoint").is_dir()
