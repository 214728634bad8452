"""Made-up reports, labelled synthetic: no figure in them was measured."""

from __future__ import annotations

import hashlib
import random
from typing import Any

from benchmarks.reports.report import Report, validated

Json = dict[str, Any]
TARGETS = ("executorch", "tflite", "coreml")
BITS = {
    "fp32": 32,
    "fp16": 16,
    "int8": 8,
    "int8-static": 8,
    "int4": 4,
    "int4-g32": 5,
    "pal8": 8,
    "pal6": 6,
    "pal4": 4,
    "pal3": 3,
    "pal2": 2,
    "pal1": 1,
}
PEERS = ("torch eager", "torch compiled", "onnxruntime fp32", "onnxruntime int8")
_MODELS = {"minilm-l6": 22.6, "e5-small": 41.0}
_GROUPS = {"token table": 0.52, "positions": 0.02, "attention": 0.16, "feed-forward": 0.28, "head": 0.01, "norms": 0.01}


def sha256(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def runs(middle: float, spread: float = 0.06, count: int = 40) -> Json:
    figures = {"median_ms": middle, "p90_ms": middle * (1 + spread / 2), "middle80_mean_ms": middle * 1.003}
    return {**figures, "spread": spread, "runs": count}


def interval(value: float, half: float) -> Json:
    return {"value": value, "low": value - half, "high": min(1.0, value + half)}


def accuracy(chance: random.Random, lost: float, rows: int = 2000) -> Json:
    """lost: points, to the float model."""
    value = 0.912 - lost / 100
    changed = [{"row": i, "right": "yes", "float": "yes", "given": "no"} for i in chance.sample(range(1, rows), 3)]
    return {
        "data": {"name": "movie-sentiment", "sha256": sha256("data", rows), "rows": rows, "of": 2000, "cut": 12},
        "metric": "accuracy",
        "value": interval(value, 0.55 / rows**0.5),
        "values": {"accuracy": value, "f1": value - 0.004},
        "agreement": interval(min(1.0, 0.998 - lost / 50), 0.001),
        "divergence_nats": 0.001 + abs(lost) / 100,
        "from_float": {"points": lost, "low": lost - 0.4, "high": lost + 0.5, "p_value": 0.3},
        "from_teacher": {"points": lost + 1.1, "low": lost + 0.4, "high": lost + 1.9, "p_value": 0.01},
        "retained": interval(value / 0.923, 0.006),
        "by_length": [
            {"from": a, "to": b, "rows": rows // 3, "value": value + d} for a, b, d in ((1, 16, -0.01), (17, 64, 0.01))
        ],
        "changed": {"count": 7, "better": 3, "worse": 4, "rows": changed},
    }


def row(name: str, **changes: Any) -> Json:
    """A row of nothing but its name."""
    empty: dict[str, Any] = dict.fromkeys(("target", "scheme", "engine", "sha256", "bytes", "packed_bytes"))
    empty |= dict.fromkeys(("parameters", "error", "text_run", "text_pipeline", "memory", "delegation", "self_check"))
    found = {**empty, "name": name, "kind": "peer", "model": "minilm-l6", "load_ms": [], "lengths": [], "groups": {}}
    return {**found, "accuracy": None, **changes}


def artifact(model: str, target: str, scheme: str, speed: float = 1.0, seed: int = 0) -> Json:
    """A row of an artifact. speed: of the device."""
    chance = random.Random(f"{model}{target}{scheme}{seed}")
    bits = BITS[scheme] if target == "coreml" or not scheme.startswith("pal") else 8
    size = int(_MODELS[model] * 1e6 * bits / 8 * chance.uniform(1.0, 1.03))
    at = speed * (0.5 if scheme != "fp32" else 1.0) * (12 if model == "minilm-l6" else 22) * chance.uniform(0.9, 1.2)
    lost = {1: 9.0, 2: 2.1, 3: 0.8, 4: 0.35}.get(BITS[scheme], 0.05) * chance.uniform(0.7, 1.3)
    rows = 400 if target == "coreml" else 2000
    timed = target != "coreml"
    return row(
        f"{model}-{scheme} {target}",
        kind="artifact",
        model=model,
        target=target,
        scheme=scheme,
        engine=target,
        sha256=sha256(model, target, scheme),
        bytes=size,
        packed_bytes=int(size * 0.9),
        parameters=int(_MODELS[model] * 1e6),
        load_ms=[at * 3, at * 3.1, at * 3.5] if timed else [],
        lengths=[{"length": n, "run": runs(at * n / 128)} for n in (16, 32, 64, 128)] if timed else [],
        text_run=runs(at / 4) if timed else None,
        text_pipeline=runs(at / 4 + 0.1) if timed else None,
        memory={"idle_bytes": 10**8, "anonymous_bytes": size // 3, "file_bytes": size, "peak_bytes": 2 * size}
        if timed
        else None,
        groups={group: int(size * share) for group, share in _GROUPS.items()},
        accuracy=accuracy(chance, lost, rows),
    )


def peer(name: str) -> Json:
    chance = random.Random(name)
    at = 15 * chance.uniform(0.6, 1.6)
    size = int(22.6e6 * (1 if "int8" in name else 4) * chance.uniform(1, 1.1))
    return row(
        name,
        target=name.split()[0],
        scheme=name.split()[1],
        engine=name.split()[0],
        bytes=size,
        packed_bytes=int(size * 0.92),
        load_ms=[at * 8] * 3,
        lengths=[{"length": n, "run": runs(at * (n + 10) / 138)} for n in (16, 32, 64, 128)],
        text_run=runs(at / 3),
        text_pipeline=runs(at / 3 + 0.2),
        accuracy=accuracy(chance, 0.4 if "int8" in name else 0.0),
    )


def report(
    rows: list[Json] | int = 5, ratios: list[Json] | None = None, with_accuracy: bool = True, **changes: Any
) -> Report:
    """A report of given rows, or of so many. ratios: None makes them up. `changes` are of its own values."""
    found = made(rows) if isinstance(rows, int) else rows
    if not with_accuracy:
        found = [{**each, "accuracy": None} for each in found]
    content: Json = {
        "schema": 1,
        "kind": "host",
        "synthetic": True,
        "made_at": "2026-01-02T03:04:05Z",
        "tool": {"name": "mobilekit", "version": "0"},
        "device": {"name": "made-up", "system": "none", "processor": "imagined", "cpus": 2, "memory_bytes": 8 * 10**9},
        "versions": {"numpy": "0", "torch": None},
        "protocol": {
            "threads": 2,
            "load_processes": 3,
            "least_runs": 20,
            "least_seconds": 1.0,
            "in_turn": True,
            "texts": {"name": "movie-sentiment", "sha256": sha256("texts"), "count": 200},
        },
        "rows": found,
        "ratios": _ratios(found) if ratios is None else ratios,
        **changes,
    }
    return validated(content, "synthetic.json")


def made(count: int) -> list[Json]:
    """So many rows: artifacts of each scheme and target, peers, the teacher, and one that failed."""
    wanted = [(m, t, s) for m in _MODELS for s in BITS for t in TARGETS if (t, s) != ("tflite", "int4-g32")]
    if count <= 8:
        wanted = [(m, t, s) for m, t, s in wanted if s in ("int8", "pal4")]
    extra = [peer(name) for name in PEERS][: max(0, count - 4)]
    extra += [row("teacher", kind="model", accuracy=accuracy(random.Random(1), -1.1))] if count > 4 else []
    extra += [row("coremltools palettized", error="ValueError: cannot palettize | a `tied` table")] if count > 9 else []
    return [*(artifact(*each) for each in wanted[: count - len(extra)]), *extra]


def _ratios(rows: list[Json]) -> list[Json]:
    timed = [each for each in rows if each["lengths"]][:20]
    found = []
    for i, first in enumerate(timed):
        for second in timed[:i]:
            for a, b in zip(first["lengths"], second["lengths"], strict=True):
                middle = a["run"]["median_ms"] / b["run"]["median_ms"]
                found.append(
                    {
                        "row": first["name"],
                        "base": second["name"],
                        "work": str(a["length"]),
                        "median": middle,
                        "low": middle * 0.96,
                        "high": middle * 1.04,
                    }
                )
    return found
