"""`export`: a model becomes checked artifacts, one folder a target, side by side where the machine allows."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import psutil

from export.arm64 import arm64_check
from export.check import CheckResult, check_files, run_checks
from export.gate import Gate
from export.golden import golden
from export.judge import Judge, data_check, data_result, judge_of_artifact, judge_of_export
from export.manifest import (
    DEFAULT_LENGTHS,
    MINIMUM_IOS,
    Subject,
    artifact_name,
    build_manifest,
    checked_inputs,
    checked_lengths,
    checked_plan,
    file_name,
    not_held,
    require_known_plan,
    subject,
    takes_pairs,
)
from export.readme import readme
from export.registry import GraphSpec, Target, target_of, targets
from export.registry import target as find_target
from export.result import ExportError as ExportError
from export.result import ExportResult as ExportResult
from export.worker import Workers, shared_workers
from mobilekit.artifact import MANIFEST_FILE, Artifact, Json, open_folder, write_manifest
from mobilekit.compression.compressed import CompressedModel, save_records
from mobilekit.compression.folder import compressed_of
from mobilekit.compression.plan import Plan, plan_of
from mobilekit.errors import EngineError, InputError, MissingExtraError, MobilekitError
from mobilekit.host import describe, is_installed
from mobilekit.models.load import load
from mobilekit.models.model import Model
from mobilekit.runtimes.arm64.emulation import emulation
from mobilekit.runtimes.runner import Runner, open_artifact
from mobilekit.staging import refuse_existing, refuse_unwritable, require_space, scratch, staged
from mobilekit.text.tokenizer import TOKENIZER_FILE, VOCABULARY_FILE
from mobilekit.version import __version__

Report = Callable[[str, str], None]
# What a conversion engine takes besides a few copies of the model.
_ENGINE_BYTES = 2_500_000_000
_MODEL_COPIES = 6
_TIMED_RUNS = 20


def export(
    model: str | Path | Model = "minilm-l6",
    target: str | Sequence[str] | None = None,
    scheme: str | Plan = "int8",
    *,
    texts: Sequence[str] | None = None,
    lengths: Sequence[int] = DEFAULT_LENGTHS,
    minimum_ios: int = 18,
    out: str | Path = "out",
    force: bool = False,
    keep_failing: bool = False,
    gate: Gate | None = None,
    report: Report = lambda target, text: None,
) -> list[ExportResult]:
    """Compress a model once and write it for each target, check every file, and time it.

    model: a built-in name, a folder, a hub id, or a loaded Model. target: one, several, or None for all. scheme: as
    `list schemes` prints, or a plan or its TOML file. texts: what activations are looked at on (None: built-in text).
    lengths: sequence lengths of one artifact. minimum_ios: 16, 17 or 18. out: the artifacts go to
    `out/<model>-<scheme>/<target>`. force: replace what is there. keep_failing: keep an artifact that fails a check,
    marked. gate: what artifacts are judged by on data, None: not at all. report(target, text) is told what is being
    done.

    Raises InputError before any work when something asked for is impossible, ExportError (with all results) when a
    target failed.
    """
    plan = plan_of(scheme)
    chosen = [find_target(name) for name in prepare(target, plan, minimum_ios)]
    refuse_unwritable(Path(out))
    loaded = model if isinstance(model, Model) else load(model)
    wanted = checked_lengths(lengths, loaded)
    checked_inputs(chosen, loaded, wanted, minimum_ios)
    place = Path(out) / artifact_name(loaded, plan.name)
    refuse_unwritable(place)
    for each in chosen:
        refuse_existing(place / each.name, force, MANIFEST_FILE)
    if gate is not None:
        gate.check(loaded)
    report("model", "compressing the weights")
    compressed = compressed_of(loaded, plan, texts)
    require_space(place, _space(compressed, len(chosen)))
    entries = golden(compressed, loaded, wanted)
    judge = None
    if gate is not None:
        judge = judge_of_export(gate, loaded, compressed, wanted, functools.partial(report, "model"))
    job = _Job(subject(loaded, compressed, wanted), entries, minimum_ios, place, force, keep_failing, report, judge)
    report("model", "compressed")
    for each in chosen:
        report(each.name, "waiting for its turn")
    with scratch(place, "records") as folder:
        save_records(compressed, folder / "records.safetensors")
        results = job.run_all(chosen, folder / "records.safetensors")
    if not all(result.passed for result in results):
        raise ExportError(results)
    return results


def prepare(target: str | Sequence[str] | None, scheme: str | Plan, minimum_ios: int) -> list[str]:
    """Names of the targets asked for; raises InputError for whatever can be refused before a model is loaded."""
    names = list(targets()) if target is None else [target] if isinstance(target, str) else list(dict.fromkeys(target))
    if not names:
        raise InputError("no target given.")
    chosen = [find_target(name) for name in names]
    plan = plan_of(scheme)
    if target is None:
        # All targets means all that have the scheme, or each of a plan's where any has.
        chosen = [each for each in chosen if not_held(each, plan) is None] or chosen
    if minimum_ios not in MINIMUM_IOS:
        raise InputError(f"--minimum-ios {minimum_ios} is unknown; choose from {', '.join(map(str, MINIMUM_IOS))}.")
    checked_plan(chosen, plan, minimum_ios)
    for each in chosen:
        _require_packages(each)
    return [each.name for each in chosen]


@dataclass(frozen=True)
class _Job:
    """One export. interrupted: set when the user has ended it; whatever thread sees it gives up."""

    subject: Subject
    golden: list[Json]
    minimum_ios: int
    place: Path
    force: bool
    keep_failing: bool
    tell: Report
    judge: Judge | None = None
    interrupted: threading.Event = field(default_factory=threading.Event)

    def report(self, target: str, text: str) -> None:
        """Tell the user what is being done; raises InputError once the export is interrupted."""
        self.stop_if_interrupted()
        self.tell(target, text)

    def stop_if_interrupted(self) -> None:
        """Raise InputError once the export is interrupted."""
        if self.interrupted.is_set():
            raise InputError("interrupted.")

    def run_all(self, chosen: Sequence[Target], records: Path) -> list[ExportResult]:
        """Write and check all targets side by side, then time them one after the other, undisturbed."""
        workers = shared_workers()
        slots = _slots(self.subject.compressed, len(chosen))
        with ThreadPoolExecutor(max_workers=slots) as pool:
            futures = [pool.submit(self.run_one, target, records, workers) for target in chosen]
            try:
                written = [future.result() for future in futures]
            except BaseException:
                # Interrupted: the engines end at once, so that the threads do too and clean up behind them.
                self.interrupted.set()
                pool.shutdown(wait=False, cancel_futures=True)
                workers.close()
                raise
        return [self._timed(result, runner) for result, runner in written]

    def run_one(self, target: Target, records: Path, workers: Workers) -> tuple[ExportResult, Runner | None]:
        """Write one artifact beside its place, check it there, and move it in when it passes."""
        place = self.place / target.name
        runner = None
        try:
            with staged(place, self.force, MANIFEST_FILE) as folder:
                manifest = self._write(target, records, workers, folder)
                runner = open_artifact(Artifact(folder, write_manifest(folder, manifest)))
                tell = functools.partial(self.report, target.name)
                checks = run_checks(runner.artifact, runner, tell, data_check(self.judge, runner, tell))
                failed, measured = [check for check in checks if not check.passed], data_result(checks)
                manifest |= {"checks": [c.to_dict() for c in checks], "status": "failed" if failed else "passed"}
                manifest |= measured.in_manifest() if measured else {}
                write_manifest(folder, manifest)
                if failed and not self.keep_failing:
                    raise _NotKeptError(manifest, tuple(checks))
                self.stop_if_interrupted()
        except _NotKeptError as failure:
            _close(runner)
            self.tell(target.name, "failed a check")
            return ExportResult(target.name, None, failure.manifest, failure.checks), None
        except Exception as caught:  # noqa: BLE001 (one target's bug must not take the others with it)
            error = caught if isinstance(caught, MobilekitError) else _bug(caught)
            _close(runner)
            self.tell(target.name, f"failed: {error}")
            return ExportResult(target.name, None, {}, (), error=error), None
        self.tell(target.name, "written and checked")
        return ExportResult(target.name, place, manifest, tuple(checks)), runner

    def _write(self, target: Target, records: Path, workers: Workers, folder: Path) -> Json:
        about = self.subject
        tokenizer = about.model.tokenizer
        (folder / TOKENIZER_FILE).write_text(tokenizer.serialized(), encoding="utf-8")
        spec = GraphSpec(
            about.lengths, _swift(target, about), self.minimum_ios, _metadata(about), folder / TOKENIZER_FILE
        )
        self.report(target.name, "starting the engine")
        emission = workers.emit(
            target.name, records, spec, folder / file_name(target, about), lambda text: self.report(target.name, text)
        )
        vocabulary = tokenizer.vocabulary()
        if vocabulary is not None:
            (folder / VOCABULARY_FILE).write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
        entries = [e for e in self.golden if e["text_pair"] is None or takes_pairs(about.compressed, emission)]
        pairs = [entry for entry in entries if entry["text_pair"] is not None]
        reads = about.compressed.head.task == "question-answering" and pairs
        text = readme(about, target, emission, pairs[0] if reads else entries[1])
        (folder / "README.md").write_text(text, encoding="utf-8")
        return build_manifest(about, target, emission, entries, folder)

    def _timed(self, result: ExportResult, runner: Runner | None) -> ExportResult:
        if runner is None:
            return result
        with runner:
            timed = runner.engine.timed
            times: dict[int, float | None] = {
                n: median(runner.time(n, _TIMED_RUNS)) if timed else None for n in self.subject.lengths
            }
            load_ms = runner.load_ms if timed else None
        return ExportResult(result.target, result.folder, result.manifest, result.checks, load_ms, times)


class _NotKeptError(Exception):
    """Leaves the staging block so that nothing is moved into place."""

    def __init__(self, manifest: Json, checks: tuple[CheckResult, ...]) -> None:
        super().__init__()
        self.manifest, self.checks = manifest, checks


def recheck(
    folder: str | Path,
    report: Callable[[str], None] = lambda text: None,
    gate: Gate | None = None,
    arm64: bool = False,
) -> tuple[Artifact, list[CheckResult]]:
    """All checks of an artifact again, from its files, and on the data of a gate. arm64: also on a phone's instruction
    set, under emulation.

    Raises ArtifactError when it cannot be opened at all, InputError when the gate is not one for it, or nothing here
    runs its file on arm64.
    """
    artifact = open_folder(folder)
    target_of(artifact)
    require_known_plan(artifact)
    emulated = emulation(artifact.manifest.target) if arm64 else None
    if artifact.is_altered(artifact.manifest.content["file"]):
        # Nothing else can be said of a file that is not the one which was exported.
        return artifact, [check_files(artifact)]
    with open_artifact(artifact) as runner:
        judge = None if gate is None else judge_of_artifact(gate, runner, report)
        more = {**arm64_check(emulated, artifact, runner), **data_check(judge, runner, report)}
        return artifact, run_checks(artifact, runner, report, more)


def _bug(error: Exception) -> MobilekitError:
    made = EngineError(f"this is a bug in mobilekit: {type(error).__name__}: {error} (please report it)")
    made.__cause__ = error
    return made


def _close(runner: Runner | None) -> None:
    if runner is not None:
        runner.close()


def _require_packages(target: Target) -> None:
    for package in target.packages:
        if not is_installed(package):
            raise MissingExtraError(package, target.extra, f"target '{target.name}'")


def _slots(compressed: CompressedModel, count: int) -> int:
    """How many targets are written at once: as many as there are cores, and as memory holds."""
    each = _ENGINE_BYTES + _MODEL_COPIES * 4 * compressed.parameters
    return max(1, min(count, describe().cpus, int(psutil.virtual_memory().available // each)))


def _space(compressed: CompressedModel, count: int) -> int:
    """Bytes on disk: the records once, and for each target its file and as much again while it is being written."""
    payload = sum(record.payload_bytes for record in compressed.records.values())
    return int(payload * (1 + 2 * count)) + 20_000_000


def _swift(target: Target, about: Subject) -> str:
    return file_name(target, about).rsplit(".", 1)[0]


def _metadata(about: Subject) -> dict[str, str]:
    model, compressed = about.model, about.compressed
    found = {
        "mobilekit": __version__,
        "model": model.name,
        "source": model.source.id,
        "license": model.source.license,
        "task": compressed.head.task,
        "labels": "\n".join(compressed.head.labels),
        "scheme": compressed.scheme,
        "prefix": model.prefix,
    }
    return {name: value for name, value in found.items() if value}
