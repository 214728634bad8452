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
from export.thresholds import thresholds_of
from mobilekit.artifact import MANIFEST_FILE, PREDICT_MASK, SCHEMA_VERSION, Artifact, Json, size_and_hash
from mobilekit.compression.compressed import CompressedModel
from mobilekit.compression.plan import SKIP, Plan, Rule
from mobilekit.compression.plan_file import plan_from_json
from mobilekit.compression.schemes.registry import scheme as find_scheme
from mobilekit.compression.schemes.registry import schemes
from mobilekit.errors import InputError, short, unknown
from mobilekit.host import versions
from mobilekit.models.model import Model
from mobilekit.models.tasks import TASKS
from mobilekit.text.parity import parity_digest
from mobilekit.text.tokenizer import LEAST_LENGTH, TOKENIZER_FILE
from mobilekit.version import __version__

DEFAULT_LENGTHS = (32, 128)
MINIMUM_IOS = (16, 17, 18)
LATEST_IOS = MINIMUM_IOS[-1]
# What the manifest's schema has room for: lengths, and ids of a golden input, of which one fills each length.
_MOST_LENGTHS, _LONGEST = 64, 4096
# With scheme and suffix well below the 255 bytes of a file's name.
_LONGEST_NAME = 120
_MEANING = {
    "input_ids": "token ids, padded with the tokenizer's pad id",
    "attention_mask": "1 for tokens, 0 for padding",
    "token_type_ids": "0 for the first text and its special tokens, 1 for the second",
    "probabilities": "logits after softmax (one label of many) or sigmoid (several labels)",
    PREDICT_MASK: "1 at the token that is asked for, 0 elsewhere",
}
OUTPUTS = {
    "sentence-embedding": "sentence embedding",
    "sequence-classification": "one value a label, before softmax or sigmoid",
    "token-classification": "one value a label for every token, before softmax",
    "question-answering": "start and end score of every token, before softmax",
    "fill-mask": "one value a token of the vocabulary for the token that is asked for, before softmax",
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


def checked_lengths(lengths: Sequence[int], model: Model | None = None) -> tuple[int, ...]:
    """Lengths ascending; raises InputError for one that is double, too short, or beyond the model's position table.

    model: None where it is not loaded yet, and only what no model could have is refused.
    """
    if not lengths:
        raise InputError("no length given; for example --lengths 32,128.")
    if len(lengths) > _MOST_LENGTHS:
        raise InputError(f"{len(lengths)} lengths are too many for one file; at most {_MOST_LENGTHS} (--lengths).")
    double = next((n for i, n in enumerate(lengths) if n in lengths[:i]), None)
    if double is not None:
        raise InputError(f"length {short(double)} is given twice (--lengths); give it once.")
    table = _LONGEST if model is None else model.config.max_tokens
    most = min(table, _LONGEST)
    for length in lengths:
        if not LEAST_LENGTH <= length <= most:
            why = ", the model's position table" if table < _LONGEST else ""
            example = most if why else "32,128"
            raise InputError(
                f"length {short(length)} is outside {LEAST_LENGTH} to {most}{why}; for example --lengths {example}."
            )
    return tuple(sorted(lengths))


def not_held(target: Target, plan: Plan) -> Rule | None:
    """The first rule of a plan whose scheme, or an option of it, a target cannot hold."""
    held = (*target.schemes, SKIP.name)
    refused = target.refused_options.keys()
    return next((rule for rule in plan.rules if rule.scheme.name not in held or refused & rule.options.keys()), None)


def refusal(target: Target, rule: Rule) -> str:
    """Of a rule that is `not_held`: `target 'tflite' cannot hold scheme 'int4-g32'`, or which option of it."""
    option = "" if rule.scheme.name not in target.schemes else f"{_refused_option(target, rule)} of "
    return f"target '{target.name}' cannot hold {option}scheme '{rule.scheme.name}'"


def _refused_option(target: Target, rule: Rule) -> str:
    return next(name for name in rule.options if name in target.refused_options)


def checked_plan(targets: Sequence[Target], plan: Plan, minimum_ios: int) -> None:
    """Raise InputError when a target cannot hold a plan's scheme, or not on `minimum_ios`; nothing is swapped
    silently."""
    for target in targets:
        wrong = not_held(target, plan)
        if wrong is not None:
            raise InputError(f"{wrong.where}{refusal(target, wrong)}{_instead(target, wrong)}")
        if target.name == "coreml" and minimum_ios < plan.minimum_ios:
            rule = max(plan.rules, key=lambda each: each.scheme.minimum_ios)
            raise InputError(f"{rule.where}{_needs_newer(target, rule, minimum_ios)}")


def _needs_newer(target: Target, rule: Rule, minimum_ios: int) -> str:
    """What a rule needs of Core ML that iOS `minimum_ios` does not have: its scheme, or only the options of it."""
    scheme = rule.scheme
    give = f"needs iOS {scheme.minimum_ios} on Core ML; give --minimum-ios {scheme.minimum_ios}"
    if find_scheme(scheme.name).minimum_ios <= minimum_ios:
        options = " and ".join(rule.options)
        return f"scheme '{scheme.name}' with {options} {give}, or leave {options} out."
    older = [name for name in target.schemes if find_scheme(name).minimum_ios <= minimum_ios]
    return f"scheme '{scheme.name}' {give}, or one that iOS {minimum_ios} has: {', '.join(older)}."


def _instead(target: Target, rule: Rule) -> str:
    """The rest of the message: why, and what can be done."""
    name = rule.scheme.name
    if name in target.schemes:
        option = _refused_option(target, rule)
        return f" ({target.refused_options[option]}); leave {option} out, or choose another target."
    why = f" ({target.refused[name]})" if name in target.refused else ""
    return f"{why}; it can hold {', '.join(target.schemes)}."


def require_known_plan(artifact: Artifact) -> None:
    """Raise InputError for an artifact of a scheme, or of a plan with one, that this version does not know."""
    content, where = artifact.manifest.content, f"{artifact.folder / MANIFEST_FILE}: "
    # A plan has a name of its own, by which the artifact is called too.
    if content["scheme"] not in schemes() and not content["name"].endswith(f"-{content['scheme']}"):
        raise unknown("scheme", content["scheme"], schemes(), where)
    plan_from_json(content["scheme"], content["plan"], f"{where}its plan: ")


def checked_inputs(targets: Sequence[Target], model: Model, lengths: Sequence[int], minimum_ios: int) -> None:
    """Raise InputError where a target cannot have the inputs that a head needs."""
    one_input = len(lengths) > 1 and minimum_ios < 18 and any(target.name == "coreml" for target in targets)
    needs = "token types, to tell question and text apart" if model.config.reads_token_types else ""
    needs = needs if model.head.task == "question-answering" else ""
    if TASKS[model.head.task].asks_token:
        needs = "an input that says which token is asked for"
    if one_input and needs:
        raise InputError(
            f"{model.head.task} needs {needs}; before iOS 18 Core ML takes several lengths with one input only. Give "
            "one length, or --minimum-ios 18."
        )


def output_shape(compressed: CompressedModel) -> list[int | str]:
    """Shape of the graph's output; "length" is one of the exported lengths."""
    encoder, head = compressed.encoder, compressed.head
    if head.task == "fill-mask":
        return [1, encoder.vocab_size]
    if head.task == "sentence-embedding":
        return [1, head.dense[-1].out_size if head.dense else encoder.hidden_size]
    return [1, "length", len(head.labels)] if head.per_token else [1, len(head.labels)]


def checked_name(name: str, given: bool) -> str:
    """A model's name, as folders and files can have it. Raises InputError for one that is too long, and for one that
    the user has `given` and that would have to be changed."""
    if len(name) > _LONGEST_NAME:
        raise InputError(f"name '{name[:40]}...' has {len(name)} characters; at most {_LONGEST_NAME} (--name).")
    if given and _plain(name) != name:
        raise InputError(
            f"--name '{short(name)}': use letters, digits, '.', '_' and '-' only, such as '{_plain(name)}'."
        )
    return name


def artifact_name(model: Model, scheme: str) -> str:
    """`minilm-l6-int8`: the folder that holds the targets."""
    return f"{_plain(checked_name(model.name, given=False))}-{scheme}"


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
    tensors = tensor_entries(compressed, max(subject.lengths), target.codebooks)
    limits = thresholds_of(tensors)
    largest = max(abs(value) for entry in golden for value in entry["output"])
    output, task = compressed.head.output_name, compressed.head.task
    return {
        "schema": SCHEMA_VERSION,
        "name": artifact_name(model, compressed.scheme),
        "model": model.name,
        "task": task,
        "labels": list(compressed.head.labels),
        "problem_type": compressed.head.problem_type if task == "sequence-classification" else None,
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
        "plan": compressed.rules,
        "inputs": [_port(name, "int32", [1, "length"], _MEANING[name]) for name in emission.input_names],
        "outputs": [
            _port(output, "float32", output_shape(compressed), OUTPUTS[task]),
            *(_port(name, "float32", output_shape(compressed), _MEANING[name]) for name in emission.more_outputs),
        ],
        "lengths": [{"length": n, "entry": e} for n, e in sorted(emission.entry_points.items())],
        "exits": [],
        "tokenizer": _tokenizer(subject, emission, others),
        "parameters": compressed.parameters,
        "layers": compressed.encoder.layers,
        "tensors": tensors,
        "groups": groups(tensors),
        "golden": golden,
        "tolerance": {"host": limits.output.at(largest).to_dict(), "device": limits.device.at(largest).to_dict()},
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
        "mask_id": tokenizer.mask_id,
        "template": single,
        "pair_template": pair if takes_pairs(subject.compressed, emission) else [],
        "max_length": tokenizer.max_length,
        "prefix": subject.model.prefix,
        "parity_sha256": subject.parity_sha256,
    }


def _port(name: str, dtype: str, shape: list[int | str], meaning: str) -> Json:
    return {"name": name, "dtype": dtype, "shape": shape, "meaning": meaning}


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.") or "model"
