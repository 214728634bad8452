"""Contenders measured in turn, A B C A B C, until each has runs and time enough: a machine that drifts touches all."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from benchmarks.measuring.contender import Contender, Opened, cold_loads, forgiven
from benchmarks.measuring.memory import Memory
from benchmarks.measuring.service import packed
from benchmarks.measuring.statistics import Summary, summary

Report = Callable[[str], None]
# Work other than at one length: the same texts as they come, as tokens (the engine alone) and as text (the whole way).
ROWS, TEXTS = "rows", "texts"
Work = int | str
_LEAST_ROUNDS = 10


@dataclass(frozen=True)
class Protocol:
    """How it is measured. threads: of each engine. load_processes: new ones that load each contender. A round is a
    burst of each contender, of runs one after the other for burst_seconds; rounds end when each contender has
    least_runs and least_seconds of them."""

    threads: int
    load_processes: int = 3
    least_runs: int = 20
    least_seconds: float = 1.0
    burst_seconds: float = 0.05


@dataclass(frozen=True)
class Measured:
    """What came of one contender. rounds: by work, milliseconds [rounds][runs]; of texts, the mean of one."""

    contender: Contender
    load_ms: tuple[float, ...]
    idle: Memory
    loaded: Memory
    after: Memory
    rounds: Mapping[str, list[list[float]]]

    def summary(self, work: str) -> Summary:
        """Of all its runs of a work."""
        return summary([value for burst in self.rounds[work] for value in burst])


@dataclass(frozen=True)
class Outcome:
    """measured: all that went to the end, in their order. failed: by name, why the others did not."""

    measured: list[Measured]
    failed: Mapping[str, str]


@dataclass(frozen=True)
class _Entrant:
    """A contender that is loaded. rounds: grows while it is measured."""

    opened: Opened
    load_ms: tuple[float, ...]
    rounds: dict[str, list[list[float]]]

    @property
    def contender(self) -> Contender:
        return self.opened.contender

    def measured(self) -> Measured:
        one = self.opened
        return Measured(one.contender, self.load_ms, one.idle, one.loaded, one.memory(), self.rounds)


def measure(
    contenders: Sequence[Contender], works: Sequence[Work], protocol: Protocol, say: Report = lambda text: None
) -> Outcome:
    """Load each contender in new processes, then have all do each work that they can in turn.

    works: lengths, ROWS, TEXTS. Raises EngineError where a contender fails that may not.
    """
    failed: dict[str, str] = {}
    with contextlib.ExitStack() as stack:
        entrants: list[_Entrant] = []
        for each in contenders:
            say(f"loading {each.name}")
            with forgiven(each, failed):
                cold = cold_loads(each, protocol.threads, protocol.load_processes - 1)
                opened = stack.enter_context(Opened(each, protocol.threads))
                entrants.append(_Entrant(opened, (*cold, opened.load_ms), {}))
        for work in works:
            able = [one for one in entrants if _can(one.contender, work) and one.contender.name not in failed]
            say(f"running {_SAID.get(work, f'length {work}')}, {len(able)} in turn")
            _take_turns(able, work, protocol, failed)
        found: list[Measured] = []
        for one in entrants:
            if one.contender.name not in failed:
                with forgiven(one.contender, failed):
                    found.append(one.measured())
        return Outcome(found, failed)


_SAID: Mapping[Work, str] = {ROWS: "texts as they come", TEXTS: "texts the whole way"}


def _can(contender: Contender, work: Work) -> bool:
    if isinstance(work, int):
        return work in contender.lengths
    return bool(contender.rows if work == ROWS else contender.texts)


def _take_turns(able: Sequence[_Entrant], work: Work, protocol: Protocol, failed: dict[str, str]) -> None:
    """Rounds of one work, until all that have not failed have enough of it."""
    name, forth = str(work), True
    for one in able:
        one.rounds[name] = []
    while any(
        one.contender.name not in failed and not _enough(one.contender, one.rounds[name], work, protocol)
        for one in able
    ):
        # There and back, so that nobody always runs behind the same neighbour.
        for one in able if forth else able[::-1]:
            if one.contender.name not in failed:
                with forgiven(one.contender, failed):
                    one.rounds[name].append(_burst(one.opened, work, protocol))
        forth = not forth


def _enough(contender: Contender, bursts: Sequence[Sequence[float]], work: Work, protocol: Protocol) -> bool:
    each = 1 if isinstance(work, int) else len(contender.rows if work == ROWS else contender.texts)
    runs, milliseconds = each * sum(map(len, bursts)), each * sum(map(sum, bursts))
    return len(bursts) >= _LEAST_ROUNDS and runs >= protocol.least_runs and milliseconds >= protocol.least_seconds * 1e3


def _burst(one: Opened, work: Work, protocol: Protocol) -> list[float]:
    contender = one.contender
    if work == TEXTS:
        return [fmean(one.call("texts", {"texts": list(contender.texts)})[0])]
    if work == ROWS:
        return [fmean(one.call("rows", {}, packed(contender.rows))[0])]
    ids = np.full(int(work), contender.filler, np.int32)
    times: list[float] = one.call("time", {"seconds": protocol.burst_seconds}, packed([(ids, np.zeros_like(ids))]))[0]
    return times
