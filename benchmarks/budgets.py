"""The budgets (docs/benchmarking.md): what was aimed at, what the committed results say, and whether it is met."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import mean, median
from typing import Any

from benchmarks.markdown import table
from benchmarks.student_runs import HEADLINE
from benchmarks.student_tables import figures

Results = Mapping[str, Any]


@dataclass(frozen=True)
class Budget:
    """One aim. measured: in words, with its unit; value: that figure. most: whether it may be at most the aim, else at
    least."""

    about: str
    aim: float
    value: float
    measured: str
    most: bool

    @property
    def met(self) -> bool:
        """Whether it is."""
        return self.value <= self.aim if self.most else self.value >= self.aim


def budgets(results: Results) -> list[Budget]:
    """All budgets that the results say something of. results: contents of result files by name."""
    rows = (_bytes, _stock, _outside, _texts, _memory, _clustering, _waiting, _losses, _students)
    return [budget for made in rows for budget in made(results)]


def budget_table(results: Results) -> str:
    """Aim, measured, met or not."""
    lines = []
    for each in budgets(results):
        sign = "<=" if each.most else ">="
        lines.append([each.about, f"{sign} {each.aim:g}", each.measured, "met" if each.met else "**missed**"])
    return "\n".join(table(["budget", "aim", "measured", ""], lines))


def _bytes(results: Results) -> Iterable[Budget]:
    checks = [check for row in results["schemes"]["rows"] for check in row["checks"] if check["name"] == "bytes"]
    over = max(_number(check["measured"]) / _number(check["limit"]) for check in checks)
    yield Budget(
        f"bytes over 1.01 x the floor of the records and the graph's allowance, {len(checks)} artifacts",
        1,
        over,
        f"at most {over:.3f}",
        True,
    )
    ratio = max(row["all"]["ratio"] for row in results["packs"]["rows"])
    yield Budget("packed bytes over the entropy of what is in them", 1.03, ratio, f"at most {ratio:.3f}", True)


def _number(text: str) -> int:
    return int("".join(c for c in text if c.isdigit()))


def _stock(results: Results) -> Iterable[Budget]:
    aims = {"tflite": 1.15, "executorch": 1.8}
    for row in results["stock"]["rows"]:
        if row["head"] == "classifier":
            about = f"stock export's time over ours, {row['target']}, a classifier of the first token, float"
            yield Budget(about, aims[row["target"]], row["ratio_median"], f"{row['ratio_median']:.2f} x", False)


def _reports(results: Results) -> Iterable[tuple[str, Mapping[str, Any]]]:
    reports: Mapping[str, Mapping[str, Any]] = results["measured"]["reports"]
    yield from reports.items()


def _outside(results: Results) -> Iterable[Budget]:
    for model, report in _reports(results):
        found = {(each["row"], each["work"]): each for each in report["ratios"] if each["base"] == "onnxruntime-int8"}
        for scheme, aim in (("int8", 1.2), ("int4", 1.4)):
            for target in ("executorch", "tflite"):
                ratio = found.get((f"{model}-{scheme}/{target}", "128"))
                if ratio is not None:
                    times = 1 / ratio["median"]
                    about = f"ONNX Runtime int8's time over ours, {model} at {scheme}, {target}, 128 tokens"
                    yield Budget(about, aim, times, f"{times:.2f} x", False)


def _texts(results: Results) -> Iterable[Budget]:
    for row in results["lengths"]["rows"] if "lengths" in results else ():
        if row["over_padded"] is not None:
            times = 1 / row["over_padded"]["median"]
            about = f"time padded to 128 over that of texts as they come, {row['target']} ({row['engine']}), lengths "
            yield Budget(about + ", ".join(map(str, row["lengths"])), 3, times, f"{times:.2f} x", False)


def _memory(results: Results) -> Iterable[Budget]:
    for _, report in _reports(results):
        for row in report["rows"]:
            if row["kind"] == "artifact" and row["memory"] and row["scheme"] in ("int8", "int4"):
                own, mapped = row["memory"]["anonymous_bytes"], row["memory"]["file_bytes"]
                value = (own + mapped) / row["bytes"]
                said = f"{value:.2f} x: {own / 1e6:.0f} MB own, {mapped / 1e6:.0f} MB of mapped files"
                yield Budget(f"memory over the idle engine, of the file's bytes, {row['name']}", 1.3, value, said, True)


def _clustering(results: Results) -> Iterable[Budget]:
    rows = [row for row in results["clustering"]["rows"] if row["tensors"] == "all matrices"]
    ours = next(row for row in rows if row["route"] == "ours")
    theirs = next(row for row in rows if row["route"] == "coremltools")
    times = theirs["seconds_over_first"]
    yield Budget("coremltools' k-means' time over ours, all matrices, 4 bits", 10, times, f"{times:.1f} x", False)
    error = ours["error"] / theirs["error"]
    yield Budget("our error over coremltools' there", 1, error, f"{error:.3f}", True)
    said = f"{ours['cpu_seconds']:.1f} s of one processor"
    yield Budget("seconds to cluster 22 M parameters to 4 bits", 10, ours["cpu_seconds"], said, True)


def _waiting(results: Results) -> Iterable[Budget]:
    walls = results.get("walls")
    if walls is None:
        return
    seconds = max(walls["export_seconds"])
    yield Budget(
        "seconds to export the built-in model to all targets, checks included", 180, seconds, f"{seconds:.0f}", True
    )
    ratio = walls["export_over_stock"]
    yield Budget("that over the stock routes' time, which check nothing", 0.6, ratio, f"{ratio:.2f} x", True)
    value = median(walls["help_seconds"])
    yield Budget("seconds until `--help`", 0.3, value, f"{value:.2f}", True)
    grown = (walls["export_peak_bytes"] - walls["engines_peak_bytes"]) / walls["float_bytes"]
    said = f"{grown:.1f} x; the engines' own: {walls['engines_peak_bytes'] / 1e6:.0f} MB"
    yield Budget("peak memory of that export over the engines' own, of the float model", 4, grown, said, True)


def _losses(results: Results) -> Iterable[Budget]:
    for row in results["drops"]["rows"]:
        if row["aim"] is not None:
            lost = 100 * row["drop"]
            about = f"points lost, MiniLM cross-fitted, {row['variant']}"
            yield Budget(about, row["aim"], lost, f"{lost:.2f}", True)


def _students(results: Results) -> Iterable[Budget]:
    for row in HEADLINE:
        shares = [each["retained"] for each in figures(results["students"]["runs"], row.name) if each["retained"]]
        if row.aim is not None and shares:
            share = 100 * mean(shares)
            about = f"percent of the teacher: {row.about}, seeds: {len(shares)}"
            yield Budget(about, 100 * row.aim, share, f"{share:.1f}", False)
