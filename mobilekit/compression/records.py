"""What a compressed weight is. Exporters only write records; they never make codes of their own."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
        if self.scale.dtype != np.float32 or self.scale.ndim != 2 or self.scale.shape[0] != rows:
            raise CompressionError("the scale has to be float32 of shape [rows, groups].")
        if self.groups < 1 or (self.groups > 1 and (not columns or columns % self.groups)):
            raise CompressionError(f"{self.groups} groups do not divide {columns} columns.")
        if not np.isfinite(self.scale).all() or not (self.scale > 0).all():
            raise CompressionError("every scale has to be finite and > 0.")
        if not np.array_equal(self.scale, self.scale.astype(np.float16).astype(np.float32)):
            raise CompressionError("every scale has to be exact in float16.")
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
        return (self.codes.size * self.bits + 7) // 8

    def fingerprint(self) -> str:
        """sha256 of the bits, the shape, the groups if they are several, the codes' and the float32 scales' bytes."""
        groups = "" if self.groups == 1 else f" {self.groups} groups"
        return _sha256(f"quantized {self.bits} {self.shape}{groups}", self.codes, self.scale)


Record = Dense | Quantized


def is_bfloat16(values: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which values are exact in bfloat16: a float32 whose lower half is 0."""
    return np.ascontiguousarray(values).view(np.uint32) & np.uint32(0xFFFF) == 0


def _sha256(head: str, *arrays: NDArray[np.generic]) -> str:
    digest = hashlib.sha256(head.encode())
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
