from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mobilekit.errors import EngineError, InputError
from mobilekit.process import Arrays, EngineProcess


def service() -> Callable[..., tuple[Any, Arrays]]:
    """Loaded in the child, by the name of this file's module."""

    def call(
        method: str, params: dict[str, Any], arrays: Arrays, progress: Callable[[str], None]
    ) -> tuple[Any, Arrays]:
        if method == "add":
            progress("adding")
            print("noise on standard output")
            return {"sum": params["a"] + params["b"]}, {"twice": arrays["x"] * 2}
        if method == "input":
            raise InputError("that was wrong")
        if method == "fail":
            raise ValueError("an engine's own error\nwith more lines")
        if method == "disk":
            raise OSError(28, "No space left on device")
        if method == "hidden":
            import tensorflow  # noqa: F401
        os.kill(os.getpid(), signal.SIGSEGV)
        raise AssertionError

    return call


@pytest.fixture
def process(tmp_path: Path) -> EngineProcess:
    sys.path.insert(0, str(Path(__file__).parent))
    try:
        return EngineProcess("test_process:service", tmp_path / "log", hide=("tensorflow",))
    finally:
        sys.path.pop(0)


def test_values_arrays_and_progress_come_back(process: EngineProcess) -> None:
    said: list[str] = []
    with process:
        result, arrays = process.call("add", {"a": 1, "b": 2}, {"x": np.arange(3, dtype=np.int32)}, said.append)
    assert result == {"sum": 3} and said == ["adding"]
    assert arrays["twice"].dtype == np.int32 and arrays["twice"].tolist() == [0, 2, 4]


def test_what_the_engine_prints_goes_to_the_log(process: EngineProcess) -> None:
    with process:
        process.call("add", {"a": 1, "b": 2}, {"x": np.zeros(1)})
    assert "noise on standard output" in process.log.read_text()


def test_our_errors_come_back_as_they_are(process: EngineProcess) -> None:
    with process, pytest.raises(InputError, match="^that was wrong$"):
        process.call("input")


def test_other_errors_name_the_log_and_the_process_goes_on(process: EngineProcess) -> None:
    with process:
        with pytest.raises(EngineError, match=r"ValueError: an engine's own error \(details in .*log\)"):
            process.call("fail")
        assert "Traceback" in process.log.read_text()
        assert process.call("add", {"a": 1, "b": 1}, {"x": np.zeros(1)})[0] == {"sum": 2}


def test_full_disk_stays_an_os_error(process: EngineProcess) -> None:
    with process, pytest.raises(OSError, match="No space left") as caught:
        process.call("disk")
    assert caught.value.errno == 28


def test_crash_is_an_error_and_not_the_end(process: EngineProcess) -> None:
    with process, pytest.raises(EngineError, match=r"died \(signal 11\); its output is in"):
        process.call("crash")


def test_hidden_modules_cannot_be_imported(process: EngineProcess) -> None:
    with process, pytest.raises(EngineError, match="ModuleNotFoundError"):
        process.call("hidden")


_PARENT = """
import sys
from mobilekit.process import EngineProcess
p = EngineProcess("mobilekit.runtimes.service:service")
print(p.pid, flush=True)
import time; time.sleep(60)
"""


def test_child_outlives_the_thread_that_made_it(tmp_path: Path) -> None:
    made: list[EngineProcess] = []
    thread = threading.Thread(target=lambda: made.append(EngineProcess("mobilekit.runtimes.service:service")))
    thread.start()
    thread.join()
    time.sleep(1)
    with made[0], pytest.raises(EngineError, match="no method"):
        made[0].call("nothing")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_child_dies_with_its_parent() -> None:
    root = Path(__file__).parents[1]
    parent = subprocess.Popen([sys.executable, "-c", _PARENT], stdout=subprocess.PIPE, text=True, cwd=root)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    time.sleep(1)
    parent.kill()
    parent.wait()
    for _ in range(50):
        try:
            state = Path(f"/proc/{child}/stat").read_text().split()[2]
        except FileNotFoundError:
            return
        if state == "Z":
            return
        time.sleep(0.1)
    pytest.fail("the child outlived its parent")
