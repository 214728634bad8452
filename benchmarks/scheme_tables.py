"""The tables of `benchmarks.schemes`."""

from __future__ import annotations

from typing import Any

from benchmarks.markdown import table

_TARGETS = ("coreml", "executorch", "tflite")
_SIZES = ("scheme", "Core ML: MB (packed)", "ExecuTorch", "TFLite")
_TIMES = ("ExecuTorch: ms at 32, 128", "TFLite")


def builtin(content: dict[str, Any]) -> str:
    """The built-in model at every scheme."""
    own = [row for row in content["rows"] if row["model"] == "minilm-l6"]
    machine = content["environment"]
    walls = {row["scheme"]: row["export_wall_s"] for row in own}
    note = (
        f"{own[0]['parameters'] / 1e6:.2f} M unique parameters. One {machine['cpus']}-core virtual machine "
        f"({machine['processor']}); the export of a scheme with all checks takes {min(walls.values()):.0f} to "
        f"{max(walls.values()):.0f} s. Packed: the whole folder, manifest and tokenizer too."
    )
    return "\n".join([*table((*_SIZES, *_TIMES, "checks"), _lines(own, True)), "", note])


def others(content: dict[str, Any]) -> str:
    """Every other model that was measured; their milliseconds are not taken in turn, and left to reports."""
    rows = [row for row in content["rows"] if row["model"] != "minilm-l6"]
    lines = []
    for model in dict.fromkeys(row["model"] for row in rows):
        own = [row for row in rows if row["model"] == model]
        lines += [[f"`{model}`, {own[0]['parameters'] / 1e6:.1f} M", *cells] for cells in _lines(own, False)]
    return "\n".join(table(("model", *_SIZES, "checks"), lines))


def _lines(rows: list[dict[str, Any]], times: bool) -> list[list[str]]:
    lines = []
    for scheme in dict.fromkeys(row["scheme"] for row in rows):
        own = {row["target"]: row for row in rows if row["scheme"] == scheme}
        checks = [check["passed"] for row in own.values() for check in row["checks"]]
        cells = [
            f"`{scheme}`",
            *(_size(own.get(target)) for target in _TARGETS),
            *(_milliseconds(own.get(target)) for target in _TARGETS[1:] if times),
            f"{sum(checks)} of {len(checks)}",
        ]
        lines.append(cells)
    return lines


def _size(row: dict[str, Any] | None) -> str:
    return "-" if row is None else f"{row['bytes'] / 1e6:.2f} ({row['packed_bytes'] / 1e6:.2f})"


def _milliseconds(row: dict[str, Any] | None) -> str:
    return "-" if row is None else ", ".join(f"{row['run_ms'][length]:.1f}" for length in ("32", "128"))
