"""What an export asks for, checked before any work; and the manifest of what came out."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from export.budget import groups
from export.registry import Emission, Target
from export.stored import tensor_entries
from export.thresholds import thresholds
from mobilekit.artifact import SCHEMA_VERSION, Json, size_and_hash
from mobilekit.compression.compressed import CompressedModel
from mobilekit.errors import InputError
from mobilekit.host import versions
from mobilekit.models.model import Model
from mobilekit.text.parity import parity_digest
from mobilekit.text.tokenizer import LEAST_LENGTH, TOKENIZER_FILE
from mobilekit.version import __version__

DEFAULT_LENGTHS = (32, 128)
MINIMUM_IOS = (16, 17, 18)
_MEANING = {
    "input_ids": "token ids, padded with the tokenizer's pad id",
    "attention_mask": "1 for tokens, 0 for padding",
    "token_type_ids": "0 for the first text and its special tokens, 1 for the second",
    "embedding": "sentence embedding",
    "logits": "one value a label, before softmax or sigmoid",
}


@dataclass(frozen=True)
class Subject:
    """What every target of one export has in common."""

    model: Model
    compressed: CompressedModel
    lengths: tuple[int, ...]
    weights_sha256: str
    parity_sha256: str


def subject(model: Model, compressed: CompressedModel, lengths: tuple[int, ...]) -> Subject:
    """Gather what the manifests of all targets share."""
    digest = hashlib.sha256()
    for name, values in model.tensors().items():
        digest.update(f"{name} {values.shape}".encode() + values.tobytes())
    return Subject(model, compressed, lengths, digest.hexdigest(), parity_digest(model.tokenizer))


def checked_lengths(lengths: Sequence[int], model: Model) -> tuple[int, ...]:
    """Lengths ascending; raises InputError for one that is double, too short, or beyond the position table."""
    if not lengths:
        raise InputError("no length given; for example --lengths 32,128.")
    if len(set(lengths)) != len(lengths):
        raise InputError(f"lengths {', '.join(map(str, lengths))}: one is given twice.")
    most = model.config.max_tokens
    for length in lengths:
        if not LEAST_LENGTH <= length <= most:
            raise InputError(
                f"length {length} is outside {LEAST_LENGTH} to {most}, the model's position table; "
                f"for example --lengths {most}."
            )
    return tuple(sorted(lengths))


def checked_scheme(targets: Sequence[Target], scheme: str) -> None:
    """Raise InputError when a target cannot hold a scheme; nothing is swapped silently."""
    for target in targets:
        if scheme not in target.schemes:
            raise InputError(
                f"target '{target.name}' cannot hold scheme '{scheme}'; it can hold {', '.join(target.schemes)}."
            )


def artifact_name(model: Model, scheme: str) -> str:
    """`minilm-l6-int8`: the folder that holds the targets."""
    return f"{_plain(model.name)}-{scheme}"


def takes_pairs(compressed: CompressedModel, emission: Emission) -> bool:
    """Whether pairs of texts can be given: not where the model needs token types that the file does not take."""
    return not compressed.encoder.reads_token_types or "token_type_ids" in emission.input_names


def swift_name(title: str, scheme: str) -> str:
    """A name that Swift takes as a class: `MiniLM-L6` and `int8` give `MiniLML6Int8`."""
    words = re.findall(r"[A-Za-z0-9]+", f"{title} {scheme}")
    name = "".join(word[0].upper() + word[1:] for word in words)
    return name if name[:1].isalpha() else f"Model{name}"


def file_name(target: Target, subject: Subject) -> str:
    """The model file's name; Core ML's becomes a Swift class."""
    if target.suffix == ".mlpackage":
        return swift_name(subject.model.title or subject.model.name, subject.compressed.scheme) + target.suffix
    return artifact_name(subject.model, subject.compressed.scheme) + target.suffix


def build_manifest(subject: Subject, target: Target, emission: Emission, golden: list[Json], folder: Path) -> Json:
    """The manifest of a folder that has the model file, the tokenizer and the README, not yet checked."""
    model, compressed = subject.model, subject.compressed
    file = file_name(target, subject)
    size, sha = size_and_hash(folder / file)
    others = {p.name: size_and_hash(p)[1] for p in sorted(folder.iterdir()) if p.name != file}
    tensors = tensor_entries(compressed, max(subject.lengths))
    limits = thresholds(compressed.scheme)
    output = compressed.head.output_name
    return {
        "schema": SCHEMA_VERSION,
        "name": artifact_name(model, compressed.scheme),
        "model": model.name,
        "task": compressed.head.task,
        "labels": list(compressed.head.labels),
        "problem_type": compressed.head.problem_type if compressed.head.labels else None,
        "source": {
            "id": model.source.id,
            "revision": model.source.revision,
            "license": model.source.license,
            "weights_sha256": subject.weights_sha256,
        },
        "target": target.name,
        "file": file,
        "bytes": size,
        "sha256": sha,
        "files": others,
        "scheme": compressed.scheme,
        "plan": [{"pattern": "*", "scheme": compressed.scheme}],
        "inputs": [_port(name, "int32", [1, "length"]) for name in emission.input_names],
        "outputs": [_port(output, "float32", [1, len(golden[0]["output"])])],
        "lengths": [{"length": n, "entry": e} for n, e in sorted(emission.entry_points.items())],
        "exits": [],
        "tokenizer": _tokenizer(subject, emission, others),
        "parameters": compressed.parameters,
        "layers": compressed.encoder.layers,
        "tensors": tensors,
        "groups": groups(tensors),
        "golden": golden,
        "tolerance": {"host": limits.output.to_dict(), "device": limits.device.to_dict()},
        "checks": [],
        "status": "unchecked",
        "teacher": None,
        "accuracy": None,
        "versions": _versions(target),
        "engine": {"name": emission.engine, "minimum_version": emission.engine_version},
        "minimum_os": dict(emission.minimum_os),
    }


def _versions(target: Target) -> dict[str, str]:
    """Only those that the file's bytes depend on, so that installing something else changes nothing."""
    installed = versions()
    wanted = ("torch", "numpy", "tokenizers", *target.packages)
    found = {name: installed[name] for name in wanted if installed.get(name)}
    return {"mobilekit": __version__, **{name: version for name, version in found.items() if version}}


def _tokenizer(subject: Subject, emission: Emission, files: dict[str, str]) -> Json:
    tokenizer = subject.model.tokenizer
    single, pair = tokenizer.templates()
    return {
        "type": tokenizer.type,
        "file": TOKENIZER_FILE,
        "vocabulary": "vocab.txt" if "vocab.txt" in files else None,
        "lower_case": tokenizer.lower_case,
        "special_ids": tokenizer.special_ids(),
        "pad_id": subject.model.config.pad_id,
        "template": single,
        "pair_template": pair if takes_pairs(subject.compressed, emission) else [],
        "max_length": tokenizer.max_length,
        "prefix": subject.model.prefix,
        "parity_sha256": subject.parity_sha256,
    }


def _port(name: str, dtype: str, shape: list[int | str]) -> Json:
    return {"name": name, "dtype": dtype, "shape": shape, "meaning": _MEANING[name]}


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.") or "model"
