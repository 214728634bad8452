"""The reports of `mobilekit bench` that the documents' tables are made of: a model at every scheme on every target,
beside its peers.

    python -m benchmarks.schemes  --work schemes                     # first the artifacts
    python -m benchmarks.measured --work schemes --model minilm-l6
    python -m benchmarks.measured --work schemes --model students/minilm-0 --data movie-sentiment \\
        --teacher students/teacher-0

Best on a machine that does nothing else.
"""

from __future__ import annotations

import json
from pathlib import Path

import click

from benchmarks.bench import Request, bench
from benchmarks.measured_pages import write_page
from benchmarks.measuring.turns import Protocol
from benchmarks.peers.registry import peer, peers
from benchmarks.reports.report import Report, validated
from benchmarks.writing import write_results
from export.gate import Gate
from mobilekit.errors import InputError
from mobilekit.models.load import load
from mobilekit.models.model import Model
from mobilekit.runtimes.runner import DEFAULT_THREADS
from mobilekit.text.data.judging import judging_data

RESULTS = Path(__file__).parent / "results/measured.json"
# Packed weights in a file: what an app would take.
_ENGINES = ("litert_compiled",)
# What budgets are ratios to, where it is among the peers.
_BASE = "onnxruntime-int8"


def artifacts_of(model: Model, work: Path, only: tuple[str, ...]) -> list[Path]:
    """The artifacts of a model that `benchmarks.schemes` left in its work folder."""
    found = sorted(work.glob(f"{model.name}-*/*/manifest.json"))
    kept = [file.parent for file in found if not only or file.parent.parent.name.removeprefix(f"{model.name}-") in only]
    if not kept:
        raise InputError(f"{work}: has no artifacts of {model.name}; run python -m benchmarks.schemes before.")
    return kept


def measured(model: Model, gate: Gate, artifacts: list[Path], names: tuple[str, ...]) -> Report:
    """The report of one model's artifacts and peers."""
    base = _BASE if _BASE in names else None
    request = Request(artifacts, Protocol(DEFAULT_THREADS), _ENGINES, names, model, gate, base=base)
    return bench(request, lambda text: click.echo(text, err=True))


def read_reports(file: Path = RESULTS) -> dict[str, Report]:
    """The committed reports by the model's name; none where there is no file."""
    if not file.is_file():
        return {}
    content = json.loads(file.read_text(encoding="utf-8"))
    return {name: validated(report, f"{file}: {name}") for name, report in content["reports"].items()}


@click.command()
@click.option("--work", type=click.Path(path_type=Path), default=Path("schemes"), show_default=True)
@click.option("--model", "name", default="minilm-l6", show_default=True)
@click.option("--data", default="editorials", show_default=True, help="Labelled for classifiers.")
@click.option("--teacher")
@click.option("--limit", type=click.IntRange(1), help="Most rows.")
@click.option("--only", multiple=True, help="A scheme; may repeat.")
@click.option("--peer", "names", multiple=True, help="A peer; may repeat.  [default: all]")
def main(
    work: Path,
    name: str,
    data: str,
    teacher: str | None,
    limit: int | None,
    only: tuple[str, ...],
    names: tuple[str, ...],
) -> None:
    """Measure a model's artifacts and peers: its report goes into benchmarks/results/measured.json, a page of it into
    docs/measured."""
    model = load(name)
    task = model.head.task if model.head.labels else ""
    rows = judging_data(data, task, model.head.labels, model.head.problem_type)
    gate = Gate(rows, limit=limit, teacher=None if teacher is None else load(teacher), against=model)
    found = measured(model, gate, artifacts_of(model, work, only), tuple(peer(n).name for n in names or peers()))
    reports = {**read_reports(), model.name: found}
    write_results(RESULTS, {"reports": {key: report.content for key, report in sorted(reports.items())}})
    write_page(model.name, found)


if __name__ == "__main__":
    main()
