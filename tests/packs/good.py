"""Packs that show every case of the format."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mobilekit.compression.pack.codings import DEFLATE, Encoded, huffman
from packs.building import LANE, Content, Pack, Values, book, by_hand, coded, levels, one, pack_of, raw, weights

# zlib 1.2.13's for b"the same words, " * 9.
_DEFLATED = "2bc94855284ecc4d5528cf2f4a29d6512819603e00"
_NAMES = (
    "empty",
    "grüße/日本語.bin",
    "model.mlpackage/Data/com.apple.CoreML/weights/weight.bin",
    "model.mlpackage/Manifest.json",
)


def _six(size: int) -> Values:
    values = np.clip(weights(size, 8) - np.uint8(96), 0, 63).astype(np.uint8)
    bits = np.unpackbits(values, bitorder="little").reshape(-1, 8)[:, :6]
    return np.packbits(bits, bitorder="little")


def _planes(number: int) -> Pack:
    floats = (weights(200, 50).astype(np.float32) - 127.5) / 100
    data = floats.astype(np.float16 if number == 2 else np.float32).tobytes()
    planes = [np.frombuffer(data, np.uint8)[k::number].copy() for k in range(number)]
    encoded = [raw(plane.tobytes()) for plane in planes[:-1]]
    return one(data, *encoded, huffman(planes[-1], 8, LANE))


def _long_codes() -> Pack:
    data = np.minimum(np.arange(160) // 3 * (np.arange(160) % 3), 15).astype(np.uint8)[::-1].copy()
    data[:100] = data[:100] // 4
    return one(data.tobytes(), by_hand(data, book(list(range(16)), [*range(1, 16), 15])))


def _eights() -> Pack:
    data = (weights(1003, 9) > 131).astype(np.uint8) * 90
    return one(data.tobytes(), by_hand(data, book([0, 90], [], group=8)))


def _rare() -> Pack:
    """Some outliers among four levels: fours with an escape."""
    data = levels(901, 4)
    data[7::100] = weights(901, 30)[7::100] | 1
    own = book(sorted(set(levels(901, 4).tolist())), [], escape=True, group=4)
    return one(data.tobytes(), by_hand(data, own, raw(data[~np.isin(data, own.values)].tobytes())))


def _frequent() -> Pack:
    """Every fourth value escapes, and the escapes are coded too."""
    data = levels(900, 4)
    data[3::4] = weights(225, 6) | 1
    own = book(sorted(set(levels(900, 4).tolist())), [2, 2, 2, 3, 3], escape=True)
    escapes = data[~np.isin(data, own.values)]
    return one(data.tobytes(), by_hand(data, own, huffman(escapes, 8, LANE, escapes=False)))


def _no_escapes() -> Pack:
    data = np.array([5, 9, 9] * 40, np.uint8)
    return one(data.tobytes(), by_hand(data, book([5, 9], [2, 1, 2], escape=True), raw(b"")))


def _odd_planes() -> Pack:
    data = bytes(range(1, 8))
    return one(data, *(raw(data[k::4]) for k in range(4)))


def _many() -> Pack:
    """Segments of all codings in several files, some of which share a book."""
    first, text = levels(700, 16), b"the same words, " * 9
    encoded = huffman(first, 8, LANE)
    deflated = Encoded(DEFLATE, bytes.fromhex(_DEFLATED))
    return pack_of(
        Content("a/weights.bin", b"head" + first.tobytes(), [[raw(b"head")], [encoded]]),
        Content("b.bin", first.tobytes(), [[encoded]]),
        Content("words.txt", text, [[deflated]]),
    )


# Name of the pack -> what it shows, and how it is made.
GOOD: dict[str, tuple[str, Callable[[], Pack]]] = {
    "raw": ("one raw stream", lambda: one(b"mobilekit", raw(b"mobilekit"))),
    "deflate": (
        "one deflated stream",
        lambda: one(b"the same words, " * 9, Encoded(DEFLATE, bytes.fromhex(_DEFLATED))),
    ),
    "empty-file": ("a file without a byte: no segments", lambda: pack_of(Content("file", b"", []))),
    "huffman-bytes": ("symbols are bytes; several lanes, the last one short", lambda: coded(weights(450, 40))),
    "huffman-full-lane": ("the last lane is full", lambda: coded(weights(256, 40))),
    "huffman-one-lane": ("one lane only", lambda: coded(weights(64, 10))),
    "huffman-all-values": (
        "all 256 values have an index",
        lambda: coded(np.append(np.arange(256).astype(np.uint8), weights(2000, 20))),
    ),
    "huffman-pairs": ("pairs, the last one not full", lambda: coded(levels(901, 16))),
    "huffman-fours": ("fours, the last one not full", lambda: coded(levels(902, 4))),
    "huffman-eights": ("eights, the last one not full", _eights),
    "huffman-six-bits": ("values of 6 bits, in whole bytes", lambda: coded(_six(800), 6)),
    "huffman-six-bits-cut": ("values of 6 bits, the last one cut off", lambda: coded(_six(800)[:-1], 6)),
    "huffman-one-symbol": ("one symbol only: it takes no bits", lambda: coded(np.full(500, 77, np.uint8))),
    "huffman-long-codes": ("codes of 15 bits", _long_codes),
    "escapes-raw": ("few values escape, raw", _rare),
    "escapes-huffman": ("many values escape, Huffman coded", _frequent),
    "escapes-none": ("a book with an escape that nothing uses: an empty stream of escapes", _no_escapes),
    "planes-2": ("float16: lower bytes raw, upper ones Huffman coded", lambda: _planes(2)),
    "planes-4": ("float32: three planes raw, the upper one Huffman coded", lambda: _planes(4)),
    "planes-odd": ("planes of different length", _odd_planes),
    "folder": ("several files and segments; two streams share a book", _many),
    "names": (
        "names in other scripts and deep folders",
        lambda: pack_of(*(Content(n, b"x", [[raw(b"x")]]) for n in sorted(_NAMES, key=str.encode))),
    ),
}
