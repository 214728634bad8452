"""Ctrl-C, SIGTERM and a reader that goes away: soon over, nothing left behind, no engine running on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow

# A test run in the background ignores SIGINT, and its children would too.
_PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from mobilekit.cli.main import main
main(sys.argv[1:])
"""


def start(out: Path) -> subprocess.Popen[str]:
    options = ["--model", "tiny-classifier", "--target", "executorch", "--target", "coreml", "--out", str(out)]
    return subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, "export", *options], cwd=ROOT, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_an_export_soon_and_cleanly(number: signal.Signals, tmp_path: Path) -> None:
    child = start(tmp_path)
    assert child.stderr is not None
    for line in child.stderr:
        if "tracing" in line or "converting" in line:
            break
    engines = psutil.Process(child.pid).children(recursive=True)
    assert engines
    os.kill(child.pid, number)
    asked = time.monotonic()
    said = child.stderr.read()
    assert child.wait(timeout=30) == 130
    assert time.monotonic() - asked < 15
    assert said.strip().splitlines()[-1] == "error: interrupted."
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []
    psutil.wait_procs(engines, timeout=5)
    assert not [p for p in engines if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


def test_export_goes_on_when_nobody_reads_its_progress(tmp_path: Path) -> None:
    options = ["--model", "tiny-classifier", "--target", "tflite", "--lengths", "16", "--out", str(tmp_path)]
    child = subprocess.Popen(
        [sys.executable, "-m", "mobilekit", "export", *options], cwd=ROOT, stderr=subprocess.PIPE, text=True
    )
    assert child.stderr is not None
    child.stderr.readline()
    child.stderr.close()
    assert child.wait(timeout=200) == 0
    assert (tmp_path / "tiny-classifier-int8" / "tflite" / "manifest.json").is_file()
