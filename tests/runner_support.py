"""A runner whose engine is a function of the padded inputs, and a function that is right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from support import fake_manifest

from mobilekit.artifact import Artifact, Manifest
from mobilekit.runtimes.base import EngineInfo
from mobilekit.runtimes.runner import Runner

Inputs = dict[str, NDArray[np.int32]]
Function = Callable[[Inputs], NDArray[np.float64]]


class FakeRunner(Runner):
    """A runner whose engine is a Python function of the padded inputs."""

    def __init__(self, artifact: Artifact, function: Function, counts: Mapping[str, int] | None = None) -> None:
        self.artifact, self._function, self._counts = artifact, function, counts
        self._lengths = artifact.manifest.lengths
        self.engine = EngineInfo("fake", "tflite", "", (), None)  # type: ignore[arg-type]

    def __call__(
        self,
        input_ids: Any,
        attention_mask: Any = None,
        token_type_ids: Any = None,
        length: Any = None,
        predict: Any = None,
    ) -> Any:
        ids = np.asarray(input_ids, np.int32)
        chosen = self.length_for(ids.size) if length is None else length
        output = self._function(self.padded(ids, attention_mask, token_type_ids, chosen)).astype(np.float32)
        return {"logits": output[: ids.size][None] if self.artifact.manifest.per_token else output[None]}

    def delegation(self) -> Mapping[str, int] | None:
        return self._counts


def good(inputs: Inputs) -> NDArray[np.float64]:
    """Padding-proof: sums over kept tokens only."""
    keep = inputs["attention_mask"][0]
    total = float((inputs["input_ids"][0] * keep).sum())
    return np.array([np.sin(total), np.cos(total)])


def good_artifact(folder: Path) -> Artifact:
    """A manifest whose golden outputs are those of `good`; there is no file."""
    content = fake_manifest(None)
    for entry in content["golden"]:
        ids = np.array([entry["input_ids"]], np.int32)
        entry["output"] = good({"input_ids": ids, "attention_mask": np.ones_like(ids)}).tolist()
    return Artifact(folder, Manifest(content))
