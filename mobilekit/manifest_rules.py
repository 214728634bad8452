"""What a manifest's JSON schema cannot say: that its parts fit each other."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

Json = dict[str, Any]

MANIFEST_FILE = "manifest.json"
# The input that says which token is asked for: 1 there, 0 elsewhere.
PREDICT_MASK = "predict_mask"
_INPUTS = ("input_ids", "attention_mask", "token_type_ids", PREDICT_MASK)
_PER_TOKEN = ("token-classification", "question-answering")
_LABELLED = ("sequence-classification", *_PER_TOKEN)
# Line breaks would tear lists of labels apart, and the rest of these steers terminals.
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def first_contradiction(content: Json) -> str | None:
    """What is wrong with a manifest that follows the schema, or None: place and reason, for a message."""
    rules: tuple[Callable[[Json], Iterator[str]], ...] = (_lengths, _files, _labels, _ports, _tensors, _ids)
    rules += (_golden, _numbers, _accuracy)
    return next((fault for rule in rules for fault in rule(content)), None)


def _lengths(content: Json) -> Iterator[str]:
    lengths = [entry["length"] for entry in content["lengths"]]
    if sorted(set(lengths)) != lengths:
        yield "lengths have to ascend, each once"


def _files(content: Json) -> Iterator[str]:
    file, files, tokenizer = content["file"], content["files"], content["tokenizer"]
    if file in files or MANIFEST_FILE in (file, *files):
        yield f"file: '{file}' and files name the manifest, or the same file twice"
    for name in (tokenizer["file"], tokenizer["vocabulary"]):
        if name is not None and name not in files:
            yield f"tokenizer: '{name}' is not among files"


def _labels(content: Json) -> Iterator[str]:
    task, labels = content["task"], content["labels"]
    if bool(labels) != (task in _LABELLED) or len(set(labels)) != len(labels):
        yield f"labels: a {task} model has {'some, each once' if task in _LABELLED else 'none'}"
    if any(CONTROL.search(label) for label in labels):
        yield "labels: one has a line break or a control character"
    if (content["problem_type"] is None) == (task == "sequence-classification"):
        yield f"problem_type: '{content['problem_type']}' does not fit task {task}"


def _ports(content: Json) -> Iterator[str]:
    task, output = content["task"], content["outputs"][0]
    names = [port["name"] for port in content["inputs"]]
    asks = task == "fill-mask"
    if len(set(names)) != len(names) or not {"input_ids"} <= set(names) <= set(_INPUTS):
        yield f"inputs: expected input_ids and others of {', '.join(_INPUTS)}, each once"
    if (PREDICT_MASK in names) != asks:
        yield f"inputs: {PREDICT_MASK} does not fit task {task}"
    if any(port["dtype"] != "int32" or port["shape"] != [1, "length"] for port in content["inputs"]):
        yield "inputs: each has to be int32 [1, length]"
    shape, name = output["shape"], "embedding" if task == "sentence-embedding" else "logits"
    leading = [1, "length"] if task in _PER_TOKEN else [1]
    if output["name"] != name or shape[:-1] != leading or not isinstance(shape[-1], int) or not shape[-1]:
        yield f"outputs: a {task} model has {name} of shape {[*leading, 'size']}"
    elif content["labels"] and shape[-1] != len(content["labels"]):
        yield f"labels: {len(content['labels'])} for an output of {shape[-1]}"


def _tensors(content: Json) -> Iterator[str]:
    for i, entry in enumerate(content["tensors"]):
        kind, shape, bits = entry["kind"], entry["shape"], entry["bits"]
        if "length" in shape or (kind != "dense" and (len(shape) != 2 or bits > 8)):
            yield f"tensors/{i}: {kind} of shape {shape} and {bits} bits cannot be"
            continue
        own = {"quantized": {"groups", "levels"}, "clustered": {"codebooks"}}.get(kind, set())
        if strange := {"groups", "levels", "codebooks"} & set(entry) - own:
            yield f"tensors/{i}: {min(strange)} does not fit {kind}"
        elif kind == "clustered" and (not entry.get("codebooks") or shape[0] % entry["codebooks"]):
            yield f"tensors/{i}: its codebooks do not divide its {shape[0]} rows"


def _rows(content: Json, tensor: str) -> int | None:
    shapes = (entry["shape"] for entry in content["tensors"] if entry["name"] == tensor)
    rows = next((shape[0] for shape in shapes if shape), None)
    return rows if isinstance(rows, int) else None


def _ids(content: Json) -> Iterator[str]:
    rows, tokenizer = _rows(content, "embeddings.token.weight"), content["tokenizer"]
    special = [tokenizer["pad_id"], *tokenizer["special_ids"].values()]
    special += [tokenizer["mask_id"]] if tokenizer["mask_id"] is not None else []
    largest = max(special + [i for entry in content["golden"] for i in entry["input_ids"]])
    if rows is not None and largest >= rows:
        yield f"tokenizer: id {largest} is beyond the {rows} rows of the embedding"
    types = _rows(content, "embeddings.token_type.weight")
    largest = max(i for entry in content["golden"] for i in entry["token_type_ids"])
    if types is not None and largest >= types and any(p["name"] == "token_type_ids" for p in content["inputs"]):
        yield f"golden: token type {largest} is beyond the {types} rows of its table"


def _golden(content: Json) -> Iterator[str]:
    lengths = {entry["length"] for entry in content["lengths"]}
    size = content["outputs"][0]["shape"][-1]
    for i, entry in enumerate(content["golden"]):
        count = len(entry["input_ids"])
        if entry["length"] not in lengths or not len(entry["token_type_ids"]) == count <= entry["length"]:
            yield f"golden/{i}: its ids, type ids and length do not fit lengths"
        if (entry["predict"] is None) == (content["task"] == "fill-mask") or not (entry["predict"] or 0) < count:
            yield f"golden/{i}: predict does not fit the task, or is beyond its ids"
        values = 1
        for name, most in (("rows", count if content["task"] in _PER_TOKEN else 0), ("columns", size)):
            listed = entry[name]
            if listed is not None and max(listed) >= most:
                yield f"golden/{i}: {name} are beyond its output"
            values *= len(listed) if listed is not None else max(most, 1)
        if len(entry["output"]) != values:
            yield f"golden/{i}: has {len(entry['output'])} values of output instead of {values}"


def _numbers(content: Json) -> Iterator[str]:
    if not all(math.isfinite(value) for entry in content["golden"] for value in entry["output"]):
        yield "golden: an output is not finite"
    if not all(math.isfinite(content["tolerance"][place]["limit"]) for place in ("host", "device")):
        yield "tolerance: a limit is not finite"


def _accuracy(content: Json) -> Iterator[str]:
    found, teacher = content["accuracy"], content["teacher"]
    if found is None:
        if teacher is not None:
            yield "teacher: is named, and accuracy says nothing of it"
        return
    systems, data = {each["system"]: each for each in found["systems"]}, found["data"]
    if len(systems) != len(found["systems"]) or "artifact" not in systems:
        yield "accuracy/systems: the artifact has to be among them, and each once"
        return
    if not all(math.isfinite(value) for each in systems.values() for value in each["values"].values()):
        yield "accuracy/systems: a value is not finite"
    if found["metric"] not in systems["artifact"]["values"]:
        yield "accuracy/metric: is not among the values of the artifact"
    if teacher != systems.get("teacher", {}).get("id"):
        yield "teacher: is not the one of accuracy"
    if not data["cut"] <= data["rows"] <= min(data["of"], data["limit"] or data["of"]):
        yield "accuracy/data: has more rows than there were, or than its limit"
    if found["verdict"] in ("failed", "constant") and content["status"] == "passed":
        yield f"accuracy/verdict: is '{found['verdict']}', and status says that all checks passed"
    yield from _drops(found["drops"], set(systems))


def _drops(drops: list[Json], systems: set[str]) -> Iterator[str]:
    pairs = [(drop["from"], drop["to"]) for drop in drops]
    if len(set(pairs)) != len(pairs) or not {name for pair in pairs for name in pair} <= systems:
        yield "accuracy/drops: each has to be of systems that are there, once"
    if not all(math.isfinite(drop["points"]) and -math.inf < drop["low"] <= drop["high"] < math.inf for drop in drops):
        yield "accuracy/drops: an interval has an end that is not finite, or its low one above its high one"
