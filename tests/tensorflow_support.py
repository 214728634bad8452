"""One tensorflow for all tests, in a process of its own: it takes ten seconds to start and clashes with the engines.

`second_opinion` runs a .tflite artifact in its interpreter; `write_checkpoint` writes what Google's code would;
`tensorflow_process` serves `mobilekit.models.google` too, so that not every test has to start one.
"""

from __future__ import annotations

import atexit
import functools
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from numpy.typing import NDArray

from mobilekit.artifact import Artifact, open_folder
from mobilekit.errors import EngineError
from mobilekit.host import is_installed
from mobilekit.process import Arrays, EngineProcess
from mobilekit.runtimes.base import engine
from mobilekit.runtimes.runner import Runner

needs_tensorflow = pytest.mark.skipif(
    not is_installed("tensorflow"), reason="tensorflow is not installed: pip install 'mobilekit[tensorflow]'"
)


class TensorflowService:
    """Runs in the child. open, read: of `CheckpointService`. write: {folder, name, step} and variables.

    load: {path, kernels}, run: {entry} and inputs -> outputs, which is what a Runner asks for. write_objects: {path}.
    """

    def __init__(self) -> None:
        from mobilekit.models.google.service import service as checkpoints

        self._checkpoints = checkpoints()
        self._interpreter: Any = None

    def __call__(
        self, method: str, params: dict[str, Any], arrays: Arrays, progress: Callable[[str], None]
    ) -> tuple[Any, Arrays]:
        if method in ("open", "read"):
            return self._checkpoints(method, params, arrays, progress)
        if method == "run":
            return None, self._interpreter.get_signature_runner(params["entry"])(**arrays)
        if method == "load":
            return self._load(params), {}
        if method == "write":
            self._write(params, arrays)
        elif method == "write_objects":
            self._write_objects(params)
        else:
            raise ValueError(f"no method {method}")
        return None, {}

    def _write(self, params: dict[str, Any], arrays: Arrays) -> None:
        """With the Saver that Google's code used, which writes the file `checkpoint` and the graph too."""
        from tensorflow.compat import v1 as tf

        with tf.Graph().as_default(), tf.Session() as session:
            made = {n: tf.get_variable(n, a.shape, tf.as_dtype(a.dtype), use_resource=False) for n, a in arrays.items()}
            for name, variable in made.items():
                # Fed, because a graph that holds a large table as a constant cannot be written.
                feed = tf.placeholder(variable.dtype.base_dtype, variable.shape)
                session.run(tf.assign(variable, feed), {feed: arrays[name]})
            saver = tf.train.Saver(max_to_keep=None)
            saver.save(session, os.path.join(params["folder"], params["name"]), global_step=params["step"])

    def _write_objects(self, params: dict[str, Any]) -> None:
        import tensorflow as tf

        tf.train.Checkpoint(table=tf.Variable([0.0])).write(params["path"])

    def _load(self, params: dict[str, Any]) -> int:
        """How many delegates there are."""
        import tensorflow as tf

        kinds = tf.lite.experimental.OpResolverType
        kernels = {"xnnpack": kinds.AUTO, "builtin": kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES}[params["kernels"]]
        self._interpreter = tf.lite.Interpreter(params["path"], num_threads=1, experimental_op_resolver_type=kernels)
        self._interpreter.allocate_tensors()
        return [node["op_name"] for node in self._interpreter._get_ops_details()].count("DELEGATE")


def service() -> TensorflowService:
    return TensorflowService()


@functools.cache
def tensorflow_process() -> EngineProcess:
    """The one process of this test session."""
    process = EngineProcess("tensorflow_support:service")
    atexit.register(process.close)
    return process


class SharedProcess:
    """Stands where an EngineProcess is made, and leaves the shared one running when it is closed."""

    def __init__(self, **more: Any) -> None:
        self._more = more

    def call(
        self, method: str, params: Mapping[str, Any] | None = None, *rest: Any, **named: Any
    ) -> tuple[Any, Arrays]:
        process = tensorflow_process()
        try:
            return process.call(method, {**(params or {}), **self._more}, *rest, **named)
        except EngineError:
            # It may be dead: the next test gets another.
            process.close()
            tensorflow_process.cache_clear()
            raise

    def close(self) -> None:
        pass

    def __enter__(self) -> SharedProcess:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def tensorflow_runner(artifact: Artifact, kernels: str) -> Runner:
    """A Runner of a .tflite artifact in tensorflow's interpreter, of which there is one at a time.

    kernels: xnnpack, its default delegate; builtin, none. Its `load_ms` is the number of delegates.
    """
    with mock.patch("mobilekit.runtimes.runner.EngineProcess", return_value=SharedProcess(kernels=kernels)):
        return Runner(artifact, engine("litert"), 1)


def second_opinion(folder: Path) -> None:
    """Hold every golden output of a .tflite artifact against tensorflow's interpreter, as `export/check.py` does.

    Twice: with XNNPACK, which tensorflow applies by default too, and with the interpreter's own kernels, which share
    no code with it. At int8 those quantize activations to 127 steps of a row's largest value, XNNPACK to 255 of its
    range, so outputs lie further from torch's (a 6-layer MiniLM: 0.9988 against 0.9996), and the manifest's limit for
    other processors holds them. Does nothing where tensorflow is not installed.
    """
    if not is_installed("tensorflow"):
        return
    from export.check import check_output

    artifact = open_folder(folder)
    assert artifact.manifest.target == "tflite", f"{folder}: tensorflow runs .tflite files only"
    result = check_output(artifact, tensorflow_runner(artifact, "xnnpack"))
    assert result.passed, f"{folder}: tensorflow with XNNPACK: {result.measured}; limit {result.limit}"
    builtin = tensorflow_runner(artifact, "builtin")
    if artifact.manifest.content["scheme"] in ("fp32", "fp16"):
        result = check_output(artifact, builtin)
        assert result.passed, f"{folder}: tensorflow's own kernels: {result.measured}; limit {result.limit}"
        return
    limit, cosine = artifact.manifest.content["tolerance"]["device"]["limit"], _cosine_of_all(artifact, builtin)
    assert cosine >= limit, f"{folder}: tensorflow's own kernels: cosine {cosine:.5f}; limit {limit}"


def _cosine_of_all(artifact: Artifact, runner: Runner) -> float:
    from export.check import listed

    got: list[NDArray[np.floating]] = []
    expected: list[float] = []
    for entry in artifact.manifest.content["golden"]:
        outputs = runner(entry["input_ids"], None, entry["token_type_ids"], None, entry["predict"])
        got.append(listed(outputs[artifact.manifest.output_name][0], entry["rows"], entry["columns"]).ravel())
        expected += entry["output"]
    one, other = np.concatenate(got).astype(np.float64), np.array(expected, np.float64)
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def write_checkpoint(
    folder: Path, variables: Mapping[str, NDArray[np.generic]], name: str = "bert_model.ckpt", step: int | None = None
) -> Path:
    """Write variables as TensorFlow 1 does: NAME[-STEP].index, .data-00000-of-00001 and .meta, and `checkpoint`."""
    params = {"folder": str(folder.resolve()), "name": name, "step": step}
    SharedProcess().call("write", params, variables)
    return folder / (name if step is None else f"{name}-{step}")
