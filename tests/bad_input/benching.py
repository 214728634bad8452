"""What can be wrong with what `bench` is asked to measure."""

from __future__ import annotations

import json

from bad_input.artifacts import MANIFEST, MODEL
from bad_input.case import Case, Place, Spoil, edit

_ROWS = "text,label\na good film,positive\na bad film,negative\n"


def _bench(*more: str) -> Spoil:
    return lambda place: ["bench", str(place.artifact()), *more]


def _judged(*more: str, content: str = _ROWS, name: str = "data.csv") -> Spoil:
    def spoil(place: Place) -> list[str]:
        (place.root / name).write_text(content)
        return ["bench", str(place.artifact()), "--data", name, *more]

    return spoil


def _altered(place: Place) -> list[str]:
    folder = place.artifact()
    file = folder / MODEL
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    return ["bench", str(folder)]


def _twice(place: Place) -> list[str]:
    return ["bench", str(place.artifact()), str(place.copy("artifact", "b"))]


def _other_order(place: Place) -> list[str]:
    """Two artifacts with the same labels, in another order, and texts without labels."""
    folder, other = place.artifact(), place.copy("artifact", "b")
    labels = json.loads((other / MANIFEST).read_text())["labels"]
    edit(other / MANIFEST, name="other-int8", labels=labels[::-1])
    (place.root / "data.txt").write_text("a good film\n")
    return ["bench", str(folder), str(other), "--data", "data.txt", "--against", "tiny-classifier"]


def _below_a_file(place: Place) -> list[str]:
    (place.root / "taken").write_text("")
    return ["bench", "a", "--out", "taken/report.json"]


def _there(place: Place) -> list[str]:
    (place.root / "report.json").write_text("{}")
    return ["bench", str(place.artifact()), "--out", "report.json"]


def _not_ours(place: Place) -> list[str]:
    return [*_there(place), "--force"]


CASES = (
    Case("bench: nothing", lambda place: ["bench"], "no artifact to measure; give one or more folders"),
    Case("bench: not there", lambda place: ["bench", "a"], "a: no such artifact folder"),
    Case("bench: altered", _altered, rf"{MODEL}: missing or altered since it was exported", True),
    Case("bench: twice", _twice, "two artifacts are called tiny-classifier-int8/tflite; give one of them", True),
    Case(
        "bench: unknown base", _bench("--base", "x"), "--base x: is none of what is timed: tiny-classifier-int8", True
    ),
    Case("bench: unknown engine", _bench("--engine", "litert_compild"), "did you mean 'litert_compiled'", True),
    Case(
        "bench: engine of other files", _bench("--engine", "executorch"), "--engine executorch: runs executorch", True
    ),
    Case(
        "bench: unknown peer",
        _bench("--against", "tiny-classifier", "--peer", "onnxruntime-int4"),
        "peer 'onnxruntime-int4' is unknown; did you mean 'onnxruntime-int8'",
        True,
    ),
    Case(
        "bench: peer of nothing",
        _bench("--peer", "torch-eager"),
        "peers are made of the float model, .*; give --against MODEL",
        True,
    ),
    Case(
        "bench: peers of another task",
        _bench("--against", "tiny-tagger", "--peer", "torch-eager"),
        "--against tiny-tagger: is a token-classification model, and tiny-classifier-int8 a sequence-classification",
        True,
    ),
    Case("bench: float model for nothing", _bench("--against", "tiny-classifier"), "--against is for --data and", True),
    Case("bench: drop", _judged("--max-drop", "1"), "--max-drop: `bench` measures and never fails by it", True),
    Case("bench: threads", _bench("--threads", "0"), "threads is 0; it has to be 1 to", True),
    Case("bench: runs", _bench("--runs", "0"), "'--runs'", True),
    Case("bench: seconds", lambda place: ["bench", "a", "--seconds", "nan"], "'--seconds': nan is no number"),
    Case("bench: report below a file", _below_a_file, "taken is a file; choose another --out"),
    Case(
        "bench: data whose name no report takes",
        _judged(name=f"{'n' * 200}.csv"),
        r"nnn.*: a report takes names of at most 200 characters .*; call it otherwise",
        True,
    ),
    Case(
        "bench: labels in another order",
        _other_order,
        r"other-int8/tflite: its labels \(positive, negative\) are not those of .* \(negative, positive\), in another",
        True,
    ),
    Case("bench: report that is there", _there, "report.json: exists already", True),
    Case("bench: file that is no report", _not_ours, "report.json", True),
    Case(
        "bench: data of another task",
        _judged(content="film B-LOC\nthe O\n", name="d.conll"),
        r"d\.conll: CoNLL holds tags",
        True,
    ),
    Case(
        "bench: teacher with other labels",
        _judged("--teacher", "tiny-tagger"),
        "--teacher tiny-tagger: is a token-classification model, and tiny-classifier-int8 a sequence-classification",
        True,
    ),
    Case(
        "bench: teacher without data", _bench("--teacher", "tiny-classifier"), "--teacher is for judging on data", True
    ),
)
