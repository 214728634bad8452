"""Stages of a run, one after the other, and on from where it was ended."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from mobilekit.errors import InputError
from mobilekit.training.checkpoint import load_best
from mobilekit.training.loop import Loop, Objective, Outcome
from mobilekit.training.settings import Settings

Report = Callable[[str], None]
# () -> (the metric that decides, all metrics)
Judge = Callable[[], tuple[float, dict[str, float]]]
_DONE = "done.json"


@dataclass(frozen=True)
class Stage:
    """One run of the loop. objective: made when the stage's turn comes. module: what is trained, in place.

    judge: what chooses the best epoch, None: the task's dev metric where `judged`, else the last epoch is the best.
    """

    name: str
    objective: Callable[[], Objective]
    module: nn.Module
    settings: Settings
    judged: bool = False
    judge: Judge | None = None


def run_stage(
    stage: Stage, folder: Path, judge: Judge | None, resume: bool, about: dict[str, Any], report: Report
) -> Outcome:
    """Run a stage in `folder`; its module has the best epoch's weights at the end.

    resume: a stage that was done is not run again, one that was begun goes on. Raises InputError as `Loop.run` does.
    """
    done = folder / _DONE
    same = {**about, "stage": stage.name, "settings": stage.settings.to_dict()}
    if resume and done.is_file():
        return _was_done(done, stage, same)
    started = time.monotonic()
    objective = stage.objective()
    # What a teacher is asked, or text is varied, is part of what a stage takes.
    prepared = time.monotonic() - started
    loop = Loop(
        stage.module,
        objective,
        stage.settings,
        folder,
        stage.judge or (judge if stage.judged else None),
        lambda text: report(f"{stage.name}: {text}"),
    )
    begun = resume and (folder / "checkpoint").is_dir()
    outcome = loop.run(begun, {**about, "stage": stage.name})
    outcome.seconds += prepared
    if loop.accelerator.is_main_process:
        beside = folder / f".{_DONE}"
        beside.write_text(json.dumps({"same": same, "outcome": vars(outcome)}, sort_keys=True), encoding="utf-8")
        beside.replace(done)
    loop.accelerator.wait_for_everyone()
    return outcome


def _was_done(done: Path, stage: Stage, same: dict[str, Any]) -> Outcome:
    try:
        content = json.loads(done.read_text(encoding="utf-8"))
        outcome, had = Outcome(**content["outcome"]), dict(content["same"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{done}: cannot be read ({error}); start without --resume.") from error
    if had != json.loads(json.dumps(same)):
        raise InputError(f"{done}: stage '{stage.name}' was run with other settings; use those, or leave out --resume.")
    load_best(done.parent, stage.module)
    return outcome
