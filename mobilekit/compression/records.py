"""What a compressed weight is. Exporters only write records; they never make codes of their own."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.bitfields import packed_size
from mobilekit.errors import CompressionError, short

# The least positive float16 that has all its significant bits.
LEAST_NORMAL = np.float32(2.0**-14)


@dataclass(frozen=True)
class Dense:
    """A tensor kept as it is: values float32 or float16, any shape."""

    values: NDArray[np.floating]

    def __post_init__(self) -> None:
        if self.values.dtype not in (np.float32, np.float16):
            raise CompressionError(f"a dense record has to be float32 or float16, not {self.values.dtype}.")

    def decode(self) -> NDArray[np.float32]:
        """The values as float32 (exact)."""
        return np.ascontiguousarray(self.values, dtype=np.float32)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the tensor."""
        return tuple(self.values.shape)

    @property
    def payload_bytes(self) -> int:
        """Bytes of the values."""
        return int(self.values.nbytes)

    def fingerprint(self) -> str:
        """sha256 of the dtype, the shape and the bytes."""
        return _sha256(f"dense {self.values.dtype} {self.shape}", self.values)


@dataclass(frozen=True)
class Quantized:
    """A matrix as symmetric integer codes times a scale a row (output channel or embedding row), or several a row.

    codes: int8 [rows, columns], in -(2**(bits-1) - 1) .. 2**(bits-1) - 1; zero point 0.
    scale: float32 [rows, groups], every value exact in float16 and > 0, so that one record serves all targets. Each
    is that of `block` columns, one after the other. Where there are several a row they are exact in bfloat16 too, in
    which XNNPACK keeps them, and normal in float16.
    """

    codes: NDArray[np.int8]
    scale: NDArray[np.float32]
    bits: int = 8

    def __post_init__(self) -> None:
        if self.codes.dtype != np.int8 or self.codes.ndim != 2:
            raise CompressionError("codes have to be an int8 matrix.")
        rows, columns = self.codes.shape
        if self.scale.ndim != 2 or self.scale.shape[0] != rows:
            raise CompressionError("the scale has to be of shape [rows, groups].")
        if self.groups < 1 or (self.groups > 1 and (not columns or columns % self.groups)):
            raise CompressionError(f"{self.groups} groups do not divide {columns} columns.")
        _check_scale(self.scale)
        if self.groups > 1 and not (is_bfloat16(self.scale) & (self.scale >= LEAST_NORMAL)).all():
            raise CompressionError("scales of groups have to be exact in bfloat16 and normal in float16.")
        if not 1 < self.bits <= 8:
            raise CompressionError(f"codes have 2 to 8 bits, not {short(self.bits)}.")
        limit = 2 ** (self.bits - 1) - 1
        if self.codes.size and max(-int(self.codes.min()), int(self.codes.max())) > limit:
            raise CompressionError(f"codes leave the range -{limit} .. {limit} of {self.bits} bits.")

    def decode(self) -> NDArray[np.float32]:
        """codes * scale, float32 [rows, columns] (exact: 8 + 11 significant bits fit in 24)."""
        scale = self.scale if self.groups == 1 else self.scale.repeat(self.block, axis=1)
        return self.codes.astype(np.float32) * scale

    @property
    def groups(self) -> int:
        """Number of scales a row."""
        return int(self.scale.shape[1])

    @property
    def block(self) -> int:
        """Number of columns that share a scale."""
        return int(self.codes.shape[1]) // self.groups

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the matrix."""
        return tuple(self.codes.shape)

    @property
    def payload_bytes(self) -> int:
        """Bytes of the codes at their bits; the scales come on top, at the target's own width."""
        return packed_size(self.codes.size, self.bits)

    def fingerprint(self) -> str:
        """sha256 of the bits, the shape, the groups if they are several, the codes' and the float32 scales' bytes."""
        groups = "" if self.groups == 1 else f" {self.groups} groups"
        return _sha256(f"quantized {self.bits} {self.shape}{groups}", self.codes, self.scale)


@dataclass(frozen=True)
class Outliers:
    """Weights of a clustered matrix that have levels of their own.

    positions: int32 [count], row * columns + column, ascending; at least one. levels: int8 [count], -127 .. 127, times
    the scale of the weight's row.
    """

    positions: NDArray[np.int32]
    levels: NDArray[np.int8]

    def __post_init__(self) -> None:
        if self.positions.dtype != np.int32 or self.positions.ndim != 1 or not self.positions.size:
            raise CompressionError("the positions of outliers have to be an int32 vector, and some.")
        if self.positions[0] < 0 or (self.positions[1:] <= self.positions[:-1]).any():
            raise CompressionError("the positions of outliers have to be ascending, from 0 on.")
        if self.levels.dtype != np.int8 or self.levels.shape != self.positions.shape or (self.levels == -128).any():
            raise CompressionError("outliers have to have an int8 level each, from -127 to 127.")


@dataclass(frozen=True)
class Clustered:
    """A matrix whose rows share codebooks (weight sharing; Han et al. 2016, section 3), times a scale a row.

    codes: uint8 [rows, columns], below 2**bits. codebook: int8 [groups, 2**bits], bits 1 to 8, each ascending (a level
    may be there twice) within -127 .. 127; `rows / groups` rows after one another share one. scale: float32 [rows, 1],
    every value exact in float16 and > 0. So it is a look-up table before a channel scale, and just as well an int8
    matrix that has 2**bits levels: one record serves all targets. outliers: weights that have levels of their own,
    whatever their codes say; None: there are none. With some it is an int8 matrix only.
    """

    codes: NDArray[np.uint8]
    codebook: NDArray[np.int8]
    scale: NDArray[np.float32]
    outliers: Outliers | None = None

    def __post_init__(self) -> None:
        if self.codes.dtype != np.uint8 or self.codes.ndim != 2:
            raise CompressionError("codes have to be a uint8 matrix.")
        rows = self.codes.shape[0]
        if self.codebook.dtype != np.int8 or self.codebook.shape[1:] not in [(2**bits,) for bits in range(1, 9)]:
            raise CompressionError("the codebook has to be int8 of shape [groups, 2**bits], bits from 1 to 8.")
        if not self.groups or rows % self.groups:
            raise CompressionError(f"{self.groups} groups do not divide {rows} rows.")
        if (self.codebook[:, 1:] < self.codebook[:, :-1]).any() or (self.codebook == -128).any():
            raise CompressionError("each codebook has to be ascending, from -127 to 127.")
        if self.codes.size and int(self.codes.max()) >= 2**self.bits:
            raise CompressionError(f"codes leave the range 0 .. {2**self.bits - 1} of {self.bits} bits.")
        if self.scale.shape != (rows, 1):
            raise CompressionError("the scale has to be of shape [rows, 1].")
        _check_scale(self.scale)
        if self.outliers is not None and int(self.outliers.positions[-1]) >= self.codes.size:
            raise CompressionError(f"outliers lie outside of the {self.codes.size} weights of the matrix.")

    def decode(self) -> NDArray[np.float32]:
        """codebook[group, code] or outlier, times scale, float32 [rows, columns] (exact: 8 + 11 bits fit in 24)."""
        return self.as_quantized().decode()

    def as_quantized(self) -> Quantized:
        """The same values as int8 codes with the same scale a row."""
        levels = np.empty(self.codes.shape, np.int8)
        size = self.codes.shape[0] // self.groups
        for i, codebook in enumerate(self.codebook):
            part = slice(i * size, (i + 1) * size)
            # Indexing by an array would make eight bytes of each code first.
            translated = self.codes[part].tobytes().translate(codebook.tobytes().ljust(256))
            levels[part] = np.frombuffer(translated, np.int8).reshape(levels[part].shape)
        if self.outliers is not None:
            levels.ravel()[self.outliers.positions] = self.outliers.levels
        return Quantized(levels, self.scale)

    @property
    def bits(self) -> int:
        """Bits of a code."""
        return int(self.codebook.shape[1]).bit_length() - 1

    @property
    def groups(self) -> int:
        """Number of codebooks."""
        return int(self.codebook.shape[0])

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the matrix."""
        return tuple(self.codes.shape)

    @property
    def payload_bytes(self) -> int:
        """Bytes of the codes at their bits, and of outliers' positions and levels; codebooks and scales come on top, at
        the target's own width."""
        apart = self.outliers
        return packed_size(self.codes.size, self.bits) + (apart.positions.nbytes + apart.levels.nbytes if apart else 0)

    def fingerprint(self) -> str:
        """sha256 of both shapes and the number of outliers if there are some, and of the bytes of codes, codebooks and
        float32 scales, and of outliers' int32 positions and levels."""
        head, parts = f"clustered {self.codebook.shape} {self.shape}", (self.codes, self.codebook, self.scale)
        if self.outliers is None:
            return _sha256(head, *parts)
        apart = self.outliers
        return _sha256(f"{head} {len(apart.levels)} outliers", *parts, apart.positions, apart.levels)


Record = Dense | Quantized | Clustered


def stacked(parts: Sequence[Clustered]) -> Clustered:
    """One record of matrices below one another, of as many rows and columns each; each keeps its codebooks."""
    starts = [i * part.codes.size for i, part in enumerate(parts)]
    apart = [(start, part.outliers) for start, part in zip(starts, parts, strict=True) if part.outliers]
    outliers = None
    if apart:
        positions = np.concatenate([(own.positions + start).astype(np.int32) for start, own in apart])
        outliers = Outliers(positions, np.concatenate([own.levels for _, own in apart]))
    return Clustered(
        np.concatenate([part.codes for part in parts]),
        np.concatenate([part.codebook for part in parts]),
        np.concatenate([part.scale for part in parts]),
        outliers,
    )


def is_bfloat16(values: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which values are exact in bfloat16: a float32 whose lower half is 0."""
    return np.ascontiguousarray(values).view(np.uint32) & np.uint32(0xFFFF) == 0


def _check_scale(scale: NDArray[np.float32]) -> None:
    if scale.dtype != np.float32 or not np.isfinite(scale).all() or not (scale > 0).all():
        raise CompressionError("every scale has to be a finite float32 > 0.")
    if not np.array_equal(scale, scale.astype(np.float16).astype(np.float32)):
        raise CompressionError("every scale has to be exact in float16.")


def _sha256(head: str, *arrays: NDArray[np.generic]) -> str:
    digest = hashlib.sha256(head.encode())
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
