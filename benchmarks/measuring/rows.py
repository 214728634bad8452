"""Rows of a report, as its schema has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.measuring.statistics import Summary, ratio
from benchmarks.measuring.turns import ROWS, TEXTS, Measured
from mobilekit.artifact import Artifact

Json = dict[str, Any]
_NOTHING: Json = {
    "target": None,
    "scheme": None,
    "engine": None,
    "sha256": None,
    "bytes": None,
    "packed_bytes": None,
    "parameters": None,
    "error": None,
    "load_ms": [],
    "lengths": [],
    "text_run": None,
    "text_pipeline": None,
    "memory": None,
    "delegation": None,
    "groups": {},
    "self_check": None,
    "accuracy": None,
}


def row(name: str, kind: str, model: str, **known: Any) -> Json:
    """A row with what is known of it, and nothing else."""
    return {**_NOTHING, "name": name, "kind": kind, "model": model, **known}


def artifact_row(name: str, artifact: Artifact, engine: str) -> Json:
    """What an artifact says of itself."""
    content = artifact.manifest.content
    return row(
        name,
        "artifact",
        str(content["model"]),
        target=content["target"],
        scheme=content["scheme"],
        engine=engine,
        sha256=content["sha256"],
        bytes=content["bytes"],
        parameters=content["parameters"],
        groups={group: about["bytes"] for group, about in content["groups"].items()},
    )


def timings(measured: Measured) -> Json:
    """What was measured of a contender, as values of its row."""
    works = measured.rounds
    after, idle = measured.after, measured.idle
    return {
        "load_ms": [round(value, 3) for value in measured.load_ms],
        "lengths": [
            {"length": int(work), "run": _runs(measured.summary(work))} for work in works if work not in (ROWS, TEXTS)
        ],
        "text_run": _runs(measured.summary(ROWS)) if ROWS in works else None,
        "text_pipeline": _runs(measured.summary(TEXTS)) if TEXTS in works else None,
        "memory": {
            "idle_bytes": idle.resident_bytes,
            "anonymous_bytes": after.anonymous_bytes - idle.anonymous_bytes,
            "file_bytes": after.file_bytes - idle.file_bytes,
            "peak_bytes": None if after.peak_bytes is None else max(0, after.peak_bytes - idle.resident_bytes),
        },
    }


def ratios(measured: Sequence[Measured], base: str) -> list[Json]:
    """Every other contender's time over the base's, at each work that both did."""
    rounds: Mapping[str, Mapping[str, list[list[float]]]] = {each.contender.name: each.rounds for each in measured}
    return list(_ratios(rounds, base))


def _ratios(rounds: Mapping[str, Mapping[str, list[list[float]]]], base: str) -> Iterable[Json]:
    for name, works in rounds.items():
        for work in works:
            if name != base and work in rounds[base]:
                found = ratio(works[work], rounds[base][work])
                figures = {key: round(value, 4) for key, value in vars(found).items()}
                yield {"row": name, "base": base, "work": work, **figures}


def _runs(found: Summary) -> Json:
    return {
        "median_ms": round(found.median, 4),
        "p90_ms": round(found.p90, 4),
        "middle80_mean_ms": round(found.middle80_mean, 4),
        "spread": round(found.spread, 4),
        "runs": found.runs,
    }
