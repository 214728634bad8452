"""Narrow embeddings out of wide ones: the best low-rank tables, and the map back (Lan et al. 2020, section 3.1)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from mobilekit.models.encoder import Embeddings

# Positions beyond are rare in what a phone reads.
_POSITIONS = 128


@dataclass(frozen=True)
class Factors:
    """tables: `token`, `position`, `token_type` -> [rows, E], for a norm of weight 1 and bias 0. projection: [H, E],
    bias: [H]; together they give what the wide embeddings give after their norm."""

    tables: dict[str, Tensor]
    projection: Tensor
    bias: Tensor


def factorise(wide: Embeddings, size: int, counts: Tensor | None = None) -> Factors:
    """Factors of width `size`. counts: [vocabulary], how often each token occurs in the text it will read; None: all
    alike.

    A norm stands between table and projection, so the directions are chosen for sums of rows: the principal ones of
    their second moments, by eigenvectors, which is the truncated singular value decomposition of the tables weighted by
    use. The rows lie in the plane of mean 0, where the narrow norm only scales, as the wide one does: with a rank below
    `size` the result is exact.
    """
    tables = {"token": wide.token.weight, "position": wide.position.weight}
    if wide.token_type is not None:
        tables["token_type"] = wide.token_type.weight
    centred = {name: (t.detach().double() - t.detach().double().mean(1, keepdim=True)) for name, t in tables.items()}
    width = centred["token"].shape[1]
    directions = _directions(centred, size - 1, counts, wide.offset)
    plane = _plane(size)
    weight, bias = wide.norm.weight.detach().double(), wide.norm.bias.detach()
    projection = weight[:, None] * directions @ plane.T * (width / size) ** 0.5
    narrow = {name: (table @ directions @ plane.T).float() for name, table in centred.items()}
    return Factors(narrow, projection.float(), bias.clone())


def _directions(tables: dict[str, Tensor], count: int, counts: Tensor | None, offset: int) -> Tensor:
    """[H, count], orthonormal."""
    token = tables["token"]
    used = torch.ones(len(token), dtype=torch.float64) if counts is None else counts.double()
    used = used / used.sum()
    parts = [(token, used)]
    position = tables["position"][offset : offset + _POSITIONS]
    parts.append((position, torch.full((len(position),), 1 / len(position), dtype=torch.float64)))
    mean = sum(((weights[:, None] * rows).sum(0) for rows, weights in parts), torch.zeros(token.shape[1]).double())
    if "token_type" in tables:
        mean = mean + tables["token_type"][0]
    # Tokens and positions come independently: the moments of sums are covariances and the mean's square.
    moments = torch.outer(mean, mean)
    for rows, weights in parts:
        own = rows - (weights[:, None] * rows).sum(0)
        moments = moments + own.T @ (weights[:, None] * own)
    return torch.linalg.eigh(moments).eigenvectors.flip(1)[:, :count]


def _plane(size: int) -> Tensor:
    """[size, size - 1]: an orthonormal basis of the vectors of mean 0."""
    ones = torch.ones(size, 1, dtype=torch.float64)
    full = torch.linalg.qr(torch.cat([ones, torch.eye(size, dtype=torch.float64)[:, 1:]], 1)).Q
    return full[:, 1:]
