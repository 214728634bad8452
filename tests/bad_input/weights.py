"""Checkpoint folders: weights, shards, and records of compressed ones."""

from __future__ import annotations

import json
import os
import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bad_input.case import WEIGHTS, Case, Place, Spoil, Tensors, edit_header, edit_tensors, export
from bad_input.folders import content, instead, spoiled

INDEX, RECORDS = "model.safetensors.index.json", "records.safetensors"
HEAD, TABLE = "classifier.weight", "bert.embeddings.word_embeddings.weight"


def tensors(change: Callable[[Tensors], Tensors | None]) -> Spoil:
    """A checkpoint with other tensors."""
    return spoiled(lambda folder: edit_tensors(folder, change))


def value(number: float) -> Spoil:
    """A checkpoint with one value that is `number`."""

    def change(found: Tensors) -> None:
        found[HEAD][0, 0] = number

    return tensors(change)


def header(**changes: Any) -> Spoil:
    """A checkpoint whose weights file describes the classifier otherwise."""
    return spoiled(lambda folder: edit_header(folder / WEIGHTS, lambda found: found[HEAD].update(changes)))


def index(text: str) -> Spoil:
    """A checkpoint of shards with this index."""

    def change(folder: Path) -> None:
        (folder / WEIGHTS).rename(folder.parent / "outside.safetensors")
        (folder / INDEX).write_text(text)

    return spoiled(change)


def shard(name: str) -> Spoil:
    """A checkpoint of shards whose index names this file."""
    return index(json.dumps({"weight_map": {HEAD: name}}))


def renamed(name: str) -> Spoil:
    """A checkpoint whose weights have another name."""
    return spoiled(lambda folder: (folder / WEIGHTS).rename(folder / name))


def cut(size: int | None) -> Spoil:
    """A checkpoint of whose weights file only a part is there."""
    return spoiled(lambda folder: (folder / WEIGHTS).write_bytes((folder / WEIGHTS).read_bytes()[:size]))


def records(change: Callable[[Path], object]) -> Spoil:
    """A folder of a compressed model that `change` has been at."""

    def spoil(place: Place) -> list[str]:
        folder = place.copy("records")
        change(folder / RECORDS)
        return export(folder)

    return spoil


def about(change: Callable[[dict[str, Any]], object]) -> Spoil:
    """The same where the description of the records is changed."""

    def spoil(file: Path) -> None:
        def at(found: dict[str, Any]) -> None:
            values = json.loads(found["__metadata__"]["mobilekit"])
            change(values)
            found["__metadata__"]["mobilekit"] = json.dumps(values)

        edit_header(file, at)

    return records(spoil)


def _bits(number: object) -> Spoil:
    return about(lambda values: values["bits"].update({"embeddings.token.weight": number}))


def _deep(file: Path) -> None:
    edit_header(file, lambda found: found["__metadata__"].update(mobilekit="[" * 100_000))


def _pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def _other_weights(place: Place) -> list[str]:
    folder = place.copy("records")
    edit_tensors(folder, lambda found: {name: values * 2 for name, values in found.items()})
    return export(folder)


_PICKLED = "pickled weights are not read. Load it with transformers and save_pretrained"
_LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64
_TOO_LONG = r"m/model.safetensors: not a whole safetensors file \(its header cannot be that long\)"

CASES = (
    Case("weights missing", spoiled(lambda f: (f / WEIGHTS).unlink()), "m: no weights; expected model.safetensors"),
    Case("weights empty", content(WEIGHTS, b""), "m/model.safetensors: not a whole safetensors file"),
    Case("weights truncated by half", cut(200_000), "m/model.safetensors: not a whole safetensors file"),
    Case("weights truncated by a byte", cut(-1), "m/model.safetensors: not a whole safetensors file"),
    Case("weights of seven bytes", cut(7), "m/model.safetensors: not a whole safetensors file"),
    Case(
        "weights with a tail", spoiled(lambda f: (f / WEIGHTS).open("ab").write(b"x")), "not a whole safetensors file"
    ),
    Case("weights that are a folder", instead(WEIGHTS, lambda p: p.mkdir()), "m/model.safetensors: is not a file"),
    Case("weights that are a pipe", instead(WEIGHTS, os.mkfifo), "m/model.safetensors: is not a file"),
    Case("only .bin", renamed("pytorch_model.bin"), f"m: has pytorch_model.bin but no model.safetensors; {_PICKLED}"),
    Case("only .h5", renamed("tf_model.h5"), f"m: has tf_model.h5 but no model.safetensors; {_PICKLED}"),
    Case("weights with another name", renamed("weights.safetensors"), "m: no weights; expected model.safetensors"),
    Case("pickle renamed", content(WEIGHTS, pickle.dumps({"a": [1.0] * 99})), "not a safetensors file but pickled"),
    Case("archive of torch renamed", content(WEIGHTS, b"PK\x03\x04" + b"0" * 99), "not a safetensors file but pickled"),
    Case("pointer of Git LFS", content(WEIGHTS, _LFS), "a pointer of Git LFS; git lfs pull fetches the weights"),
    Case("web page", content(WEIGHTS, b"<!DOCTYPE html><html>404"), "a web page; download the weights again"),
    Case("header of 2^63 bytes", content(WEIGHTS, struct.pack("<Q", 2**63) + b"{}"), _TOO_LONG),
    Case("header of 100 MB", content(WEIGHTS, struct.pack("<Q", 99_999_999) + b"{}"), _TOO_LONG),
    Case("header that is a list", content(WEIGHTS, struct.pack("<Q", 2) + b"[]"), "not a whole safetensors file"),
    Case("tensor of gigabytes", header(shape=[2**31, 2**31]), "m/model.safetensors: not a whole safetensors file"),
    Case("tensor of negative size", header(shape=[-1, 64]), "m/model.safetensors: not a whole safetensors file"),
    Case(
        "tensor beyond the file", header(data_offsets=[0, 2**60]), "m/model.safetensors: not a whole safetensors file"
    ),
    Case("tensor of unknown type", header(dtype="F3"), "m/model.safetensors: not a whole safetensors file"),
    Case(
        "tensors missing", tensors(lambda t: {HEAD: t[HEAD]}), "m: tensors missing from the weights: embeddings.* more"
    ),
    Case("no tensors", tensors(lambda t: {"other": t[HEAD]}), "m: tensors missing from the weights: embeddings"),
    Case(
        "head's tensors missing",
        tensors(lambda t: {n: t[n] for n in t if n != HEAD}),
        "missing from .*: classifier.weig",
    ),
    Case(
        "tensor of wrong shape",
        tensors(lambda t: {**t, TABLE: t[TABLE][:9]}),
        r"has shape \[9, 64\]; the configuration as",
    ),
    Case(
        "tensor that is flat",
        tensors(lambda t: {**t, HEAD: t[HEAD].ravel()}),
        r"classifier.weight has shape \[128\]; the",
    ),
    Case(
        "rows against labels",
        tensors(lambda t: {**t, HEAD: np.zeros((5, 64), np.float32)}),
        "for 5 labels, id2label in",
    ),
    Case(
        "whole numbers",
        tensors(lambda t: {**t, HEAD: t[HEAD].astype(np.int32)}),
        "is of type torch.int32; weights have to",
    ),
    Case("NaN inside", value(float("nan")), r"m: classifier.weight has values that are not finite \(NaN or infinity\)"),
    Case("infinity inside", value(float("-inf")), "m: classifier.weight has values that are not finite"),
    Case(
        "value beyond float32",
        tensors(lambda t: {**t, HEAD: np.full((2, 64), 1e300)}),
        "m: classifier.weight has values that are not finite",
    ),
    # Shards.
    Case("index that is a list", index("[]"), "m/model.safetensors.index.json: expected a JSON object"),
    Case("index without a map", index("{}"), "m/model.safetensors.index.json: weight_map is missing or not a map"),
    Case("index of nothing", index('{"weight_map": {}}'), "m: tensors missing from the weights"),
    Case(
        "shard missing",
        shard("model-1.safetensors"),
        "index.json: names 'model-1.safetensors', which is no file in the",
    ),
    Case(
        "shard outside", shard("../outside.safetensors"), "index.json: names '../outside.safetensors', which is no file"
    ),
    Case("shard anywhere", shard("/etc/hostname"), "index.json: names '/etc/hostname', which is no file in the folder"),
    Case("shard without a name", shard(""), "index.json: names '', which is no file in the folder"),
    Case("shard with a NUL", shard("a\0b"), r"index.json: names 'a\?b', which is no file in the folder"),
    Case("shard with too long a name", shard("x" * 5000), r"m/x+\.\.\.x+: cannot be read: File name too long"),
    # Records.
    Case(
        "records truncated",
        records(lambda f: f.write_bytes(f.read_bytes()[:-5])),
        "cannot be read as records .*; compr",
    ),
    Case("records empty", records(lambda f: f.write_bytes(b"")), "m/records.safetensors: cannot be read as records"),
    Case("records that are a pipe", records(_pipe), "m/records.safetensors: is not a file; compress again"),
    Case("records nested deeply", records(_deep), "m/records.safetensors: cannot be read as records .*recursion"),
    Case(
        "records of a newer format", about(lambda v: v.update(format="2")), "not a records file of this version of mob"
    ),
    Case(
        "records of another scheme",
        about(lambda v: v.update(scheme="fp32")),
        "records of scheme 'fp32'; export it with",
    ),
    Case(
        "records of another model", about(lambda v: v["encoder"].update(layers=1)), "was made for another configuration"
    ),
    Case(
        "records of no bits", _bits(0), "m/records.safetensors: broken records: codes have 2 to 8 bits, not 0; compress"
    ),
    Case("records of 10^11 bits", _bits(10**11), "broken records: codes have 2 to 8 bits, not 100000000000; compress"),
    Case("records of bits that are a text", _bits("x"), "m/records.safetensors: incomplete records .*; compress again"),
    Case(
        "records beside other weights",
        _other_weights,
        "m/records.safetensors: does not belong to the weights beside it",
    ),
)
