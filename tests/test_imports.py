"""Starting is instant: what every use imports loads no engine."""

import subprocess
import sys
import time

import pytest

HEAVY = ("coremltools", "executorch", "litert_torch", "tensorflow", "torch", "transformers")


@pytest.mark.parametrize("module", ["mobilekit", "mobilekit.cli.main", "mobilekit.artifact", "export.registry"])
def test_import_loads_no_engine(module: str) -> None:
    code = f"import sys, {module}; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_help_answers_in_under_300_ms() -> None:
    def seconds() -> float:
        started = time.perf_counter()
        subprocess.run([sys.executable, "-m", "mobilekit", "--help"], capture_output=True, check=True)
        return time.perf_counter() - started

    # The best of five: the machine may be busy with something else.
    assert min(seconds() for _ in range(5)) < 0.3
