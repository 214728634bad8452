"""The Android demo as a measuring device: push artifacts, have the app measure them, pull its report.

The app's debug build has an activity for it, which nobody has to touch: android_demo/README.md.
"""

from __future__ import annotations

import re
import secrets
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.device.adb import Adb
from benchmarks.reports.report import Report, read_report
from mobilekit.artifact import Artifact, open_folder
from mobilekit.errors import CheckFailedError, InputError, short

APP = "org.mobilekit.demo"
ACTIVITY = f"{APP}/.headless.HeadlessActivity"
# The app's own folder, which adb may write and the app may read without asking anyone.
_FOLDER = f"/sdcard/Android/data/{APP}/files"
ARTIFACTS, REPORTS = f"{_FOLDER}/artifacts", f"{_FOLDER}/reports"
_POLL_SECONDS = 2.0
Say = Callable[[str, str], None]


@dataclass(frozen=True)
class Measuring:
    """artifacts: folders to push; none: what the app has. threads: of the engine. seconds: to wait for the report."""

    artifacts: tuple[Path, ...] = ()
    threads: int = 2
    seconds: float = 1800.0


def measure(adb: Adb, asked: Measuring, say: Say, pause: Callable[[float], None] = time.sleep) -> Report:
    """The phone's own report on the artifacts, validated as anything from outside is.

    Raises InputError when the app is not installed, its build cannot be started from here, the phone does not answer,
    or two artifacts have one name; ArtifactError for a folder that is no artifact, or altered; CheckFailedError when
    the app says that it failed, or has no report in time.
    """
    artifacts = [open_folder(folder) for folder in asked.artifacts]
    for artifact in artifacts:
        artifact.refuse_altered()
    names = names_in_app(artifacts)
    # What it lists are all packages whose names hold this one.
    if f"package:{APP}" not in adb.shell("pm", "list", "packages", APP).split():
        raise InputError(
            f"phone {adb.serial}: {APP} is not installed; install its debug build from Android Studio, or by "
            "gradlew installDebug (android_demo/README.md)."
        )
    for name, artifact in zip(names, artifacts, strict=True):
        _push(adb, name, artifact, say)
    run = f"run-{secrets.token_hex(6)}"
    extras = ["--ei", "threads", str(asked.threads), "--es", "run", run]
    extras += ["--esa", "artifacts", ",".join(names)] if names else []
    # -S: an app that stands open is closed first, so that each run begins alike.
    _start(adb, extras)
    say("phone", "measuring; leave it alone")
    return _report(adb, run, asked.seconds, artifacts, say, pause)


def names_in_app(artifacts: Sequence[Artifact]) -> list[str]:
    """What their folders are called in the app, where names have no case; raises InputError where one would take
    another's place."""
    told = [f"{artifact.manifest.content['name']}-{artifact.manifest.target}" for artifact in artifacts]
    names = [re.sub(r"[^A-Za-z0-9._-]", "_", name) for name in told]
    for i, name in enumerate(names):
        before = next((k for k in range(i) if names[k].lower() == name.lower()), None)
        if before is not None:
            raise InputError(
                f"{artifacts[before].folder} and {artifacts[i].folder} are both called {name} in the app; "
                "give one at a time, or export one under another name."
            )
    return names


def _start(adb: Adb, extras: Sequence[str]) -> None:
    """Start the app's activity; Android tells what it cannot start, and its exit code is 0 all the same."""
    said = adb.shell("am", "start", "-S", "-W", "-n", ACTIVITY, *extras, errors=True)
    wrong = next((line for line in said.splitlines() if line.startswith("Error:")), None)
    if wrong is not None:
        raise InputError(
            f"phone {adb.serial}: {short(wrong, 200)} Only the app's debug build can be measured from here: "
            "android_demo/README.md."
        )


def _push(adb: Adb, name: str, artifact: Artifact, say: Say) -> None:
    """Carry an artifact's folder to the app."""
    place, beside = f"{ARTIFACTS}/{name}", f"{ARTIFACTS}/.partial-{name}"
    say("phone", f"pushing {name}")
    adb.shell("mkdir", "-p", ARTIFACTS)
    adb.shell("rm", "-rf", beside)
    adb.push(artifact.folder, beside)
    # A model file that is mapped must never be written to: the old folder goes, the new one takes its name.
    adb.shell("rm", "-rf", place)
    adb.shell("mv", beside, place)


def _report(
    adb: Adb, run: str, seconds: float, artifacts: Sequence[Artifact], say: Say, pause: Callable[[float], None]
) -> Report:
    """Wait for the report of a run, and read it."""
    done, failed = f"{REPORTS}/{run}.json", f"{REPORTS}/{run}.error"
    waited = 0.0
    while not adb.exists(done):
        if adb.exists(failed):
            said = adb.shell("cat", failed).strip()
            adb.shell("rm", "-f", failed)
            raise CheckFailedError(f"phone {adb.serial}: {short(' '.join(said.split()), 300)}")
        if waited >= seconds:
            raise CheckFailedError(
                f"phone {adb.serial}: no report after {seconds:.0f} s; see the phone, and adb logcat -s mobilekit."
            )
        pause(_POLL_SECONDS)
        waited += _POLL_SECONDS
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.json"
        adb.pull(done, file)
        adb.shell("rm", "-f", done)
        say("phone", "written")
        report = read_report(file)
    measured = {row["sha256"] for row in report.rows if row["kind"] == "artifact"}
    for artifact in artifacts:
        if artifact.manifest.content["sha256"] not in measured:
            raise CheckFailedError(f"phone {adb.serial}: its report says nothing of {artifact.folder}.")
    return Report(report.content, f"phone {adb.serial}")
