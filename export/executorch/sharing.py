"""Store once what a look-up and a delegate both hold: fill-mask's decoder is the token table.

ExecuTorch keeps constants of its own kernels in one segment of the file and each weight of a delegate in another,
found by name, and never compares the two. A segment is no more than an offset and a size, so a weight's can lie inside
of the constants'.
"""

from __future__ import annotations

import hashlib
import itertools
import struct
from collections.abc import Sequence
from pathlib import Path

from export.executorch.program import Place, Program, TensorValue

# Below it the bytes saved are not worth a shared page.
_LEAST = 1024
_U64 = struct.Struct("<Q")


def share_constants(path: Path) -> int:
    """Rewrite a .pte so that delegates' weights equal to a constant point to it; returns the bytes saved.

    Raises ValueError, IndexError or struct.error when the file is not what `program.py` reads.
    """
    program = Program(path)
    constants = _constants(program)
    places = program.segments
    if any(places[i].offset + places[i].size > places[j].offset for i, j in itertools.pairwise(_order(places))):
        # Segments share bytes already.
        return 0
    order = _order(places)
    kept = bytearray(program.data[: program.segments[order[0]].offset])
    saved = 0
    for index, after in zip(order, [*order[1:], None], strict=True):
        place = program.segments[index]
        end = len(program.data) if after is None else program.segments[after].offset
        twin = constants.get(_digest(program, place)) if place.size >= _LEAST and program.is_named(index) else None
        if twin is None:
            # Segments stay as far from each other as they were, so that each keeps its alignment.
            _move(program, kept, index, place.offset - saved)
            kept += program.data[place.offset : end]
        else:
            _move(program, kept, index, twin.offset)
            saved += end - place.offset
    if saved:
        _U64.pack_into(kept, program.SIZE_OF_SEGMENTS, len(kept) - program.base)
        # Not in place: the old bytes are mapped into memory.
        beside = path.with_name(f"{path.name}.shared")
        beside.write_bytes(kept)
        beside.replace(path)
    return saved


def _order(places: Sequence[Place]) -> list[int]:
    return sorted(range(len(places)), key=lambda i: places[i].offset)


def _constants(program: Program) -> dict[str, Place]:
    found: dict[str, Place] = {}
    for method in program.methods.values():
        for value in method.values.values():
            if isinstance(value, TensorValue) and value.place is not None and value.place.size >= _LEAST:
                found.setdefault(_digest(program, value.place), value.place)
    return found


def _digest(program: Program, place: Place) -> str:
    return hashlib.sha256(program.bytes_at(place)).hexdigest()


def _move(program: Program, content: bytearray, index: int, offset: int) -> None:
    """Let segment `index` begin at `offset` of the file."""
    field, relative = program.segment_field(index), offset - program.base
    if field is not None:
        _U64.pack_into(content, field, relative)
    elif relative:
        raise ValueError("a segment without an offset of its own would have to move")
