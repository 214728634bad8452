"""Where a checkpoint's tensors come from, and how they are read: by name, one at a time, validated."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import InputError, short
from mobilekit.reading import read_errors, read_values

WEIGHTS_FILE = "model.safetensors"
INDEX_FILE = "model.safetensors.index.json"
# An entry takes some 100 bytes; the library would read 100 MB of them, and take many times as much memory.
_LARGEST_HEADER = 2 * 2**20
_PICKLED = "pickled, as torch.save does; load it with transformers and save_pretrained(folder) it"
# What files begin with that are given out for safetensors.
_FOREIGN = {
    b"\x80": _PICKLED,
    b"PK\x03\x04": _PICKLED,
    b"version https://git-lfs": "a pointer of Git LFS; git lfs pull fetches the weights",
    b"<": "a web page; download the weights again",
}

Tensors = dict[str, NDArray[np.float32]]
Json = dict[str, Any]


class TensorSource(Protocol):
    """The tensors of a checkpoint. place: what messages call it."""

    @property
    def place(self) -> str:
        """The folder."""
        ...

    def names(self) -> Collection[str]:
        """Names of all tensors, wanted or not."""
        ...

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of a tensor, without reading it."""
        ...

    def read(self, name: str) -> NDArray[np.float32]:
        """A tensor as float32; raises InputError when it cannot be read or is not floating point."""
        ...


def read_json(file: Path) -> Json:
    """An object from a JSON file; raises InputError naming the file when it is missing, not JSON or no object."""
    content = read_values(file)
    if not isinstance(content, dict):
        raise InputError(f"{file}: expected a JSON object, got {type(content).__name__}.")
    return content


def read_tensors(
    source: TensorSource,
    wanted: Mapping[str, str],
    shapes: Mapping[str, tuple[int, ...]],
    prefix: str,
    explain: Callable[[str, tuple[int, ...]], str] = lambda name, shape: "",
) -> Tensors:
    """Our tensors out of a checkpoint, float32.

    wanted: our name -> the checkpoint's, which may carry `prefix`, and may be one of the spellings of old checkpoints.
    Tensors that nobody wants are ignored. explain: what to say of a tensor (by our name) that has another shape, where
    there is more to say than both shapes. Raises InputError when one is missing, of another shape, or not finite.
    """
    there = set(source.names())
    chosen: dict[str, str] = {}
    missing = []
    for ours, theirs in wanted.items():
        name = next((n for n in _spellings(theirs, prefix) if n in there), None)
        if name is None:
            missing.append(theirs)
        else:
            chosen[ours] = name
    if missing:
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        raise InputError(f"{source.place}: tensors missing from the weights: {', '.join(missing[:3])}{more}.")
    # All shapes before any value: a wrong configuration is found without reading a gigabyte.
    for ours, name in chosen.items():
        shape = source.shape(name)
        if shape != shapes[ours]:
            said = f"{name} has shape {list(shape)}; the configuration asks for {list(shapes[ours])}."
            raise InputError(f"{source.place}: {short(explain(ours, shape) or said, 400)}")
    found: Tensors = {}
    for ours, name in chosen.items():
        values = source.read(name)
        # A minimum is NaN where anything is, and needs no array of truth values beside a gigabyte of weights.
        if values.size and not np.isfinite([values.min(), values.max()]).all():
            raise InputError(f"{source.place}: {name} has values that are not finite (NaN or infinity).")
        found[ours] = values
    return found


class SafetensorsSource:
    """One `model.safetensors`, or the shards that `model.safetensors.index.json` names."""

    def __init__(self, folder: Path) -> None:
        self.place = str(folder)
        # Each file is opened once: it is mapped into memory as a whole.
        self._opened: dict[str, tuple[Path, Any]] = {}
        for file in _weight_files(folder):
            opened = _open(file)
            self._opened.update(dict.fromkeys(opened.keys(), (file, opened)))

    def names(self) -> Collection[str]:
        """All names in all files."""
        return self._opened.keys()

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape, from the file's header."""
        file, opened = self._opened[name]
        with _reading(file, name):
            return tuple(opened.get_slice(name).get_shape())

    def read(self, name: str) -> NDArray[np.float32]:
        """Values; half precision becomes float32."""
        file, opened = self._opened[name]
        # Through torch, because numpy has no bfloat16.
        with _reading(file, name):
            tensor = opened.get_tensor(name)
        if not tensor.is_floating_point():
            raise InputError(f"{file}: {name} is of type {tensor.dtype}; weights have to be floating point.")
        values: NDArray[np.float32] = tensor.float().numpy()
        return values


@contextlib.contextmanager
def _reading(file: Path, name: str) -> Iterator[None]:
    from safetensors import SafetensorError

    try:
        yield
    except (SafetensorError, OSError, ValueError, RuntimeError) as error:
        raise InputError(f"{file}: {short(name)} cannot be read ({error}).") from error


@contextlib.contextmanager
def write_errors(file: Path) -> Iterator[None]:
    """Turn what the library raises when the disk refuses (full, read-only) into the OSError that it was."""
    from safetensors import SafetensorError

    try:
        yield
    except SafetensorError as error:
        found = re.search(r"os error ([0-9]+)", str(error))
        if found is None:
            raise
        raise OSError(int(found[1]), os.strerror(int(found[1])), str(file)) from error


def _weight_files(folder: Path) -> list[Path]:
    single, index = folder / WEIGHTS_FILE, folder / INDEX_FILE
    if single.is_file():
        return [single]
    if single.exists():
        raise InputError(f"{single}: is not a file.")
    if index.is_file():
        shards = read_json(index).get("weight_map")
        if not isinstance(shards, dict) or not all(isinstance(s, str) for s in shards.values()):
            raise InputError(f"{index}: weight_map is missing or not a map of names.")
        names = sorted(set(shards.values()))
        for name in names:
            if (folder / name).parent != folder or not (folder / name).is_file():
                raise InputError(f"{index}: names '{short(name)}', which is no file in the folder.")
        return [folder / name for name in names]
    others = sorted(p.name for pattern in ("*.bin", "*.pt", "*.ckpt*", "*.h5") for p in folder.glob(pattern))
    if others:
        raise InputError(
            f"{folder}: has {others[0]} but no {WEIGHTS_FILE}; pickled weights are not read. Load it with transformers "
            "and save_pretrained(folder) it as safetensors."
        )
    raise InputError(
        f"{folder}: no weights; expected {WEIGHTS_FILE} (or {INDEX_FILE} and its shards; pickled weights are not read)."
    )


def _open(file: Path) -> Any:
    from safetensors import SafetensorError, safe_open

    with read_errors(file), file.open("rb") as opened:
        start = opened.read(32)
    foreign = next((said for sign, said in _FOREIGN.items() if start.startswith(sign)), "")
    # A header begins with a brace, after eight bytes that may be anything.
    if foreign and start[8:9] != b"{":
        raise InputError(f"{file}: not a safetensors file but {foreign}.")
    if int.from_bytes(start[:8], "little") > _LARGEST_HEADER:
        raise InputError(f"{file}: not a whole safetensors file (its header cannot be that long).")
    try:
        return safe_open(file, framework="pt")
    except (SafetensorError, OSError, ValueError, RuntimeError) as error:
        raise InputError(f"{file}: not a whole safetensors file ({error}).") from error


def _spellings(name: str, prefix: str) -> list[str]:
    """A name as checkpoints of all ages have it: with and without prefix, old names of norms and of the word bias."""
    known = [name, name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")]
    for bias in ("predictions.bias", "lm_head.bias"):
        borrowed = bias.replace(".bias", ".decoder.bias")
        known += [
            name.removesuffix(old) + new for old, new in ((bias, borrowed), (borrowed, bias)) if name.endswith(old)
        ]
    return [p + n for n in dict.fromkeys(known) for p in (prefix, "")]
