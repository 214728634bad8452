"""The tables of `benchmarks.schemes`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.markdown import table
from benchmarks.measured_tables import milliseconds_of

_TARGETS = ("coreml", "executorch", "tflite")
_SIZES = ("scheme", "Core ML: MB (packed)", "ExecuTorch", "TFLite")
_TIMES = ("ExecuTorch: ms at 32, 128", "TFLite")
Times = Mapping[tuple[str, str], list[float]]


def builtin(results: Mapping[str, Any]) -> str:
    """The built-in model at every scheme. results: contents of result files by name; milliseconds are those of the
    report, where they were taken in turn."""
    content, times = results["schemes"], milliseconds_of(results["measured"], "minilm-l6")
    own = [row for row in content["rows"] if row["model"] == "minilm-l6"]
    machine = content["environment"]
    walls = {row["scheme"]: row["export_wall_s"] for row in own}
    note = (
        f"{own[0]['parameters'] / 1e6:.2f} M unique parameters. One {machine['cpus']}-core virtual machine "
        f"({machine['processor']}); the export of a scheme with all checks took {min(walls.values()):.0f} to "
        f"{max(walls.values()):.0f} s, other work beside it. Packed: the whole folder, manifest and tokenizer too."
    )
    return "\n".join([*table((*_SIZES, *_TIMES, "checks"), _lines(own, times)), "", note])


def others(content: dict[str, Any]) -> str:
    """Every other model that was measured."""
    rows = [row for row in content["rows"] if row["model"] != "minilm-l6"]
    lines = []
    for model in dict.fromkeys(row["model"] for row in rows):
        own = [row for row in rows if row["model"] == model]
        lines += [[f"`{model}`, {own[0]['parameters'] / 1e6:.1f} M", *cells] for cells in _lines(own, None)]
    return "\n".join(table(("model", *_SIZES, "checks"), lines))


def _lines(rows: list[dict[str, Any]], times: Times | None) -> list[list[str]]:
    lines = []
    for scheme in dict.fromkeys(row["scheme"] for row in rows):
        own = {row["target"]: row for row in rows if row["scheme"] == scheme}
        checks = [check["passed"] for row in own.values() for check in row["checks"]]
        cells = [
            f"`{scheme}`",
            *(_size(own.get(target)) for target in _TARGETS),
            *(_milliseconds(times.get((scheme, target), [])) for target in _TARGETS[1:] if times is not None),
            f"{sum(checks)} of {len(checks)}",
        ]
        lines.append(cells)
    return lines


def _size(row: dict[str, Any] | None) -> str:
    return "-" if row is None else f"{row['bytes'] / 1e6:.2f} ({row['packed_bytes'] / 1e6:.2f})"


def _milliseconds(times: list[float]) -> str:
    return ", ".join(f"{time:.1f}" for time in times) or "-"
