"""Manifests changed at one place, and what Python's reader says of each: what the Kotlin reader has to say too.

    python tests/android/manifest_vectors.py FOLDER [COUNT]

writes manifests.json: `bases`, texts of manifests; `cases`, each [base, at, cut, put, accepted]: the base's text with
`cut` characters at `at` replaced by `put`. COUNT: how many are changed at random; without it it is the part that is
committed.
"""

from __future__ import annotations

import contextlib
import copy
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from support import fake_manifest

from mobilekit.artifact import open_folder
from mobilekit.errors import MobilekitError

Json = dict[str, Any]
COMMITTED = 120
NAME = "manifests.json"
_SHA = "0" * 64
_EDGES: list[Any] = [
    0,
    -1,
    1,
    2,
    3,
    1.0,
    2.0,
    8.0,
    0.5,
    2**31 - 1,
    2**31,
    2**53 - 1,
    2**53,
    2**63,
    10**30,
    10**400,
    -(2**63),
    1e308,
]
_EDGES += [-0.0, float("nan"), float("inf"), float("-inf"), None, True, False, [], {}, "", "x", "length", "logits"]
_EDGES += [
    "input_ids",
    "predict_mask",
    "manifest.json",
    "model.tflite",
    "../x",
    "a/b",
    ".a",
    "a\nb",
    "a\n",
    "é",
    "x" * 200,
]
_EDGES += [
    "x" * 201,
    "x" * 255,
    "x" * 256,
    "\ud800",
    "😀" * 255,
    "\u2028",
    "\u007f",
    "0" * 64,
    "0" * 63,
    "A" * 64,
    [1, 2],
]
_EDGES += [{"a": 1}, [[]], "fill-mask", "passed", "artifact", "teacher", "cosine", "int32", "dense", "clustered"]
_TEXTS = [
    "",
    " ",
    "\t",
    "\ufeff",
    "\u00a0",
    "\0",
    ",",
    ":",
    "{",
    "}",
    "[",
    "]",
    '"',
    "\\",
    "\\u",
    "\\ud83d",
    "\\ude00",
    "0",
]
_TEXTS += [
    "-",
    "+",
    ".",
    "e5",
    "E-1",
    "01",
    "1.",
    ".5",
    "NaN",
    "nan",
    "Infinity",
    "tru",
    "nul",
    "/*x*/",
    "\n",
    "\x1f",
    "é",
]


def bases() -> list[Json]:
    """Valid manifests of each task, with all that may be in one."""
    plain = fake_manifest(None)
    rich = copy.deepcopy(plain)
    scale = {"scale": 0.5, "zero_point": -3}
    rich["plan"] += [{"pattern": "a", "skip": True}, {"pattern": "b", "scheme": "int4", "group": 32}]
    rich["tensors"] += [
        {"name": "embeddings.token.weight", "shape": [13, 4], "kind": "clustered", "bits": 4, "codebooks": 1,
         "bytes": 9, "sha256": {"record": _SHA}},
        {"name": "embeddings.token_type.weight", "shape": [2, 4], "kind": "quantized", "bits": 8, "groups": 2,
         "levels": 16, "bytes": 9, "sha256": {}, "activations": {"input": scale, "output": scale}},
        {"name": "norm", "shape": [], "kind": "dense", "bits": 32, "bytes": 4, "sha256": {"float32": _SHA}},
    ]  # fmt: skip
    rich["checks"] = [{"name": "files", "passed": True, "measured": "2 equal", "limit": "sha256"}]
    rich["teacher"] = "t"
    rich["accuracy"] = {
        "data": {"name": "d", "sha256": _SHA, "rows": 10, "of": 20, "limit": 10, "cut": 1, "labelled": True},
        "metric": "accuracy",
        "max_drop": 0.5,
        "verdict": "unsure",
        "systems": [
            {"system": "teacher", "id": "t", "values": {"accuracy": 0.9}},
            {"system": "artifact", "id": "a", "values": {"accuracy": 0.8, "f1": -1}},
        ],
        "drops": [{"from": "teacher", "to": "artifact", "points": 10, "low": 8.5, "high": 11}],
    }
    rich["minimum_os"], rich["versions"] = {"android": "26"}, {"torch": "2"}
    return [plain, rich, *(_of(plain, task) for task in ("sentence-embedding", "token-classification", "fill-mask"))]


def _of(plain: Json, task: str) -> Json:
    made = copy.deepcopy(plain)
    made |= {"task": task, "problem_type": None}
    output = made["outputs"][0]
    if task == "token-classification":
        output["shape"] = [1, "length", 2]
        made["golden"] = made["golden"][:1]
        made["golden"][0] |= {"rows": [0, 3], "columns": [1], "output": [0.5, 1e-3]}
        return made
    made["labels"] = []
    if task == "sentence-embedding":
        output |= {"name": "embedding", "shape": [1, 2]}
        return made
    made["inputs"].append({"name": "predict_mask", "dtype": "int32", "shape": [1, "length"], "meaning": ""})
    output["shape"] = [1, 40]
    for entry in made["golden"]:
        entry |= {"predict": 1, "columns": [3, 39]}
    return made


# What contradicts itself in some of the bases: a place, and the value that is put there.
_DIRECTED: tuple[tuple[tuple[str | int, ...], Any], ...] = (
    (("golden", 0, "input_ids", 1), 12),
    (("golden", 0, "input_ids", 1), 13),
    (("golden", 0, "token_type_ids", 1), 1),
    (("golden", 0, "token_type_ids", 1), 2),
    (("golden", 0, "length"), 9),
    (("golden", 0, "length"), 16),
    (("golden", 0, "predict"), 3),
    (("golden", 0, "predict"), 4),
    (("golden", 0, "rows"), [3]),
    (("golden", 0, "rows"), [0, 4]),
    (("golden", 0, "columns"), [1, 0]),
    (("golden", 0, "columns"), [0, 40]),
    (("golden", 0, "output"), [0.5]),
    (("golden", 0, "output"), [0.5, 3.4e38]),
    (("golden", 0, "output"), [0.5, float("nan")]),
    (("tokenizer", "pad_id"), 13),
    (("tokenizer", "mask_id"), 13),
    (("tokenizer", "special_ids"), {"[X]": 13}),
    (("tokenizer", "vocabulary"), "vocab.txt"),
    (("tokenizer", "vocabulary"), "tokenizer.json"),
    (("labels",), ["a", "a"]),
    (("labels",), ["a"]),
    (("labels",), ["a", "b\u2028"]),
    (("labels",), ["a", "b\u0085"]),
    (("labels",), []),
    (("lengths",), [{"length": 16, "entry": ""}, {"length": 8, "entry": ""}]),
    (("lengths",), [{"length": 8, "entry": "a"}, {"length": 16.0, "entry": "a"}]),
    (("files",), {"tokenizer.json": _SHA, "model.tflite": _SHA}),
    (("files",), {"tokenizer.json": _SHA, "manifest.json": _SHA}),
    (("file",), "manifest.json"),
    (("inputs", 0, "name"), "attention_mask"),
    (("inputs", 0, "shape"), [1, "length", 1]),
    (("inputs", 0, "shape"), [1.0, "length"]),
    (("inputs", 1, "dtype"), "float32"),
    (("outputs", 0, "shape"), [1, 2.0]),
    (("outputs", 0, "shape"), [1, 0]),
    (("tensors", 1, "codebooks"), 2),
    (("tensors", 1, "codebooks"), 13),
    (("tensors", 1, "shape"), [13.0, 4]),
    (("tensors", 1, "shape"), [5, 4]),
    (("tensors", 1, "shape"), []),
    (("tensors", 1, "kind"), "quantized"),
    (("tensors", 2, "kind"), "dense"),
    (("tensors", 2, "bits"), 9),
    (("tensors", 3, "shape"), ["length"]),
    (("accuracy", "verdict"), "failed"),
    (("accuracy", "data", "cut"), 11),
    (("accuracy", "data", "limit"), 9),
    (("accuracy", "data", "of"), 9),
    (("accuracy", "metric"), "recall"),
    (("accuracy", "max_drop"), float("nan")),
    (("accuracy", "systems", 0, "id"), "other"),
    (("accuracy", "systems", 1, "system"), "float"),
    (("accuracy", "drops", 0, "from"), "float"),
    (("accuracy", "drops", 0, "high"), 8.4),
    (("accuracy", "drops", 0, "low"), float("nan")),
    (("teacher",), None),
    (("teacher",), "t"),
    (("status",), "passed"),
    (("schema",), 1.0),
    (("schema",), 2),
    (("schema",), True),
)


def directed(whole: list[Json]) -> Iterator[tuple[int, str]]:
    """Number of a base and the text that comes of it, for each place that it has."""
    for place, value in _DIRECTED:
        for number, base in enumerate(whole):
            content = copy.deepcopy(base)
            with contextlib.suppress(KeyError, IndexError, TypeError):
                inner: Any = content
                for key in place[:-1]:
                    inner = inner[key]
                inner[place[-1]] = value
                yield number, json.dumps(content)


def mutated(content: Json, chance: random.Random) -> str:
    """The text of a manifest changed at one place, now and then at two."""
    content = copy.deepcopy(content)
    for _ in range(chance.choice((1, 1, 1, 1, 1, 2))):
        parent, key = _place(content, chance)
        match chance.choice(("edge", "edge", "near", "near", "drop", "double", "rename", "borrow", "text")):
            case "edge":
                parent[key] = chance.choice(_EDGES)
            case "near" if isinstance(parent[key], int | float) and not isinstance(parent[key], bool):
                parent[key] += chance.choice((-1, 1, 0.0, 0.25))
            case "drop":
                del parent[key]
            case "double" if isinstance(parent, list):
                parent.insert(key, copy.deepcopy(parent[key]))
            case "rename" if isinstance(parent, dict):
                parent[chance.choice(("x", "", "a" * 201, "../x", key + "s"))] = parent.pop(key)
            case "text":
                return _broken(json.dumps(content), chance)
            case _:
                other, name = _place(content, chance)
                parent[key] = copy.deepcopy(other[name])
    return json.dumps(content)


def _place(content: Json, chance: random.Random) -> tuple[Any, Any]:
    inner: Any = content
    while True:
        key = chance.choice(sorted(inner)) if isinstance(inner, dict) else chance.randrange(len(inner))
        parent, inner = inner, inner[key]
        if not isinstance(inner, dict | list) or not inner or chance.random() < 0.15:
            return parent, key


def _broken(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text))
    return text[:at] + chance.choice(_TEXTS) + text[at + chance.choice((0, 0, 1, 1, 2, 8)) :]


def accepted(text: str, folder: Path) -> bool:
    """Whether Python's reader takes a manifest of this text."""
    (folder / "manifest.json").write_bytes(text.encode("utf-8"))
    try:
        open_folder(folder)
    except MobilekitError:
        return False
    return True


def splice(base: str, text: str) -> tuple[int, int, str]:
    """What makes of one text another one: where, how many characters are replaced, and by what."""
    at = _alike(base, text)
    tail = _alike(base[at:][::-1], text[at:][::-1])
    return at, len(base) - at - tail, text[at : len(text) - tail]


def _alike(one: str, other: str) -> int:
    """How many characters they begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


def vectors(count: int) -> str:
    """JSON text of so many cases, always the same."""
    chance, whole = random.Random(count), bases()
    texts = [json.dumps(each) for each in whole]
    with tempfile.TemporaryDirectory() as name:
        assert all(accepted(text, Path(name)) for text in texts)
        drawn = (chance.randrange(len(whole)) for _ in range(count))
        made = [*directed(whole), *((base, mutated(whole[base], chance)) for base in drawn)]
        cases = [[base, *splice(texts[base], text), accepted(text, Path(name))] for base, text in made]
    lines = ",\n".join(json.dumps(case) for case in cases)
    return f'{{"bases": {json.dumps(texts, indent=0)},\n"cases": [\n{lines}\n]}}\n'


def main() -> None:
    """Write the file."""
    folder, *count = sys.argv[1:]
    text = vectors(int(count[0]) if count else COMMITTED)
    (Path(folder) / NAME).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
