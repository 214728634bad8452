"""Latency of our float graph against each engine's stock route on the same random weights, and of the engines.

    python -m benchmarks.stock --out benchmarks/results/stock.json

Every contender runs in a process of its own. A round times each of them once, in turn and back, so that what else the
machine does falls on all; a ratio is taken within a round, and the median and the 10 to 90 % range over the rounds
are reported. MiniLM's shape (6 layers, H384, V30522), length 128, float32.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from benchmarks.environment import environment
from benchmarks.measuring.service import packed
from benchmarks.peers.prepare import SERVICE, load_params
from benchmarks.peers.stock_module import Stock, write_stock
from benchmarks.writing import write_results
from export.registry import GraphSpec, target
from export.worker import Workers
from mobilekit.compression.compress import compress
from mobilekit.compression.compressed import save_records
from mobilekit.models.config import EncoderConfig, HeadConfig
from mobilekit.models.load import load
from mobilekit.models.model import Model, fresh_module
from mobilekit.process import EngineProcess
from mobilekit.runtimes.runner import engine_for

TARGETS = ("executorch", "tflite")
HEADS = {
    "classifier": HeadConfig("sequence-classification", ("negative", "positive")),
    "embedding": HeadConfig("sentence-embedding"),
}
SHAPE = EncoderConfig(vocab_size=30522, hidden_size=384, layers=6, heads=12, intermediate_size=1536, embedding_size=384)
_LENGTH, _THREADS, _ROUNDS = 128, 2, 60
# The median of a few runs in a row: the first finds the caches as another process left them.
_REPEATS = 3


@dataclass(frozen=True)
class Contender:
    """A loaded file in its process. entry: the method or signature of ours; None: a peer's, of which it has one."""

    process: EngineProcess
    entry: str | None
    bytes: int

    def run(self, inputs: Mapping[str, NDArray[np.int32]]) -> NDArray[np.float32]:
        """The answer, float32 [1, size]."""
        if self.entry is None:
            output = self.process.call("outputs", {}, _rows(inputs, 1))[1]["output"]
        else:
            (output,) = self.process.call("run", {"entry": self.entry}, inputs)[1].values()
        return np.asarray(output, dtype=np.float32)

    def milliseconds(self, inputs: Mapping[str, NDArray[np.int32]]) -> float:
        """Median of a few runs."""
        if self.entry is None:
            times = self.process.call("rows", {}, _rows(inputs, _REPEATS))[0]
        else:
            times = self.process.call("time", {"entry": self.entry, "repeats": _REPEATS}, inputs)[0]
        return float(np.median(times))


def random_model(shape: EncoderConfig, head: HeadConfig) -> Model:
    """A model of fresh weights; its tokenizer is a stand-in that nothing here uses."""
    donor = load("tiny-embedding")
    return Model("stock", fresh_module(shape, head), head, donor.tokenizer, donor.source)


def make_files(model: Model, source: Path, length: int, folder: Path) -> dict[tuple[str, str], Path]:
    """Our file and the stock route's for each target, by ("ours" | "stock", target). source: a `write_stock` folder."""
    records = folder / "records.safetensors"
    save_records(compress(model, "fp32"), records)
    workers = Workers()
    files: dict[tuple[str, str], Path] = {}
    with contextlib.closing(workers):
        for name in TARGETS:
            ours, stock = (folder / f"{kind}{target(name).suffix}" for kind in ("ours", "stock"))
            workers.emit(name, records, GraphSpec((length,), "Stock"), ours, lambda _: None)
            params = {"source": str(source), "path": str(stock), "lengths": [length], "threads": _THREADS}
            with _process(SERVICE) as process:
                process.call("make", {"peer": _peer(name), **params})
            files |= {("ours", name): ours, ("stock", name): stock}
    return files


def load_files(
    files: Mapping[tuple[str, str], Path], stock: Stock, length: int, stack: contextlib.ExitStack
) -> dict[tuple[str, str], Contender]:
    """Every file loaded with the benchmark's threads."""
    loaded = {}
    for (kind, name), path in files.items():
        params: dict[str, Any] = {"path": str(path), "threads": _THREADS}
        if kind == "ours":
            params |= {"engine": engine_for(name).name, "entries": [f"len_{length}"]}
        else:
            params |= load_params(_peer(name), path, stock.layout((length,)), (length,))
        process = stack.enter_context(_process("mobilekit.runtimes.service:service" if kind == "ours" else SERVICE))
        process.call("load", params)
        loaded[kind, name] = Contender(process, f"len_{length}" if kind == "ours" else None, path.stat().st_size)
    return loaded


def measure(shape: EncoderConfig, head: HeadConfig, length: int, rounds: int) -> dict[str, Any]:
    """Rows of each target for one head, and the ratio of the two targets."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        model, source = random_model(shape, head), Path(folder) / "source"
        source.mkdir()
        written = write_stock(model, source)
        contenders = load_files(make_files(model, source, length, Path(folder)), written, length, stack)
        inputs = _inputs(shape, length)
        answers = {key: contender.run(inputs) for key, contender in contenders.items()}
        times: dict[tuple[str, str], list[float]] = {key: [] for key in contenders}
        for i in range(rounds):
            for key in list(contenders)[:: 1 if i % 2 else -1]:
                times[key].append(contenders[key].milliseconds(inputs))
    rows = []
    for name in TARGETS:
        ours, stock = (times[kind, name] for kind in ("ours", "stock"))
        rows.append(
            {
                "target": name,
                **ratios(stock, ours),
                "ours_ms_median": round(float(np.median(ours)), 2),
                "ours_ms_min": round(min(ours), 2),
                "stock_ms_median": round(float(np.median(stock)), 2),
                "stock_ms_min": round(min(stock), 2),
                "ours_bytes": contenders["ours", name].bytes,
                "stock_bytes": contenders["stock", name].bytes,
                "max_abs_difference": float(np.abs(answers["ours", name] - answers["stock", name]).max()),
            }
        )
    return {"rows": rows, "between": ratios(times["ours", "executorch"], times["ours", "tflite"])}


def ratios(numerator: Sequence[float], denominator: Sequence[float]) -> dict[str, float]:
    """Median, 10 % and 90 % of the ratios pair by pair."""
    low, middle, high = np.percentile(np.array(numerator) / np.array(denominator), (10, 50, 90))
    return {
        "ratio_median": round(float(middle), 3),
        "ratio_p10": round(float(low), 3),
        "ratio_p90": round(float(high), 3),
    }


def _process(service: str) -> EngineProcess:
    return EngineProcess(service, hide=("tensorflow",), threads=_THREADS)


def _peer(target_name: str) -> str:
    return f"stock-{target_name}-fp32"


def _inputs(shape: EncoderConfig, length: int) -> dict[str, NDArray[np.int32]]:
    ids = np.random.default_rng(0).integers(0, shape.vocab_size, (1, length)).astype(np.int32)
    return {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}


def _rows(inputs: Mapping[str, NDArray[np.int32]], times: int) -> dict[str, NDArray[np.int32]]:
    """The same input, so many times, as a peer's process takes it."""
    return packed([(inputs["input_ids"][0], inputs["token_type_ids"][0])] * times)


@click.command()
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The JSON file to write.")
def main(out: Path) -> None:
    """Measure both heads on both engines and write the result; takes some six minutes."""
    content: dict[str, Any] = {"length": _LENGTH, "threads": _THREADS, "rounds": _ROUNDS, "rows": []}
    content["shape"], content["scheme"] = {"layers": SHAPE.layers, "hidden_size": SHAPE.hidden_size}, "fp32"
    content["executorch_over_tflite"] = []
    for name, head in HEADS.items():
        found = measure(SHAPE, head, _LENGTH, _ROUNDS)
        for row in found["rows"]:
            content["rows"].append({"head": name, **row})
            click.echo(f"{row['target']} {name}: stock / ours {row['ratio_median']:.2f} x")
        content["executorch_over_tflite"].append({"head": name, **found["between"]})
        click.echo(f"executorch / tflite, {name}: {found['between']['ratio_median']:.2f} x")
    # Last, so that the load average is the one that the runs had.
    content["environment"] = environment()
    write_results(out, content)


if __name__ == "__main__":
    main()
