"""What outliers kept apart are worth at 2 and 3 bits, and what the same bits are worth in other places.

    python -m benchmarks.outliers --out benchmarks/results/outliers.json

The built-in model, compressed as `compress` does it, on held-out text of two kinds; activations stay float, so that
only weights differ.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from benchmarks.codes import Records, held_out_texts, losses, write_rows
from mobilekit.compression.compress import compress
from mobilekit.compression.compressed import CompressedModel
from mobilekit.compression.entropy import entropy_bits
from mobilekit.compression.plan import Plan, Rule
from mobilekit.compression.preview import record_bytes
from mobilekit.compression.records import Clustered, Dense
from mobilekit.compression.schemes.registry import scheme
from mobilekit.models.model import Model

_FIRST = ("layers.0.*", "layers.1.attention.*")
_LAST = ("layers.5.*", "layers.4.attention.*")
_FINER = {"pal2": "pal3", "pal3": "pal4"}
_THOUSANDTHS = (0, 2, 5, 10)


def plan(name: str, thousandths: int = 0, finer: Sequence[str] = ()) -> Plan:
    """All weights in a scheme, so many thousandths of them kept apart, or what matches some patterns a step finer."""
    own, options = scheme(name), {"outliers": thousandths} if thousandths else {}
    rest = [Rule(pattern, scheme(_FINER[name])) for pattern in finer]
    return Plan(name, (Rule("*", own.configured(**options) if options else own, options), *rest))


PLANS = tuple(
    made
    for name in _FINER
    for made in (*(plan(name, count) for count in _THOUSANDTHS), *(plan(name, 0, finer) for finer in (_FIRST, _LAST)))
)


def sizes(compressed: CompressedModel) -> dict[str, int]:
    """Of all clustered matrices: weights, outliers among them, bytes of records, and bytes that the codes of the int8
    matrices in files need by their entropy, each matrix for itself, with float16 scales."""
    own = [record for record in compressed.records.values() if isinstance(record, Clustered)]
    counts = [np.unique(record.as_quantized().codes, return_counts=True)[1] for record in own]
    scale_bytes = sum(record.scale.astype(np.float16).nbytes for record in own)
    return {
        "weights": sum(record.codes.size for record in own),
        "outliers": sum(record.outliers.positions.size for record in own if record.outliers),
        "record_bytes": sum(map(record_bytes, own)),
        "packed_bytes": round(sum(map(entropy_bits, counts)) / 8) + scale_bytes,
    }


def compare(model: Model, plans: Sequence[Plan], report: Callable[[str], None]) -> list[dict[str, Any]]:
    """A row for each plan."""
    held_out, rows = held_out_texts(), []
    for each in plans:
        compressed = compress(model, each)
        decoded: Records = {name: Dense(values) for name, values in compressed.decoded().items()}
        rows.append({"plan": each.to_json(), **sizes(compressed), "loss": losses(model, decoded, held_out)})
        report(json.dumps(rows[-1]))
    return rows


@click.command()
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The JSON file to write.")
def main(out: Path) -> None:
    """Measure on the built-in model and write the result; takes some five minutes of one core."""
    write_rows(out, lambda model, report: compare(model, PLANS, report))


if __name__ == "__main__":
    main()
