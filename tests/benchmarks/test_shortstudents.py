"""The short version's commands parse, and its table says what came out."""

from __future__ import annotations

import shlex

import click
import pytest

from benchmarks.shortstudents import STEPS, table
from mobilekit.cli.main import group


@pytest.mark.parametrize("step", STEPS)
def test_commands_are_those_of_the_command_line(step: str) -> None:
    verb, *arguments = shlex.split(STEPS[step])
    command = group.get_command(click.Context(group), verb)
    assert command is not None
    command.make_context(verb, [*arguments, "--out", step])


def test_table_has_a_line_a_step_and_all_checks() -> None:
    checks = [{"passed": True}, {"passed": False}]
    files = [{"target": "coreml", "bytes": 12_345_678, "checks": checks}] * 2
    content = {
        "environment": {"cpus": 2, "processor": "some processor"},
        "commands": STEPS,
        "seconds": {"teacher": 90.0, "student": 120.0, "phone": 30.0},
        "rows": [{"values": {"accuracy": 0.85}}, {"values": {"accuracy": 0.84}}],
        "files": files,
    }
    lines = table(content).splitlines()
    assert "| 1.5 | 85.0 % right |" in lines[2] and "| 2.0 | 84.0 % right |" in lines[3]
    assert "| 0.5 | 2 of 4 checks; coreml 12.3 MB, coreml 12.3 MB |" in lines[4]
    assert lines[-1].startswith("4.0 minutes on a 2-core")
