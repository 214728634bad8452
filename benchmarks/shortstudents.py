"""The short version of docs/training.md, as a user would type it: a teacher, a six-layer student of it, and the student
for phones. One pass and two where the tables' runs take three and four (`benchmarks.students`).

    python -m benchmarks.shortstudents --work students/short --out students/short.json
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import click

from benchmarks import markdown
from benchmarks.environment import environment
from benchmarks.writing import write_results
from mobilekit.errors import CheckFailedError

_TASK = "--data movie-sentiment --pooling mean --length 64 --force"
# Name -> command, without `--out`; `{name}` is the output folder of that step.
STEPS = {
    "teacher": f"train --model e5-small-enpt {_TASK} --epochs 1",
    "student": f"distill --teacher {{teacher}} --recipe pkd {_TASK} --epochs 2 --skip-alone",
    "phone": "export --model {student} --scheme int8 --force --json",
}


def carry_out(work: Path) -> dict[str, Any]:
    """Run all steps; raises CheckFailedError when one fails."""
    seconds, said = {}, ""
    for name, command in STEPS.items():
        arguments = shlex.split(command.format(**{step: work / step for step in STEPS}))
        click.echo(f"mobilekit {shlex.join(arguments)}", err=True)
        started = time.monotonic()
        program = [sys.executable, "-m", "mobilekit", *arguments, "--out", str(work / name)]
        done = subprocess.run(program, check=False, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            raise CheckFailedError(f"step {name} failed: mobilekit {shlex.join(arguments)}")
        seconds[name], said = round(time.monotonic() - started, 1), done.stdout
    distilled = json.loads((work / "student/distill.json").read_text(encoding="utf-8"))
    kept = ("target", "bytes", "checks")
    files = [{name: file[name] for name in kept} for file in json.loads(said)]
    return {
        "environment": environment(),
        "commands": {name: command.format(**{step: step for step in STEPS}) for name, command in STEPS.items()},
        "seconds": seconds,
        "rows": distilled["rows"],
        "files": files,
    }


@click.command()
@click.option("--work", type=click.Path(path_type=Path), default=Path("students/short"), show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="A file for what came out, as JSON.")
def main(work: Path, out: Path | None) -> None:
    """Train a teacher and a six-layer student of it, short, and export the student."""
    work.mkdir(parents=True, exist_ok=True)
    content = carry_out(work)
    if out is not None:
        write_results(out, content)
    click.echo(table(content))


def table(content: dict[str, Any]) -> str:
    """What each step took, and what came out."""
    teacher, student = (f"{100 * row['values']['accuracy']:.1f} %" for row in content["rows"])
    files = content["files"]
    passed = sum(check["passed"] for file in files for check in file["checks"])
    count = sum(len(file["checks"]) for file in files)
    sizes = ", ".join(f"{file['target']} {file['bytes'] / 1e6:.1f} MB" for file in files)
    came = {
        "teacher": f"{teacher} right",
        "student": f"{student} right",
        "phone": f"{passed} of {count} checks; {sizes}",
    }
    rows = [
        (f"`mobilekit {content['commands'][name]}`", f"{content['seconds'][name] / 60:.1f}", came[name])
        for name in STEPS
    ]
    machine = content["environment"]
    total = sum(content["seconds"].values()) / 60
    lines = markdown.table(("step", "minutes", "what came out"), rows)
    return "\n".join(
        [*lines, "", f"{total:.1f} minutes on a {machine['cpus']}-core virtual machine ({machine['processor']})."]
    )


if __name__ == "__main__":
    main()
