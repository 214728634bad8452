"""The documents' tables, made from the committed result files.

python -m benchmarks.tables            # write them
python -m benchmarks.tables --check    # exit 3 if a table and its file disagree
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from benchmarks import arm64, lengths, shortstudents
from benchmarks.budgets import budget_table
from benchmarks.code_tables import codes, outliers
from benchmarks.drop_tables import artifacts, drops
from benchmarks.markdown import table
from benchmarks.measured_tables import full, short
from benchmarks.scheme_tables import builtin, others
from benchmarks.student_tables import headline, pairs, parts
from mobilekit.errors import CheckFailedError

_ROOT = Path(__file__).parent.parent
# A page a model that was measured.
PAGES = "docs/measured"
DOCUMENTS = (
    "README.md",
    "docs/benchmarking.md",
    "docs/checks.md",
    "docs/compression.md",
    "docs/models.md",
    "docs/pack-format.md",
    "docs/targets.md",
    "docs/training.md",
    *sorted(f"{PAGES}/{page.name}" for page in (_ROOT / PAGES).glob("*.md")),
)
_RESULTS = Path(__file__).parent / "results"


def stock(content: dict[str, Any]) -> str:
    """Our graph against the engine's stock route, ratios of paired runs."""
    head = ["engine", "head", "stock / ours, median", "10 to 90 % of pairs", "max difference"]
    lines = []
    for row in content["rows"]:
        low, high = row["ratio_p10"], row["ratio_p90"]
        cells = [
            row["target"],
            row["head"],
            f"{row['ratio_median']:.2f} x",
            f"{low:.2f} to {high:.2f}",
            f"{row['max_abs_difference']:.0e}",
        ]
        lines.append(cells)
    between = ", ".join(f"{r['head']} {r['ratio_median']:.2f} x" for r in content["executorch_over_tflite"])
    shape = content["shape"]
    note = (
        f"{shape['layers']} layers, hidden {shape['hidden_size']}, length {content['length']}, "
        f"{content['threads']} threads, {content['rounds']} rounds. "
        f"ExecuTorch's time over TFLite's, both ours: {between}."
    )
    return "\n".join([*table(head, lines), "", note])


def smoothing(content: dict[str, Any]) -> str:
    """int8 and int4 with and without smoothing."""
    columns = ("engine_against_decoded_weights", "decoded_weights_against_float", "engine_against_float")
    head = ["scheme", "engine against torch, same weights", "those weights against float", "engine against float"]
    lines = []
    for row in content["rows"]:
        cells = [f"{row[c]['mean']:.5f}, least {row[c]['least']:.5f}" for c in columns]
        lines.append([f"{row['scheme']} {'smoothed' if row['smooth'] else 'plain'}", *cells])
    note = f"Cosines, mean and least over the {content['inputs']} golden inputs, run by LiteRT."
    return "\n".join([*table(head, lines), "", note])


def matrix(content: dict[str, Any]) -> str:
    """Families and heads: artifacts that passed of those that were made, by scheme."""
    rows = content["rows"]
    tasks = sorted({row["task"] for row in rows})
    lines = []
    for family in sorted({row["family"] for row in rows}):
        cells = []
        for task in tasks:
            own = [row for row in rows if (row["family"], row["task"]) == (family, task)]
            counts = [[row["passed"] for row in own if row["scheme"] == scheme] for scheme in ("int8", "fp16")]
            cells.append(", ".join(f"{sum(passed)} of {len(passed)}" for passed in counts))
        lines.append([family, *cells])
    passed = sum(row["passed"] for row in rows)
    note = f"int8 (three targets), fp16 (Core ML, TFLite). {passed} of {len(rows)} artifacts passed."
    return "\n".join([*table(["family", *tasks], lines), "", note])


def packs(content: dict[str, Any]) -> str:
    """Packs against the usual compressors."""
    others = list(content["rows"][0]["others"])
    head = ["scheme", "target", "MB", "packed", "of its entropy", "coded", *others, "unpacking"]
    lines = []
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
        lines.append(cells)
    note = (
        "Whole artifacts of the built-in model: the model file, its manifest and tokenizer, in MB. Entropy: what the "
        "bytes of each segment need at least, each for itself. Coded: what of the files has Huffman codes of its own, "
        "and what they take of its entropy. Unpacking: its speed to a folder, all checksums included, against "
        f"inflating the same files in memory; one processor, median of {content['rounds']} rounds."
    )
    own = content["ordinary"]
    sizes = ", ".join(f"{size / 1e6:.2f} by {name}" for name, size in own["others"].items())
    losses = " and ".join(f"{loss['mean']:.3f} on {name}" for name, loss in own["loss"].items())
    plain = (
        f"The ordinary way to {own['bits']} bits, {2 ** own['bits']} levels a matrix as float16 in a safetensors file: "
        f"{own['bytes'] / 1e6:.2f} MB, {sizes}, weights alone; its embeddings are off by {losses} (1 - cosine)."
    )
    return "\n".join([*table(head, lines), "", note, "", plain])


_TABLES: dict[str, Callable[[dict[str, Any]], str]] = {
    "arm64": arm64.table,
    "codes": codes,
    "dropartifacts": artifacts,
    "drops": drops,
    "lengths": lengths.table,
    "matrix": matrix,
    "outliers": outliers,
    "packs": packs,
    "schemes_others": others,
    "shortstudents": shortstudents.table,
    "smoothing": smoothing,
    "stock": stock,
    "students": headline,
    "students_pairs": pairs,
    "students_parts": parts,
}

# Of more than one file.
_OF_ALL = {"budgets": budget_table, "schemes": builtin}
# Of one model's report: what follows the prefix is its name.
_OF_MODELS = {"measured_": full, "artifacts_": short}


def filled(text: str) -> str:
    """The document with every `<!-- table: NAME -->` filled from its result file, or from all of them."""

    def made(match: re.Match[str]) -> str:
        name = match.group(1)
        prefix = next((each for each in _OF_MODELS if name.startswith(each)), None)
        if prefix is not None:
            found = _OF_MODELS[prefix](_content(_RESULTS / "measured.json"), name.removeprefix(prefix))
        elif name in _OF_ALL:
            files = {file.stem: _content(file) for file in _RESULTS.glob("*.json")}
            found = _OF_ALL[name](files)
        else:
            found = _TABLES[name](_content(_RESULTS / f"{name.split('_')[0]}.json"))
        return f"<!-- table: {name} -->\n{found}\n<!-- end -->"

    return re.sub(r"<!-- table: (\w+) -->\n.*?<!-- end -->", made, text, flags=re.DOTALL)


def _content(file: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return content


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
