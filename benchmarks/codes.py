"""What better codes are worth: the built-in model at 8, 4 and 3 bits, its codes found in different ways.

    python -m benchmarks.codes --out benchmarks/results/codes.json

Held-out text of two kinds goes through the float model and through the decoded weights; nothing is smoothed, and
activations stay float, so that only codes differ. Errors of single maps are of their outputs on the float model's
inputs. Seconds are the processor's, of one thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.code_tables import METHODS
from benchmarks.environment import environment
from benchmarks.writing import write_results
from mobilekit.compression.calibrate import batches, linear_maps, second_moments
from mobilekit.compression.cluster import cluster_rows
from mobilekit.compression.compensate import Inputs, cluster_compensated, prepare, quantize_compensated
from mobilekit.compression.plan import is_weight
from mobilekit.compression.quantize import quantize_groups, quantize_rows
from mobilekit.compression.records import Dense, Record
from mobilekit.compression.scales import quantize_searched
from mobilekit.compression.sequential import sequential_records
from mobilekit.models.load import load
from mobilekit.models.model import Model
from mobilekit.models.threads import one_thread
from mobilekit.text.calibration import TEXTS
from mobilekit.text.calibration_more import MORE_TEXTS
from mobilekit.text.data.load import load_data
from mobilekit.text.data.rows import TextRow

Values = NDArray[np.float32]
Records = dict[str, Record]

_BUILTIN = (*TEXTS, *MORE_TEXTS)
_OWN, _OWN_TEXTS = "movie-sentiment", 256
_HELD_OUT, _HELD_OUT_TEXTS = ("movie-sentiment", "editorials"), 64


@dataclass(frozen=True)
class Plan:
    """Rows of the table. block: columns that share a scale. levels: whether weights take 2**bits levels (k-means)
    instead of steps of a scale. methods: of `METHODS`; text: what codes are made on."""

    bits: int
    methods: tuple[str, ...]
    block: int | None = None
    levels: bool = False
    text: str = "built-in"


PLANS = (
    Plan(8, ("largest", "searched", "moved")),
    Plan(4, tuple(METHODS)),
    Plan(4, ("moved",), text="few"),
    Plan(4, ("moved",), text=_OWN),
    Plan(4, ("largest", "searched", "moved"), 32),
    Plan(3, ("largest", "searched", "compensated", "moved")),
    *(Plan(bits, ("searched", "moved"), levels=True) for bits in (6, 4, 3, 2)),
)


def held_out_texts() -> dict[str, list[str]]:
    """Text that losses are measured on, by the kind of it."""
    return {data: texts_of(data, "test", _HELD_OUT_TEXTS) for data in _HELD_OUT}


def texts_of(data: str, split: str, count: int) -> list[str]:
    """The first texts of built-in data."""
    rows = load_data(data, "", split=split).rows
    return [row.text for row in rows[:count] if isinstance(row, TextRow)]


def records_by(method: str, model: Model, texts: Sequence[str], plan: Plan) -> Records:
    """Records of all weights of a model, and of the token table, which has no inputs."""
    tensors, bits, block = model.tensors(), plan.bits, plan.block

    def plain(weight: Values) -> Record:
        if plan.levels:
            return cluster_rows(weight, bits)
        if method != "largest":
            return quantize_searched(weight, bits, block)
        return quantize_rows(weight, bits) if block is None else quantize_groups(weight, bits, block)

    linears = {n: v for n in linear_maps(model.module) if (v := tensors.get(f"{n}.weight")) is not None}
    found: Records = {
        n: plain(v) if is_weight(n, v.ndim) else Dense(v)
        for n, v in tensors.items()
        if n.removesuffix(".weight") not in linears
    }
    if method in ("largest", "searched"):
        return found | {f"{n}.weight": plain(v) for n, v in linears.items()}
    if method in ("weighed", "compensated"):
        moments = second_moments(model, texts, linears)
        made: Records = {}
        for name, weight in linears.items():
            if method == "weighed":
                made[f"{name}.weight"] = quantize_searched(weight, bits, block, moments[name].diagonal())
            else:
                made[f"{name}.weight"] = quantize_compensated(weight, bits, prepare(moments[name]), block)
        return found | made

    def make(name: str, weight: Values, inputs: Inputs) -> Record:
        own = weight if method == "moved" else tensors[name]
        return cluster_compensated(own, bits, inputs) if plan.levels else quantize_compensated(own, bits, inputs, block)

    return found | sequential_records(model, {f"{n}.weight": v for n, v in linears.items()}, found, {}, make, texts)


def outputs(model: Model, texts: Sequence[str]) -> torch.Tensor:
    """Outputs of a model, [texts, size], in the order of `batches`."""
    with torch.no_grad(), one_thread():
        return torch.cat([model.module(ids, keep).flatten(1) for ids, keep in batches(model, texts)])


def losses(model: Model, records: Records, held_out: Mapping[str, Sequence[str]]) -> dict[str, dict[str, float]]:
    """1 - cosine of outputs with decoded weights and with those of the model, mean and most, by kind of text."""
    other = load(model.name)
    other.load_tensors({name: record.decode() for name, record in records.items()})
    found = {}
    for name, texts in held_out.items():
        lost = 1 - torch.cosine_similarity(outputs(model, texts).double(), outputs(other, texts).double())
        found[name] = {"mean": float(f"{lost.mean():.4g}"), "most": float(f"{lost.max():.4g}")}
    return found


def map_errors(model: Model, records: Records, moments: Mapping[str, Values]) -> dict[str, float]:
    """The squared error of each linear map's output over the output's square."""
    found = {}
    for name, own in moments.items():
        weight = model.tensors()[f"{name}.weight"].astype(np.float64)
        lost = weight - records[f"{name}.weight"].decode()
        found[name] = float(f"{np.vdot(lost @ own, lost) / np.vdot(weight @ own, weight):.4g}")
    return found


def compare(model: Model, plans: Sequence[Plan], report: Callable[[str], None]) -> list[dict[str, Any]]:
    """A row for each method of each plan."""
    held_out = held_out_texts()
    linears = [name for name in linear_maps(model.module) if f"{name}.weight" in model.tensors()]
    moments = second_moments(model, [text for texts in held_out.values() for text in texts], linears)
    calibration = {"built-in": list(_BUILTIN), "few": list(TEXTS), _OWN: texts_of(_OWN, "train", _OWN_TEXTS)}
    rows = []
    for plan in plans:
        for method in plan.methods:
            start = time.process_time()
            records = records_by(method, model, calibration[plan.text], plan)
            seconds = time.process_time() - start
            row: dict[str, Any] = {"bits": plan.bits, "block": plan.block, "levels": plan.levels, "method": method}
            looks = method not in ("largest", "searched")
            row |= {"texts": len(calibration[plan.text]) if looks else 0, "text": plan.text if looks else None}
            row["cpu_seconds"] = round(seconds, 1)
            row["loss"] = losses(model, records, held_out)
            # Where weights are moved, the output that is aimed at is no longer this one.
            if method != "moved":
                row["map_errors"] = map_errors(model, records, moments)
            report(f"{plan}, {method}: {row['loss']}, {seconds:.1f} s")
            rows.append(row)
    return rows


@click.command()
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The JSON file to write.")
def main(out: Path) -> None:
    """Measure on the built-in model and write the result; takes some ten minutes."""
    write_rows(out, lambda model, report: compare(model, PLANS, report))


def write_rows(out: Path, compared: Callable[[Model, Callable[[str], None]], list[dict[str, Any]]]) -> None:
    """Compare on the built-in model, and write the rows with what they were measured on."""
    model = load("minilm-l6")
    rows = compared(model, lambda line: click.echo(line, err=True))
    content = {"model": model.name, "held_out_texts": _HELD_OUT_TEXTS, "environment": environment(), "rows": rows}
    write_results(out, content)


if __name__ == "__main__":
    main()
