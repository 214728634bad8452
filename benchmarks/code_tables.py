"""The tables of `benchmarks.codes` and `benchmarks.outliers`."""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks.markdown import table

# Ways to find codes, and what the table calls them.
METHODS = {
    "largest": "scales by the largest weight",
    "searched": "scales of least error",
    "weighed": "scales of least error, columns weighed by their inputs",
    "compensated": "errors compensated for the float model's inputs",
    "in sequence": "errors compensated for the compressed model's inputs",
    "moved": "errors compensated, weights moved for what maps before lost",
}
_KINDS = {(None, False): "", (32, False): ", groups of 32", (None, True): ", levels"}
# Built-in text: all of it, and the list that smoothing looks at.
_TEXTS = {"built-in": "ours", "few": "ours"}


def codes(content: dict[str, Any]) -> str:
    """Ways to find codes: what is lost of the output, and of the output of a single map."""
    kinds = list(content["rows"][0]["loss"])
    head = ["bits", "codes", "text", *(f"loss on {kind}" for kind in kinds), "error of a map's output", "s"]
    lines = []
    for row in content["rows"]:
        errors = row.get("map_errors")
        cells = [
            f"{row['bits']}{_KINDS[row['block'], row['levels']]}",
            METHODS[row["method"]],
            f"{row['texts']} of {_TEXTS.get(row['text'], row['text'])}" if row["texts"] else "none",
            *(f"{row['loss'][kind]['mean']:.2g}, most {row['loss'][kind]['most']:.2g}" for kind in kinds),
            f"{statistics.median(errors.values()):.2g}, most {max(errors.values()):.2g}" if errors else "-",
            f"{row['cpu_seconds']:.0f}",
        ]
        lines.append(cells)
    about = (
        f"The built-in model on {content['held_out_texts']} held-out texts of each kind: 1 - cosine of the embeddings "
        "with decoded and with float weights, mean and most; squared error of each linear map's output over its "
        "square, median and most of all maps; seconds of one thread. Nothing is smoothed, activations are float."
    )
    return "\n".join([*table(head, lines), "", about])


def outliers(content: dict[str, Any]) -> str:
    """Outliers kept apart, and the same bits in other places."""
    kinds = list(content["rows"][0]["loss"])
    head = ["weights", "MB in records", "MB packed", "bits packed", *(f"loss on {kind}" for kind in kinds)]
    lines = []
    for row in content["rows"]:
        own, *finer = row["plan"]
        name = own["scheme"] + (f", {own['outliers']} thousandths apart" if "outliers" in own else "")
        if finer:
            patterns = " and ".join(f"`{rule['pattern']}`" for rule in finer)
            name += f"; {patterns} {finer[0]['scheme']}"
        cells = [
            name,
            f"{row['record_bytes'] / 1e6:.2f}",
            f"{row['packed_bytes'] / 1e6:.2f}",
            f"{8 * row['packed_bytes'] / row['weights']:.2f}",
            *(f"{row['loss'][kind]['mean']:.3f}, most {row['loss'][kind]['most']:.3f}" for kind in kinds),
        ]
        lines.append(cells)
    about = (
        f"The built-in model on {content['held_out_texts']} held-out texts of each kind: 1 - cosine of the embeddings "
        "with decoded and with float weights, mean and most; activations are float, nothing is fine-tuned. Packed: the "
        "entropy of each matrix's int8 codes, and its float16 scales; bits are those of a weight, packed so."
    )
    return "\n".join([*table(head, lines), "", about])
