"""The tables of `benchmarks.schemes`."""

from __future__ import annotations

from typing import Any

_TARGETS = ("coreml", "executorch", "tflite")
_HEAD = (
    "| scheme | Core ML: MB (packed) | ExecuTorch | TFLite | ExecuTorch: ms at 32, 128 | TFLite | checks |",
    "|---|---|---|---|---|---|---|",
)


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
    return "\n".join([*_HEAD, *_lines(own), "", note])


def others(content: dict[str, Any]) -> str:
    """Every other model that was measured."""
    rows = [row for row in content["rows"] if row["model"] != "minilm-l6"]
    lines = [f"| model {_HEAD[0]}", f"|---{_HEAD[1]}"]
    for model in dict.fromkeys(row["model"] for row in rows):
        own = [row for row in rows if row["model"] == model]
        lines += [f"| `{model}`, {own[0]['parameters'] / 1e6:.1f} M {line}" for line in _lines(own)]
    return "\n".join(lines)


def _lines(rows: list[dict[str, Any]]) -> list[str]:
    lines = []
    for scheme in dict.fromkeys(row["scheme"] for row in rows):
        own = {row["target"]: row for row in rows if row["scheme"] == scheme}
        checks = [check["passed"] for row in own.values() for check in row["checks"]]
        cells = [
            *(_size(own.get(target)) for target in _TARGETS),
            *(_milliseconds(own.get(target)) for target in _TARGETS[1:]),
            f"{sum(checks)} of {len(checks)}",
        ]
        lines.append(f"| `{scheme}` | {' | '.join(cells)} |")
    return lines


def _size(row: dict[str, Any] | None) -> str:
    return "-" if row is None else f"{row['bytes'] / 1e6:.2f} ({row['packed_bytes'] / 1e6:.2f})"


def _milliseconds(row: dict[str, Any] | None) -> str:
    return "-" if row is None else ", ".join(f"{row['run_ms'][length]:.1f}" for length in ("32", "128"))
