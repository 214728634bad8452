"""Outputs near golden ones and far from them, and what Python's check says: what the app's self-check has to say too.

    python tests/android/check_vectors.py FOLDER [COUNT]

writes checks.json. Without COUNT it is the small part that is committed.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from support import fake_manifest

from export.check import hold_golden
from export.thresholds import Tolerance
from mobilekit.artifact import Artifact, Manifest

Json = dict[str, Any]
COMMITTED = 60
NAME = "checks.json"
_KINDS = (
    ("sentence-embedding", None),
    ("sequence-classification", "single_label_classification"),
    ("sequence-classification", "multi_label_classification"),
    ("sequence-classification", "regression"),
    ("token-classification", None),
    ("question-answering", None),
    ("fill-mask", None),
)
_TOLERANCES = (("max_abs", 1e-3), ("max_abs", 2e-2), ("cosine", 0.995), ("cosine", 0.999))


def case(chance: random.Random) -> Json:
    """One artifact's golden outputs, and what an engine gives for them."""
    numbers = np.random.default_rng(chance.randrange(2**32))
    (task, problem), (metric, limit) = chance.choice(_KINDS), chance.choice(_TOLERANCES)
    per_token, size = (
        task in ("token-classification", "question-answering"),
        2 if problem is None else chance.randint(1, 4),
    )
    size = 40 if task == "fill-mask" else size
    shape, count = ([3, size] if per_token else [size]), chance.randint(1, 4)
    noise = chance.choice((0.0, 1e-4, 1e-3, 1e-2, 3e-2, 0.1, 0.5))
    offset = chance.choice((0.0, 0.0, 0.0, 30.0))
    if chance.random() < 0.25:
        # A common offset hides everything from the cosine.
        (metric, limit), offset, noise = _TOLERANCES[2], 30.0, 0.5
    golden, outputs = [], []
    for _ in range(count):
        expected = (numbers.normal(size=shape) * 2 + offset).astype(np.float32)
        outputs.append((expected + numbers.normal(size=shape) * noise).astype(np.float32))
        rows = sorted({0, chance.randrange(3)}) if per_token and chance.random() < 0.5 else None
        columns = list(range(0, 40, 3)) if task == "fill-mask" else None
        listed = expected[rows] if rows else expected
        listed = listed[..., columns] if columns else listed
        golden.append({"rows": rows, "columns": columns, "output": listed.ravel().tolist()})
    if per_token and any(entry["rows"] != golden[0]["rows"] for entry in golden):
        golden, outputs = golden[:1], outputs[:1]
    content = fake_manifest(None) | {"task": task, "problem_type": problem, "golden": golden}
    content["labels"] = [f"l{i}" for i in range(size)] if problem or per_token else []
    artifact = Artifact(Path(), Manifest(content))
    found = hold_golden("output", artifact, outputs, Tolerance(metric, limit))
    given = {"task": task, "problem": problem, "labels": content["labels"], "size": size, "golden": golden}
    given |= {"metric": metric, "limit": limit, "outputs": [output.ravel().tolist() for output in outputs]}
    return {**given, "passed": found.passed, "measured": found.measured}


def vectors(count: int) -> str:
    """JSON text of so many cases, always the same."""
    chance = random.Random(count)
    return '{"cases": [\n' + ",\n".join(json.dumps(case(chance)) for _ in range(count)) + "\n]}\n"


def main() -> None:
    """Write the file."""
    folder, *count = sys.argv[1:]
    (Path(folder) / NAME).write_text(vectors(int(count[0]) if count else COMMITTED), encoding="utf-8")


if __name__ == "__main__":
    main()
