"""`open_artifact`: an artifact becomes a callable; the engine behind it is chosen, and lives in its own process."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mobilekit.artifact import MANIFEST_FILE, PREDICT_MASK, Artifact, open_folder
from mobilekit.errors import ArtifactError, InputError, MissingExtraError, short
from mobilekit.host import is_installed
from mobilekit.process import Arrays, EngineProcess, InsideProcess
from mobilekit.runtimes.base import EngineInfo, engine, engines
from mobilekit.runtimes.service import EngineService

DEFAULT_THREADS = min(4, os.cpu_count() or 1)
# More than any machine has; engines start as many as they are told.
_MOST_THREADS = 1024
# Inputs in one message to the engine's process: a message takes half a millisecond, small models a tenth of that.
_AT_ONCE = 32


class Runner:
    """An artifact that runs. Use it as a context manager, or call `close`.

    load_ms: milliseconds that the engine took to load the file, its library's import left out.
    """

    def __init__(self, artifact: Artifact, info: EngineInfo, threads: int, inside: bool = False) -> None:
        """inside: load the engine into this process, which has to be one of its own."""
        self.artifact, self.engine = artifact, info
        if not info.timed:
            # Two BLAS threads beside other work take four times as long as one, and nobody measures this engine.
            threads = 1
        self._lengths = artifact.manifest.lengths
        self._process: EngineProcess | InsideProcess = (
            InsideProcess(EngineService())
            if inside
            else EngineProcess("mobilekit.runtimes.service:service", hide=("tensorflow",), threads=threads)
        )
        params = {
            "engine": info.name,
            "path": str(artifact.model_path.resolve()),
            "entries": list(dict.fromkeys(self._lengths.values())),
            "threads": threads,
        }
        try:
            self.load_ms: float = self._process.call("load", params)[0]
        except BaseException:
            self._process.close()
            raise

    def __call__(
        self,
        input_ids: ArrayLike,
        attention_mask: ArrayLike | None = None,
        token_type_ids: ArrayLike | None = None,
        length: int | None = None,
        predict: int | None = None,
    ) -> dict[str, NDArray[np.float32]]:
        """Run one input through the smallest length that holds it.

        input_ids, attention_mask (None: all ones), token_type_ids (None: all zeros): integers [n] or [1, n].
        length: an exported length to use instead. predict: for fill-mask, the token that is asked for (None: the first
        mask token). Returns by output name float32 [1, size], or [1, n, size] where each token has a row. Raises
        InputError when no exported length holds the input, or there is no mask token.
        """
        ids = _row(input_ids, "input_ids")
        if not ids.size:
            raise InputError("input_ids is empty; an input has at least its special tokens.")
        chosen = self.length_for(ids.size) if length is None else length
        inputs = self.padded(ids, attention_mask, token_type_ids, chosen, predict)
        outputs = self.outputs(chosen, inputs)
        self._check_output(outputs, chosen)
        # What the padding's own rows hold is nobody's business.
        kept = slice(ids.size) if self.artifact.manifest.per_token else slice(None)
        return {name: np.asarray(values, np.float32)[:, kept] for name, values in outputs.items()}

    def outputs(self, length: int, inputs: Arrays) -> Arrays:
        """What the engine gives at an exported length for inputs as `padded` makes them, by output name, as it is."""
        return self._process.call("run", {"entry": self._lengths[length]}, inputs)[1]

    def run_many(
        self,
        input_ids: Sequence[NDArray[np.int32]],
        token_type_ids: Sequence[NDArray[np.int32]],
        predict: Sequence[int] | None = None,
    ) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Run many inputs, one after the other inside the engine's process: number and output of each.

        Inputs, lengths and errors are as in a call; outputs are float32 [size], or [n, size] where each token has a
        row. They come in the order of the lengths that take them.
        """
        manifest, waiting = self.artifact.manifest, dict[int, list[int]]()
        for i, ids in enumerate(input_ids):
            waiting.setdefault(self.length_for(len(ids)), []).append(i)
        for length, numbers in sorted(waiting.items()):
            for start in range(0, len(numbers), _AT_ONCE):
                part = numbers[start : start + _AT_ONCE]
                asked = [None if predict is None else predict[i] for i in part]
                rows = [
                    self.padded(input_ids[i], None, token_type_ids[i], length, token)
                    for i, token in zip(part, asked, strict=True)
                ]
                stacked = {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}
                params = {"entry": self._lengths[length], "output": manifest.output_name}
                outputs = self._process.call("run_many", params, stacked)[1][manifest.output_name]
                self._check_output({manifest.output_name: outputs[:1]}, length)
                for i, values in zip(part, np.asarray(outputs, np.float32), strict=True):
                    yield i, values[: len(input_ids[i])] if manifest.per_token else values

    def _check_output(self, outputs: Mapping[str, NDArray[np.generic]], length: int) -> None:
        manifest = self.artifact.manifest
        rows = (length,) if manifest.per_token else ()
        wanted, name = (1, *rows, manifest.output_size), manifest.output_name
        if name not in outputs or outputs[name].shape != wanted:
            got = f"{name} {list(outputs[name].shape)}" if name in outputs else ", ".join(outputs)
            raise ArtifactError(
                f"{self.artifact.folder / MANIFEST_FILE}: says that the file gives {name} {list(wanted)}; it gives "
                f"{got}; export again."
            )

    def length_for(self, size: int) -> int:
        """The smallest exported length >= size; raises InputError when there is none."""
        for length in self._lengths:
            if length >= size:
                return length
        raise InputError(f"an input of {size} ids is longer than the longest exported length, {max(self._lengths)}.")

    def padded(
        self,
        ids: NDArray[np.int32],
        mask: ArrayLike | None,
        types: ArrayLike | None,
        length: int,
        predict: int | None = None,
    ) -> dict[str, NDArray[np.int32]]:
        """The graph's inputs, int32 [1, length] each."""
        if length not in self._lengths:
            raise InputError(f"length {length} was not exported; exported: {', '.join(map(str, self._lengths))}.")
        if ids.size > length:
            raise InputError(f"an input of {ids.size} ids does not fit length {length}.")
        rows = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids) if mask is None else _row(mask, "attention_mask"),
            "token_type_ids": np.zeros_like(ids) if types is None else _row(types, "token_type_ids"),
        }
        if self.artifact.manifest.asks_token:
            rows[PREDICT_MASK] = self._asked(ids, predict)
        fills = {"input_ids": int(self.artifact.manifest.content["tokenizer"]["pad_id"])}
        padded = {}
        for name in self.artifact.manifest.input_names:
            if rows[name].size != ids.size:
                raise InputError(f"{name} has {rows[name].size} values, input_ids {ids.size}; they have to be as long.")
            padded[name] = np.full((1, length), fills.get(name, 0), np.int32)
            padded[name][0, : ids.size] = rows[name]
        return padded

    def _asked(self, ids: NDArray[np.int32], predict: int | None) -> NDArray[np.int32]:
        """1 at the token that is asked for, 0 elsewhere."""
        if predict is None:
            mask_id = self.artifact.manifest.content["tokenizer"]["mask_id"]
            masks = np.flatnonzero(ids == mask_id)
            if not masks.size:
                raise InputError(f"no mask token (id {mask_id}) among input_ids; put one in, or say which token.")
            predict = int(masks[0])
        if not 0 <= predict < ids.size:
            raise InputError(f"token {predict} is asked for; there are {ids.size}.")
        asked = np.zeros_like(ids)
        asked[predict] = 1
        return asked

    def time(self, length: int, repeats: int, warm_up: int = 2) -> list[float]:
        """Milliseconds of each of `repeats` runs at an exported length, all tokens real."""
        ids = np.full(length, int(self.artifact.manifest.content["golden"][0]["input_ids"][0]), np.int32)
        inputs = self.padded(ids, None, None, length, 0)
        params = {"entry": self._lengths[length], "repeats": warm_up + repeats}
        times: list[float] = self._process.call("time", params, inputs)[0]
        return times[warm_up:]

    def delegation(self) -> Mapping[str, int] | None:
        """Operations in the accelerated backend and in all, or None where the engine does not tell."""
        counts: Mapping[str, int] | None = self._process.call("delegation")[0]
        return counts

    @property
    def pid(self) -> int:
        """The engine's process."""
        return self._process.pid

    def close(self) -> None:
        """End the engine's process."""
        self._process.close()

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_artifact(
    path: Path | str | Artifact, threads: int = DEFAULT_THREADS, engine_name: str | None = None
) -> Runner:
    """Open an artifact with the engine of this machine.

    threads: for the engine. engine_name: another engine for the same target. Raises ArtifactError when the folder is
    no artifact or its model file was altered, MissingExtraError when the engine is not installed.
    """
    return Runner(*verified(path, threads, engine_name), threads)


def verified(
    path: Path | str | Artifact, threads: int = DEFAULT_THREADS, engine_name: str | None = None
) -> tuple[Artifact, EngineInfo]:
    """An artifact and the engine that would run it; raises what `open_artifact` raises, and starts nothing."""
    artifact = path if isinstance(path, Artifact) else open_folder(path)
    if not 1 <= threads <= _MOST_THREADS:
        raise InputError(f"threads is {short(threads)}; it has to be 1 to {_MOST_THREADS:,}.")
    info = engine(engine_name) if engine_name else _engine_of(artifact)
    if info.target != artifact.manifest.target:
        raise InputError(f"engine '{info.name}' runs {info.target} files, not {artifact.manifest.target}.")
    artifact.refuse_altered(artifact.manifest.content["file"])
    for package in info.packages:
        if not is_installed(package):
            raise MissingExtraError(package, info.extra, f"running {info.target} artifacts")
    return artifact, info


def engine_for(target: str) -> EngineInfo:
    """The engine that runs a target's files here: the native one of this platform, else the portable one."""
    known = [e for e in engines().values() if e.target == target and not e.on_request]
    fitting = [e for e in known if e.platform in ("", sys.platform)]
    if not fitting:
        raise InputError(f"no engine on this machine runs '{short(target)}' files.")
    return max(fitting, key=lambda e: e.platform == sys.platform)


def _engine_of(artifact: Artifact) -> EngineInfo:
    try:
        return engine_for(artifact.manifest.target)
    except InputError as error:
        raise ArtifactError(f"{artifact.folder / MANIFEST_FILE}: {error}") from error


def _row(values: ArrayLike, name: str) -> NDArray[np.int32]:
    array = np.asarray(values)
    row = array.reshape(-1)
    if array.ndim > 2 or (array.ndim == 2 and array.shape[0] != 1) or (row.size and row.dtype.kind not in "iub"):
        raise InputError(f"{name} has to be integers of shape [n] or [1, n], got {array.dtype} {list(array.shape)}.")
    if row.size and (int(row.min()) < 0 or int(row.max()) > np.iinfo(np.int32).max):
        raise InputError(f"{name} has values outside 0 .. 2**31 - 1.")
    return row.astype(np.int32)
