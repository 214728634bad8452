"""All checks of an artifact that need no labelled data, from the file and its manifest alone: no torch, no source."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from export.budget import budget_bytes
from export.registry import target as find_target
from export.stored import compare, some, stored_inputs, stored_weights
from export.thresholds import (
    CENTRED_COSINE,
    LEAST_COSINE,
    LENGTH_RATIO,
    PADDING_MARGIN,
    Thresholds,
    Tolerance,
    precision,
    thresholds_of,
)
from mobilekit.artifact import Artifact, Json, Manifest, size_and_hash
from mobilekit.errors import MobilekitError
from mobilekit.runtimes.runner import Runner
from mobilekit.text.parity import parity_digest
from mobilekit.text.tokenizer import TextTokenizer

Vector = NDArray[np.floating]
# An input's padding is filled with these instead of the pad id and zeros: nothing of it may be seen.
_GARBAGE_ID = 1
# Two logits this close, relative to their length, may change places when activations are quantized.
_CLOSE = 0.02
# The same where there are hundreds of tokens, of which one or another lies at the far end of what rounding does.
_CLOSE_OF_MANY = 0.06
_COPIES_OF_LABELS = 3


@dataclass(frozen=True)
class CheckResult:
    """One row: what was measured, what the limit is, and whether it held."""

    name: str
    passed: bool
    measured: str
    limit: str

    def to_dict(self) -> dict[str, Any]:
        """As the manifest has it."""
        return dict(vars(self))


def run_checks(
    artifact: Artifact,
    runner: Runner,
    progress: Callable[[str], None] = lambda _: None,
    more: Mapping[str, Callable[[], CheckResult]] | None = None,
) -> list[CheckResult]:
    """Every check, in order, and `more` by name; an error inside one is its failure, and the others still run."""
    checks: dict[str, Callable[[], CheckResult]] = {
        "files": lambda: check_files(artifact),
        "inputs": lambda: check_inputs(artifact),
        "weights": lambda: check_weights(artifact),
        "bytes": lambda: check_bytes(artifact),
        "tokenizer": lambda: check_tokenizer(artifact),
        "output": lambda: check_output(artifact, runner),
        "padding": lambda: check_padding(artifact, runner),
        "lengths": lambda: check_lengths(artifact, runner),
        "delegation": lambda: report_delegation(runner),
        **(more or {}),
    }
    results = []
    for name, check in checks.items():
        progress(f"checking {name}")
        try:
            results.append(check())
        except Exception as error:  # noqa: BLE001 (whatever a manifest or a file makes of a check, it did not hold)
            kind = "" if isinstance(error, MobilekitError) else f"{type(error).__name__}: "
            results.append(CheckResult(name, False, f"error: {kind}{error}"[:300], ""))
    return results


def check_files(artifact: Artifact) -> CheckResult:
    """Every file has the sha256 of the manifest."""
    altered = artifact.altered()
    count = 1 + len(artifact.manifest.content["files"])
    said = f"missing or altered: {', '.join(altered)}" if altered else f"{count} equal"
    return CheckResult("files", not altered, said, "sha256")


def check_inputs(artifact: Artifact) -> CheckResult:
    """The file takes int32 [1, length] under the names and lengths of the manifest, and nothing else."""
    manifest = artifact.manifest
    found = stored_inputs(find_target(manifest.target), artifact.model_path)
    expected = {(entry, name, length) for length, entry in manifest.lengths.items() for name in manifest.input_names}
    got = {(i.entry, i.name, i.shape[-1]) for i in found}
    wrong = [f"{i.name} is {i.dtype} {list(i.shape)}" for i in found if i.dtype != "int32" or len(i.shape) != 2]
    wrong += [f"{i.name} has batch {i.shape[0]}" for i in found if i.shape[:1] != (1,)]
    if got != expected:
        wrong.append(f"entries {sorted(got)} instead of {sorted(expected)}")
    return CheckResult("inputs", not wrong, "; ".join(wrong) or f"{len(found)} int32", "int32 [1, length]")


def check_weights(artifact: Artifact) -> CheckResult:
    """Weights decoded from the file equal the records, bit for bit, and each matrix is there once."""
    content = artifact.manifest.content
    stored = stored_weights(find_target(artifact.manifest.target), artifact.model_path)
    found = compare(stored, content["tensors"])
    said = f"{found.equal} of {len(content['tensors'])} equal" + (f"; {found.faults}" if found.faults else "")
    return CheckResult("weights", found.holds, said, "all equal, each once")


def check_bytes(artifact: Artifact) -> CheckResult:
    """The model file keeps its byte budget."""
    content = artifact.manifest.content
    target = find_target(artifact.manifest.target)
    lengths = list(artifact.manifest.lengths)
    tensors = content["tensors"]
    limit = budget_bytes(target, precision(tensors), tensors, content["layers"], lengths)
    # Labels are in the file's metadata too, in one format twice.
    limit += _COPIES_OF_LABELS * len(json.dumps(content["labels"]).encode())
    # What the file carries for task libraries, its vocabulary above all.
    limit += target.attached_bytes(artifact.model_path)
    size, _ = size_and_hash(artifact.model_path)
    said = f"{size:,}" if size == content["bytes"] else f"{size:,}, not the {content['bytes']:,} of the manifest"
    return CheckResult("bytes", content["bytes"] == size <= limit, said, f"<= {limit:,}")


def check_tokenizer(artifact: Artifact) -> CheckResult:
    """The artifact's tokenizer gives the source's ids and offsets on 500 mixed strings, alone and in pairs."""
    about = artifact.manifest.content["tokenizer"]
    text = (artifact.folder / about["file"]).read_text(encoding="utf-8")
    same = parity_digest(TextTokenizer(text, about["max_length"])) == about["parity_sha256"]
    return CheckResult(
        "tokenizer", same, "equal" if same else "differs from the source", "ids and offsets of 500 texts"
    )


def check_output(artifact: Artifact, runner: Runner) -> CheckResult:
    """Outputs equal torch's on the decoded weights, on the golden inputs."""
    got = [golden_output(runner, entry) for entry in artifact.manifest.content["golden"]]
    return hold_golden("output", artifact, got, tolerances(artifact).output)


def golden_output(runner: Runner, entry: Json, length: int | None = None) -> Vector:
    """What the engine gives for a golden input, padding's rows left out. length: as in a call of the runner."""
    return _run_ids(runner, entry["input_ids"], entry["token_type_ids"], length, entry["predict"])


def hold_golden(name: str, artifact: Artifact, outputs: Sequence[Vector], tolerance: Tolerance) -> CheckResult:
    """Whether outputs of the golden inputs, one for each and without padding, lie within a tolerance of torch's."""
    golden = artifact.manifest.content["golden"]
    got = [listed(o, entry["rows"], entry["columns"]).ravel() for o, entry in zip(outputs, golden, strict=True)]
    expected = [np.array(entry["output"], np.float32) for entry in golden]
    for g, e in zip(got, expected, strict=True):
        if g.shape != e.shape:
            return CheckResult(name, False, f"{g.size} values instead of {e.size}", "as in golden")
    tolerance = tolerance.at(_largest(expected))
    embeds = artifact.manifest.task == "sentence-embedding"
    passed, measured = hold(tolerance, got, expected, together=not embeds)
    if not embeds:
        kept, said = hold_answers(_kind(artifact.manifest), got, expected)
        passed, measured = passed and kept, measured + said
    elif tolerance.metric == "cosine":
        # A cosine does not see lengths, and apps take dot products.
        ratio = max(abs(float(np.linalg.norm(g) / np.linalg.norm(e)) - 1) for g, e in zip(got, expected, strict=True))
        passed, measured = passed and ratio <= LENGTH_RATIO, measured + f"; lengths within {ratio:.1%}"
    sign = "<=" if tolerance.metric == "max_abs" else ">="
    return CheckResult(name, passed, measured, f"{tolerance.metric} {sign} {tolerance.limit:g}")


def tolerances(artifact: Artifact) -> Thresholds:
    """Those of what its tensors are kept in."""
    return thresholds_of(artifact.manifest.content["tensors"])


def hold(tolerance: Tolerance, got: list[Vector], expected: list[Vector], together: bool) -> tuple[bool, str]:
    """Whether outputs lie within a tolerance, and what was measured.

    Cosines are those of single embeddings, of which the mean has to keep the limit, and the least that or LEAST_COSINE,
    whichever is less. Logits are few, and theirs is that of all inputs' `together`.
    """
    if not all(np.isfinite(g).all() for g in got):
        return False, "not finite"
    if tolerance.metric == "max_abs":
        worst = max(float(np.abs(g - e).max()) for g, e in zip(got, expected, strict=True))
        return worst <= tolerance.limit, f"{worst:.1e}"
    if together:
        got, expected = [np.concatenate(got)], [np.concatenate(expected)]
    cosines = [_cosine(g, e) for g, e in zip(got, expected, strict=True)]
    mean, least = sum(cosines) / len(cosines), min(cosines)
    said = f"{mean:.5f}" + (f", least {least:.5f}" if len(cosines) > 1 else "")
    return mean >= tolerance.limit and least >= min(LEAST_COSINE, tolerance.limit), said


def listed(output: Vector, rows: Sequence[int] | None, columns: Sequence[int] | None) -> Vector:
    """The values that a manifest lists of an output: [rows, columns] of it, None for all."""
    if rows is not None:
        output = output[list(rows)]
    return output if columns is None else output[..., list(columns)]


@dataclass(frozen=True)
class Kind:
    """What logits say. width: values a row. choice: whether a row is one choice among its columns. answers: whether
    there is an answer to compare (not in regression). close: how near, relative to a row's length, values may lie to
    change places."""

    width: int
    choice: bool
    answers: bool = True
    close: float = _CLOSE


def _kind(manifest: Manifest) -> Kind:
    if manifest.task == "sequence-classification":
        problem = manifest.content["problem_type"]
        return Kind(len(manifest.labels), problem == "single_label_classification", problem != "regression")
    if manifest.task == "fill-mask":
        return Kind(len(manifest.content["golden"][0]["output"]), choice=True)
    choice = manifest.task == "token-classification"
    return Kind(len(manifest.labels), choice, answers=choice, close=_CLOSE_OF_MANY)


def hold_answers(kind: Kind, got: list[Vector], expected: list[Vector]) -> tuple[bool, str]:
    """Whether logits say the same, beyond what their cosine sees: a common offset would hide everything from that.

    Centred logits (for one choice of many each row's own mean taken off, else each column's mean over the rows) have
    to keep CENTRED_COSINE, and answers that are not a matter of rounding have to be the same. A row is an input, or a
    token of one.
    """
    e, g = (np.concatenate([v.reshape(-1, kind.width) for v in vs]).astype(np.float64) for vs in (expected, got))
    middle, shift = (e.mean(1, keepdims=True), g.mean(1, keepdims=True)) if kind.choice else (e.mean(0), e.mean(0))
    size = float(np.linalg.norm(e - middle))
    said, kept = "", True
    if size:
        centred = _cosine((g - shift).ravel(), (e - middle).ravel())
        kept, said = centred >= CENTRED_COSINE, f"; centred {centred:.5f}"
    if kind.answers:
        margin, differ = kind.close * size / len(e) ** 0.5, _flipped if kind.choice else _signs_flipped
        flips = sum(differ(a, b, margin) for a, b in zip(e, g, strict=True))
        kept, said = kept and not flips, said + (f"; {flips} answers changed" if flips else "")
    return kept, said


def check_padding(artifact: Artifact, runner: Runner) -> CheckResult:
    """The output does not change with padding: at every longer length, and whatever stands in the padded places."""
    golden = artifact.manifest.content["golden"]
    size = _largest([np.array(entry["output"]) for entry in golden])
    limit = tolerances(artifact).padding.at(size).limit
    worst, flips, tried = 0.0, 0, 0
    for entry in golden:
        base = golden_output(runner, entry)
        for other in _padded_outputs(artifact, runner, entry):
            tried += 1
            difference = np.abs(other - base).max()
            worst = max(worst, float(difference) if np.isfinite(difference) else float("inf"))
            if artifact.manifest.task != "sentence-embedding":
                rows = zip(np.atleast_2d(base), np.atleast_2d(other), strict=True)
                flips += sum(_flipped(one, two, limit) for one, two in rows)
    measured = f"{worst:.1e} in {tried}" + (f"; {flips} answers changed" if flips else "")
    return CheckResult("padding", worst <= limit and not flips, measured, f"<= {limit:g}")


def check_lengths(artifact: Artifact, runner: Runner) -> CheckResult:
    """Every input length gives a finite answer, and not the same one to all."""
    manifest = artifact.manifest
    longest = max(manifest.content["golden"], key=lambda e: len(e["input_ids"]))["input_ids"]
    sizes = list(range(1, len(longest) + 1))
    if not runner.engine.timed:
        # The reference interpreter is slow: every sixteenth length, and those around each exported one.
        near = {n + d for n in manifest.lengths for d in (-1, 0, 1)}
        sizes = [n for n in sizes if n <= 3 or n % 16 == 8 or n in near]
    # Of what has a row for each token the first, whose states have seen all others.
    outputs = np.stack([np.atleast_2d(_run_ids(runner, longest[:n], None, None, 0))[0] for n in sizes])
    bad = [n for n, output in zip(sizes, outputs, strict=True) if not np.isfinite(output).all()]
    said = f"{len(sizes)} of {len(longest)} tried"
    if bad:
        return CheckResult("lengths", False, f"{said}; not finite at {some(map(str, bad))}", "finite, not constant")
    constant = len(sizes) > 1 and float(np.ptp(outputs, axis=0).max()) < 1e-6
    return CheckResult("lengths", not constant, said + ("; constant" if constant else ""), "finite, not constant")


def report_delegation(runner: Runner) -> CheckResult:
    """The share of operations that the engine's fast backend took; a report, no gate."""
    counts = runner.delegation()
    if counts is None or not counts["total"]:
        return CheckResult("delegation", True, "-", "reported")
    share = 100 * counts["delegated"] / counts["total"]
    return CheckResult("delegation", True, f"{share:.0f} % of {counts['total']} operations", "reported")


def _padded_outputs(artifact: Artifact, runner: Runner, entry: Json) -> Iterator[Vector]:
    names, ids, types = artifact.manifest.input_names, entry["input_ids"], entry["token_type_ids"]
    for length in artifact.manifest.lengths:
        gap = length - len(ids)
        if gap < 1:
            continue
        yield golden_output(runner, entry, length)
        if "attention_mask" in names:
            # Where the mask is an input, what stands in the padded places must not matter at all.
            mask = [1] * len(ids) + [0] * gap
            garbage = [i % 7 + _GARBAGE_ID for i in range(gap)]
            output = runner(ids + garbage, mask, types + [max(types)] * gap, length, entry["predict"])
            values = output[artifact.manifest.output_name][0]
            yield values[: len(ids)] if artifact.manifest.per_token else values


def _run_ids(
    runner: Runner, ids: list[int], types: list[int] | None, length: int | None, predict: int | None
) -> Vector:
    return runner(ids, None, types, length, predict)[runner.artifact.manifest.output_name][0]


def _largest(outputs: Sequence[Vector]) -> float:
    return max(float(np.abs(output).max(initial=0.0)) for output in outputs)


def _flipped(base: Vector, other: Vector, limit: float) -> bool:
    if base.size < 2:
        return False
    top = np.sort(base)[-2:]
    close = float(top[1] - top[0]) <= PADDING_MARGIN * limit
    return not close and int(base.argmax()) != int(other.argmax())


def _signs_flipped(base: Vector, other: Vector, limit: float) -> bool:
    return bool(((np.sign(base) != np.sign(other)) & (np.abs(base) > PADDING_MARGIN * limit)).any())


def _cosine(a: Vector, b: Vector) -> float:
    x, y = a.astype(np.float64), b.astype(np.float64)
    norms = float(np.linalg.norm(x) * np.linalg.norm(y))
    return float(x @ y) / norms if norms else 0.0
