"""The byte budget: what the records must take in a target's format, plus a measured allowance for the graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from export.registry import Target
from export.thresholds import PAYLOAD_FACTOR
from mobilekit.artifact import Json
from mobilekit.compression.compressed import POSITIONS

# Linear maps of a layer, and those beside them: token table, projection, two of the head.
_PRODUCTS, _OTHER_PRODUCTS = 6, 4


def floor_bytes(target: Target, scheme: str, tensors: Iterable[Json]) -> int:
    """Least bytes of the weights: codes at their bits, the format's scales, codebooks, the rest at its float.

    scheme: what the tensors are kept in, of a plan `thresholds.precision`.
    """
    total = 0
    for entry in tensors:
        if entry["kind"] == "clustered":
            # Of float16.
            levels = 2 * entry["codebooks"] * 2 ** entry["bits"]
            total += entry["bytes"] + entry["shape"][0] * target.scale_bytes + levels
        elif entry["kind"] == "quantized":
            # Manifests did not always say how many scales a row has: there was one.
            groups = entry.get("groups", 1)
            scale = target.scale_bytes if groups == 1 else target.group_scale_bytes
            total += entry["bytes"] + entry["shape"][0] * groups * scale
        else:
            # A bias in whole numbers says what each is worth.
            total += entry["shape"][0] * target.bias_scale_bytes if "int32" in entry["sha256"] else 0
            total += entry["bytes"] * 8 // entry["bits"] * _float_bytes(target, scheme, entry)
    return total


def graph_bytes(target: Target, scheme: str, tensors: Sequence[Json], layers: int, lengths: Sequence[int]) -> int:
    """Bytes allowed to the graph: the measured overhead, and for every shorter length its own rows of positions.

    A length's graph has its rows as a constant; cutting them from the longest's at run time would cost an operation.
    """
    widths = (e["shape"][1] * _float_bytes(target, scheme, e) for e in tensors if e["name"] == POSITIONS)
    rows = sum(sorted(lengths)[:-1]) * next(widths, 0)
    overhead = target.overhead
    each = overhead.per_length + overhead.per_layer * layers
    each += overhead.per_static * static_uses(tensors, layers)
    if tables := sum(entry["kind"] == "clustered" for entry in tensors):
        each += overhead.per_table * tables + overhead.per_product * (_PRODUCTS * layers + _OTHER_PRODUCTS)
    return overhead.once + each * len(lengths) + rows


def static_uses(tensors: Iterable[Json], layers: int) -> int:
    """How many linear maps of a graph have fixed scales around them; one that layers share counts in each."""
    names = {entry["name"]: "activations" in entry for entry in tensors if entry["name"].startswith("layers.")}
    owners = {name.split(".")[1] for name in names}
    return -(-sum(names.values()) * layers // max(1, len(owners)))


def budget_bytes(target: Target, scheme: str, tensors: Sequence[Json], layers: int, lengths: Sequence[int]) -> int:
    """The most bytes an artifact's model file may take."""
    floor = int(floor_bytes(target, scheme, tensors) * PAYLOAD_FACTOR)
    return floor + graph_bytes(target, scheme, tensors, layers, lengths)


def _float_bytes(target: Target, scheme: str, entry: Json) -> int:
    """Bytes of a value of a tensor that has no codes: its own, or less where the target makes all values shorter."""
    own: int = entry["bits"] // 8
    return min(target.rest_bytes.get(scheme, own), own)


def group_of(name: str) -> str:
    """The group that a tensor is counted in: `layers.0.attention.query.weight` is attention's."""
    parts = name.split(".")
    return parts[2] if parts[0] == "layers" and len(parts) > 2 else parts[0]


def groups(tensors: Iterable[Json]) -> dict[str, dict[str, int]]:
    """Parameters and bytes of the codes or values by group: embeddings, attention, ffn, head."""
    sums: dict[str, dict[str, int]] = {}
    for entry in tensors:
        found = sums.setdefault(group_of(entry["name"]), {"parameters": 0, "bytes": 0})
        count = 1
        for size in entry["shape"]:
            count *= size
        found["parameters"] += count
        found["bytes"] += entry["bytes"]
    return sums
