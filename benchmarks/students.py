"""Train the teachers and students of the tables, one command after the other, and keep what came of each.

    python -m benchmarks.students --work students              # all that is not done yet
    python -m benchmarks.students --work students --only pkd-0 # one, and what it needs
    python -m benchmarks.students --list                       # the commands

Folders of runs stay in `--work`, so that an ended run goes on where it was. Results are in
`benchmarks/results/students.json`, a record a run.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from benchmarks.environment import environment
from benchmarks.student_runs import Run, runs
from mobilekit.errors import CheckFailedError, unknown

RESULTS = Path(__file__).parent / "results/students.json"
_REPORTS = ("distill.json", "metrics.json", "pretrain.json")
# What the record of a run need not repeat.
_LEFT_OUT = ("versions",)


def command_of(run: Run, work: Path) -> list[str]:
    """Arguments of `python -m mobilekit` for a run whose inputs and output are folders of `work`."""
    folders = {name: str(work / name) for name in run.needs}
    return [*shlex.split(run.command.format(**folders)), "--out", str(work / run.name)]


def wanted(only: tuple[str, ...]) -> list[Run]:
    """The runs asked for, all where none is named, and those that they need, in order."""
    known = runs()
    for name in only:
        if name not in known:
            raise unknown("run", name, known)
    chosen: dict[str, Run] = {}

    def add(name: str) -> None:
        for need in known[name].needs:
            add(need)
        chosen.setdefault(name, known[name])

    for name in only or known:
        add(name)
    return list(chosen.values())


def carry_out(run: Run, work: Path, record: dict[str, Any] | None) -> dict[str, Any]:
    """The record of a run, made now unless its folder is there; raises CheckFailedError when its command fails."""
    folder = work / run.name
    if folder.is_dir() and record is not None and record["command"] == run.command:
        return record
    resume = ["--resume"] if list(work.glob(f"{run.name}.training/**/checkpoint")) else []
    started = time.monotonic()
    if not folder.is_dir():
        arguments = [sys.executable, "-m", "mobilekit", *command_of(run, work), *resume]
        if subprocess.run(arguments, check=False, stdout=subprocess.DEVNULL).returncode:
            raise CheckFailedError(f"run {run.name} failed: mobilekit {run.command}")
    report = next(json.loads((folder / name).read_text()) for name in _REPORTS if (folder / name).is_file())
    seconds = round(time.monotonic() - started, 1)
    kept = {key: value for key, value in report.items() if key not in _LEFT_OUT}
    return {
        "run": run.name,
        "command": run.command,
        "wall_seconds": None if resume or seconds < 1 else seconds,
        "environment": environment(),
        "report": kept,
    }


def read_records(file: Path = RESULTS) -> dict[str, dict[str, Any]]:
    """Records by the name of the run; none where there is no file."""
    if not file.is_file():
        return {}
    return {record["run"]: record for record in json.loads(file.read_text(encoding="utf-8"))["runs"]}


def write_records(records: Mapping[str, dict[str, Any]], file: Path = RESULTS) -> None:
    """Write the records of runs that there still are, in their order."""
    kept = [records[name] for name in runs() if name in records]
    file.write_text(json.dumps({"runs": kept}, indent=1, sort_keys=True) + "\n", encoding="utf-8")


@click.command()
@click.option("--work", type=click.Path(path_type=Path), default=Path("students"), show_default=True)
@click.option("--only", multiple=True, help="A run; may repeat.")
@click.option("--list", "listed", is_flag=True, help="Print the commands and end.")
def main(work: Path, only: tuple[str, ...], listed: bool) -> None:
    """Train teachers and students, and write what came of them to benchmarks/results/students.json."""
    chosen = wanted(only)
    if listed:
        for run in chosen:
            click.echo(f"{run.name}: mobilekit {run.command}")
        return
    work.mkdir(parents=True, exist_ok=True)
    for i, run in enumerate(chosen, 1):
        records = read_records()
        click.echo(f"{i} of {len(chosen)}: {run.name}: mobilekit {run.command}", err=True)
        write_records({**records, run.name: carry_out(run, work.resolve(), records.get(run.name))})


if __name__ == "__main__":
    main()
