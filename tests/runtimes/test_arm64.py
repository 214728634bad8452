"""arm64 under emulation: what is called and how, what is missing, and every way in which it can end."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from arm64_support import fetched

from mobilekit import doctor
from mobilekit.errors import EngineError, InputError
from mobilekit.runtimes.arm64 import emulation
from mobilekit.runtimes.arm64.emulation import Emulation, Run

RUNS = [Run(f"len_{n}", {"input_ids": np.full((1, n), n, np.int32)}) for n in (2, 3)]
ECHO = "np.savez(outputs, **{f'{k.split(\":\")[0]}:embedding': given[k] * 2.0 for k in given.files})"
HERE = sys.platform == "linux" and platform.machine() == "x86_64"
emulates = pytest.mark.skipif(not HERE, reason="the emulator is for Linux on x86-64")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MOBILEKIT_CACHE", str(tmp_path))
    return tmp_path


def test_command_is_the_emulator_with_a_phones_core_and_the_libraries_root(tmp_path: Path) -> None:
    folder = str(tmp_path)
    assert Emulation(tmp_path).command("program.py", "x") == [
        f"{folder}/qemu-aarch64", "-cpu", "cortex-a76", "-L", f"{folder}/root", f"{folder}/root/usr/bin/python3.11",
        "program.py", "x",
    ]  # fmt: skip


def test_every_run_has_its_own_outputs(cache: Path) -> None:
    first, second = fetched(cache, ECHO).run(Path("m.tflite"), RUNS)
    assert first["embedding"].tolist() == [[4.0, 4.0]] and second["embedding"].tolist() == [[6.0, 6.0, 6.0]]
    assert first["embedding"].dtype == np.float32


def test_nothing_of_the_users_environment_reaches_the_emulated_python(
    cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("PYTHONHOME", "LD_LIBRARY_PATH", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    said = tmp_path / "said.json"
    write = f"open({str(said)!r}, 'w').write(json.dumps([dict(os.environ), model]))\n"
    made = fetched(cache, write + ECHO)
    made.run(Path("m.tflite"), RUNS)
    environment, model = json.loads(said.read_text())
    assert set(environment) - {"LC_CTYPE"} == {"PYTHONPATH", "OPENBLAS_NUM_THREADS"}
    assert environment["PYTHONPATH"] == str(made.folder / "packages") and model == str(Path("m.tflite").resolve())


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("sys.stderr.write('noise\\nError: no such op\\n\\n'); sys.exit(1)", r"exit code 1\): Error: no such op$"),
        (
            "print('SIGILL', file=sys.stderr, flush=True); os.kill(os.getpid(), 4)",
            r"signal 4\): SIGILL",
        ),
        ("sys.exit(7)", r"exit code 7\): it said nothing"),
        ("pass", "left no outputs that can be read"),
        ("open(outputs, 'w').write('no archive')", "left no outputs that can be read"),
        ("np.savez(outputs, **{'9:embedding': np.zeros(2)})", "left no outputs that can be read"),
        ("np.savez(outputs, **{'0:embedding': np.array([object()])})", "left no outputs that can be read"),
    ],
)
def test_a_program_that_fails_is_told_with_its_last_words(cache: Path, body: str, message: str) -> None:
    with pytest.raises(EngineError, match=message):
        fetched(cache, body).run(Path("m.tflite"), RUNS)


def test_a_program_that_takes_too_long_is_ended(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulation, "TIME_LIMIT", 0.5)
    with pytest.raises(EngineError, match="gave no answer in 0.5 s and was ended"):
        fetched(cache, "time.sleep(60)").run(Path("m.tflite"), RUNS)


def test_an_emulator_that_cannot_be_started_is_told(cache: Path) -> None:
    made = fetched(cache, ECHO)
    (made.folder / "qemu-aarch64").chmod(0o644)
    with pytest.raises(EngineError, match="qemu-aarch64: cannot be started .*; run `make arm64`"):
        made.run(Path("m.tflite"), RUNS)


@emulates
def test_what_is_missing_is_named_with_the_way_to_it(cache: Path) -> None:
    with pytest.raises(InputError) as caught:
        emulation.emulation("tflite")
    assert str(caught.value) == (
        f"--arm64: qemu-aarch64, python3.11, numpy, ai_edge_litert, executorch not in {cache}/arm64: run `make arm64` "
        "in a checkout of mobilekit."
    )
    made = fetched(cache, ECHO)
    assert emulation.emulation("tflite") == emulation.emulation("executorch") == made
    (made.folder / "qemu-aarch64").unlink()
    assert emulation.why_not().startswith("qemu-aarch64 not in ")


def test_a_target_without_an_emulated_engine_is_refused(cache: Path) -> None:
    fetched(cache, ECHO)
    with pytest.raises(InputError, match="--arm64 runs executorch and tflite files; no engine for coreml"):
        emulation.emulation("coreml")


@pytest.mark.parametrize(
    ("system", "machine", "message"),
    [
        ("linux", "aarch64", "this machine is arm64 itself"),
        ("darwin", "arm64", "this machine is arm64 itself"),
        ("darwin", "x86_64", "the emulator is for Linux on x86-64; this is .* x86_64"),
    ],
)
def test_other_machines_are_told_why_not(
    cache: Path, monkeypatch: pytest.MonkeyPatch, system: str, machine: str, message: str
) -> None:
    fetched(cache, ECHO)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(sys, "platform", system)
    with pytest.raises(InputError, match=message):
        emulation.emulation("tflite")


@emulates
def test_doctor_says_whether_it_is_ready(cache: Path) -> None:
    def told() -> doctor.Status:
        return doctor.runtime_statuses({})[-1]

    assert told().name == "arm64" and not told().usable and told().reason.endswith("in a checkout of mobilekit")
    fetched(cache, ECHO)
    assert told() == doctor.Status("arm64", True, "")


PROGRAM = str(Path(emulation.__file__).with_name("program.py"))
linux = pytest.mark.skipif(sys.platform != "linux", reason="what is emulated is Linux")


@linux
def test_a_program_whose_parent_is_gone_does_nothing(tmp_path: Path) -> None:
    arguments = ["1", "model", "no inputs", str(tmp_path / "outputs.npz"), "library"]
    done = subprocess.run([sys.executable, PROGRAM, *arguments], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"") and not any(tmp_path.iterdir())


def ended(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@linux
def test_a_program_does_not_outlive_its_parent(tmp_path: Path) -> None:
    inputs = tmp_path / "inputs.npz"
    os.mkfifo(inputs)
    code = (
        "import os, subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, sys.argv[1], str(os.getpid()), 'model', sys.argv[2], 'o', 'l'])\n"
        "print(child.pid, flush=True)\n"
        "child.wait()\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, PROGRAM, str(inputs)], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        # Opens when the program reads its inputs, and keeps it waiting for them.
        with inputs.open("wb"):
            parent.kill()
            parent.wait()
            for _ in range(100):
                if ended(child):
                    return
                time.sleep(0.05)
            child.kill()
    pytest.fail("it lives on")
