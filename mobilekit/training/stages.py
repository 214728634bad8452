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
from mobilekit.staging import staged_file
from mobilekit.training.checkpoint import load_best
from mobilekit.training.loop import Loop, Objective, Outcome
from mobilekit.training.settings import Settings

Report = Callable[[str], None]
# () -> (the metric that decides, all metrics)
Judge = Callable[[], tuple[float, dict[str, float]]]
_DONE, _PREPARED = "done.json", "prepared.json"


@dataclass(frozen=True)
class Stage:
    """One run of the loop. name: "" where it is the only one. objective: made when the stage's turn comes. module: what
    is trained, in place.

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
    objective, prepared = _prepared(stage, folder, resume)
    named = f"{stage.name}: " if stage.name else ""
    loop = Loop(
        stage.module,
        objective,
        stage.settings,
        folder,
        stage.judge or (judge if stage.judged else None),
        lambda text: report(f"{named}{text}"),
    )
    begun = resume and (folder / "checkpoint").is_dir()
    outcome = loop.run(begun, {**about, "stage": stage.name})
    outcome.seconds += prepared
    if loop.accelerator.is_main_process:
        _write(done, {"same": same, "outcome": vars(outcome)})
    loop.accelerator.wait_for_everyone()
    return outcome


def _prepared(stage: Stage, folder: Path, resume: bool) -> tuple[Objective, float]:
    """What is learned, and the seconds that it took, earlier ones too: asking a teacher, or varying text, is part of
    what a stage takes, and is not done again by a run that goes on."""
    from accelerate import PartialState

    file, before = folder / _PREPARED, 0.0
    if resume and file.is_file():
        try:
            before = float(json.loads(file.read_text(encoding="utf-8"))["seconds"])
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise InputError(f"{file}: cannot be read ({error}); start without --resume.") from error
    started = time.monotonic()
    objective = stage.objective()
    seconds = before + time.monotonic() - started
    if PartialState().is_main_process:
        _write(file, {"seconds": seconds})
    return objective, seconds


def _write(file: Path, content: dict[str, Any]) -> None:
    """JSON, beside and renamed."""
    with staged_file(file, force=True) as beside:
        beside.write_text(json.dumps(content, sort_keys=True), encoding="utf-8")


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
