"""What a compressed weight is. Exporters only write records; they never make codes of their own."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import CompressionError, short


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
    """A matrix as symmetric integer codes times a scale a row (output channel or embedding row).

    codes: int8 [rows, columns], in -(2**(bits-1) - 1) .. 2**(bits-1) - 1; zero point 0.
    scale: float32 [rows, 1], every value exact in float16 and > 0, so that one record serves all targets.
    """

    codes: NDArray[np.int8]
    scale: NDArray[np.float32]
    bits: int = 8

    def __post_init__(self) -> None:
        if self.codes.dtype != np.int8 or self.codes.ndim != 2:
            raise CompressionError("codes have to be an int8 matrix.")
        if self.scale.dtype != np.float32 or self.scale.shape != (self.codes.shape[0], 1):
            raise CompressionError("the scale has to be float32 of shape [rows, 1].")
        if not np.isfinite(self.scale).all() or not (self.scale > 0).all():
            raise CompressionError("every scale has to be finite and > 0.")
        if not np.array_equal(self.scale, self.scale.astype(np.float16).astype(np.float32)):
            raise CompressionError("every scale has to be exact in float16.")
        if not 1 < self.bits <= 8:
            raise CompressionError(f"codes have 2 to 8 bits, not {short(self.bits)}.")
        limit = 2 ** (self.bits - 1) - 1
        if self.codes.size and max(-int(self.codes.min()), int(self.codes.max())) > limit:
            raise CompressionError(f"codes leave the range -{limit} .. {limit} of {self.bits} bits.")

    def decode(self) -> NDArray[np.float32]:
        """codes * scale, float32 [rows, columns] (exact: 8 + 11 significant bits fit in 24)."""
        return self.codes.astype(np.float32) * self.scale

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the matrix."""
        return tuple(self.codes.shape)

    @property
    def payload_bytes(self) -> int:
        """Bytes of the codes at their bits; the scales come on top, at the target's own width."""
        return (self.codes.size * self.bits + 7) // 8

    def fingerprint(self) -> str:
        """sha256 of the bits, the shape, the codes' bytes and the float32 scales' bytes."""
        return _sha256(f"quantized {self.bits} {self.shape}", self.codes, self.scale)


Record = Dense | Quantized


def _sha256(head: str, *arrays: NDArray[np.generic]) -> str:
    digest = hashlib.sha256(head.encode())
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
