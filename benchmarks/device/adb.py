"""Android's debug bridge: find it, find the phone, run commands there, carry files there and back."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from mobilekit.errors import InputError, short

_PLACES = ("ANDROID_HOME", "ANDROID_SDK_ROOT")
# Seconds: a command that only asks, and one that carries a model over a slow cable.
_ASKING, _CARRYING = 60.0, 1800.0
# What `adb devices` calls a phone that cannot be used, and what helps.
_STATES = {
    "unauthorized": "unlock it, and allow USB debugging there",
    "offline": "plug it in again",
    "no permissions": "see https://developer.android.com/tools/device.html for the rules that Linux needs",
}


@dataclass(frozen=True)
class Adb:
    """A phone that is plugged in. program: the path of adb. serial: the phone's number, as `adb devices` lists it."""

    program: str
    serial: str

    def shell(self, *words: str, errors: bool = False) -> str:
        """What a command says on the phone; words are quoted for its shell. Raises InputError when it fails.

        errors: with what it says on standard error.
        """
        return self._run("shell", shlex.join(words) + (" 2>&1" if errors else ""))

    def exists(self, path: str) -> bool:
        """Whether there is a file or folder on the phone."""
        return self._run("shell", f"test -e {shlex.quote(path)} && echo yes || echo no").strip() == "yes"

    def push(self, source: Path, place: str) -> None:
        """Carry a file, or a folder with all in it, to a path on the phone that is not there yet."""
        self._run("push", str(source), place, seconds=_CARRYING)

    def pull(self, place: str, file: Path) -> None:
        """Carry a file from the phone."""
        self._run("pull", place, str(file), seconds=_CARRYING)

    def _run(self, *words: str, seconds: float = _ASKING) -> str:
        return _said([self.program, "-s", self.serial, *words], seconds, f"phone {self.serial}")


def find_adb() -> str:
    """The path of adb: on PATH, or in the Android SDK's folder; raises InputError when it is nowhere."""
    found = shutil.which("adb")
    for place in _PLACES:
        if found is None and os.environ.get(place):
            found = shutil.which("adb", path=str(Path(os.environ[place]) / "platform-tools"))
    if found is None:
        raise InputError(
            "adb is not on PATH, nor in the SDK that ANDROID_HOME names; install Android's platform-tools "
            "(Android Studio has them)."
        )
    return found


def phone(serial: str | None = None) -> Adb:
    """The phone of a serial number, or the only one that is plugged in; raises InputError when there is no such one."""
    program = find_adb()
    found = _listed(_said([program, "devices"], _ASKING, "adb"))
    if serial is not None:
        if serial not in found:
            raise InputError(f"no phone {short(serial)} is plugged in; there are: {', '.join(found) or 'none'}.")
        found = {serial: found[serial]}
    if not found:
        raise InputError("no phone is plugged in; plug one in and switch on USB debugging in its developer options.")
    ready = [name for name, state in found.items() if state == "device"]
    if len(ready) > 1:
        raise InputError(f"{len(ready)} phones are plugged in: choose by --serial {' or '.join(ready)}.")
    if not ready:
        name, state = next(iter(found.items()))
        raise InputError(f"phone {name} is {state}; {_STATES.get(state, 'plug it in again')}.")
    return Adb(program, ready[0])


def _listed(said: str) -> dict[str, str]:
    """Serial numbers with their states, out of what `adb devices` prints."""
    rows = (line.split("\t", 1) for line in said.splitlines() if "\t" in line)
    states = {serial.strip(): state.strip() for serial, state in rows}
    return {
        serial: next((known for known in _STATES if state.startswith(known)), state) for serial, state in states.items()
    }


def _said(command: list[str], seconds: float, who: str) -> str:
    try:
        done = subprocess.run(command, check=False, capture_output=True, timeout=seconds, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as error:
        raise InputError(f"{who}: gave no answer in {seconds:.0f} s; plug it in again.") from error
    except OSError as error:
        raise InputError(f"{command[0]}: cannot be started ({error.strerror}).") from error
    said = done.stdout.decode(errors="replace")
    if done.returncode:
        reason = (done.stderr.decode(errors="replace").strip() or said.strip()).splitlines()
        raise InputError(f"{who}: {short(reason[-1] if reason else f'exit code {done.returncode}', 200)}")
    return said
