"""The commands whose results are in `results/students.json`: teachers, students, ablations.

`{name}` in a command is the output folder of the run of that name, which it needs first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_DATA = "--data movie-sentiment --pooling mean --length 64"
_TEXT = "--text movie-sentiment --text editorials --length 64"
SEEDS = (0, 1, 2)


@dataclass(frozen=True)
class Run:
    """One command of `mobilekit`, without `--out`. row: of the table that its figures belong to. alone: the row of the
    same student without a teacher, where the run trains that too."""

    name: str
    command: str
    row: str = ""
    alone: str = ""

    @property
    def needs(self) -> tuple[str, ...]:
        """Runs whose folders it reads."""
        return tuple(dict.fromkeys(re.findall(r"{([\w-]+)}", self.command)))


def runs() -> Mapping[str, Run]:
    """All runs by name, each after those that it needs."""
    made = [*_teachers(), *_words(), *_minilm(), *_six_layers()]
    return {run.name: run for run in made}


def _teachers() -> list[Run]:
    command = f"train --model e5-small-enpt {_DATA} --epochs 3 --seed"
    return [Run(f"teacher-{seed}", f"{command} {seed}", "teacher") for seed in SEEDS]


def _words() -> list[Run]:
    return [
        Run("words-head", f"pretrain --model e5-small-enpt --head-only {_TEXT} --epochs 5 --learning-rate 1e-3"),
        Run("words", f"pretrain --model {{words-head}} {_TEXT} --epochs 5"),
    ]


def _minilm() -> list[Run]:
    command = f"distill --teacher {{teacher-0}} --student minilm-l6 {_DATA} --epochs 3 --seed"
    return [Run(f"minilm-{seed}", f"{command} {seed}", "minilm-hinton", "minilm-alone") for seed in SEEDS]


def _six_layers() -> list[Run]:
    return []
