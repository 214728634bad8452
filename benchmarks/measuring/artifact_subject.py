"""An artifact as what is measured: the same runner and decoding as everywhere, all inside the engine's process."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring.service import Ids, TimedService
from mobilekit.runtimes.answer import answer, artifact_tokenizer
from mobilekit.runtimes.runner import Runner, verified
from mobilekit.text.tokenizer import TextTokenizer


@dataclass(frozen=True)
class _Prepared:
    length: int
    inputs: dict[str, NDArray[np.int32]]


class ArtifactSubject:
    """An artifact in this process."""

    def __init__(self, runner: Runner, tokenizer: TextTokenizer) -> None:
        self._runner, self._tokenizer = runner, tokenizer
        self._name = runner.artifact.manifest.output_name

    def prepare(self, ids: Ids, types: Ids) -> _Prepared:
        """Padded to the smallest exported length that holds it."""
        length = self._runner.length_for(len(ids))
        return _Prepared(length, self._runner.padded(ids, None, types, length, 0))

    def run(self, prepared: _Prepared) -> NDArray[np.float32]:
        """The engine alone."""
        return np.asarray(self._runner.outputs(prepared.length, prepared.inputs)[self._name][0], np.float32)

    def answer(self, text: str, pair: str | None) -> object:
        """As `mobilekit run` does it."""
        return answer(self._runner, self._tokenizer, text, pair)


def _ready(params: Mapping[str, Any]) -> Callable[[], ArtifactSubject]:
    artifact, info = verified(params["path"], int(params["threads"]), params.get("engine"))
    for package in info.packages:
        importlib.import_module(package)
    tokenizer = artifact_tokenizer(artifact)
    return lambda: ArtifactSubject(Runner(artifact, info, int(params["threads"]), inside=True), tokenizer)


def service() -> TimedService:
    """Factory for `mobilekit.process`; its `load` takes {path, threads} and maybe {engine}."""
    return TimedService(_ready)
