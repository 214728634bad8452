"""`bench`: artifacts measured in turn, beside peers of the same weights, and held against float model and teacher."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.environment import environment
from benchmarks.measuring.accuracy import FLOAT, SLOW_ROWS, TEACHER, Examiner
from benchmarks.measuring.contender import Contender
from benchmarks.measuring.peers import Peers, peers_of
from benchmarks.measuring.rows import artifact_row, ratios, row, timings
from benchmarks.measuring.texts import Texts, reading, rows_of, texts_for
from benchmarks.measuring.turns import ROWS, TEXTS, Measured, Outcome, Protocol, Work, measure
from benchmarks.reports.report import LONGEST_NAME, SCHEMA_VERSION, Report, validated
from export.check import check_output
from export.gate import Gate, check_float_model, head_in, ordered
from mobilekit.artifact import Artifact
from mobilekit.compression.pack.pack import pack
from mobilekit.errors import InputError, short
from mobilekit.manifest_rules import CONTROL
from mobilekit.models.config import HeadConfig
from mobilekit.models.model import Model
from mobilekit.runtimes.answer import artifact_tokenizer
from mobilekit.runtimes.base import EngineInfo, engine
from mobilekit.runtimes.runner import DEFAULT_THREADS, open_artifact, verified
from mobilekit.text.tokenizer import TextTokenizer
from mobilekit.version import __version__

_SERVICE = "benchmarks.measuring.artifact_subject:service"
Say = Callable[[str], None]
Json = dict[str, Any]


@dataclass(frozen=True)
class Request:
    """What is asked for.

    engines: others beside the usual ones, each for the artifacts that it runs: rows of their own. peers: names of
    peers, made of `float_model`, which they need. gate: data, float model and teacher (its max_drop is not read); None:
    no accuracy. slow_rows: the most rows for an
    engine whose milliseconds mean nothing. base: the name of the row that ratios are to; None: the first that is timed.
    packed: whether artifacts are packed, to see how small they get.
    """

    artifacts: Sequence[Path]
    protocol: Protocol = field(default_factory=lambda: Protocol(DEFAULT_THREADS))
    engines: Sequence[str] = ()
    peers: Sequence[str] = ()
    float_model: Model | None = None
    gate: Gate | None = None
    slow_rows: int = SLOW_ROWS
    base: str | None = None
    packed: bool = True


@dataclass(frozen=True)
class _Opened:
    name: str
    artifact: Artifact
    info: EngineInfo
    tokenizer: TextTokenizer


def bench(request: Request, say: Say = lambda text: None) -> Report:
    """Measure artifacts, and give the report.

    Raises ArtifactError for what is no artifact or was altered, InputError for data or models of another task, and
    EngineError where an engine fails. A peer that fails is a row that says so.
    """
    opened = _open(request)
    _refuse_names(opened, request)
    _refuse_mixed(opened, request.gate is not None)
    for each in opened:
        if request.gate is not None:
            request.gate.check_artifact(each.artifact.manifest, each.tokenizer)
        elif request.float_model is not None:
            check_float_model(request.float_model, each.artifact.manifest, each.tokenizer)
    texts = _texts(opened[0], request.gate)
    contenders = [
        contender_of(each.name, each.artifact, each.info.name, each.tokenizer, texts)
        for each in opened
        if each.info.timed
    ]
    _check_base(request, contenders)
    rows = {each.name: _about(each, request, say) for each in opened}
    with tempfile.TemporaryDirectory(prefix="mobilekit-peers-") as folder:
        peers = peers_of(
            request.float_model,
            tuple(dict.fromkeys(request.peers)),
            _lengths(opened),
            texts,
            Path(folder),
            request.protocol,
            say,
        )
        rows |= peers.rows
        contenders += peers.contenders
        works: list[Work] = [*sorted({length for each in contenders for length in each.lengths}), ROWS, TEXTS]
        outcome = measure(contenders, works, request.protocol, say)
        for found in outcome.measured:
            rows[found.contender.name] |= timings(found)
        for name, reason in outcome.failed.items():
            rows[name]["error"] = reason
        models = _accuracy(opened, peers, outcome, rows, request, say)
    base = _base(request, outcome.measured)
    return _report(request, texts, [*models, *rows.values()], ratios(outcome.measured, base) if base else [])


def _lengths(opened: Sequence[_Opened]) -> tuple[int, ...]:
    """Those of all artifacts."""
    return tuple(sorted({length for each in opened for length in each.artifact.manifest.lengths}))


def _open(request: Request) -> list[_Opened]:
    if not request.artifacts:
        raise InputError("no artifact to measure; give one or more folders that `mobilekit export` wrote.")
    found = [verified(path, request.protocol.threads) for path in request.artifacts]
    names = [f"{artifact.manifest.content['name']}/{artifact.manifest.target}" for artifact, _ in found]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise InputError(f"two artifacts are called {name}; give one of them, or export with another scheme.")
    opened = [
        _Opened(name, artifact, info, artifact_tokenizer(artifact))
        for name, (artifact, info) in zip(names, found, strict=True)
    ]
    engines = dict.fromkeys(request.engines)
    return opened + [each for engine_name in engines for each in _beside(opened, engine(engine_name), request)]


def _beside(opened: Sequence[_Opened], info: EngineInfo, request: Request) -> list[_Opened]:
    """The artifacts that another engine runs, for it."""
    fitting = [each for each in opened if each.info.target == info.target and each.info.name != info.name]
    if not fitting:
        raise InputError(f"--engine {info.name}: runs {info.target} files, and none is given that it does not run.")
    for each in fitting:
        verified(each.artifact, request.protocol.threads, info.name)
    return [replace(each, name=f"{each.name} ({info.name})", info=info) for each in fitting]


def _refuse_names(opened: Sequence[_Opened], request: Request) -> None:
    """Raise InputError for a name that no report takes: after an hour of measuring it would be late."""
    gate = request.gate
    models = [] if gate is None else [model for model in (gate.teacher, gate.against) if model is not None]
    data = [] if gate is None else [gate.data.name]
    for name in (*(each.name for each in opened), *data, *(f"{model.name} ({TEACHER})" for model in models)):
        if len(name) > LONGEST_NAME or CONTROL.search(name):
            raise InputError(
                f"{short(repr(name))}: a report takes names of at most {LONGEST_NAME} characters and none that "
                "control a terminal; call it otherwise."
            )


def _refuse_mixed(opened: Sequence[_Opened], judged: bool) -> None:
    """Raise InputError for artifacts that do not read the same texts, or do not answer with the same labels."""
    first, (head, reads) = opened[0], _told(opened[0])
    for each in opened[1:]:
        own, reading_own = _told(each)
        if reading_own != reads:
            raise InputError(
                f"{each.name}: is a {own.task} model and {first.name} a {head.task} model, and they read other texts; "
                "measure each on its own."
            )
        if judged and own != head:
            raise InputError(
                f"{each.name}: its labels ({', '.join(own.labels)}) are not those of {first.name} "
                f"({', '.join(head.labels)}), in another order, or of another kind; measure each on its own."
            )


def _told(one: _Opened) -> tuple[HeadConfig, tuple[str, str | None]]:
    """What an artifact answers, and what it reads."""
    head = head_in(one.artifact.manifest)
    if head.problem_type == "regression":
        # A value has no name that would matter.
        head = replace(head, labels=("value",) * len(head.labels))
    return head, reading(head.task, one.tokenizer.mask_token)


def _texts(one: _Opened, gate: Gate | None) -> Texts:
    return texts_for(one.artifact.manifest.task, None if gate is None else gate.data, one.tokenizer.mask_token)


def contender_of(name: str, artifact: Artifact, engine_name: str, tokenizer: TextTokenizer, texts: Texts) -> Contender:
    """An artifact in an engine, to be measured with texts. tokenizer: its own."""
    manifest = artifact.manifest
    rows = rows_of(texts, tokenizer, manifest.content["tokenizer"]["prefix"], manifest.max_length, manifest.task)
    return Contender(
        name,
        _SERVICE,
        {"path": str(artifact.folder.resolve()), "engine": engine_name},
        tuple(manifest.lengths),
        int(manifest.content["golden"][0]["input_ids"][0]),
        rows,
        texts.items,
    )


def _about(one: _Opened, request: Request, say: Say) -> Json:
    """A row with all but timings and accuracy."""
    found = artifact_row(one.name, one.artifact, one.info.name)
    say(f"checking {one.name}")
    with open_artifact(one.artifact, request.protocol.threads, one.info.name) as runner:
        check = check_output(one.artifact, runner)
        found["self_check"] = {"passed": check.passed, "said": short(f"{check.measured} ({check.limit})", 200)}
        found["delegation"] = runner.delegation()
    if request.packed:
        say(f"packing {one.name}")
        with tempfile.TemporaryDirectory() as folder:
            found["packed_bytes"] = pack(one.artifact.folder, Path(folder) / "artifact.mkpack")[1].size
    return found


def _check_base(request: Request, contenders: Sequence[Contender]) -> None:
    names = [*(each.name for each in contenders), *request.peers]
    if request.base is not None and request.base not in names:
        raise InputError(f"--base {short(request.base)}: is none of what is timed: {', '.join(names) or 'nothing'}.")


def _base(request: Request, measured: Sequence[Measured]) -> str | None:
    """What ratios are to; the first where a peer was asked for that could not be made."""
    names = [each.contender.name for each in measured]
    return request.base if request.base in names else next(iter(names), None)


def _accuracy(
    opened: Sequence[_Opened], peers: Peers, outcome: Outcome, rows: dict[str, Json], request: Request, say: Say
) -> list[Json]:
    """Let all answer the data; accuracy goes into their rows. Returns the rows of float model and teacher."""
    gate = request.gate
    if gate is None:
        return []
    head, models = head_in(opened[0].artifact.manifest), []
    length = min(each.artifact.manifest.max_length for each in opened)
    examiner = Examiner(gate.data, head, length, gate.limit, request.slow_rows)
    # The teacher first: the float model is held against it, too.
    for name, model in ((TEACHER, ordered(gate.teacher, head)), (FLOAT, ordered(gate.against, head))):
        if model is not None:
            tell = _counting(say, f"the {name} model")
            found = examiner.ask_model(name, model, tell)
            parameters = sum(each.numel() for each in model.module.parameters())
            models.append(row(f"{model.name} ({name})", "model", model.name, parameters=parameters, accuracy=found))
    for each in opened:
        say(f"asking {each.name}")
        with open_artifact(each.artifact, request.protocol.threads, each.info.name) as runner:
            rows[each.name]["accuracy"] = examiner.ask_artifact(runner)
    for name, values in peers.accuracies(examiner, request.protocol.threads, say, outcome.failed):
        rows[name] |= values
    return models


def _counting(say: Say, who: str) -> Callable[[int, int], None]:
    return lambda done, count: say(f"step {done} of {count} rows for {who}")


def _report(request: Request, texts: Texts, rows: list[Json], ratios: list[Json]) -> Report:
    about = environment()
    protocol = request.protocol
    device = {name: about[name] for name in ("system", "machine", "processor", "cpus", "cpu_features", "memory_bytes")}
    return validated(
        {
            "schema": SCHEMA_VERSION,
            "kind": "host",
            "synthetic": False,
            "made_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "tool": {"name": "mobilekit", "version": __version__},
            "device": {
                **device,
                "name": f"host, {about['processor'] or about['machine']}",
                "load_average_1_min": about["load_average_1_min"],
                "governor": _governor(),
            },
            "versions": about["versions"],
            "protocol": {
                "threads": protocol.threads,
                "load_processes": protocol.load_processes,
                "least_runs": protocol.least_runs,
                "least_seconds": protocol.least_seconds,
                "in_turn": True,
                "texts": texts.to_dict(),
            },
            "rows": rows,
            "ratios": ratios,
        },
        "the report of this run",
    )


def _governor() -> str | None:
    """How the first core's clock is steered, where the system says so."""
    with contextlib.suppress(OSError):
        return Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").read_text(encoding="utf-8").strip()
    return None
