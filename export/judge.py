"""The gate on data: the artifact itself answers rows, and is held against the float model, in the task's own metric."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from export.asking import artifact_outputs, askable, finite, reader_of, yardstick_of
from export.check import CheckResult
from export.decoded import with_stored_weights
from export.gate import Gate, head_in, ordered, refuse_pairs
from mobilekit.artifact import Json
from mobilekit.compression.compressed import CompressedModel
from mobilekit.errors import InputError
from mobilekit.evaluation.comparison import POINTS, Drop, Yardstick, is_constant
from mobilekit.models.config import HeadConfig
from mobilekit.models.model import Model
from mobilekit.runtimes.answer import artifact_tokenizer
from mobilekit.runtimes.eager import decoded_module
from mobilekit.runtimes.runner import Runner
from mobilekit.text.data.judging import rows_sha256, sample_rows
from mobilekit.training.exam import Outputs, answers, exam, model_outputs

NAME = "data"
# Whose answers are compared: each has a row of the table, in this order.
TEACHER, FLOAT, DECODED, ARTIFACT = SYSTEMS = ("teacher", "float", "decoded", "artifact")
_WHO = {TEACHER: "the teacher", FLOAT: "the float model", DECODED: "the decoded weights", ARTIFACT: "the artifact"}
# From whom to whom something is lost: all of it, of that the codes' part and the engine's; and against the teacher.
_DROPS = ((FLOAT, ARTIFACT), (FLOAT, DECODED), (DECODED, ARTIFACT), (TEACHER, ARTIFACT))
_HELD = ("passed", "unsure", "reported")
# Seconds after which it can be said how many more there will be.
_SURE = 5.0
Report = Callable[[str], None]
Drops = Mapping[tuple[str, str], Drop]


@dataclass(frozen=True)
class DataResult(CheckResult):
    """The gate's row among the checks. accuracy: all that was measured, as the manifest has it. warning: what a user
    should know of a gate that held, "" for nothing."""

    accuracy: Json = field(default_factory=dict)
    warning: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As the manifest has it among its checks."""
        return {name: getattr(self, name) for name in ("name", "passed", "measured", "limit")}

    def in_manifest(self) -> Json:
        """What else it says in a manifest."""
        teacher = next((each["id"] for each in self.accuracy["systems"] if each["system"] == TEACHER), None)
        return {"accuracy": self.accuracy, "teacher": teacher}


@dataclass(frozen=True)
class Answered:
    """A system's answers to the rows. id: where it came from."""

    id: str
    given: Any


class Judge:
    """Holds artifacts against the same models on the same rows, which those have answered once.

    length: the most ids that an artifact takes; all systems read the rows cut to it.
    """

    def __init__(self, gate: Gate, head: HeadConfig, length: int) -> None:
        self._gate, self._head, self._length = gate, head, length
        everything, self._labelled = askable(gate.data, head.task)
        self._count, self._rows = len(everything), sample_rows(everything, gate.limit)
        self._sha256 = rows_sha256(self._rows)
        self._systems: dict[str, Answered] = {}
        self._yardstick: Yardstick | None = None
        self._drops: dict[tuple[str, str], Drop] = {}
        self._values: dict[str, dict[str, float]] = {}

    def ask(self, models: Mapping[str, Model | None], report: Report) -> None:
        """Have models answer the rows, by the name of the system that each is."""
        for name, model in models.items():
            if model is None:
                continue
            of = exam(model, self._rows, self._length)
            outputs = model_outputs(model, of, _counting(report, _WHO[name]))
            given, references = answers(of, finite(outputs, f"{_WHO[name]} ({model.name}): ", InputError))
            self._systems[name] = Answered(model.source.id, given)
            self._yardstick = self._yardstick or self._made(references)
        if self._yardstick is not None:
            self._drops = _drops(self._yardstick, self._systems, {})
            self._values = _values(self._yardstick, self._systems, {})

    def __call__(self, runner: Runner, report: Report) -> DataResult:
        """Have an artifact answer the rows, and judge it."""
        manifest = runner.artifact.manifest
        refuse_pairs(self._gate.data, manifest)
        of = exam(reader_of(runner, self._head), self._rows, self._length)
        if not runner.engine.timed:
            report(f"{len(self._rows)} rows through the reference interpreter, which is slow: --limit takes fewer")
        given, references = answers(of, finite(_told(artifact_outputs(runner, of), len(of.rows), report)))
        yard = self._yardstick or self._made(references)
        systems = {**self._systems, ARTIFACT: Answered(str(manifest.content["name"]), given)}
        return self._judged(yard, systems, of.cut)

    def _made(self, references: Any) -> Yardstick:
        return yardstick_of(self._head, references if self._labelled else None)

    def _judged(self, yard: Yardstick, systems: Mapping[str, Answered], cut: int) -> DataResult:
        drops, most = _drops(yard, systems, self._drops), self._gate.max_drop
        lost = drops.get((FLOAT, ARTIFACT))
        base = _base(systems)
        constant = base is not None and is_constant(systems[ARTIFACT].given, base)
        verdict = "constant" if constant else _verdict(lost, most)
        values = _values(yard, systems, self._values)
        accuracy = {
            "data": {
                "name": self._gate.data.name,
                "sha256": self._sha256,
                "rows": len(self._rows),
                "of": self._count,
                "limit": self._gate.limit,
                "cut": cut,
                "labelled": self._labelled,
            },
            "metric": yard.name,
            "max_drop": most,
            "verdict": verdict,
            "systems": [_system(name, systems[name].id, values[name]) for name in SYSTEMS if name in systems],
            "drops": [{"from": first, "to": second, **vars(drop)} for (first, second), drop in drops.items()],
        }
        said = _said(yard.name, values, lost, constant)
        limit = "reported" if most is None else f"<= {most:g} points"
        return DataResult(NAME, verdict in _HELD, said, limit, accuracy, _warning(lost, most, verdict))


def judge_of_export(
    gate: Gate, model: Model, compressed: CompressedModel, lengths: Sequence[int], report: Report
) -> Judge:
    """A judge of all targets of one export; teacher, float model and decoded weights answer the rows now, once."""
    judge = Judge(gate, model.head, min(max(lengths), model.tokenizer.max_length))
    decoded = replace(model, module=decoded_module(compressed, rounded=False))
    judge.ask({TEACHER: ordered(gate.teacher, model.head), FLOAT: gate.float_of(model), DECODED: decoded}, report)
    return judge


def judge_of_artifact(gate: Gate, runner: Runner, report: Report) -> Judge:
    """A judge of one artifact that is there, whose weights are decoded from its file.

    Raises InputError where data or models are not of its task.
    """
    manifest = runner.artifact.manifest
    gate.check_artifact(manifest, artifact_tokenizer(runner.artifact))
    head = head_in(manifest)
    judge = Judge(gate, head, manifest.max_length)
    exact = ordered(gate.against, head)
    decoded = None if exact is None else with_stored_weights(runner.artifact, exact)
    judge.ask({TEACHER: ordered(gate.teacher, head), FLOAT: exact, DECODED: decoded}, report)
    return judge


def data_check(judge: Judge | None, runner: Runner, report: Report) -> dict[str, Callable[[], CheckResult]]:
    """The gate's check for `run_checks`, by its name; none where there is no judge."""
    return {} if judge is None else {NAME: lambda: judge(runner, report)}


def data_result(checks: Sequence[CheckResult]) -> DataResult | None:
    """The gate's row among checks, if it is there and got as far as that."""
    return next((check for check in checks if isinstance(check, DataResult)), None)


def _told(outputs: Outputs, count: int, report: Report) -> Outputs:
    """The same outputs of an artifact, whose progress is told."""
    tell = _counting(report, _WHO[ARTIFACT])
    for done, (i, output) in enumerate(outputs, 1):
        yield i, output
        tell(done, count)


def _counting(report: Report, who: str) -> Callable[[int, int], None]:
    """report(done, count), which says how many rows are done, and when the others will be."""
    started = time.monotonic()

    def tell(done: int, count: int) -> None:
        seconds = time.monotonic() - started
        left = f", some {seconds / done * (count - done):.0f} s left" if seconds > _SURE and done < count else ""
        report(f"step {done} of {count} rows for {who}{left}")

    return tell


def _drops(
    yard: Yardstick, systems: Mapping[str, Answered], known: Mapping[tuple[str, str], Drop]
) -> dict[tuple[str, str], Drop]:
    return {
        (first, second): known.get((first, second)) or yard.drop(systems[first].given, systems[second].given)
        for first, second in _DROPS
        if first in systems and second in systems
    }


def _values(
    yard: Yardstick, systems: Mapping[str, Answered], known: Mapping[str, dict[str, float]]
) -> dict[str, dict[str, float]]:
    base = _base(systems)
    return {name: known.get(name) or yard.figures(each.given, base) for name, each in systems.items()}


def _base(systems: Mapping[str, Answered]) -> Any:
    """The answers that agreement is with: the float model's; where weights came compressed, what these decode to."""
    base = systems.get(FLOAT) or systems.get(DECODED)
    return None if base is None else base.given


def _verdict(lost: Drop | None, most: float | None) -> str:
    if most is None or lost is None:
        return "reported"
    if not lost.passes(most):
        return "failed"
    return "unsure" if lost.may_exceed(most) else "passed"


def _system(name: str, id: str, values: Mapping[str, float]) -> Json:
    return {"system": name, "id": id, "values": {metric: round(value, 6) for metric, value in values.items()}}


def _said(metric: str, values: Mapping[str, Mapping[str, float]], lost: Drop | None, constant: bool) -> str:
    """The figures in a line."""
    if constant:
        return "gives the same answer to all rows, and the float model does not"
    own = POINTS * values[ARTIFACT][metric]
    if lost is None:
        return f"{metric} {own:.2f}, with no float model to compare with"
    return f"{metric} {own:.2f} against {POINTS * values[FLOAT][metric]:.2f} of the float model: {lost}"


def _warning(lost: Drop | None, most: float | None, verdict: str) -> str:
    if verdict != "unsure" or lost is None:
        return ""
    return (
        f"the limit of {most:g} points lies inside the 95 % interval of what is lost, {lost.range} points: more rows "
        "would tell."
    )
