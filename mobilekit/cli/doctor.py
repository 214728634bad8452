"""`mobilekit doctor`: what works here, what does not, and what to do about it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable

import click

from mobilekit.doctor import Diagnosis, Shadow, Status, diagnose


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(as_json: bool) -> None:
    """Tell versions, usable targets and runtimes, names taken by other packages, threads, CPU and memory.

    No engine is imported, so it answers at once; whatever it finds, it exits 0.

    \b
    Examples:
      mobilekit doctor
      mobilekit doctor --json | python -m json.tool
    """
    diagnosis = diagnose()
    click.echo(json.dumps(dataclasses.asdict(diagnosis), indent=2) if as_json else render(diagnosis))


def render(diagnosis: Diagnosis) -> str:
    """The diagnosis as aligned lines of text."""
    machine = diagnosis.host
    sections = (
        ("packages", [(name, version or "-") for name, version in diagnosis.packages.items()]),
        ("targets that can be exported", _rows(diagnosis.targets)),
        ("runtimes that can be used", _rows(diagnosis.runtimes)),
        ("package names", _shadow_rows(diagnosis.shadows)),
        (
            "machine",
            [
                ("system", f"{machine.system} {machine.machine}"),
                ("processor", " ".join([machine.processor or "unknown", f"({machine.cpus} usable)"])),
                ("features", " ".join(machine.cpu_features) or "unknown"),
                (
                    "threads",
                    " ".join(f"{name}={value}" for name, value in machine.threads.items()) or "not steered",
                ),
                ("memory", f"{_gib(machine.memory_bytes)}, {_gib(machine.memory_available_bytes)} available"),
            ],
        ),
    )
    lines = [f"mobilekit {diagnosis.mobilekit}, Python {diagnosis.python}"]
    for title, rows in sections:
        lines += ["", title, *_aligned(rows)]
    return "\n".join(lines)


def _rows(statuses: Iterable[Status]) -> list[tuple[str, str]]:
    rows = [(status.name, "yes" if status.usable else f"no: {status.reason}") for status in statuses]
    if not any(text == "yes" for _, text in rows):
        rows.append(("none", "nothing is usable here"))
    return rows


def _shadow_rows(shadows: Iterable[Shadow]) -> list[tuple[str, str]]:
    rows = []
    for shadow in shadows:
        owner = f" of {shadow.distribution}" if shadow.distribution else ""
        verb = "HIDES OURS" if shadow.hides_ours else "is there too"
        rows.append((shadow.name, f"{shadow.location}{owner} {verb}: {shadow.remedy}"))
    return rows or [("ours", "mobilekit, export and benchmarks are not shadowed")]


def _aligned(rows: list[tuple[str, str]]) -> list[str]:
    width = max(len(name) for name, _ in rows)
    return [f"  {name:<{width}}  {text}" for name, text in rows]


def _gib(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"
