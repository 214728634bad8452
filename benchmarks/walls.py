"""What a user waits for: `export` with all its checks against the stock routes of the same targets, its memory, and
`--help`.

    python -m benchmarks.walls --out benchmarks/results/walls.json

Each command runs in new processes, ours and the stock routes' in turn. The stock routes are those of the peers at int8,
one after the other, importing their tools included; they check nothing.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import click
import psutil

from benchmarks.environment import environment
from benchmarks.peers.prepare import PreparedPeer, prepare_peers
from benchmarks.writing import write_results
from mobilekit.errors import CheckFailedError
from mobilekit.models.load import load

STOCK = ("stock-coreml-int8", "stock-executorch-int8", "stock-tflite-int8")
_SMALL = "tiny-embedding"
_LENGTHS = (32, 128)
_PAUSE = 0.05


def command_cost(arguments: Sequence[str]) -> tuple[float, int]:
    """Seconds of a `mobilekit` command and the most bytes that it and all its processes had resident at once.

    Pages that several processes share count in each. Raises CheckFailedError when the command fails.
    """
    started, resident, ended = time.perf_counter(), [0], threading.Event()

    def watch(pid: int) -> None:
        while not ended.wait(_PAUSE):
            resident.append(_resident(pid))

    with subprocess.Popen(
        [sys.executable, "-m", "mobilekit", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        # Beside it, so that waiting ends with the command and not with the next look.
        watcher = threading.Thread(target=watch, args=(process.pid,))
        watcher.start()
        said = process.communicate()[1].decode(errors="replace")
        seconds = time.perf_counter() - started
        ended.set()
        watcher.join()
    if process.returncode:
        raise CheckFailedError(f"mobilekit {' '.join(arguments)}: {said.strip().splitlines()[-1:] or 'failed'}")
    return seconds, max(resident)


def _resident(pid: int) -> int:
    total = 0
    try:
        for process in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True)):
            total += process.memory_info().rss
    except psutil.NoSuchProcess:
        # One ended while they were counted: the next count is soon.
        return 0
    return total


def export_cost(model: str) -> tuple[float, int]:
    """Of exporting a model at int8 to all targets, with all checks."""
    with tempfile.TemporaryDirectory() as folder:
        return command_cost(["export", "--model", model, "--out", f"{folder}/out", "--quiet"])


def stock_seconds(model: str) -> float:
    """Of the stock routes to the same targets; raises CheckFailedError where one fails."""
    with tempfile.TemporaryDirectory() as folder:
        made = prepare_peers(load(model), STOCK, _LENGTHS, Path(folder) / "files", threads=2)
    failed = [each.reason for each in made if not isinstance(each, PreparedPeer)]
    if failed:
        raise CheckFailedError(failed[0])
    return sum(each.seconds for each in made if isinstance(each, PreparedPeer))


def help_seconds(times: int) -> list[float]:
    """Of `--help`, each in a new process."""
    return [command_cost(["--help"])[0] for _ in range(times)]


@click.command()
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The JSON file to write.")
@click.option("--model", default="minilm-l6", show_default=True)
@click.option("--rounds", type=click.IntRange(1), default=2, show_default=True)
def main(out: Path, model: str, rounds: int) -> None:
    """Measure, and write the result; takes some five minutes."""
    write_results(out, measured(model, rounds, lambda text: click.echo(text, err=True)))


def measured(model: str, rounds: int, say: Callable[[str], None] = lambda text: None) -> dict[str, Any]:
    """The result: seconds of each round, and bytes."""
    ours: list[tuple[float, int]] = []
    stock: list[float] = []
    for i in range(rounds):
        ours.append(export_cost(model))
        stock.append(stock_seconds(model))
        say(f"round {i + 1}: export {ours[-1][0]:.1f} s, stock routes {stock[-1]:.1f} s")
    weights = sum(values.nbytes for values in load(model).tensors().values())
    return {
        "environment": environment(),
        "model": model,
        "export_seconds": [round(seconds, 2) for seconds, _ in ours],
        "stock_seconds": [round(seconds, 2) for seconds in stock],
        "stock_routes": list(STOCK),
        "export_over_stock": round(median(own / other for (own, _), other in zip(ours, stock, strict=True)), 3),
        "export_peak_bytes": max(peak for _, peak in ours),
        # A model of some kilobytes: all that it takes is the engines' own.
        "engines_peak_bytes": export_cost(_SMALL)[1],
        "float_bytes": int(weights),
        "help_seconds": [round(seconds, 3) for seconds in help_seconds(10)],
    }


if __name__ == "__main__":
    main()
