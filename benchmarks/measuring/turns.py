"""Contenders measured in turn, A B C A B C, until each has runs and time enough: a machine that drifts touches all."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from benchmarks.measuring.contender import Contender, Opened, cold_loads
from benchmarks.measuring.memory import Memory
from benchmarks.measuring.service import Ids, packed
from benchmarks.measuring.statistics import Summary, summary

Report = Callable[[str], None]
# Names of work other than at one length: the same texts as they come, as tokens (run) and as text (the whole way).
ROWS, TEXTS = "rows", "texts"
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
class Work:
    """What contenders do. length: one input of so many tokens, all of them real. Else rows: the same texts as they
    come, as tokens; or texts, with their pairs: the same the whole way."""

    length: int | None = None
    rows: Sequence[tuple[Ids, Ids]] = ()
    texts: Sequence[tuple[str, str | None]] = ()

    @property
    def name(self) -> str:
        """As reports have it."""
        return str(self.length) if self.length else TEXTS if self.texts else ROWS

    def fits(self, contender: Contender) -> bool:
        """Whether a contender can do it."""
        return self.length in contender.lengths if self.length else contender.texts or not self.texts


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


def measure(
    contenders: Sequence[Contender], works: Sequence[Work], protocol: Protocol, say: Report = lambda text: None
) -> list[Measured]:
    """Load each contender in new processes, then have all do each work in turn. Raises EngineError."""
    with contextlib.ExitStack() as stack:
        opened, loads = [], []
        for each in contenders:
            say(f"loading {each.name}")
            cold = cold_loads(each, protocol.threads, protocol.load_processes - 1)
            opened.append(stack.enter_context(Opened(each, protocol.threads)))
            loads.append((*cold, opened[-1].load_ms))
        rounds: dict[str, dict[str, list[list[float]]]] = {each.name: {} for each in contenders}
        for work in works:
            able = [one for one in opened if work.fits(one.contender)]
            say(f"{_SAID.get(work.name, f'length {work.name}')} in turn: {len(able)} contenders")
            for one, bursts in zip(able, _in_turn(able, work, protocol), strict=True):
                rounds[one.contender.name][work.name] = bursts
        return [
            Measured(one.contender, cold, one.idle, one.loaded, one.memory(), rounds[one.contender.name])
            for one, cold in zip(opened, loads, strict=True)
        ]


_SAID = {ROWS: "texts as they come, as tokens,", TEXTS: "texts the whole way,"}


def _in_turn(opened: Sequence[Opened], work: Work, protocol: Protocol) -> list[list[list[float]]]:
    found: list[list[list[float]]] = [[] for _ in opened]
    while opened and not all(_enough(bursts, work, protocol) for bursts in found):
        # There and back, so that nobody always runs behind the same neighbour.
        order = range(len(opened))[:: -1 if len(found[0]) % 2 else 1]
        for i in order:
            found[i].append(_burst(opened[i], work, protocol))
    return found


def _enough(bursts: Sequence[Sequence[float]], work: Work, protocol: Protocol) -> bool:
    each = max(1, len(work.rows), len(work.texts))
    runs = each * sum(map(len, bursts))
    milliseconds = each * sum(map(sum, bursts))
    return len(bursts) >= _LEAST_ROUNDS and runs >= protocol.least_runs and milliseconds >= protocol.least_seconds * 1e3


def _burst(opened: Opened, work: Work, protocol: Protocol) -> list[float]:
    if work.texts:
        return [fmean(opened.call("texts", {"texts": work.texts})[0])]
    if work.rows:
        return [fmean(opened.call("rows", {}, packed(work.rows))[0])]
    assert work.length is not None
    ids = np.full(work.length, opened.contender.filler, np.int32)
    given = packed([(ids, np.zeros_like(ids))])
    times: list[float] = opened.call("time", {"seconds": protocol.burst_seconds}, given)[0]
    return times
