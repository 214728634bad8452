"""The .tflite files that the exporter writes, run by LiteRT in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from support import CLASSIFIER, DENSE_EMBEDDING, SHARED, TINY, random_compressed
from tensorflow_support import SharedProcess, needs_tensorflow

from export.registry import GraphSpec, target
from mobilekit.compression.compressed import CompressedModel
from mobilekit.errors import ArtifactError
from mobilekit.process import EngineProcess

Inputs = dict[str, NDArray[np.int32]]
ENTRIES = {8: "len_8", 32: "len_32"}
MODELS = {"classifier": (TINY, CLASSIFIER), "embedding": (SHARED, DENSE_EMBEDDING)}
SCHEMES = ("fp32", "fp16", "int8", "int4", "pal4")
# Largest difference to torch on the same decoded weights; below fp16 the cosine counts.
CLOSE = {"fp32": 1e-4, "fp16": 5e-3}
PADDING = {"fp32": 1e-5, "fp16": 2e-3, "int8": 5e-3, "int4": 5e-3, "pal4": 5e-3}


@dataclass
class Running:
    model: CompressedModel
    path: Path
    process: EngineProcess

    def __call__(self, inputs: Inputs) -> NDArray[np.float32]:
        _, outputs = self.process.call("run", {"entry": ENTRIES[inputs["input_ids"].size]}, inputs)
        assert list(outputs) == [self.model.head.output_name]
        return np.asarray(outputs[self.model.head.output_name], dtype=np.float32)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str, str], Running]]:
    made: dict[tuple[str, str], Running] = {}

    def start(name: str, scheme: str) -> Running:
        if (name, scheme) not in made:
            path = tmp_path_factory.mktemp("litert") / "model.tflite"
            model = random_compressed(*MODELS[name], scheme)
            target("tflite").emit(model, GraphSpec(tuple(ENTRIES), "Tiny"), path, lambda _: None)
            made[name, scheme] = Running(model, path, load(path))
        return made[name, scheme]

    yield start
    for running in made.values():
        running.process.close()


def load(path: Path, entries: tuple[str, ...] = tuple(ENTRIES.values())) -> EngineProcess:
    process = EngineProcess("mobilekit.runtimes.service:service", hide=("tensorflow",))
    try:
        process.call("load", {"engine": "litert", "path": str(path), "entries": entries, "threads": 2})
    except BaseException:
        process.close()
        raise
    return process


def tokens(count: int, length: int, fill: int = 0, seed: int = 3) -> Inputs:
    """`count` random tokens, the rest padding that holds `fill`."""
    ids = np.full((1, length), fill, np.int32)
    ids[0, :count] = np.random.default_rng(seed).integers(0, TINY.vocab_size, count)
    mask = (np.arange(length) < count).astype(np.int32)[None]
    types = (np.arange(length) >= 4).astype(np.int32)[None] * mask
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}


def torch_output(model: CompressedModel, inputs: Inputs) -> NDArray[np.float32]:
    import torch

    from export.blocks import Blocks
    from export.graph import EncoderGraph

    graph = EncoderGraph(Blocks(model), inputs["input_ids"].size).eval()
    with torch.no_grad():
        outputs = graph(**{name: torch.from_numpy(values) for name, values in inputs.items()})
    return np.asarray(outputs[model.head.output_name].numpy(), dtype=np.float32)


def cosine(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    return float((one * other).sum() / np.linalg.norm(one) / np.linalg.norm(other))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", MODELS)
def test_output_is_that_of_torch_on_the_same_weights(
    running: Callable[[str, str], Running], name: str, scheme: str
) -> None:
    run = running(name, scheme)
    for count, length in ((8, 8), (5, 8), (32, 32), (1, 32)):
        inputs = tokens(count, length)
        got, expected = run(inputs), torch_output(run.model, inputs)
        assert got.shape == expected.shape
        if scheme not in CLOSE:
            assert cosine(got, expected) >= 0.999
        else:
            assert np.abs(got - expected).max() <= CLOSE[scheme]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", MODELS)
def test_output_does_not_change_with_padding(running: Callable[[str, str], Running], name: str, scheme: str) -> None:
    run = running(name, scheme)
    unpadded = run(tokens(8, 8))
    padded, garbage = run(tokens(8, 32)), run(tokens(8, 32, fill=TINY.vocab_size - 1))
    assert np.isfinite(unpadded).all()
    assert np.abs(unpadded - padded).max() <= PADDING[scheme]
    assert np.abs(padded - garbage).max() <= PADDING[scheme]
    assert padded.argmax() == garbage.argmax() == unpadded.argmax()


def test_output_follows_the_input(running: Callable[[str, str], Running]) -> None:
    run = running("classifier", "int8")
    assert np.abs(run(tokens(8, 8, seed=1)) - run(tokens(8, 8, seed=2))).max() > 1e-3


@pytest.mark.parametrize("scheme", SCHEMES)
def test_all_but_the_lookups_is_delegated(running: Callable[[str, str], Running], scheme: str) -> None:
    counts, _ = running("classifier", scheme).process.call("delegation")
    # Two look-ups and the reshapes of their ids, and the mask's cast; float16 rows are reread and widened.
    assert counts["total"] - counts["delegated"] == (9 if scheme == "fp16" else 5)
    assert counts["delegated"] > 80


def test_a_missing_signature_is_an_error_that_lists_those_there_are(running: Callable[[str, str], Running]) -> None:
    with pytest.raises(ArtifactError, match="no signature 'len_64', only len_8, len_32"):
        load(running("classifier", "int8").path, ("len_64",))


def test_a_damaged_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(b"TFL3" * 100)
    with pytest.raises(ArtifactError, match=r"model\.tflite: LiteRT cannot load it"):
        load(path)


@pytest.mark.slow
@needs_tensorflow
@pytest.mark.parametrize("scheme", ["int8", "int4"])
@pytest.mark.parametrize("name", MODELS)
def test_tensorflow_agrees(running: Callable[[str, str], Running], name: str, scheme: str) -> None:
    run = running(name, scheme)
    inputs, shared = tokens(20, 32), SharedProcess(kernels="xnnpack")
    shared.call("load", {"path": str(run.path)})
    (other,) = shared.call("run", {"entry": "len_32"}, inputs)[1].values()
    assert cosine(run(inputs), np.asarray(other, np.float32)) >= 0.9999
    assert cosine(torch_output(run.model, inputs), np.asarray(other, np.float32)) >= 0.999
