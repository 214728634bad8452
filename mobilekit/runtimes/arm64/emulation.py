"""The emulator, what it needs and how it is called. `make arm64` (scripts/arm64.sh) puts all of it into one folder.

Answers are those of a phone's kernels. How long they take says nothing of a phone, and nobody is told.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import EngineError, InputError
from mobilekit.text.data.fetch import cache_folder

# The cores of phones since 2018: half floats and int8 dot products, by which LiteRT picks its kernels.
CPU = "cortex-a76"
# Seconds that all golden inputs may take. A float MiniLM takes one minute of a busy core, a base model ten times that.
TIME_LIMIT = 3600.0
# Not imported: it is the emulated Python's, and names engines.
_PROGRAM = Path(__file__).with_name("program.py")
_HOW = "run `make arm64` in a checkout of mobilekit"
# Targets whose engines are fetched; Core ML has none outside Apple's systems.
_RUNS = ("executorch", "tflite")


@dataclass(frozen=True)
class Run:
    """One call of an entry: its name and int32 [1, length] by input."""

    entry: str
    inputs: Mapping[str, NDArray[np.int32]]


@dataclass(frozen=True)
class Emulation:
    """What `make arm64` fetched into a folder: the emulator, Python with its libraries, and packages."""

    folder: Path

    def missing(self) -> list[str]:
        """What is not there; empty when all is."""
        parts = {"qemu-aarch64": self._emulator, "python3.11": self._python}
        parts |= {name: self._packages / name for name in ("numpy", "ai_edge_litert")}
        parts["executorch"] = self._library
        return [name for name, path in parts.items() if not path.exists()]

    def versions(self) -> dict[str, str]:
        """Version by package, of what was fetched: Debian's packages, and wheels by their own names."""
        lines = (self.folder / "versions.txt").read_text(encoding="utf-8").splitlines()
        return dict(line.split("\t") for line in lines)

    def command(self, *arguments: str) -> list[str]:
        """The command line that runs the arm64 Python with these arguments."""
        return [str(self._emulator), "-cpu", CPU, "-L", str(self._root), str(self._python), *arguments]

    def run(self, model: Path, runs: Sequence[Run]) -> list[dict[str, NDArray[np.float32]]]:
        """Run entries of a .tflite or .pte file one after the other; outputs float32 by name, of each.

        Raises EngineError when the emulated program fails, takes too long, or leaves no outputs.
        """
        with tempfile.TemporaryDirectory(prefix="mobilekit-") as work:
            inputs, outputs = Path(work) / "inputs.npz", Path(work) / "outputs.npz"
            named = {f"{i}:{run.entry}:{name}": a for i, run in enumerate(runs) for name, a in run.inputs.items()}
            np.savez(inputs, allow_pickle=False, **named)
            given = (os.getpid(), model.resolve(), inputs, outputs, self._library)
            self._call(Path(work), str(_PROGRAM), *map(str, given))
            return _read(outputs, len(runs))

    def _call(self, work: Path, *arguments: str) -> None:
        # Of the user's environment nothing: what this machine's Python and linker heed, the emulated ones would too.
        environment = {"PYTHONPATH": str(self._packages), "OPENBLAS_NUM_THREADS": "1"}
        try:
            done = subprocess.run(
                self.command(*arguments),
                env=environment,
                # Where a core file goes, if it leaves one.
                cwd=work,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TIME_LIMIT,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise EngineError(f"the emulated program gave no answer in {TIME_LIMIT:g} s and was ended") from error
        except OSError as error:
            raise EngineError(f"{self._emulator}: cannot be started ({error.strerror}); {_HOW} again") from error
        if done.returncode:
            said = [line for line in done.stderr.splitlines() if line.strip()] or ["it said nothing"]
            how = f"signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
            raise EngineError(f"the emulated program failed ({how}): {said[-1].strip()[:200]}")

    @property
    def _emulator(self) -> Path:
        return self.folder / "qemu-aarch64"

    @property
    def _root(self) -> Path:
        return self.folder / "root"

    @property
    def _python(self) -> Path:
        return self._root / "usr/bin/python3.11"

    @property
    def _packages(self) -> Path:
        return self.folder / "packages"

    @property
    def _library(self) -> Path:
        return self._packages / "executorch/lib/libmobilekit_pte.so"


def emulation(target: str) -> Emulation:
    """What runs a target's files on arm64; raises InputError when nothing does here, saying what to do."""
    if target not in _RUNS:
        raise InputError(f"--arm64 runs {' and '.join(_RUNS)} files; no engine for {target} runs under emulation.")
    reason = why_not()
    if reason:
        raise InputError(f"--arm64: {reason}.")
    return Emulation(_folder())


def why_not() -> str:
    """Why arm64 files cannot be run here and what to do about it, in one line; "" when they can."""
    if platform.machine() in ("arm64", "aarch64"):
        return "this machine is arm64 itself, where `check` runs a phone's instructions anyway"
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return f"the emulator is for Linux on x86-64; this is {platform.system()} {platform.machine()}"
    missing = Emulation(_folder()).missing()
    if missing:
        return f"{', '.join(missing)} not in {_folder()}: {_HOW}"
    return ""


def _folder() -> Path:
    return cache_folder().absolute() / "arm64"


def _read(file: Path, count: int) -> list[dict[str, NDArray[np.float32]]]:
    found: list[dict[str, NDArray[np.float32]]] = [{} for _ in range(count)]
    try:
        with np.load(file, allow_pickle=False) as outputs:
            for key in outputs.files:
                number, name = key.split(":")
                found[int(number)][name] = np.asarray(outputs[key], np.float32)
    except (OSError, ValueError, IndexError, zipfile.BadZipFile) as error:
        raise EngineError(f"the emulated program left no outputs that can be read ({error})") from error
    return found
