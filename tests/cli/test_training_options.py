"""The options of the training loop are its settings, with their defaults."""

from __future__ import annotations

from typing import Any

import click
from click.testing import CliRunner

from mobilekit.cli.training_options import loop_options
from mobilekit.training.settings import Settings


def test_every_setting_is_an_option_and_has_its_default() -> None:
    found: list[Settings] = []

    @click.command()
    @loop_options
    def command(settings: Settings) -> None:
        found.append(settings)

    def asked(*arguments: str) -> Settings:
        result = CliRunner().invoke(command, arguments, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return found[-1]

    assert asked() == Settings()
    other: dict[str, Any] = {
        "epochs": 2, "batch": 8, "parts": 2, "learning_rate": 0.5, "warm_up": 0.25, "decay": 0.5, "clip": 2.0,
        "length": 16, "dropout": 0.5, "seed": 3, "save_every": 7, "precision": "fp32", "optimizer": "lamb",
    }  # fmt: skip
    given = [part for name, value in other.items() for part in (f"--{name.replace('_', '-')}", str(value))]
    assert asked(*given) == Settings(**other)
    assert not [name for name, value in Settings().to_dict().items() if other[name] == value]
