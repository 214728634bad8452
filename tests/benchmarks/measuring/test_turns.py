"""Contenders in processes of their own: what is timed and what is not, who is awake, what is left behind."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import psutil
import pytest

from benchmarks.measuring.contender import Contender, Opened, cold_loads
from benchmarks.measuring.service import packed, unpacked
from benchmarks.measuring.turns import ROWS, TEXTS, Measured, Protocol, Work, measure
from mobilekit.errors import EngineError

SHORT = Protocol(1, load_processes=2, least_runs=3, least_seconds=0.01, burst_seconds=0.01)
ROW = (np.array([1, 2], np.int32), np.array([0, 1], np.int32))


def waiting(name: str, milliseconds: float, megabytes: int = 0, lengths: tuple[int, ...] = (8,)) -> Contender:
    return Contender(
        name,
        "timed_subject:service",
        {"milliseconds": milliseconds, "megabytes": megabytes},
        lengths,
        3,
        [ROW, ROW],
        [("a", None), ("b", "c")],
    )


def measured(contenders: Sequence[Contender], works: Sequence[Work], protocol: Protocol) -> list[Measured]:
    """Of contenders none of which fails."""
    outcome = measure(contenders, works, protocol)
    assert not outcome.failed
    return outcome.measured


def soon(process: psutil.Process, status: str) -> bool:
    """Whether a process gets into a state within ten seconds, or is gone."""
    for _ in range(100):
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.status() != status:
                time.sleep(0.1)
                continue
        return True
    return False


def test_runs_are_timed_and_preparing_is_not() -> None:
    (found,) = measured([waiting("slow", 5)], [8, ROWS, TEXTS], SHORT)
    # Preparing takes 20 more.
    assert 5 <= found.summary("8").median < 20
    assert 5 <= found.summary(ROWS).median < 20
    assert 10 <= found.summary(TEXTS).median < 30
    assert found.summary("8").runs >= 10
    assert len(found.load_ms) == 2
    # 50 ms of getting ready are not in it.
    assert all(value >= 30 for value in found.load_ms)
    assert min(found.load_ms) < 80


def test_contenders_take_turns_and_share_rounds() -> None:
    first, second = measured([waiting("first", 4), waiting("second", 1)], [8], SHORT)
    assert len(first.rounds["8"]) == len(second.rounds["8"]) >= 10
    assert first.summary("8").median > 2 * second.summary("8").median


def test_each_does_what_it_can() -> None:
    bare = Contender("bare", "timed_subject:service", {"milliseconds": 1}, (16,))
    full, other = measured([waiting("full", 1), bare], [8, 16, ROWS, TEXTS], SHORT)
    assert list(full.rounds) == ["8", ROWS, TEXTS]
    assert list(other.rounds) == ["16"]


def test_memory_is_over_the_idle_engine() -> None:
    (found,) = measured([waiting("large", 1, megabytes=64)], [8], SHORT)
    grown = found.after.anonymous_bytes - found.idle.anonymous_bytes
    assert 60 * 2**20 < grown < 90 * 2**20
    if found.after.peak_bytes is not None:
        assert found.after.peak_bytes - found.idle.resident_bytes >= 60 * 2**20


@pytest.mark.skipif(sys.platform != "linux", reason="processes are only stopped where they die with their parent")
def test_whoever_is_not_in_turn_is_stopped() -> None:
    with Opened(waiting("a", 1), 1) as opened:
        process = psutil.Process(opened._process.pid)
        assert soon(process, psutil.STATUS_STOPPED)
        assert opened.call("time", {"seconds": 0.01}, packed([ROW]))[0]
        assert soon(process, psutil.STATUS_STOPPED)
    assert not process.is_running()


@pytest.mark.skipif(sys.platform != "linux", reason="processes are only stopped where they die with their parent")
def test_a_stopped_process_does_not_outlive_a_parent_that_is_killed() -> None:
    program = (
        "import time; from benchmarks.measuring.contender import Contender, Opened;"
        "o = Opened(Contender('a', 'timed_subject:service', {'milliseconds': 1}), 1);"
        "print(o._process.pid, flush=True); time.sleep(60)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    gone = soon(child, psutil.STATUS_ZOMBIE)
    if not gone:
        child.kill()
    assert gone


def test_what_cannot_be_loaded_says_so_and_leaves_nothing() -> None:
    bad = Contender("bad", "timed_subject:service", {"milliseconds": 1, "fails": True})
    before = {child.pid for child in psutil.Process().children()}
    with pytest.raises(EngineError, match="no such file"):
        measure([waiting("good", 1), bad], [8], SHORT)
    assert {child.pid for child in psutil.Process().children()} <= before


@pytest.mark.parametrize("params", [{"fails": True}, {"runs": 0}, {"runs": 4}])
def test_another_tool_that_fails_is_left_out_and_the_others_go_on(params: dict[str, float]) -> None:
    bad = waiting("bad", 1)
    bad = replace(bad, params={**bad.params, **params}, may_fail=True)
    before = {child.pid for child in psutil.Process().children()}
    outcome = measure([bad, waiting("good", 1)], [8, ROWS], SHORT)
    assert [found.contender.name for found in outcome.measured] == ["good"]
    assert outcome.measured[0].summary(ROWS).runs >= 3
    assert list(outcome.failed) == ["bad"]
    assert ("no such file" if "fails" in params else "the engine gave up") in outcome.failed["bad"]
    assert {child.pid for child in psutil.Process().children()} <= before


def test_ours_that_fails_while_it_is_timed_ends_the_run() -> None:
    with pytest.raises(EngineError, match="the engine gave up"):
        measure([replace(waiting("ours", 1), params={"milliseconds": 1, "runs": 4})], [8], SHORT)


def test_cold_loads_are_of_new_processes() -> None:
    assert len(cold_loads(waiting("a", 1), 1, 3)) == 3


def test_rows_survive_the_message() -> None:
    rows = [ROW, (np.array([7], np.int32), np.array([0], np.int32))]
    for (ids, types), (own_ids, own_types) in zip(unpacked(packed(rows)), rows, strict=True):
        assert np.array_equal(ids, own_ids)
        assert np.array_equal(types, own_types)
