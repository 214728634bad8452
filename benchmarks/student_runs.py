"""The commands whose results are in `results/students.json`: teachers, students, ablations.

`{name}` in a command is the output folder of the run of that name, which it needs first; `{work}` the folder of all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

TASK = "--data movie-sentiment --pooling mean --length 64"
TEXT = "--text movie-sentiment --text editorials"
_ALONE = "--general-epochs 0 --skip-alone"
# E5's attention scores are large (mean square 4 to 380) and its states small (0.05 to 0.2): with a weight of 1 the
# scores would be all that is learnt.
INSIDES = "--attention 0.02"
_GENERAL = f"pretrain --teacher {{words}} {TEXT} --length 64"
_INSIDES = f"--recipe tinybert {INSIDES} --learning-rate 5e-4 --dropout 0"
# One set of weights does the work of twelve layers: it cannot be right everywhere, so errors are relative ones, or the
# last layer, whose states are small, would hardly count. A step moves all layers; at 1e-3 it diverges.
_SHARED = "--recipe tinybert --errors relative --attention 0.2"
# Two variations of each sentence, made by the first run that needs them.
VARIED = "--copies 2 --augmented {work}/varied-2.jsonl"
SEEDS = (0, 1, 2)


@dataclass(frozen=True)
class Row:
    """A row of a table. aim: the least share of the teacher's accuracy that was aimed at, None: there was none."""

    name: str
    about: str
    aim: float | None = None


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
        return tuple(name for name in dict.fromkeys(re.findall(r"{([\w-]+)}", self.command)) if name != "work")


HEADLINE = (
    Row("teacher", "e5-small-enpt, 12 layers, fine-tuned: the teacher"),
    Row("minilm-alone", "MiniLM, 6 layers, without a teacher"),
    Row("minilm-hinton", "MiniLM, 6 layers, `hinton`", 0.995),
    Row("distil6-alone", "`distil6`, without a teacher"),
    Row("distil6-hinton", "`distil6`, `hinton`"),
    Row("distil6-pkd", "`distil6`, `pkd`", 0.97),
    Row("distil6-distilbert", "`distil6`, `distilbert`", 0.97),
    Row("distil6-tinybert", "`distil6`, `tinybert`", 0.99),
    Row("distil6-pretrained", "`distil6` without the teacher's layers, `pretrained`"),
    Row("tiny4-tinybert", "`tiny4`, `tinybert`"),
    Row("albert", "`albert`, E 128, all shared, `tinybert`", 0.95),
    Row("albert-student", "`distil6` of that ALBERT, taught by it, `hinton`"),
)


def runs() -> Mapping[str, Run]:
    """All runs by name, each after those that it needs."""
    from benchmarks.student_ablations import ablations

    made = [*_teachers(), *_words(), *_minilm(), *_six_layers(), *_tiny(), *_albert(), *ablations()]
    return {run.name: run for run in made}


def _teachers() -> list[Run]:
    command = f"train --model e5-small-enpt {TASK} --epochs 3 --seed"
    return [Run(f"teacher-{seed}", f"{command} {seed}", "teacher") for seed in SEEDS]


def _words() -> list[Run]:
    """The general teacher: first a head alone, then all of it."""
    command = f"pretrain {TEXT} --length 64 --epochs 5"
    return [
        Run("words-head", f"{command} --model e5-small-enpt --head-only --learning-rate 1e-3"),
        Run("words", f"pretrain {TEXT} --length 64 --epochs 3 --model {{words-head}}"),
    ]


def _minilm() -> list[Run]:
    command = f"distill --teacher {{teacher-0}} --student minilm-l6 {TASK} --epochs 3 --seed"
    return [Run(f"minilm-{seed}", f"{command} {seed}", "minilm-hinton", "minilm-alone") for seed in SEEDS]


def _six_layers() -> list[Run]:
    taught = f"distill --teacher {{teacher-0}} {TASK}"
    general = f"{_GENERAL} --model distil6"
    made = [
        Run("general-distilbert", f"{general} --recipe distilbert --epochs 3 --learning-rate 2e-4"),
        Run("general-tinybert", f"{general} --epochs 6 {_INSIDES}"),
        Run("general-fresh", f"{general} --layers none --epochs 5 --learning-rate 3e-4"),
    ]
    for seed in SEEDS:
        hinton = f"{taught} --student distil6 --epochs 4 --seed {seed}"
        made.append(Run(f"distil6-hinton-{seed}", hinton, "distil6-hinton", "distil6-alone"))
        pkd = f"{taught} --recipe pkd --epochs 4 --skip-alone --seed {seed}"
        made.append(Run(f"distil6-pkd-{seed}", pkd, "distil6-pkd"))
        distilbert = f"{taught} --recipe distilbert --student {{general-distilbert}} --epochs 4 {_ALONE} --seed {seed}"
        made.append(Run(f"distil6-distilbert-{seed}", distilbert, "distil6-distilbert"))
        tinybert = (
            f"{taught} --recipe tinybert --student {{general-tinybert}} --general-teacher {{words}} {VARIED} "
            f"--inner-epochs 2 --epochs 2 {INSIDES} {_ALONE} --seed {seed}"
        )
        made.append(Run(f"distil6-tinybert-{seed}", tinybert, "distil6-tinybert"))
    fresh = f"{taught} --recipe pretrained --student {{general-fresh}} --epochs 4 {_ALONE}"
    made.append(Run("distil6-pretrained-0", fresh, "distil6-pretrained"))
    return made


def _tiny() -> list[Run]:
    tinybert = (
        f"distill --teacher {{teacher-0}} {TASK} --recipe tinybert --student {{general-tiny4}} "
        f"--general-teacher {{words}} {VARIED} --inner-epochs 4 --epochs 3 {INSIDES} {_ALONE}"
    )
    return [
        Run("general-tiny4", f"{_GENERAL} --model tiny4 --epochs 8 {_INSIDES}"),
        Run("tiny4-tinybert-0", tinybert, "tiny4-tinybert"),
    ]


def _albert() -> list[Run]:
    """An ALBERT of the teacher, and a shallower one of that."""
    taught = (
        f"distill --teacher {{teacher-0}} {TASK} {_SHARED} --student {{general-albert}} --general-teacher {{words}} "
        f"{VARIED} --inner-epochs 2 --inner-rate 4e-4 --epochs 2 --learning-rate 2e-4 {_ALONE}"
    )
    student = f"distill --teacher {{albert-0}} {TASK} --student distil6 --epochs 3 --skip-alone"
    return [
        Run("general-albert", f"{_GENERAL} --model albert --epochs 6 {_SHARED} --learning-rate 6e-4 --dropout 0"),
        *(Run(f"albert-{seed}", f"{taught} --seed {seed}", "albert") for seed in SEEDS),
        Run("albert-student-0", student, "albert-student"),
    ]
