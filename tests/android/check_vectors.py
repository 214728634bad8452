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
from numpy.typing import NDArray

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
    labels = [f"l{i}" for i in range(size)] if problem or per_token else []
    return _judged(
        {"task": task, "problem": problem, "labels": labels, "size": size, "golden": golden}, outputs, metric, limit
    )


def _judged(given: Json, outputs: list[NDArray[np.float32]], metric: str, limit: float) -> Json:
    """A case, and what Python says of it."""
    content = fake_manifest(None) | {"task": given["task"], "problem_type": given["problem"], "golden": given["golden"]}
    content["labels"] = given["labels"]
    artifact = Artifact(Path(), Manifest(content))
    found = hold_golden("output", artifact, outputs, Tolerance(metric, limit))
    asked = {"metric": metric, "limit": limit, "outputs": [output.ravel().tolist() for output in outputs]}
    return {**given, **asked, "passed": found.passed, "measured": found.measured}


def edges() -> list[Json]:
    """On both sides of each limit that random outputs seldom come near: the first of two passes, the second fails."""
    embedding, single, multi, regression = (_KINDS[i] for i in range(4))
    unit = [[1.0, 0.0]] * 4
    made = []
    for cosine in (0.9975, 0.9965):
        made.append(_edge(embedding, unit, [*unit[:3], [cosine, (1 - cosine**2) ** 0.5]], 0.999))
    for length in (1.029, 1.031):
        made.append(_edge(embedding, unit, [*unit[:3], [length, 0.0]]))
    for gap in (0.15, 0.25):
        made.append(_edge(single, [[5.0, -5.0], [gap, 0.0]], [[5.0, -5.0], [0.0, 0.01]]))
    for sure in (0.3, 0.5):
        made.append(_edge(multi, [[10.0, sure], [-10.0, -5.0]], [[10.0, -0.01], [-10.0, -5.0]]))
    away = np.array([[1.0, 1, 1], [1, -1, 1], [-1, 1, -1], [-1, -1, -1]])
    aside = np.array([[1.0, -1, 1], [-1, 1, -1], [1, -1, 1], [-1, 1, -1]])
    for share in (0.12, 0.17):
        made.append(_edge(regression, (away + 30).tolist(), (away + share * aside + 30).tolist()))
    assert [each["passed"] for each in made] == [True, False] * 5, [each["measured"] for each in made]
    return made


def _edge(
    kind: tuple[str, str | None], expected: list[list[float]], got: list[list[float]], limit: float = 0.995
) -> Json:
    (task, problem), size = kind, len(expected[0])
    golden = [{"rows": None, "columns": None, "output": np.float32(row).tolist()} for row in expected]
    labels = [f"l{i}" for i in range(size)] if problem else []
    given = {"task": task, "problem": problem, "labels": labels, "size": size, "golden": golden}
    return _judged(given, [np.array(row, np.float32) for row in got], "cosine", limit)


def vectors(count: int) -> str:
    """JSON text of so many cases, always the same, and of the edges."""
    chance = random.Random(count)
    cases = [*edges(), *(case(chance) for _ in range(count))]
    return '{"cases": [\n' + ",\n".join(map(json.dumps, cases)) + "\n]}\n"


def main() -> None:
    """Write the file."""
    folder, *count = sys.argv[1:]
    (Path(folder) / NAME).write_text(vectors(int(count[0]) if count else COMMITTED), encoding="utf-8")


if __name__ == "__main__":
    main()
