"""What reads TensorFlow checkpoints, in a process of its own: the only module that imports tensorflow."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mobilekit.errors import InputError
from mobilekit.process import Arrays


class CheckpointService:
    """The service of `mobilekit.process` around TensorFlow's reader of checkpoints.

    It holds the checkpoint's directory; a tensor is read, checked against its checksum, and sent when it is asked for.
    """

    def __init__(self) -> None:
        # Said before the import, or it is too late; a graphics card is of no use for reading a file.
        os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
        import tensorflow

        self._tensorflow = tensorflow
        self._path = ""
        self._reader: Any = None

    def __call__(
        self, method: str, params: dict[str, Any], arrays: Arrays, progress: Callable[[str], None]
    ) -> tuple[Any, Arrays]:
        """open: {path} (without `.index`) -> shape by name of every variable. read: {name} -> float32 `values`.

        Raises InputError when the files are damaged or cut short, or when a variable is not floating point.
        """
        if method == "open":
            return self._open(str(params["path"])), {}
        if method == "read":
            return None, self._read(str(params["name"]))
        raise ValueError(f"no method {method}")

    def _open(self, path: str) -> dict[str, list[int]]:
        self._path = path
        with self._errors("cannot be opened"):
            self._reader = self._tensorflow.train.load_checkpoint(path)
            shapes = self._reader.get_variable_to_shape_map()
        return {str(name): [int(size) for size in shape] for name, shape in shapes.items()}

    def _read(self, name: str) -> Arrays:
        kind = self._reader.get_variable_to_dtype_map().get(name)
        if kind is None or not kind.is_floating:
            said = "not there" if kind is None else f"of type {kind.name}; weights have to be floating point"
            raise InputError(f"{self._path}: {name} is {said}.")
        with self._errors(f"{name} cannot be read"):
            values = self._reader.get_tensor(name)
        return {"values": np.asarray(values, np.float32)}

    @contextlib.contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except (self._tensorflow.errors.OpError, LookupError, RuntimeError, ValueError) as error:
            reason = " ".join(str(error).split())[:200]
            raise InputError(
                f"{self._path}: {what} ({reason}); the files are damaged or incomplete: get them again."
            ) from error


def service() -> CheckpointService:
    """Factory for `mobilekit.process`."""
    return CheckpointService()
