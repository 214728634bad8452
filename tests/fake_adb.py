"""A program that behaves like adb with one phone, whose storage is a folder and whose app is made up here.

    FAKE_PHONE=FOLDER python fake_adb.py -s SERIAL shell ...

`FOLDER/phone.json` says what the phone is like: `devices` (what `adb devices` lists), `installed` (or which app is
instead), and what the app does with a run: `release` (it has no such activity), `error` (what it says), `silent`
(nothing), or a report of the artifacts that were pushed.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(os.environ["FAKE_PHONE"])
APP = "org.mobilekit.demo"
STORAGE = "/sdcard/Android/data/org.mobilekit.demo/files"


def local(path: str) -> Path:
    """Where a path of the phone is here."""
    assert path.startswith(STORAGE), f"outside of the app's folder: {path}"
    return HERE / "files" / path[len(STORAGE) :].lstrip("/")


def main(words: list[str]) -> int:
    about = json.loads((HERE / "phone.json").read_text(encoding="utf-8"))
    with (HERE / "log.txt").open("a", encoding="utf-8") as log:
        log.write(json.dumps(words) + "\n")
    if words == ["devices"]:
        print("List of devices attached\n" + "".join(f"{name}\t{state}\n" for name, state in about["devices"].items()))
        return 0
    assert words[0] == "-s" and words[1] in about["devices"]
    verb, *rest = words[2:]
    if verb == "push":
        source, place = Path(rest[0]), local(rest[1])
        if about.get("full"):
            print("adb: error: failed to copy: remote couldn't create file: No space left on device", file=sys.stderr)
            return 1
        # As adb has it: into a folder that is there, else under the name given.
        shutil.copytree(source, place / source.name if place.is_dir() else place)
        return 0
    if verb == "pull":
        shutil.copy(local(rest[0]), rest[1])
        return 0
    assert verb == "shell" and len(rest) == 1
    return shell(rest[0], about)


def shell(line: str, about: dict) -> int:
    """A line of the phone's shell."""
    if line.startswith("pm list packages"):
        if about["installed"]:
            print("package:" + (APP if about["installed"] is True else about["installed"]))
        return 0
    if line.startswith("am start") and about.get("release"):
        # As Android has it: on standard error, and the exit code is 0.
        print("Starting: Intent { }")
        print(
            "Error type 3\nError: Activity class {org.mobilekit.demo/x} does not exist.",
            file=sys.stdout if line.endswith("2>&1") else sys.stderr,
        )
        return 0
    if line.startswith("am start"):
        start(shlex.split(line), about)
        print("Status: ok")
        return 0
    here = re.sub(re.escape(STORAGE), str(HERE / "files"), line)
    return subprocess.run(["sh", "-c", here], check=False).returncode


def start(words: list[str], about: dict) -> None:
    """What the app does when the activity for measuring is started."""
    extras = {words[i + 1]: words[i + 2] for i, word in enumerate(words) if word in ("--es", "--esa", "--ei")}
    run, folder = extras["run"], HERE / "files/reports"
    folder.mkdir(parents=True, exist_ok=True)
    if about.get("silent"):
        return
    if "error" in about:
        (folder / f"{run}.error").write_text(about["error"], encoding="utf-8")
        return
    text = about.get("report")
    if text is None:
        sys.path.insert(0, str(Path(__file__).parent))
        from synthetic_reports import artifact, report

        names = extras["artifacts"].split(",") if "artifacts" in extras else os.listdir(HERE / "files/artifacts")
        rows = []
        for name in names:
            content = json.loads((HERE / f"files/artifacts/{name}/manifest.json").read_text(encoding="utf-8"))
            rows.append({**artifact("minilm-l6", "tflite", "int8"), "name": name, "sha256": content["sha256"]})
        device = {
            "name": "made-up phone",
            "system": "Android 14",
            "processor": "imagined",
            "cpus": 8,
            "memory_bytes": 8,
        }
        made = report(rows, [], kind="android", device=device).content
        made["protocol"]["threads"] = int(extras["threads"])
        text = json.dumps(made)
    (folder / f"{run}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
