"""All committed results made again, and the documents' tables from them: `make results`.

    python -m benchmarks.regenerate --work results-work              # all: some days on two cores, most of it training
    python -m benchmarks.regenerate --work results-work --only walls # one step; the others' files stay
    python -m benchmarks.regenerate --list

Steps come in an order in which each finds what it reads. What a step left in the work folder (artifacts, trained
models) is taken up again, so that a run that was ended goes on. Best on a machine that does nothing else.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import click

from mobilekit.errors import CheckFailedError
from mobilekit.registry import named

_RESULTS = "benchmarks/results"
_DATA = "--data movie-sentiment --teacher {work}/students/teacher-0"
# The fine-tuned MiniLM, the best six-layer student and the ALBERT.
FINE_TUNED = ("minilm-0", "distil6-tinybert-0", "albert-0")
# Artifacts of the built-in model whose packs are held against other compressors.
_PACKED = (
    ("fp32", "tflite"), ("fp16", "tflite"), ("fp16", "coreml"), ("int8", "executorch"), ("int8", "tflite"),
    ("int4", "tflite"), ("pal4", "coreml"), ("pal4", "executorch"), ("pal4", "tflite"), ("pal3", "tflite"),
    ("pal3", "coreml"), ("pal2", "coreml"), ("pal2", "tflite"),
)  # fmt: skip
# And those that are run on an emulated phone's processor (`make arm64` before).
_EMULATED = (
    ("fp32", "executorch"), ("fp32", "tflite"), ("fp16", "tflite"), ("int8", "executorch"), ("int8", "tflite"),
    ("int8-static", "executorch"), ("int8-static", "tflite"), ("int4", "executorch"), ("int4", "tflite"),
    ("int4-g32", "executorch"), ("pal4", "tflite"),
)  # fmt: skip


def _artifacts(chosen: tuple[tuple[str, str], ...]) -> str:
    """Where the step `schemes` leaves artifacts of the built-in model: scheme and target of each."""
    return " ".join(f"{{work}}/schemes/minilm-l6-{scheme}/{target}" for scheme, target in chosen)


def steps() -> Mapping[str, str]:
    """Name -> the command, a module of `benchmarks` and its options; `{work}` is the work folder."""
    made = {name: f"{name} --out {_RESULTS}/{name}.json" for name in ("stock", "walls", "lengths", "clustering")}
    made |= {
        name: f"{name} --out {_RESULTS}/{name}.json"
        for name in ("codes", "outliers", "smoothing", "overhead", "matrix")
    }
    made["schemes"] = "schemes --work {work}/schemes"
    made["packs"] = f"packs {_artifacts(_PACKED)} --out {_RESULTS}/packs.json"
    made["arm64"] = f"arm64 {_artifacts(_EMULATED)} --out {_RESULTS}/arm64.json"
    made["measured"] = "measured --work {work}/schemes"
    made["drops"] = "drops --work {work}/drops"
    made["dropartifacts"] = "drop_artifacts --work {work}/drops"
    made["shortstudents"] = f"shortstudents --work {{work}}/short --out {_RESULTS}/shortstudents.json"
    made["students"] = "students --work {work}/students --jobs 2"
    for name in FINE_TUNED:
        model = f"--work {{work}}/schemes --model {{work}}/students/{name}"
        made[f"schemes-{name}"] = f"schemes {model}"
        made[f"measured-{name}"] = f"measured {model} {_DATA}"
    return made


def command_of(step: str, work: Path) -> list[str]:
    """Arguments of `python -m` for a step."""
    module, *arguments = shlex.split(step.format(work=shlex.quote(str(work))))
    return [f"benchmarks.{module}", *arguments]


@click.command()
@click.option("--work", type=click.Path(path_type=Path), default=Path("results-work"), show_default=True)
@click.option("--only", multiple=True, help="A step; may repeat.")
@click.option("--list", "listed", is_flag=True, help="Print the commands and end.")
def main(work: Path, only: tuple[str, ...], listed: bool) -> None:
    """Make all committed results again, then the documents' tables."""
    known = steps()
    chosen = {name: named("step", name, known) for name in only} or known
    for name, step in chosen.items():
        command = command_of(step, work)
        click.echo(f"{name}: python -m {shlex.join(command)}", err=not listed)
        if not listed:
            started = time.monotonic()
            done = subprocess.run([sys.executable, "-m", *command], check=False, env=os.environ)
            if done.returncode:
                raise CheckFailedError(f"step {name} failed; what was made stays in {work}: run it again to go on.")
            click.echo(f"{name}: {time.monotonic() - started:.0f} s", err=True)
    if not listed:
        subprocess.run([sys.executable, "-m", "benchmarks.tables"], check=True)


if __name__ == "__main__":
    main()
