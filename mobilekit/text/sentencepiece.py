"""SentencePiece model files (Kudo & Richardson 2018), read without that library.

A file is one protocol buffer message, `ModelProto` of sentencepiece_model.proto: pieces, what they were trained with,
and the normalizer's character map. Every length is checked against the bytes that are there.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from mobilekit.errors import InputError
from mobilekit.text.charsmap import check_charsmap

NORMAL, UNKNOWN, CONTROL, USER_DEFINED = 1, 2, 3, 4
_KINDS = range(1, 7)
_ALGORITHMS = {1: "unigram", 2: "bpe", 3: "word", 4: "char"}
# Field numbers of sentencepiece_model.proto.
_PIECE, _TRAINER, _NORMALIZER = 1, 2, 3
_TEXT, _SCORE, _KIND = 1, 2, 3
_ALGORITHM = 3
_CHARSMAP = 2
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class Piece(NamedTuple):
    """A piece, its log probability, and what it is: NORMAL, UNKNOWN, CONTROL, USER_DEFINED (5: unused, 6: byte)."""

    text: str
    score: float
    kind: int


@dataclass(frozen=True)
class SentencePieceModel:
    """pieces: in the order of their ids. charsmap: the normalizer's precompiled character map, empty for none."""

    pieces: tuple[Piece, ...]
    charsmap: bytes


def read_sentencepiece(file: Path) -> SentencePieceModel:
    """Read a unigram model. Raises InputError when it is broken, or of another algorithm (bpe, word, char)."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error}).") from error
    try:
        return parse_sentencepiece(data)
    except ValueError as error:
        raise InputError(f"{file}: not a SentencePiece model that mobilekit reads: {error}.") from error


def parse_sentencepiece(data: bytes) -> SentencePieceModel:
    """Read a unigram model from bytes. Raises ValueError saying what is wrong."""
    pieces: list[Piece] = []
    algorithm, charsmap, seen = 1, b"", set()
    for number, value in _fields(data):
        seen.add(number)
        if number == _PIECE:
            pieces.append(_piece(_submessage(value, "a piece"), len(pieces)))
        elif number == _TRAINER:
            algorithm = _integer(_submessage(value, "the trainer's part"), _ALGORITHM, algorithm)
        elif number == _NORMALIZER:
            charsmap = _charsmap(_submessage(value, "the normalizer's part"), charsmap)
    if not pieces:
        raise ValueError("it has no pieces")
    if not {_TRAINER, _NORMALIZER} <= seen:
        raise ValueError("it ends before the trainer's and the normalizer's part")
    if algorithm != 1:
        name = _ALGORITHMS.get(algorithm, f"number {algorithm}")
        raise ValueError(f"its algorithm is {name}, and the encoders of these families use unigram")
    if len({piece.text for piece in pieces}) != len(pieces):
        raise ValueError("a piece is there twice")
    if charsmap:
        check_charsmap(charsmap)
    return SentencePieceModel(tuple(pieces), charsmap)


def _piece(data: bytes, index: int) -> Piece:
    text, score, kind = "", 0.0, NORMAL
    for number, value in _fields(data):
        if number == _TEXT:
            text = _submessage(value, f"piece {index}").decode("utf-8")
        elif number == _SCORE:
            if not isinstance(value, float):
                raise ValueError(f"the score of piece {index} is no number")
            score = value
        elif number == _KIND and isinstance(value, int):
            kind = value
    if not text or not math.isfinite(score) or kind not in _KINDS:
        raise ValueError(f"piece {index} is empty, or its score or kind is none")
    return Piece(text, score, kind)


def _charsmap(data: bytes, before: bytes) -> bytes:
    for number, value in _fields(data):
        if number == _CHARSMAP:
            before = _submessage(value, "the character map")
    return before


def _integer(data: bytes, wanted: int, before: int) -> int:
    for number, value in _fields(data):
        if number == wanted and isinstance(value, int):
            before = value
    return before


def _submessage(value: bytes | int | float, what: str) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError(f"{what} is not made of bytes")
    return value


def _fields(data: bytes) -> Iterator[tuple[int, bytes | int | float]]:
    """(field number, value) of a message's fields: int for a varint or 64 bits, float for 32 bits, bytes."""
    at, end = 0, len(data)
    while at < end:
        tag, at = _varint(data, at)
        number, wire = tag >> 3, tag & 7
        if number == 0:
            raise ValueError(f"there is no field 0 (at byte {at})")
        if wire == _VARINT:
            value, at = _varint(data, at)
            yield number, value
            continue
        if wire == _BYTES:
            size, at = _varint(data, at)
        elif wire in (_FIXED32, _FIXED64):
            size = 4 if wire == _FIXED32 else 8
        else:
            raise ValueError(f"field {number} is of unknown type {wire} (at byte {at})")
        if size > end - at:
            raise ValueError(f"field {number} has {size} bytes, {end - at} are left")
        part = data[at : at + size]
        at += size
        if wire == _FIXED32:
            yield number, struct.unpack("<f", part)[0]
        else:
            yield number, part if wire == _BYTES else int.from_bytes(part, "little")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for i in range(10):
        if at + i >= len(data):
            raise ValueError("it ends within a number")
        byte = data[at + i]
        value |= (byte & 0x7F) << 7 * i
        if byte < 0x80:
            return value, at + i + 1
    raise ValueError(f"a number has more than 10 bytes (at byte {at})")
