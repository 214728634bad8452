"""SentencePiece's precompiled character map: what the normalizer writes for a character, or for several.

Layout: u32 length of the trie in bytes, the trie, then the replacements, each ended by a zero byte. The trie is a
double array (darts-clone, Yata et al.) of u32 units: bits 0..7 the label, bit 8 whether a key ends here, bit 31 whether
it is a value, and bits 10..30 the offset to the children, shifted left by 8 where bit 9 is set. The child of a node at
position p for byte c is at p ^ offset ^ c, and has c for its label; the value of a key that ends there is at
p ^ offset, and is where its replacement begins.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

_HAS_VALUE, _FAR, _IS_VALUE = np.uint32(1 << 8), np.uint32(1 << 9), np.uint32(1 << 31)
_BLOCK = 256


def check_charsmap(data: bytes) -> None:
    """Raise ValueError unless every walk through the trie stays within it and ends at a replacement.

    The `tokenizers` library takes the map as it is and stops the process's thread where it leads outside.
    """
    if len(data) < 4:
        raise ValueError("its character map is too short")
    size = struct.unpack_from("<I", data)[0]
    if size % 4 or not _BLOCK * 4 <= size <= len(data) - 4:
        raise ValueError(f"its character map says that its trie has {size} bytes, and has {len(data) - 4} in all")
    units = np.frombuffer(data, "<u4", size // 4, 4)
    replacements = data[4 + size :]
    try:
        replacements.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError("its character map's replacements are not UTF-8") from error
    starts = _values(units)
    if starts.size and (starts.max() >= len(replacements) or not replacements.endswith(b"\0")):
        raise ValueError("its character map leads outside of its replacements")
    text = np.frombuffer(replacements, np.uint8)
    if starts.size and ((text[starts] & 0xC0) == 0x80).any():
        raise ValueError("its character map leads into the middle of a character")


def _values(units: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """All values that a walk can reach. Raises ValueError when a walk can leave the array."""
    seen = np.zeros(units.size, bool)
    nodes = np.zeros(1, np.int64)
    values: list[NDArray[np.uint32]] = []
    labels = np.arange(1, 256)
    while nodes.size:
        seen[nodes] = True
        unit = units[nodes]
        children = nodes ^ ((unit >> 10).astype(np.int64) << np.where(unit & _FAR, 8, 0))
        if ((children | 0xFF) >= units.size).any():
            raise ValueError("its character map leads outside of its trie")
        values.append(units[children[(unit & _HAS_VALUE) != 0]] & ~_IS_VALUE)
        reached = [np.zeros(0, np.int64)]
        # In slices, so that a wide level takes no more memory than the file itself would suggest.
        for some in np.array_split(children, children.size // 4096 + 1):
            places = some[:, None] ^ labels
            reached.append(places[(units[places] & (_IS_VALUE | np.uint32(0xFF))) == labels])
        nodes = np.unique(np.concatenate(reached))
        nodes = nodes[~seen[nodes]]
    return np.concatenate(values)


def make_charsmap(table: Mapping[int, str]) -> bytes:
    """The precompiled map of a table of single characters: code point (1 .. 0x10FFFF) -> what is written instead.

    Laid out without a search: a node whose children are continuation bytes (0x80 .. 0xBF) takes a quarter of a block of
    256, so that four share one; values follow. Raises ValueError for a code point that is none.
    """
    replacements, starts = bytearray(), {}
    inner: dict[bytes, dict[int, bytes]] = {b"": {}}
    for point, text in sorted(table.items()):
        if not 0 < point < 0x110000 or 0xD800 <= point < 0xE000 or "\0" in text:
            raise ValueError(f"the character map has an entry for {point:#x}, or one that writes a zero")
        if text not in starts:
            starts[text] = len(replacements)
            replacements += text.encode("utf-8") + b"\0"
        key = chr(point).encode("utf-8")
        for i in range(len(key)):
            inner.setdefault(key[:i], {})[key[i]] = key[: i + 1]
    # The root's node is at 0, its children in block 1, those of the others in quarters from block 2 on.
    base = {key: _BLOCK if not key else 2 * _BLOCK + (i - 1) * 64 for i, key in enumerate(inner)}
    first_value = 2 * _BLOCK + -(-len(inner) * 64 // _BLOCK) * _BLOCK
    units = np.zeros(first_value + -(-(len(table) + 1) // _BLOCK) * _BLOCK, "<u4")
    place = {b"": 0}
    for key, children in inner.items():
        for label, child in children.items():
            place[child] = base[key] ^ label
            units[place[child]] = label
        units[place[key]] |= (place[key] ^ base[key]) << 10
    for i, (point, text) in enumerate(sorted(table.items())):
        node, value = place[chr(point).encode("utf-8")], first_value + i
        units[node] |= 1 << 8 | (node ^ value) << 10
        units[value] = 1 << 31 | starts[text]
    return struct.pack("<I", units.nbytes) + units.tobytes() + bytes(replacements)
