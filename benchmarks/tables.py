"""The documents' tables, made from the committed result files.

python -m benchmarks.tables            # write them
python -m benchmarks.tables --check    # exit 3 if a table and its file disagree
"""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from benchmarks import shortstudents
from benchmarks.codes import METHODS
from benchmarks.drop_tables import artifacts, drops
from benchmarks.scheme_tables import builtin, others
from benchmarks.student_tables import headline, pairs, parts
from mobilekit.errors import CheckFailedError

_ROOT = Path(__file__).parent.parent
DOCUMENTS = (
    "README.md",
    "docs/compression.md",
    "docs/models.md",
    "docs/pack-format.md",
    "docs/targets.md",
    "docs/training.md",
)
_RESULTS = Path(__file__).parent / "results"
_KINDS = {(None, False): "", (32, False): ", groups of 32", (None, True): ", levels"}
# Built-in text: all of it, and the list that smoothing looks at.
_TEXTS = {"built-in": "ours", "few": "ours"}


def stock(content: dict[str, Any]) -> str:
    """Our graph against the engine's stock route, ratios of paired runs."""
    lines = ["| engine | head | stock / ours, median | 10 to 90 % of pairs | max difference |", "|---|---|---|---|---|"]
    for row in content["rows"]:
        low, high = row["ratio_p10"], row["ratio_p90"]
        cells = [
            row["target"],
            row["head"],
            f"{row['ratio_median']:.2f} x",
            f"{low:.2f} to {high:.2f}",
            f"{row['max_abs_difference']:.0e}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    between = ", ".join(f"{r['head']} {r['ratio_median']:.2f} x" for r in content["executorch_over_tflite"])
    shape = content["shape"]
    lines.append("")
    lines.append(
        f"{shape['layers']} layers, hidden {shape['hidden_size']}, length {content['length']}, "
        f"{content['threads']} threads, {content['rounds']} rounds. "
        f"ExecuTorch's time over TFLite's, both ours: {between}."
    )
    return "\n".join(lines)


def smoothing(content: dict[str, Any]) -> str:
    """int8 and int4 with and without smoothing."""
    columns = ("engine_against_decoded_weights", "decoded_weights_against_float", "engine_against_float")
    lines = [
        "| scheme | engine against torch, same weights | those weights against float | engine against float |",
        "|---|---|---|---|",
    ]
    for row in content["rows"]:
        cells = [f"{row[c]['mean']:.5f}, least {row[c]['least']:.5f}" for c in columns]
        name = f"{row['scheme']} {'smoothed' if row['smooth'] else 'plain'}"
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(
        [*lines, "", f"Cosines, mean and least over the {content['inputs']} golden inputs, run by LiteRT."]
    )


def codes(content: dict[str, Any]) -> str:
    """Ways to find codes: what is lost of the output, and of the output of a single map."""
    kinds = list(content["rows"][0]["loss"])
    lines = [
        f"| bits | codes | text | {' | '.join(f'loss on {kind}' for kind in kinds)} | error of a map's output | s |",
        f"|---|---|---|{'---|' * len(kinds)}---|---|",
    ]
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
        lines.append(f"| {' | '.join(cells)} |")
    about = (
        f"The built-in model on {content['held_out_texts']} held-out texts of each kind: 1 - cosine of the embeddings "
        "with decoded and with float weights, mean and most; squared error of each linear map's output over its "
        "square, median and most of all maps; seconds of one thread. Nothing is smoothed, activations are float."
    )
    return "\n".join([*lines, "", about])


def matrix(content: dict[str, Any]) -> str:
    """Families and heads: artifacts that passed of those that were made, by scheme."""
    rows = content["rows"]
    tasks = sorted({row["task"] for row in rows})
    lines = [f"| family | {' | '.join(tasks)} |", f"|---|{'---|' * len(tasks)}"]
    for family in sorted({row["family"] for row in rows}):
        cells = []
        for task in tasks:
            own = [row for row in rows if (row["family"], row["task"]) == (family, task)]
            counts = [[row["passed"] for row in own if row["scheme"] == scheme] for scheme in ("int8", "fp16")]
            cells.append(", ".join(f"{sum(passed)} of {len(passed)}" for passed in counts))
        lines.append(f"| {family} | {' | '.join(cells)} |")
    passed = sum(row["passed"] for row in rows)
    return "\n".join(
        [*lines, "", f"int8 (three targets), fp16 (Core ML, TFLite). {passed} of {len(rows)} artifacts passed."]
    )


def packs(content: dict[str, Any]) -> str:
    """Packs against the usual compressors."""
    others = list(content["rows"][0]["others"])
    lines = [
        f"| scheme | target | MB | packed | of its entropy | coded | {' | '.join(others)} | unpacking |",
        f"|---|---|---|---|---|---|{'---|' * len(others)}---|",
    ]
    for row in content["rows"]:
        cells = [
            row["scheme"],
            row["target"],
            f"{row['bytes'] / 1e6:.2f}",
            f"{row['packed_bytes'] / 1e6:.2f}",
            f"{row['all']['ratio']:.3f}",
            f"{row['huffman']['bytes'] / 1e6:.1f} MB, {row['huffman']['ratio']:.3f}",
            *(f"{row['others'][other] / 1e6:.2f}" for other in others),
            f"{row['unpack']['zlib_over_ours']:.2f} x zlib",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    note = (
        "Whole artifacts of the built-in model: the model file, its manifest and tokenizer, in MB. Entropy: what the "
        "bytes of each segment need at least, each for itself. Coded: what of the files has Huffman codes of its own, "
        "and what they take of its entropy. Unpacking: its speed to a folder, all checksums included, against "
        f"inflating the same files in memory; one processor, median of {content['rounds']} rounds."
    )
    own = content["ordinary"]
    sizes = ", ".join(f"{size / 1e6:.2f} by {name}" for name, size in own["others"].items())
    plain = (
        f"The ordinary way to {own['bits']} bits, {2 ** own['bits']} levels a matrix as float16 in a safetensors file: "
        f"{own['bytes'] / 1e6:.2f} MB, {sizes}, weights alone."
    )
    return "\n".join([*lines, "", note, "", plain])


def outliers(content: dict[str, Any]) -> str:
    """Outliers kept apart, and the same bits in other places."""
    kinds = list(content["rows"][0]["loss"])
    lines = [
        f"| weights | MB in records | MB packed | bits packed | {' | '.join(f'loss on {kind}' for kind in kinds)} |",
        f"|---|---|---|---|{'---|' * len(kinds)}",
    ]
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
        lines.append(f"| {' | '.join(cells)} |")
    about = (
        f"The built-in model on {content['held_out_texts']} held-out texts of each kind: 1 - cosine of the embeddings "
        "with decoded and with float weights, mean and most; activations are float, nothing is fine-tuned. Packed: the "
        "entropy of each matrix's int8 codes, and its float16 scales; bits are those of a weight, packed so."
    )
    return "\n".join([*lines, "", about])


_TABLES: dict[str, Callable[[dict[str, Any]], str]] = {
    "codes": codes,
    "dropartifacts": artifacts,
    "drops": drops,
    "matrix": matrix,
    "outliers": outliers,
    "packs": packs,
    "schemes": builtin,
    "schemes_others": others,
    "shortstudents": shortstudents.table,
    "smoothing": smoothing,
    "stock": stock,
    "students": headline,
    "students_pairs": pairs,
    "students_parts": parts,
}


def filled(text: str) -> str:
    """The document with every `<!-- table: NAME -->` filled from its result file."""

    def table(match: re.Match[str]) -> str:
        name = match.group(1)
        file = _RESULTS / f"{name.split('_')[0]}.json"
        content = json.loads(file.read_text(encoding="utf-8"))
        return f"<!-- table: {name} -->\n{_TABLES[name](content)}\n<!-- end -->"

    return re.sub(r"<!-- table: (\w+) -->\n.*?<!-- end -->", table, text, flags=re.DOTALL)


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; fail if a table is not what its file says.")
def main(check: bool) -> None:
    """Write the documents' tables from benchmarks/results."""
    for name in DOCUMENTS:
        file = _ROOT / name
        text = file.read_text(encoding="utf-8")
        made = filled(text)
        if check and made != text:
            raise CheckFailedError(f"{name}: a table differs from its result file; run python -m benchmarks.tables.")
        file.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
