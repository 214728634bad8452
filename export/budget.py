"""The byte budget: what the records must take in a target's format, plus a measured allowance for the graph."""

from __future__ import annotations

from collections.abc import Iterable

from export.registry import Target
from export.thresholds import PAYLOAD_FACTOR
from mobilekit.artifact import Json


def floor_bytes(target: Target, scheme: str, tensors: Iterable[Json]) -> int:
    """Least bytes of the weights: codes at their bits, the format's scales, everything else at its float."""
    total = 0
    width = target.rest_bytes.get(scheme, 4)
    for entry in tensors:
        if entry["kind"] == "quantized":
            total += entry["bytes"] + entry["shape"][0] * target.scale_bytes
        else:
            total += entry["bytes"] * 8 // entry["bits"] * width
    return total


def budget_bytes(target: Target, scheme: str, tensors: Iterable[Json], layers: int, lengths: int) -> int:
    """The most bytes an artifact's model file may take."""
    allowance = target.overhead.once + target.overhead.per_layer * layers * lengths
    return int(floor_bytes(target, scheme, tensors) * PAYLOAD_FACTOR) + allowance


def groups(tensors: Iterable[Json]) -> dict[str, dict[str, int]]:
    """Parameters and bytes of the codes or values by group: embeddings, attention, ffn, head."""
    sums: dict[str, dict[str, int]] = {}
    for entry in tensors:
        parts = entry["name"].split(".")
        group = parts[2] if parts[0] == "layers" else parts[0]
        found = sums.setdefault(group, {"parameters": 0, "bytes": 0})
        count = 1
        for size in entry["shape"]:
            count *= size
        found["parameters"] += count
        found["bytes"] += entry["bytes"]
    return sums
