"""How progress is shown where nobody watches."""

from __future__ import annotations

import pytest

from mobilekit.cli import options
from mobilekit.cli.options import progress_lines


def test_of_steps_that_count_on_one_in_a_while_is_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(options.time, "monotonic", lambda: now[0])
    with progress_lines(True) as report:
        for stage in ("", "plain text: "):
            report("train", f"{stage}reading")
            for step in range(1, 41):
                report("train", f"{stage}step {step} of 40, loss 1.0")
                report("other", "step aside") if step == 3 else None
                now[0] += 1
        report("train", "step by step")
        report("train", "step by step")
    said = [line.split(maxsplit=3)[3].strip() for line in capsys.readouterr().err.splitlines()]
    steps = [f"step {i} of 40, loss 1.0" for i in (1, 16, 31)]
    aside = "step aside"
    first = ["reading", steps[0], aside, *steps[1:]]
    second = ["plain text: reading", f"plain text: {steps[0]}", aside, *(f"plain text: {s}" for s in steps[1:])]
    assert said == [*first, *second, "step by step", "step by step"]
