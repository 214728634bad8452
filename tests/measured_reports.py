"""A small valid report of one artifact, labelled synthetic."""

from __future__ import annotations

from typing import Any

ROW: dict[str, Any] = {
    **dict.fromkeys(("packed_bytes", "parameters", "error", "text_run", "text_pipeline", "memory", "delegation")),
    **dict.fromkeys(("self_check", "accuracy")),
    "name": "tiny-int8/tflite",
    "kind": "artifact",
    "model": "tiny",
    "target": "tflite",
    "scheme": "int8",
    "engine": "litert",
    "sha256": "0" * 64,
    "bytes": 1000,
    "load_ms": [],
    "lengths": [],
    "groups": {},
}
REPORT: dict[str, Any] = {
    "schema": 1,
    "kind": "host",
    "synthetic": True,
    "made_at": "2026-01-02T03:04:05Z",
    "tool": {"name": "mobilekit", "version": "0"},
    "device": {"name": "made up", "system": "none", "processor": "none", "cpus": 1, "memory_bytes": 1},
    "versions": {},
    "protocol": {
        "threads": 1,
        "load_processes": 1,
        "least_runs": 1,
        "least_seconds": 0,
        "in_turn": True,
        "texts": None,
    },
    "rows": [ROW],
    "ratios": [],
}


def timed(name: str, engine: str, at_32: float) -> dict[str, Any]:
    """A row of the artifact MODEL-SCHEME/TARGET, timed at 32 tokens."""
    run = {"median_ms": at_32, "middle80_mean_ms": at_32, "p90_ms": at_32, "runs": 5, "spread": 0.1}
    scheme, target = name.rpartition("-")[2].split("/")
    lengths = [{"length": 32, "run": run}]
    return {**ROW, "name": name, "scheme": scheme, "target": target.split()[0], "engine": engine, "lengths": lengths}
