"""Cross-fitting: fine-tunes on four fifths of `movie-sentiment` each, so that every sentence is judged by a model that
did not see it.

The folds' text lies in the work folder alone; it is never committed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mobilekit.errors import CheckFailedError
from mobilekit.text.data.load import load_data
from mobilekit.text.data.rows import TextData, TextRow

FOLDS = 5
DATA = "movie-sentiment"
LENGTH = 64
_LOOP = f"--length {LENGTH}"


@dataclass(frozen=True)
class Fold:
    """rows: what it judges, by a model that is trained on the rest. folder: where its data and models are."""

    number: int
    rows: tuple[TextRow, ...]
    folder: Path

    @property
    def data(self) -> Path:
        """What it trains on."""
        return self.folder / "train.jsonl"

    @property
    def held_out(self) -> Path:
        """What it judges, as a file."""
        return self.folder / "held-out.jsonl"


def folds(work: Path) -> list[Fold]:
    """The folds, with their files written: sentences in an order drawn by seed 0, the i-th to fold i modulo `FOLDS`."""
    rows, labels = _sentences()
    order = np.random.default_rng(0).permutation(len(rows))
    made = []
    for number in range(FOLDS):
        own = set(order[number::FOLDS].tolist())
        fold = Fold(number, tuple(rows[i] for i in sorted(own)), work / f"fold-{number}")
        fold.folder.mkdir(parents=True, exist_ok=True)
        _write(fold.data, [row for i, row in enumerate(rows) if i not in own], labels)
        _write(fold.held_out, fold.rows, labels)
        made.append(fold)
    return made


def train(fold: Fold, name: str, options: str) -> Path:
    """The folder of a model trained on the fold's data, made unless it is there; raises CheckFailedError on failure."""
    out = fold.folder / name
    if not out.is_dir():
        asked = f"train --data {fold.data} {_LOOP} --seed {fold.number} {options} --out {out}".split()
        log = fold.folder / f"{name}.log"
        with log.open("w", encoding="utf-8") as file:
            resume = ["--resume"] if list(fold.folder.glob(f"{name}.training/**/checkpoint")) else []
            command = [sys.executable, "-m", "mobilekit", *asked, *resume]
            done = subprocess.run(command, check=False, stdout=file, stderr=file)
        if done.returncode:
            raise CheckFailedError(f"fold {fold.number}: {name} failed, see {log}.")
    return out


def _sentences() -> tuple[list[TextRow], tuple[str, ...]]:
    """All of them, whatever split they are in; the same text stands once, so that none is judged by who saw it."""
    data: list[TextData] = [load_data(DATA, split=split) for split in ("train", "dev", "test")]
    found = {row.text: row for each in data for row in each.rows if isinstance(row, TextRow)}
    return list(found.values()), data[0].labels


def _write(file: Path, rows: list[TextRow] | tuple[TextRow, ...], labels: tuple[str, ...]) -> None:
    with file.open("w", encoding="utf-8") as lines:
        for row in rows:
            assert isinstance(row.label, int)
            lines.write(json.dumps({"text": row.text, "label": labels[row.label]}) + "\n")
