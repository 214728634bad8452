"""A report: JSON values that follow `mobilekit/schemas/report.schema.json`, written by hosts, Android and iOS alike."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mobilekit.errors import InputError, short
from mobilekit.manifest_rules import CONTROL
from mobilekit.reading import read_values
from mobilekit.schemas import first_fault, newer
from mobilekit.staging import staged_file

SCHEMA_VERSION = 1
# Characters, as in the schema.
LONGEST_NAME = 200
Json = dict[str, Any]
# What a report of ours begins with, so that --force takes the place of nothing else.
MARK = b'{\n "device": {'
_LARGEST = 4 * 2**20
# No list of the schema is longer, and nothing in it lies deeper.
_LONGEST, _DEEPEST = 10_000, 20


@dataclass(frozen=True)
class Report:
    """A validated report. content: its JSON values. origin: the file it was read from, for messages."""

    content: Json
    origin: str = "report"

    @property
    def rows(self) -> list[Json]:
        """Its rows."""
        rows: list[Json] = self.content["rows"]
        return rows

    @property
    def device(self) -> str:
        """How the device is called."""
        return str(self.content["device"]["name"])

    def row(self, name: str) -> Json | None:
        """The row of a name, if there is one."""
        return next((row for row in self.rows if row["name"] == name), None)


def read_report(file: Path) -> Report:
    """Read a report that anyone may have written.

    Raises InputError when it is missing, too large, no JSON, of a newer schema, against the schema, or contradicts
    itself.
    """
    return validated(read_values(file, _LARGEST), str(file))


def validated(content: object, where: str) -> Report:
    """A Report of JSON values; raises InputError that names the first fault."""
    version = newer(content, SCHEMA_VERSION)
    if version is not None:
        raise InputError(
            f"{where}: schema {short(version)} is newer than mobilekit reads ({SCHEMA_VERSION}); upgrade it."
        )
    fault = _outsized(content) or first_fault(content, "report")
    if fault is None:
        assert isinstance(content, dict)
        fault = next(_contradictions(content), None)
    if fault is not None:
        raise InputError(f"{where}: no report of mobilekit: {short(fault, 300)}.")
    assert isinstance(content, dict)
    return Report(content, where)


def write_report(content: Mapping[str, Any], file: Path, force: bool = False) -> Report:
    """Validate and write a report, beside and renamed: the same bytes for the same content.

    force: take the place of a report that is there. Raises InputError where something is in the way.
    """
    report = validated(dict(content), str(file))
    with staged_file(file, force, MARK) as staged:
        text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
        staged.write_text(text + "\n", encoding="utf-8")
    return report


def _outsized(content: object) -> str | None:
    """What validating would take too long, or too many frames, for; and numbers that JSON has not."""
    waiting: list[tuple[object, int]] = [(content, 0)]
    while waiting:
        value, depth = waiting.pop()
        if isinstance(value, float) and not math.isfinite(value):
            return f"a number in it is {value}"
        if not isinstance(value, dict | list):
            continue
        if len(value) > _LONGEST or depth > _DEEPEST:
            return f"a list in it is longer than {_LONGEST:,}, or lies deeper than {_DEEPEST} others"
        waiting += [(inner, depth + 1) for inner in (value.values() if isinstance(value, dict) else value)]
    return None


def _contradictions(content: Json) -> Iterator[str]:
    steering = next((text for text in _texts(content) if CONTROL.search(text)), None)
    if steering is not None:
        yield f"a text in it has control characters: {short(repr(steering))}"
    names = Counter(row["name"] for row in content["rows"])
    yield from (f"{count} rows are called {short(name)}" for name, count in names.items() if count > 1)
    for row in content["rows"]:
        yield from _row_faults(row)
    if any(span["low"] > span["high"] for span in _spans(content)):
        yield "an interval ends below its begin"
    for ratio in content["ratios"]:
        missing = [ratio[side] for side in ("row", "base") if ratio[side] not in names]
        yield from (f"a ratio is of {short(name)}, and no row is" for name in missing)


def _row_faults(row: Json) -> Iterator[str]:
    if row["kind"] == "artifact" and (row["sha256"] is None or row["bytes"] is None):
        yield f"the artifact {short(row['name'])} has no sha256 or bytes"
    lengths = [each["length"] for each in row["lengths"]]
    if lengths != sorted(set(lengths)):
        yield f"the lengths of {short(row['name'])} do not ascend"


def _spans(content: Json) -> Iterator[Json]:
    """Everything that has a low and a high end."""
    yield from content["ratios"]
    for row in content["rows"]:
        found = row["accuracy"] or {}
        yield from filter(None, map(found.get, ("value", "agreement", "from_float", "from_teacher", "retained")))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield str(name)
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
