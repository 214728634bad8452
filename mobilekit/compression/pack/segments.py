"""Where in a file one kind of data ends and another begins: found in the bytes alone.

No engine's format is known here, and no manifest is asked, so a file of tomorrow's exporter packs as well. Blocks that
are cheaper with one code together than with a code each are merged, then each border is moved to the best byte.
"""

from __future__ import annotations

import heapq
import itertools
import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.pack.values import to_values

# Of codes of 6 bits (four in three bytes) and of floats (two or four bytes), a block holds whole ones.
BLOCK = 3072
WINDOW = 1365 * BLOCK
_COUNTED = 128 * BLOCK
# How far a border may be from where blocks have it.
_FAR = 4 * BLOCK
# Bits that one more segment has to save (few large ones decode faster), and that a code and each symbol in it take.
_SEGMENT, _CODE, _SYMBOL = 2000.0, 120.0, 4.0


@dataclass(frozen=True)
class Segment:
    """Bytes start .. end of one kind.

    planes: every how many bytes the distribution is the same (2 and 4: floats). width: bits a value.
    """

    start: int
    end: int
    planes: int = 1
    width: int = 8


@dataclass(frozen=True)
class _Kind:
    """planes, width: as of a segment. phase: where values begin, in bytes modulo `step`. rows: of `_Counts`."""

    planes: int
    width: int
    phase: int
    step: int
    rows: slice


_DEFLATED = _Kind(1, 8, 0, 1, slice(0, 0))
_KINDS = (
    _DEFLATED,
    _Kind(1, 8, 0, 1, slice(0, 1)),
    _Kind(2, 8, 0, 2, slice(1, 3)),
    _Kind(4, 8, 0, 4, slice(3, 7)),
    *(_Kind(1, 6, phase, 3, slice(7 + phase, 8 + phase)) for phase in range(3)),
)
_BITS = np.array([8.0] * 7 + [6.0] * 3)
_ROWS_OF = np.stack([np.isin(np.arange(10), np.arange(10)[kind.rows]) for kind in _KINDS], axis=1).astype(np.float64)


@dataclass(frozen=True)
class _Counts:
    """What one block or several have in them.

    values: float [..., 10, 256], how often each value occurs: bytes; those at even and odd places; those at places 0 to
    3 modulo 4; values of 6 bits that begin at bytes 0 to 2 modulo 3. deflated: float [...], bits that deflate takes.
    """

    values: NDArray[np.float64]
    deflated: NDArray[np.float64]

    def __add__(self, other: _Counts) -> _Counts:
        return _Counts(self.values + other.values, self.deflated + other.deflated)

    def __getitem__(self, block: int | slice) -> _Counts:
        return _Counts(self.values[block], self.deflated[block])

    def costs(self) -> NDArray[np.float64]:
        """Bits by kind: float [..., kinds]."""
        totals = self.values.sum(-1)
        entropy = totals * np.log2(np.maximum(totals, 1)) - (self.values * np.log2(np.maximum(self.values, 1))).sum(-1)
        coded = entropy + _CODE + _SYMBOL * np.count_nonzero(self.values, axis=-1)
        costs: NDArray[np.float64] = np.minimum(coded, totals * _BITS) @ _ROWS_OF + _SEGMENT
        costs[..., 0] += self.deflated
        return costs


def segments(data: NDArray[np.uint8]) -> list[Segment]:
    """The segments of some bytes (at most WINDOW), in order and without gaps."""
    counts = _counted(data)
    runs = _merged(counts)
    deflated = np.repeat(counts.deflated / BLOCK, BLOCK)
    borders = [0]
    for before, after in itertools.pairwise(runs):
        borders.append(_border(data, deflated, before, after, borders[-1]))
    found: list[Segment] = []
    for run, start, end in zip(runs, borders, [*borders[1:], data.size], strict=True):
        kind = run.kind
        # Only at the very beginning: elsewhere borders are where values begin.
        aligned = min(end, start + (kind.phase - start) % kind.step)
        found += [Segment(start, aligned)] if aligned > start else []
        found += [Segment(aligned, end, kind.planes, kind.width)] if end > aligned else []
    return found


def _counted(data: NDArray[np.uint8]) -> _Counts:
    parts = [_counted_blocks(data, start) for start in range(0, max(1, data.size), _COUNTED)]
    return _Counts(np.concatenate(parts), _deflated(data))


def _counted_blocks(data: NDArray[np.uint8], start: int) -> NDArray[np.float64]:
    """Counts of the values in some blocks from `start` on."""
    some = data[start : start + _COUNTED]
    blocks = max(1, -(-some.size // BLOCK))
    place = np.arange(some.size)
    fours = np.bincount((place // BLOCK * 4 + place % 4) * 256 + some, minlength=blocks * 1024).reshape(blocks, 4, 256)
    twos = fours[:, :2] + fours[:, 2:]
    sixes = np.zeros((blocks, 3, 256))
    for phase in range(3):
        # The last ones may reach into the next block.
        whole = max(0, min(some.size + 2, data.size - start) - phase) // 3
        values = to_values(data[start + phase : start + phase + 3 * whole], 6)
        block = (np.arange(values.size) // 4 * 3 + phase) // BLOCK
        sixes[:, phase] = np.bincount(block * 256 + values, minlength=blocks * 256).reshape(blocks, 256)
    return np.concatenate([twos.sum(1, keepdims=True), twos, fours, sixes], axis=1)


def _deflated(data: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Bits of each block where the ones before it are known."""
    deflate, sizes = zlib.compressobj(6, zlib.DEFLATED, -15), []
    for start in range(0, max(1, data.size), BLOCK):
        block = data[start : start + BLOCK].tobytes()
        # A flush ends with an empty block of 5 bytes.
        sizes.append(len(deflate.compress(block)) + len(deflate.flush(zlib.Z_SYNC_FLUSH)) - 5)
    return np.array(sizes) * 8.0


@dataclass
class _Run:
    """Blocks start .. end that are one segment; gone: merged into another."""

    start: int
    end: int
    counts: _Counts
    costs: NDArray[np.float64]
    before: _Run | None = None
    after: _Run | None = None
    gone: bool = False

    @property
    def kind(self) -> _Kind:
        """The cheapest kind."""
        return _KINDS[int(self.costs.argmin())]


def _merged(counts: _Counts) -> list[_Run]:
    """Runs of blocks, merged with neighbours, greatest gain first, as long as there is any."""
    runs = [_Run(i, i + 1, counts[i], costs) for i, costs in enumerate(counts.costs())]
    waiting: list[tuple[float, int, int, _Run]] = []
    for a, b in itertools.pairwise(runs):
        a.after, b.before = b, a
        _offer(a, b, waiting)
    first = runs[0]
    while waiting:
        *_, run = heapq.heappop(waiting)
        left, right = run.before, run.after
        assert left is not None and right is not None
        if left.gone or right.gone:
            continue
        left.gone = right.gone = True
        run.before, run.after = left.before, right.after
        if run.before is None:
            first = run
        else:
            run.before.after = run
            _offer(run.before, run, waiting)
        if run.after is not None:
            run.after.before = run
            _offer(run, run.after, waiting)
    return _following(first)


def _offer(left: _Run, right: _Run, waiting: list[tuple[float, int, int, _Run]]) -> None:
    """Put what two runs would be together on the heap, with both as its neighbours, where that is a gain."""
    counts = left.counts + right.counts
    run = _Run(left.start, right.end, counts, counts.costs(), left, right)
    gain = left.costs.min() + right.costs.min() - run.costs.min()
    if gain > 0:
        heapq.heappush(waiting, (-float(gain), run.start, run.end, run))


def _following(first: _Run) -> list[_Run]:
    runs = [first]
    while (after := runs[-1].after) is not None:
        runs.append(after)
    return runs


def _border(data: NDArray[np.uint8], deflated: NDArray[np.float64], before: _Run, after: _Run, least: int) -> int:
    """The byte at which `after` had best begin: some blocks away at most, and where its values begin.

    deflated: bits of each byte where it is deflated. least: where `before` begins.
    """
    place = before.end * BLOCK
    low, high = max(least, place - _FAR), min(after.end * BLOCK, place + _FAR, data.size)
    kept, given = (_bit_costs(data[low:high], low, deflated, run) for run in (before, after))
    costs = np.concatenate([[0.0], np.cumsum(kept - given)])
    kind = after.kind
    costs[(np.arange(low, high + 1) - kind.phase) % kind.step != 0] = np.inf
    return low + int(costs.argmin())


def _bit_costs(data: NDArray[np.uint8], start: int, deflated: NDArray[np.float64], run: _Run) -> NDArray[np.float64]:
    """About how many bits each byte takes in a run; start: where the bytes begin."""
    kind = run.kind
    if kind is _DEFLATED:
        return deflated[start : start + data.size]
    tables = _code_bits(run.counts.values[kind.rows], kind.width)
    if kind.width == 8:
        return tables[(np.arange(data.size) + start) % kind.planes, data]
    first = (kind.phase - start) % 3
    whole = (data.size - first) // 3 if data.size > first else 0
    bits = tables[0][to_values(data[first : first + 3 * whole], 6)]
    # Half a value at either end counts as much as any.
    costs = np.full(data.size, 8.0)
    costs[first : first + 3 * whole] = np.repeat(bits.reshape(-1, 4).sum(1) / 3, 3)
    return costs


def _code_bits(counts: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """Bits of each value in the code of each row."""
    bits = np.log2(counts.sum(-1, keepdims=True) + 1) - np.log2(counts + 0.5)
    coded = (bits * counts).sum(-1, keepdims=True) < width * counts.sum(-1, keepdims=True)
    return np.where(coded, bits, float(width))
