"""`mobilekit bench`."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mobilekit.cli.gate_options import GateRequest, gate_options
from mobilekit.cli.options import File, Folder, as_json, print_json, progress_lines, quiet
from mobilekit.cli.report_tables import show_tables
from mobilekit.errors import InputError

if TYPE_CHECKING:
    from export.gate import Gate
    from mobilekit.models.model import Model


def _number(context: click.Context, option: click.Parameter, value: float) -> float:
    """Refuse NaN, which is in every range of click's, and which no run would ever reach."""
    if math.isnan(value):
        raise click.BadParameter(f"{value} is no number.", context, option)
    return value


@click.command()
@click.argument("artifacts", type=Folder(), nargs=-1, metavar="ARTIFACT...")
@functools.partial(gate_options, alone=("against",))
@click.option("--threads", type=int, help="Of each engine.  [default: 4, or as many as there are cores]")
@click.option(
    "--engine",
    "engines",
    multiple=True,
    help="Another engine beside the usual one, such as litert_compiled; may repeat.",
)
@click.option("--peers", "all_peers", is_flag=True, help="Beside the same weights through other tools (--against).")
@click.option("--peer", "peers", multiple=True, help="Beside one of them, such as onnxruntime-int8; may repeat.")
@click.option("--base", help="The row that ratios are to, such as minilm-l6-int8/tflite.  [default: the first]")
@click.option(
    "--runs", type=click.IntRange(1, 1_000_000), default=20, show_default=True, help="The least of each work."
)
@click.option(
    "--seconds",
    type=click.FloatRange(0, 10_000),
    callback=_number,
    default=1.0,
    show_default=True,
    help="The same, of time.",
)
@click.option(
    "--slow-rows",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    help="Most rows for Core ML's reference interpreter.",
)
@click.option("--no-pack", is_flag=True, help="Do not look how small artifacts get when packed.")
@click.option("--out", type=File(), help="The report to write, JSON.")
@click.option("--force", is_flag=True, help="Take the place of a report that is there.")
@as_json
@quiet
def command(
    artifacts: tuple[Path, ...],
    request: GateRequest,
    threads: int | None,
    engines: tuple[str, ...],
    all_peers: bool,
    peers: tuple[str, ...],
    base: str | None,
    runs: int,
    seconds: float,
    slow_rows: int,
    no_pack: bool,
    out: Path | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Measure artifacts: size, load, latency, memory, and accuracy against the float model and the teacher.

    \b
    Examples:
      mobilekit bench out/minilm-l6-int8/tflite
      mobilekit bench out/minilm-l6-*/* --out report.json
      mobilekit bench out/my-classifier-int8/* --data test.csv --against ./my-classifier --teacher ./my-teacher
      mobilekit bench out/minilm-l6-int8/tflite --against minilm-l6 --peer onnxruntime-int8 --engine litert_compiled

    Each artifact runs in a process of its own; several are measured in turn, A B C A B C, so that what else the machine
    does touches all, and ratios are taken round by round. Off macOS Core ML's files have no milliseconds here.
    """
    from benchmarks.bench import Request, bench
    from benchmarks.measuring.turns import Protocol
    from benchmarks.peers.registry import peer
    from benchmarks.peers.registry import peers as known_peers
    from benchmarks.reports.report import MARK, write_report
    from benchmarks.reports.tables import report_tables
    from mobilekit.runtimes.runner import DEFAULT_THREADS
    from mobilekit.staging import refuse_existing_file, refuse_unwritable

    if out is not None:
        refuse_existing_file(out, force, MARK)
        refuse_unwritable(out.parent)
    if all_peers:
        peers = tuple(known_peers())
    with progress_lines(not quiet and not as_json) as report:
        gate = _gate(artifacts, request, lambda text: report("bench", text))
        found = bench(
            Request(
                artifacts,
                Protocol(DEFAULT_THREADS if threads is None else threads, least_runs=runs, least_seconds=seconds),
                engines,
                tuple(peer(name).name for name in peers),
                _float_model(gate, request, bool(peers)),
                gate,
                slow_rows,
                base,
                not no_pack,
            ),
            lambda text: report("bench", text),
        )
    if out is not None:
        write_report(found.content, out, force)
    if as_json:
        print_json(found.content)
    else:
        show_tables(report_tables(found))
        if out is not None:
            click.echo(f"{out}: `mobilekit compare {out} --out FOLDER` makes plots and a page of it")


def _float_model(gate: Gate | None, asked: GateRequest, needed: bool) -> Model | None:
    """The model of --against, where peers are made of it."""
    from mobilekit.models.load import load

    if gate is not None and gate.against is not None:
        return gate.against
    if asked.against is not None and not needed:
        raise InputError("--against is for --data and for peers: give one of them, or leave it out.")
    return None if asked.against is None else load(asked.against)


def _gate(artifacts: tuple[Path, ...], asked: GateRequest, say: Callable[[str], None]) -> Gate | None:
    """Data and models for the first artifact's task; None where no data were given."""
    from export.gate import head_in
    from mobilekit.artifact import open_folder

    if asked.max_drop is not None:
        raise InputError("--max-drop: `bench` measures and never fails by it; give it to `export` or `check`.")
    if asked.data is None or not artifacts:
        return None
    return asked.gate(head_in(open_folder(artifacts[0]).manifest), say)
