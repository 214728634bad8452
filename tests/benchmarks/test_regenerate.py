"""`make results`: every committed file has a step, every step is a command that is understood."""

from __future__ import annotations

import importlib
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from benchmarks import regenerate
from benchmarks.regenerate import command_of, steps
from benchmarks.student_runs import runs
from mobilekit.errors import InputError

RESULTS = Path(__file__).parents[2] / "benchmarks/results"


def test_every_committed_file_has_a_step() -> None:
    made = {name.split("-")[0] for name in steps()}
    assert {file.stem for file in RESULTS.glob("*.json")} - made == set()


@pytest.mark.parametrize("name", steps())
def test_every_step_is_understood(name: str, tmp_path: Path) -> None:
    module, *arguments = command_of(steps()[name], tmp_path)
    for argument in arguments:
        if argument.startswith(f"{tmp_path}/") and not argument.endswith(".json"):
            # Some look whether what they read is there.
            Path(argument).mkdir(parents=True, exist_ok=True)
    command = importlib.import_module(module).main
    assert isinstance(command, click.Command)
    command.make_context(name, arguments)


def test_models_of_steps_are_runs() -> None:
    assert set(regenerate.FINE_TUNED) <= set(runs())


def test_list_prints_commands_and_runs_nothing(tmp_path: Path) -> None:
    found = CliRunner().invoke(regenerate.main, ["--work", str(tmp_path / "new"), "--list"])
    assert found.exit_code == 0 and len(found.output.splitlines()) == len(steps())
    assert "python -m benchmarks.walls --out" in found.output
    assert not (tmp_path / "new").exists()


def test_an_unknown_step_is_refused() -> None:
    with pytest.raises(InputError, match="step 'wall' is unknown; did you mean 'walls'"):
        regenerate.main(["--only", "wall"], standalone_mode=False)
