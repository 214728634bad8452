"""Reports: what is no report, what does not belong together, and where to."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from synthetic_reports import artifact, report

from bad_input.case import Case, Place, Spoil, edit
from benchmarks.reports.report import write_report

NEW, OLD, PHONE = "new.json", "old.json", "phone.json"


def given(change: Callable[[Path], object], *line: str) -> Spoil:
    """`compare` where new.json and old.json (of one machine) and phone.json (of other artifacts) are, and `change` has
    been at their folder."""

    def spoil(place: Place) -> list[str]:
        ours = report([artifact("minilm-l6", "tflite", "int8")], []).content
        phone = report([artifact("minilm-l6", "coreml", "pal4")], [], kind="ios").content
        for name, content in ((NEW, ours), (OLD, ours), (PHONE, phone)):
            write_report(content, Path(name))
        change(place.root)
        return ["compare", *line]

    return spoil


def _same(_: object) -> None:
    """Leave all as it is."""


def _edited(name: str, *without: str, **changes: Any) -> Callable[[Path], None]:
    return lambda root: edit(root / name, *without, **changes)


def _another_device(root: Path) -> None:
    content = json.loads((root / OLD).read_text())
    edit(root / OLD, device={**content["device"], "cpus": 64})


def _other_threads(root: Path) -> None:
    content = json.loads((root / OLD).read_text())
    edit(root / OLD, protocol={**content["protocol"], "threads": 64})


def _folder(*files: str) -> Callable[[Path], None]:
    def make(root: Path) -> None:
        (root / "o").mkdir()
        for file in files:
            (root / "o" / file).touch()

    return make


def _no_matplotlib(place: Place) -> list[str]:
    line = given(_same, NEW, "--out", "deep/o")(place)
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        place.patch.delitem(sys.modules, name)
    place.patch.setitem(sys.modules, "matplotlib", None)
    return line


_SLOWER = (NEW, "--baseline", OLD, "--fail-if-slower", "5")

CASES = (
    Case("compare of nothing", given(_same), "no report given; give one or more files that `mobilekit bench` or a"),
    Case("missing report", given(_same, NEW, "x.json"), "x.json: not found"),
    Case("folder for a report", given(_folder(), "o"), "o: is not a file"),
    Case(
        "report of another kind",
        given(_edited(NEW, "rows"), NEW),
        "new.json: no report of mobilekit: the whole: 'rows'",
    ),
    Case(
        "report of a newer schema",
        given(_edited(NEW, schema=2), NEW),
        r"schema 2 is newer than mobilekit reads \(1\); up",
    ),
    Case(
        "report that is no JSON",
        given(lambda r: (r / NEW).write_bytes(b"\xff{"), NEW),
        "new.json: not readable as JSON",
    ),
    Case(
        "manifest for a report", given(lambda r: (r / NEW).write_text('{"schema": 1}'), NEW), "no report of mobilekit: "
    ),
    Case(
        "report of 5 MB",
        given(lambda r: (r / NEW).write_text(" " * 5_000_000), NEW),
        "5,000,000 bytes are too many; it",
    ),
    Case(
        "nested report",
        given(lambda r: (r / NEW).write_text('{"schema": 1, "a": ' + "[" * 500 + "]" * 500 + "}"), NEW),
        "new.json: no report of mobilekit: a list in it is longer than 10,000, or lies deeper than 20 others",
    ),
    Case("report with NaN", given(_edited(NEW, made_at=float("nan")), NEW), "new.json: .* a number in it is nan"),
    Case(
        "nothing in common",
        given(_same, NEW, PHONE),
        "new.json: has no artifact in common with the other report .by sh",
    ),
    Case("same report twice", given(_same, NEW, NEW), "new.json: given 2 times; give each report once"),
    Case(
        "unknown base",
        given(_same, NEW, OLD, "--base", "odl.json"),
        "--base 'odl.json' is unknown; did you mean 'old.json'",
    ),
    Case(
        "base of two",
        given(_same, NEW, OLD, "--base", "made-up"),
        "'made-up': 2 reports are called so; give the file: new",
    ),
    Case(
        "limit without a baseline",
        given(_same, NEW, "--fail-if-slower", "5"),
        "--fail-if-slower holds .*: give --baseline",
    ),
    Case(
        "baseline without a limit",
        given(_same, NEW, "--baseline", OLD),
        "--baseline is for --fail-if-slower and .*; give o",
    ),
    Case("limit that is no number", given(_same, *_SLOWER[:-1], "few"), "'few' is not a valid float"),
    Case("limit of nan", given(_same, *_SLOWER[:-1], "nan"), "--fail-if-slower nan: expected percent, 0 or more"),
    Case("limit below 0", given(_same, *_SLOWER[:-1], "-1"), "--fail-if-slower -1.0: expected percent, 0 or more"),
    Case("missing baseline", given(lambda r: (r / OLD).unlink(), *_SLOWER), "old.json: not found"),
    Case(
        "baseline of another machine",
        given(_another_device, *_SLOWER),
        "another machine than old.json, .*; measure both on",
    ),
    Case(
        "baseline of other threads",
        given(_other_threads, *_SLOWER),
        "with 2 threads, and old.json with 64; measure one of",
    ),
    Case(
        "baseline that was measured",
        given(_edited(OLD, synthetic=False), *_SLOWER),
        "new.json: is synthetic, and old.json",
    ),
    Case(
        "baseline of other rows",
        given(_same, NEW, "--baseline", PHONE, "--fail-if-larger", "1"),
        "new.json: no row of phone.json with bytes is in it; rows are matched by name",
    ),
    Case(
        "comparison there already",
        given(_folder("comparison.json"), NEW, "--out", "o"),
        "o: exists already; --force rep",
    ),
    Case(
        "foreign folder for a comparison",
        given(_folder("thesis"), NEW, "--out", "o", "--force"),
        "o: has no comparison.json, so mobilekit did not write it, and --force does not replace it",
    ),
    Case(
        "file for a comparison",
        given(_same, NEW, "--out", OLD, "--force"),
        "old.json: is a file; choose another output",
    ),
    Case("comparison in /proc", given(_same, NEW, "--out", "/proc/x"), "/proc/x: cannot be written"),
    Case("comparison without a name", given(_same, NEW, "--out", ""), "--out: '' is no folder's name"),
    Case("force for nothing", given(_same, NEW, "--force"), "--force is for --out; leave it out"),
    Case("plots without matplotlib", _no_matplotlib, r"a plot needs matplotlib, .*: pip install 'mobilekit\[bench\]'"),
)
