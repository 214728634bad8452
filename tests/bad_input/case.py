"""What a case is, and the place in which it does its damage."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

WEIGHTS = "model.safetensors"
Tensors = dict[str, NDArray[Any]]
Spoil = Callable[["Place"], list[str]]
# Data that a classifier can be trained on.
GOOD = "text,label\n" + "".join(f"{word} film,{label}\n" for word, label in (("good", "yes"), ("bad", "no")) * 4)


@dataclass(frozen=True)
class Case:
    """One bad input.

    spoil: damages what it takes from the place, and returns the command line. message: a pattern of the error, which
    has to name the file, flag or value and what to do. artifact: whether it needs an exported one. code: 2, or 3 where
    `check` finds what was tampered with.
    """

    name: str
    spoil: Spoil
    message: str
    artifact: bool = False
    code: int = 2


@dataclass
class Place:
    """An empty folder with copies of good things, made when a case asks for them.

    goods: folders of good checkpoints (by built-in name), records ("records") and artifacts ("artifact", "embedder").
    """

    root: Path
    goods: Callable[[str], Path]
    patch: pytest.MonkeyPatch

    def copy(self, good: str, name: str = "m") -> Path:
        """A copy of a good folder, relative to the current one, as users give them."""
        shutil.copytree(self.goods(good), self.root / name)
        return Path(name)

    def model(self, good: str = "tiny-classifier") -> Path:
        """A copy of a good checkpoint."""
        return self.copy(good)

    def artifact(self) -> Path:
        """A copy of a good artifact: tiny-classifier, int8, TFLite, length 16."""
        return self.copy("artifact", "a")


def export(model: Path | str, *more: str) -> list[str]:
    """A command line that would export `model`."""
    return ["export", "--model", str(model), "--target", "tflite", "--lengths", "16", *more]


def inspect(folder: Path) -> list[str]:
    """A command line that loads a checkpoint, or reads an artifact, and no more."""
    return ["inspect", str(folder)]


def edit(file: Path, *without: str, **changes: Any) -> None:
    """Change values of a JSON file, and leave some out."""
    content = json.loads(file.read_text())
    content.update(changes)
    file.write_text(json.dumps({name: value for name, value in content.items() if name not in without}))


def edit_tensors(folder: Path, change: Callable[[Tensors], Tensors | None]) -> None:
    """Write a checkpoint's tensors anew; change: alters them in place, or returns others."""
    # Copies: the file that they are mapped from is overwritten.
    tensors = {name: np.array(values) for name, values in load_file(folder / WEIGHTS).items()}
    save_file(change(tensors) or tensors, folder / WEIGHTS)


def edit_header(file: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the header of a safetensors file and leave its values as they are."""
    data = file.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    change(header)
    head = json.dumps(header).encode()
    file.write_bytes(struct.pack("<Q", len(head)) + head + data[8 + size :])
