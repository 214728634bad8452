"""Train the teachers and students of the tables, one command after the other, and keep what came of each.

    python -m benchmarks.students --work students              # all that is not done yet
    python -m benchmarks.students --work students --only pkd-0 # one, and what it needs
    python -m benchmarks.students --work students --jobs 2     # two at a time, which is faster than one after the other
    python -m benchmarks.students --list                       # the commands

Folders of runs stay in `--work`, so that an ended run goes on where it was. Results are in
`benchmarks/results/students.json`, a record a run.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import click

from benchmarks.environment import environment
from benchmarks.student_runs import Run, runs
from benchmarks.writing import write_results
from mobilekit.errors import CheckFailedError
from mobilekit.registry import named

RESULTS = Path(__file__).parent / "results/students.json"
_REPORTS = ("distill.json", "metrics.json", "pretrain.json")
# What the record of a run need not repeat.
_LEFT_OUT = ("versions",)


def command_of(run: Run, work: Path) -> list[str]:
    """Arguments of `python -m mobilekit` for a run whose inputs and output are folders of `work`."""
    folders = {"work": str(work), **{name: str(work / name) for name in run.needs}}
    return [*shlex.split(run.command.format(**folders)), "--out", str(work / run.name)]


def wanted(only: tuple[str, ...]) -> list[Run]:
    """The runs asked for, all where none is named, and those that they need, in order."""
    known = runs()
    for name in only:
        named("run", name, known)
    chosen: dict[str, Run] = {}

    def add(name: str) -> None:
        for need in known[name].needs:
            add(need)
        chosen.setdefault(name, known[name])

    for name in only or known:
        add(name)
    return list(chosen.values())


def carry_out(run: Run, work: Path, record: dict[str, Any] | None, threads: int | None = None) -> dict[str, Any]:
    """The record of a run, made now unless its folder is there; raises CheckFailedError when its command fails."""
    folder = work / run.name
    if folder.is_dir() and record is not None and record["command"] == run.command:
        return record
    noted = work / f"{run.name}.command"
    if noted.is_file() and noted.read_text(encoding="utf-8") != run.command:
        raise CheckFailedError(f"{folder}: is of another command; remove it and what begins with its name.")
    noted.write_text(run.command, encoding="utf-8")
    resume = ["--resume"] if list(work.glob(f"{run.name}.training/**/checkpoint")) else []
    started = time.monotonic()
    if not folder.is_dir():
        arguments = [sys.executable, "-m", "mobilekit", *command_of(run, work), *resume]
        surroundings = {**os.environ, **({"OMP_NUM_THREADS": str(threads)} if threads else {})}
        with (work / f"{run.name}.log").open("w", encoding="utf-8") as log:
            done = subprocess.run(arguments, check=False, stdout=log, stderr=log, env=surroundings)
        if done.returncode:
            raise CheckFailedError(f"run {run.name} failed, see {log.name}: mobilekit {run.command}")
    report = next(json.loads((folder / name).read_text()) for name in _REPORTS if (folder / name).is_file())
    seconds = round(time.monotonic() - started, 1)
    # Where the folders of runs lay is nobody's business.
    nowhere = json.loads(json.dumps(report).replace(json.dumps(str(work))[1:-1], "{work}"))
    kept = {key: value for key, value in nowhere.items() if key not in _LEFT_OUT}
    return {
        "run": run.name,
        "command": run.command,
        "wall_seconds": None if resume or seconds < 1 else seconds,
        "threads": threads,
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
    write_results(file, {"runs": kept})


@click.command()
@click.option("--work", type=click.Path(path_type=Path), default=Path("students"), show_default=True)
@click.option("--only", multiple=True, help="A run; may repeat.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Runs at a time.")
@click.option("--list", "listed", is_flag=True, help="Print the commands and end.")
def main(work: Path, only: tuple[str, ...], jobs: int, listed: bool) -> None:
    """Train teachers and students, and write what came of them to benchmarks/results/students.json."""
    chosen = wanted(only)
    if listed:
        for run in chosen:
            click.echo(f"{run.name}: mobilekit {run.command}")
        return
    work.mkdir(parents=True, exist_ok=True)
    carry_out_all(chosen, work.resolve(), jobs)


def carry_out_all(chosen: list[Run], work: Path, jobs: int, file: Path = RESULTS) -> None:
    """Carry out runs, `jobs` at a time, each after those that it needs; every record is written when it is made.

    One that fails ends those that need it; the others go on. Raises CheckFailedError then, at the end.
    """
    threads = max(1, (os.cpu_count() or 1) // jobs) if jobs > 1 else None
    waiting, done, failed = list(chosen), set[str](), dict[str, BaseException]()
    with ThreadPoolExecutor(jobs) as pool:
        going: dict[Future[dict[str, Any]], Run] = {}
        while waiting or going:
            ready = [run for run in waiting if set(run.needs) <= done][: jobs - len(going)]
            for run in ready:
                waiting.remove(run)
                click.echo(f"begun: {run.name}: mobilekit {run.command}", err=True)
                going[pool.submit(carry_out, run, work, read_records(file).get(run.name), threads)] = run
            if not going:
                break
            for future in wait(going, return_when=FIRST_COMPLETED).done:
                run = going.pop(future)
                error = future.exception()
                if error is not None:
                    failed[run.name] = error
                    click.echo(f"failed: {error}", err=True)
                    continue
                done.add(run.name)
                click.echo(f"done: {run.name}", err=True)
                write_records({**read_records(file), run.name: future.result()}, file)
    if failed:
        raise CheckFailedError(f"{len(failed)} runs failed: {', '.join(failed)}; {len(waiting)} were not begun.")


if __name__ == "__main__":
    main()
