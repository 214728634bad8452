"""Codes by error compensation: what rounding a column loses, the columns after it make up for.

GPTQ (Frantar et al. 2023, sections 3 and 4). The loss of a linear map's output over inputs X is
`||W X - Q X||**2 = sum over rows of d H d^T` with d a row of W - Q and H = X X^T (twice that in the paper: the factor
changes nothing). Columns are rounded one after the other; each time the rest moves to where the loss is least.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from mobilekit.compression.kmeans import LIMIT
from mobilekit.compression.outliers import cluster_apart
from mobilekit.compression.quantize import codes_of
from mobilekit.compression.records import Clustered, Outliers, Quantized, stacked
from mobilekit.compression.scales import quantize_searched
from mobilekit.errors import CompressionError
from mobilekit.models.threads import one_thread

# Added to the diagonal of H, as a share of its mean (lambda in the paper, 0.01 there). A calibration text has few
# tokens against a matrix's columns, and H by itself would have weights make up for what only that text shows.
DAMPING = 0.2
# Columns whose updates of all later ones are done at once, in one matrix product.
_BLOCK = 64

# Takes a column's index and its values [rows]; gives the values [rows] that they are rounded to.
Rounding = Callable[[int, torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Inputs:
    """What codes are made for: the second moments of a linear map's inputs, prepared once for all maps that read them.

    moments: damped, float64 [columns, columns]. order: columns in the order of rounding. upper: U with U^T U the
    inverse of the moments in that order, float32.
    """

    moments: torch.Tensor
    order: torch.Tensor
    upper: torch.Tensor

    @property
    def importance(self) -> NDArray[np.float64]:
        """What a column's error weighs when the columns after it make up for it as well as they can, [columns]."""
        weights = torch.empty(len(self.order), dtype=torch.float64)
        weights[self.order] = 1 / self.upper.diagonal().double() ** 2
        return weights.numpy()


def prepare(moments: NDArray[np.floating], damping: float = DAMPING) -> Inputs:
    """Damp, order (most active columns first: later ones can still make up for them) and invert.

    moments: [columns, columns], sums or means of x x^T over inputs x; columns that are always 0 may be among them.
    Raises CompressionError when they are not a finite square matrix of second moments.
    """
    if moments.ndim != 2 or moments.shape[0] != moments.shape[1]:
        raise CompressionError(f"second moments have to be a square matrix, not of shape {list(moments.shape)}.")
    if not np.isfinite(moments).all():
        raise CompressionError("the second moments of the inputs are not finite (NaN or infinity); use other text.")
    with one_thread():
        damped = torch.from_numpy(moments.astype(np.float64))
        level = float(damped.diagonal().mean())
        # No input at all: every column weighs the same, and nothing is made up for.
        damped.diagonal().add_(damping * level if level > 0 else 1.0)
        order = torch.argsort(damped.diagonal(), descending=True, stable=True)
        # With H = R R^T and R upper triangular, R's inverse is U: one factorisation, of H turned around.
        turned = damped[order][:, order].flip(0, 1)
        lower, failed = torch.linalg.cholesky_ex(turned)
        if int(failed):
            raise CompressionError("the second moments of the inputs are no moments (not positive semi-definite).")
        identity = torch.eye(len(order), dtype=torch.float64)
        upper = torch.linalg.solve_triangular(lower.flip(0, 1), identity, upper=True)
    return Inputs(damped, order, upper.float())


def compensate(weight: NDArray[np.float32], inputs: Inputs, rounding: Rounding) -> NDArray[np.float32]:
    """Values [rows, columns] that `rounding` can give, near `weight` in the output of the linear map.

    weight: float32 [rows, columns]. With moments that are diagonal each weight is rounded by itself.
    """
    with torch.no_grad(), one_thread():
        # A column is a row here, so that what one step touches lies together.
        left = torch.from_numpy(weight).T[inputs.order].contiguous()
        order, size = inputs.order.tolist(), len(inputs.order)
        for start in range(0, size, _BLOCK):
            end = min(start + _BLOCK, size)
            own, upper = left[start:end], inputs.upper[start:end]
            errors = torch.empty_like(own)
            for i in range(end - start):
                rounded = rounding(order[start + i], own[i])
                errors[i] = (own[i] - rounded) / upper[i, start + i]
                own[i + 1 :].addr_(upper[i, start + i + 1 : end], errors[i], alpha=-1)
                own[i] = rounded
            left[end:].addmm_(upper[:, end:].T, errors, alpha=-1)
        found = torch.empty_like(left)
        found[inputs.order] = left
        return found.T.contiguous().numpy()


def quantize_compensated(weight: NDArray[np.float32], bits: int, inputs: Inputs, block: int | None = None) -> Quantized:
    """Codes by error compensation, with scales of least error.

    weight: float32 [rows, columns]. block: columns that share a scale (None: all of a row). Scales are fixed before
    the codes, also those of groups, so that columns can be rounded in any order. A row whose output would be worse
    than that of plain rounding keeps it. Raises what `quantize_searched` raises, and CompressionError for inputs
    of another width.
    """
    _check_width(weight, inputs)
    plain = quantize_searched(weight, bits, block, inputs.importance)
    limit = 2 ** (bits - 1) - 1
    scales = torch.from_numpy(plain.scale.T.copy())

    def rounding(column: int, values: torch.Tensor) -> torch.Tensor:
        scale = scales[column // plain.block]
        return (values / scale).round_().clamp_(-limit, limit).mul_(scale)

    codes = codes_of(compensate(weight, inputs, rounding), plain.scale, bits)
    return Quantized(np.where(_worse(weight, codes, plain, inputs), plain.codes, codes), plain.scale, bits)


def cluster_compensated(
    weight: NDArray[np.float32], bits: int, inputs: Inputs, groups: int = 1, outliers: int = 0
) -> Clustered:
    """Codes by error compensation, with the codebook and the scales of least error (`cluster_rows`).

    weight: float32 [rows, columns]. groups: runs of as many rows with a codebook of their own; they divide the rows.
    outliers: thousandths of the weights, at most, that are kept apart (`cluster_apart`). A row whose output would be
    worse than with each weight's nearest level keeps those. Raises what `cluster_rows` raises, and CompressionError for
    inputs of another width.
    """
    _check_width(weight, inputs)
    if groups > 1:
        return stacked([cluster_compensated(part, bits, inputs, 1, outliers) for part in np.split(weight, groups)])
    importance = np.broadcast_to(inputs.importance.astype(np.float32), weight.shape)
    plain = cluster_apart(weight, bits, outliers, importance=importance)
    # Where there are less levels than codes the last is there several times.
    levels = torch.from_numpy(np.unique(plain.codebook).astype(np.float32))
    middles, scale = (levels[1:] + levels[:-1]) / 2, torch.from_numpy(plain.scale[:, 0])
    codes, grid = np.empty_like(plain.codes), np.empty(weight.shape, np.int8)
    apart = _mask(plain)

    def rounding(column: int, values: torch.Tensor) -> torch.Tensor:
        steps = values / scale
        nearest = torch.bucketize(steps, middles, right=True)
        chosen = torch.where(apart[column], steps.round().clamp(-LIMIT, LIMIT), levels[nearest])
        codes[:, column], grid[:, column] = nearest.numpy(), chosen.numpy()
        return chosen * scale

    compensate(weight, inputs, rounding)
    same = plain.as_quantized()
    worse = _worse(weight, grid, same, inputs)
    codes, grid = np.where(worse, plain.codes, codes), np.where(worse, same.codes, grid)
    return Clustered(codes, plain.codebook, plain.scale, _taken(plain, grid))


def _mask(record: Clustered) -> torch.Tensor:
    """Which weights are outliers, bool [columns, rows]."""
    found = np.zeros(record.shape, bool)
    if record.outliers is not None:
        found.ravel()[record.outliers.positions] = True
    return torch.from_numpy(np.ascontiguousarray(found.T))


def _taken(record: Clustered, grid: NDArray[np.int8]) -> Outliers | None:
    """The outliers of a record with other levels: those of int8 [rows, columns]."""
    apart = record.outliers
    return None if apart is None else Outliers(apart.positions, grid.ravel()[apart.positions])


def _worse(weight: NDArray[np.float32], codes: NDArray[np.int8], plain: Quantized, inputs: Inputs) -> NDArray[np.bool_]:
    """Which rows' outputs have more error with these codes than with those of `plain`, [rows, 1]."""
    found = Quantized(codes, plain.scale, plain.bits)
    lost, most = (output_errors(weight, record.decode(), inputs) for record in (found, plain))
    return (lost > most)[:, None]


def _check_width(weight: NDArray[np.float32], inputs: Inputs) -> None:
    if len(inputs.order) != weight.shape[-1]:
        raise CompressionError(f"moments of {len(inputs.order)} inputs for a weight of shape {list(weight.shape)}.")


def output_errors(weight: NDArray[np.float32], decoded: NDArray[np.float32], inputs: Inputs) -> NDArray[np.float64]:
    """The squared error of each output over the (damped) inputs, float64 [rows]."""
    with one_thread():
        lost = torch.from_numpy(weight.astype(np.float64) - decoded)
        return ((lost @ inputs.moments) * lost).sum(1).numpy()
