"""The command line, called in-process."""

from __future__ import annotations

import pytest

from mobilekit.cli.main import main


def run(capture: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error. capture: `capsys`, or `capfd` where other processes write too."""
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
        raise SystemExit(0)
    captured = capture.readouterr()
    return int(caught.value.code or 0), captured.out, captured.err
