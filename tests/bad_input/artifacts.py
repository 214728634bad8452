"""Artifacts: what may become of their files and manifests, and of what is asked of them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bad_input.case import Case, Place, Spoil

MODEL, MANIFEST = "tiny-classifier-int8.tflite", "manifest.json"


def run(*more: str, good: str = "artifact") -> Spoil:
    """A run of a good artifact with options."""
    return lambda place: ["run", str(place.copy(good, "a")), *more]


def spoiled(verb: str, change: Callable[[Path], object]) -> Spoil:
    """A verb on an artifact that `change` has been at."""

    def spoil(place: Place) -> list[str]:
        folder = place.artifact()
        change(folder)
        return [verb, str(folder), *(["a good film"] if verb == "run" else [])]

    return spoil


def content(verb: str, name: str, data: bytes) -> Spoil:
    """A verb on an artifact in which a file has other content."""
    return spoiled(verb, lambda folder: (folder / name).write_bytes(data))


def gone(verb: str, name: str) -> Spoil:
    """A verb on an artifact that lacks a file."""
    return spoiled(verb, lambda folder: (folder / name).unlink())


def pipe(verb: str, name: str) -> Spoil:
    """A verb on an artifact in which a pipe stands at a file's place."""

    def change(folder: Path) -> None:
        (folder / name).unlink()
        os.mkfifo(folder / name)

    return spoiled(verb, change)


def manifest(*place: object, verb: str = "run") -> Spoil:
    """A verb on an artifact with another value in its manifest: the keys that lead to it, and the value."""
    *keys, last, value = place

    def change(folder: Path) -> None:
        values: Any = json.loads((folder / MANIFEST).read_text())
        inner = values
        for key in keys:
            inner = inner[key]
        inner[last] = value
        (folder / MANIFEST).write_text(json.dumps(values))

    return spoiled(verb, change)


def _flipped(folder: Path) -> None:
    data = bytearray((folder / MODEL).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / MODEL).write_bytes(data)


def _wrong_folder(place: Place) -> list[str]:
    place.copy("artifact", "out/m-int8/tflite")
    return ["check", "out/m-int8"]


def _artifact_as_model(place: Place) -> list[str]:
    return ["export", "--model", str(place.artifact())]


def _model_as_artifact(place: Place) -> list[str]:
    return ["run", str(place.model()), "a good film"]


def _model_file(place: Place) -> list[str]:
    return ["run", str(place.artifact() / MODEL), "a good film"]


def _not_fetched(place: Place) -> list[str]:
    place.patch.setenv("MOBILEKIT_CACHE", "cache")
    return ["check", str(place.artifact()), "--arm64"]


_AGAIN, _ALTERED = "; export again", "missing or altered since it was exported"
_PATTERN = "a/manifest.json: .*does not match .*; export again"

CASES = (
    # What is asked of a good one.
    Case("artifact missing", lambda _: ["check", "missing"], "missing: no such artifact folder"),
    Case("artifact with an empty name", lambda _: ["run", "", "x"], "ARTIFACT: '' is no folder's name"),
    Case("artifact with too long a name", lambda _: ["check", "x" * 300], "x+: cannot be read: File name too long"),
    Case(
        "model as artifact",
        _model_as_artifact,
        "m: no manifest.json in it; an artifact is a folder that `mobilekit exp",
    ),
    Case(
        "folder of artifacts",
        _wrong_folder,
        "out/m-int8: no manifest.json in it; .*; give one of .* out/m-int8/tflite",
        True,
    ),
    Case(
        "artifact as model", _artifact_as_model, "a: no config.json in it; .*; it is an artifact: run, check and", True
    ),
    Case("model file as artifact", _model_file, "a/.*tflite: is a file; give the artifact's folder, a", True),
    Case("invalid UTF-8", run("a\udcff"), "text cannot be encoded: character 1 is not valid Unicode", True),
    Case(
        "invalid UTF-8 in a pair",
        run("a", "--pair", "\udcff"),
        "text cannot be encoded: character 0 is not valid",
        True,
    ),
    Case(
        "threshold for one choice",
        run("a", "--threshold", "0.5"),
        "--threshold is for models of which several la",
        True,
    ),
    Case(
        "threshold that is no number",
        run("a", "--threshold", "high"),
        "'--threshold': 'high' is not a valid float",
        True,
    ),
    Case(
        "top of labels",
        run("a", "--top", "3"),
        "--top is for question answering and fill-mask; this is a sequence-c",
        True,
    ),
    Case(
        "pair of an embedding",
        run("a", "--pair", "b", good="embedder"),
        "embeds one text at a time; .* each as a te",
        True,
    ),
    Case("no threads", run("a", "--threads", "0"), "threads is 0; it has to be 1 to 1,024", True),
    Case("negative threads", run("a", "--threads", "-1"), "threads is -1; it has to be 1 to 1,024", True),
    Case("10^9 threads", run("a", "--threads", "1000000000"), "threads is 1000000000; it has to be 1 to 1,024", True),
    Case(
        "threads that are a fraction", run("a", "--threads", "1.5"), "'--threads': '1.5' is not a valid integer", True
    ),
    Case(
        "check: arm64 not fetched",
        _not_fetched,
        "--arm64: (qemu-aarch64, .* not in .*/cache/arm64: run `make arm64` in a|this machine is|the emulator is)",
        True,
    ),
    # Files tampered with: `run` and `inspect` refuse what they read, `check` names what is not as it was.
    Case("check: model altered", spoiled("check", _flipped), "a: check failed: files", True, 3),
    Case("check: model gone", gone("check", MODEL), "a: check failed: files", True, 3),
    Case("check: model a pipe", pipe("check", MODEL), "a: check failed: files", True, 3),
    Case(
        "check: tokenizer altered", content("check", "tokenizer.json", b"{}"), "check failed: files, tokenizer", True, 3
    ),
    Case("check: tokenizer gone", gone("check", "tokenizer.json"), "a: check failed: files, tokenizer", True, 3),
    Case("check: vocabulary altered", content("check", "vocab.txt", b"x"), "a: check failed: files", True, 3),
    Case("check: README altered", content("check", "README.md", b"x"), "a: check failed: files", True, 3),
    Case("check: README gone", gone("check", "README.md"), "a: check failed: files", True, 3),
    Case("check: bytes of another file", manifest("bytes", 1, verb="check"), "a: check failed: bytes", True, 3),
    Case(
        "check: other outputs", manifest("golden", 0, "output", [9, -9], verb="check"), "check failed: output", True, 3
    ),
    Case("run: model altered", spoiled("run", _flipped), f"a/{MODEL}: {_ALTERED}{_AGAIN}", True),
    Case("run: model gone", gone("run", MODEL), f"a/{MODEL}: {_ALTERED}{_AGAIN}", True),
    Case("run: tokenizer altered", content("run", "tokenizer.json", b"{}"), f"a/tokenizer.json: {_ALTERED}", True),
    Case("run: tokenizer gone", gone("run", "tokenizer.json"), f"a/tokenizer.json: {_ALTERED}{_AGAIN}", True),
    Case("inspect: model altered", spoiled("inspect", _flipped), f"a/{MODEL}: {_ALTERED}{_AGAIN}", True),
    # Manifests.
    Case("manifest gone", gone("check", MANIFEST), "a: no manifest.json in it; an artifact is a folder that", True),
    Case("manifest a pipe", pipe("check", MANIFEST), "a/manifest.json: is not a file; export again", True),
    Case(
        "manifest empty",
        content("check", MANIFEST, b""),
        "a/manifest.json: not readable as JSON .*; export again",
        True,
    ),
    Case(
        "manifest not JSON",
        content("inspect", MANIFEST, b"{"),
        "a/manifest.json: not readable as JSON .*; export",
        True,
    ),
    Case(
        "manifest not UTF-8",
        content("run", MANIFEST, b"\xff"),
        "a/manifest.json: not readable as JSON .*; export",
        True,
    ),
    Case(
        "manifest nested deeply",
        content("run", MANIFEST, b"[" * 99_999),
        "a/manifest.json: not readable .*recursion",
        True,
    ),
    Case(
        "manifest that is a list",
        content("check", MANIFEST, b"[]"),
        "a/manifest.json: the whole: .*; export again",
        True,
    ),
    Case("newer schema", manifest("schema", 2), r"schema 2 is newer than this mobilekit reads \(1\); upgrade it", True),
    Case("schema of 400 digits", manifest("schema", 10**400), "schema a number of 1329 bits is newer", True),
    Case("file that leaves the folder", manifest("file", "../x", verb="check"), _PATTERN, True),
    Case("file anywhere", manifest("file", "/etc/hostname", verb="inspect"), _PATTERN, True),
    Case("file with a line break", manifest("file", "a.tflite\n"), _PATTERN, True),
    Case("file that is the manifest", manifest("file", MANIFEST), "'manifest.json' and files name the manifest", True),
    Case("files that leave the folder", manifest("files", {"../x": "0" * 64}, verb="check"), _PATTERN, True),
    Case("tokenizer that leaves the folder", manifest("tokenizer", "file", "../x"), _PATTERN, True),
    Case("tokenizer without a hash", manifest("files", {}, verb="check"), "'tokenizer.json' is not among files", True),
    Case("unknown target in it", manifest("target", "onnx"), "manifest.json: no engine .* runs 'onnx' files", True),
    Case("unknown target to check", manifest("target", "tflight", verb="check"), "did you mean 'tflite'", True),
    Case(
        "another target in it",
        manifest("target", "coreml", verb="check"),
        "tflite: not a Core ML package .*; exp",
        True,
    ),
    Case(
        "unknown scheme in it",
        manifest("scheme", "int3", verb="check"),
        "manifest.json: scheme 'int3' is unknown",
        True,
    ),
    Case(
        "unknown scheme in its plan",
        manifest("plan", [{"pattern": "*", "scheme": "int3"}], verb="check"),
        r"manifest.json: its plan: rule 1 \(\*\): scheme 'int3' is unknown",
        True,
    ),
    Case(
        "rule without a scheme in it", manifest("plan", [{"pattern": "*"}]), "manifest.json: plan/0: .*; export", True
    ),
    Case(
        "task without such an output",
        manifest("task", "sentence-embedding"),
        "labels: a sentence-embedding model",
        True,
    ),
    Case(
        "labels against the output",
        manifest("labels", ["a", "b", "c"]),
        "labels: 3 for an output of 2; export again",
        True,
    ),
    Case(
        "labels with a line break", manifest("labels", ["a\nb", "c"]), "labels: one has a line break or a control", True
    ),
    Case("labels that are no Unicode", manifest("labels", ["\ud800", "c"]), "a text in it is not valid Unicode", True),
    Case("unknown input", manifest("inputs", 0, "name", "ids"), "inputs: expected input_ids and others of", True),
    Case("input twice", manifest("inputs", 1, "name", "input_ids"), "inputs: expected input_ids and others of", True),
    Case(
        "unknown output", manifest("outputs", 0, "name", "scores"), "outputs: a sequence-classification model has", True
    ),
    Case(
        "unknown entry", manifest("lengths", 0, "entry", "nothing"), "it has no signature 'nothing', only len_16", True
    ),
    Case("no lengths in it", manifest("lengths", []), "a/manifest.json: lengths: .*; export again", True),
    Case("padding id beyond the table", manifest("tokenizer", "pad_id", 600), "id 600 is beyond the 600 rows", True),
    Case("padding id of 30 digits", manifest("tokenizer", "pad_id", 10**30), "manifest.json: tokenizer/pad_id: ", True),
    Case("ids beyond the table", manifest("golden", 0, "input_ids", [2, 700], verb="check"), "id 700 is beyond", True),
    Case("fewer types than ids", manifest("golden", 0, "token_type_ids", [0], verb="check"), "golden/0: its ids", True),
    Case(
        "output that is no number", manifest("golden", 0, "output", [float("nan"), 0]), "an output is not finite", True
    ),
    Case(
        "output of 400 digits", manifest("golden", 0, "output", [10**400, 0]), "manifest.json: golden/0/output/0", True
    ),
    Case("bytes of 400 digits", manifest("bytes", 10**400, verb="inspect"), "a/manifest.json: bytes: .*maximum", True),
    Case(
        "unknown field", manifest("surprise", 1), "manifest.json: the whole: Additional properties .*; export ag", True
    ),
)
