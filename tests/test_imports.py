"""Starting is instant: what every use imports loads no engine."""

import resource
import subprocess
import sys

import pytest

HEAVY = ("coremltools", "executorch", "litert_torch", "tensorflow", "torch", "transformers")


@pytest.mark.parametrize("module", ["mobilekit", "mobilekit.cli.main", "mobilekit.artifact", "export.registry"])
def test_import_loads_no_engine(module: str) -> None:
    code = f"import sys, {module}; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_help_takes_under_300_ms() -> None:
    def seconds() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "mobilekit", "--help"], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    # The processor's time, and the best of five: other tests run beside this one.
    assert min(seconds() for _ in range(5)) < 0.3
