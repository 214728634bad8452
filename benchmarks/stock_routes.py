"""What a user of an engine does without this project: the transformers module through the engine's own exporter.

A service for `mobilekit.process`, so that every engine is in a process of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mobilekit.process import Arrays

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_Run = Callable[[dict[str, NDArray[np.int64]]], NDArray[np.float32]]


class StockService:
    """export: {target, folder, task, length, out} writes a file. load: {target, path, threads}. run and time:
    {repeats} with int64 inputs, as the answer under "output", as ms of each run."""

    def __init__(self) -> None:
        self._run: _Run | None = None

    def __call__(
        self, method: str, params: dict[str, Any], arrays: Arrays, progress: Callable[[str], None]
    ) -> tuple[Any, Arrays]:
        """Answer one call."""
        if method == "export":
            export = {"executorch": _export_executorch, "tflite": _export_tflite}[params["target"]]
            export(_module(Path(params["folder"]), params["task"]), int(params["length"]), Path(params["out"]))
            return None, {}
        if method == "load":
            load = {"executorch": _load_executorch, "tflite": _load_tflite}[params["target"]]
            self._run = load(Path(params["path"]), int(params["threads"]))
            return None, {}
        assert self._run is not None, "load first"
        inputs = {name: np.ascontiguousarray(arrays[name], np.int64) for name in INPUTS}
        if method == "run":
            return None, {"output": self._run(inputs)}
        return [_milliseconds(self._run, inputs) for _ in range(int(params["repeats"]))], {}


def service() -> StockService:
    """Factory for `mobilekit.process`."""
    return StockService()


def _milliseconds(run: _Run, inputs: dict[str, NDArray[np.int64]]) -> float:
    started = time.perf_counter()
    run(inputs)
    return (time.perf_counter() - started) * 1e3


def _module(folder: Path, task: str) -> Any:
    """The transformers model of a checkpoint, with its usual attention, and the usual mean pooling on top."""
    import torch
    from transformers import AutoModel, AutoModelForSequenceClassification

    class Classifier(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = AutoModelForSequenceClassification.from_pretrained(folder)

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
            return self.model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids).logits

    class Embedding(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = AutoModel.from_pretrained(folder, add_pooling_layer=False)

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
            states = self.model(
                input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
            ).last_hidden_state
            keep = attention_mask.unsqueeze(-1).to(states.dtype)
            mean = (states * keep).sum(1) / keep.sum(1).clamp(min=1e-9)
            return torch.nn.functional.normalize(mean)

    return (Classifier() if task == "sequence-classification" else Embedding()).eval()


def _example(length: int) -> dict[str, Any]:
    import torch

    ids = torch.arange(length)[None]
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "token_type_ids": torch.zeros_like(ids)}


def _export_executorch(module: Any, length: int, out: Path) -> None:
    import torch
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    program = torch.export.export(module, tuple(_example(length).values()))
    out.write_bytes(to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()]).to_executorch().buffer)


def _export_tflite(module: Any, length: int, out: Path) -> None:
    import litert_torch

    litert_torch.convert(module, sample_kwargs=_example(length)).export(str(out))


def _load_executorch(path: Path, threads: int) -> _Run:
    import torch

    from mobilekit.runtimes.executorch import load_library

    program = load_library(threads)._load_program(str(path))
    method = program.load_method("forward")

    def run(inputs: dict[str, NDArray[np.int64]]) -> NDArray[np.float32]:
        (output,) = method([torch.from_numpy(values) for values in inputs.values()])
        answer: NDArray[np.float32] = output.numpy()
        return answer

    return run


def _load_tflite(path: Path, threads: int) -> _Run:
    from ai_edge_litert.interpreter import Interpreter

    signature = Interpreter(str(path), num_threads=threads).get_signature_runner()
    # The converter makes int32 of int64 where it sees fit.
    types = {name: detail["dtype"] for name, detail in signature.get_input_details().items()}

    def run(inputs: dict[str, NDArray[np.int64]]) -> NDArray[np.float32]:
        (output,) = signature(**{name: values.astype(types[name]) for name, values in inputs.items()}).values()
        return np.asarray(output, dtype=np.float32)

    return run
