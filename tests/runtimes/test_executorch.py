"""The .pte files that the exporter writes, run by ExecuTorch in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from executorch_files import exported
from numpy.typing import NDArray
from support import TINY

from mobilekit.compression.compressed import CompressedModel
from mobilekit.errors import ArtifactError
from mobilekit.process import EngineProcess

Inputs = dict[str, NDArray[np.int32]]
NAMES = ("classifier-fp32", "classifier-int8", "shared-fp32", "shared-int8", "classifier-int4", "shared-int4-g32")
NAMES += ("classifier-pal3",)
ENTRIES = {8: "len_8", 32: "len_32"}
EXACT = "fp32"


@dataclass
class Running:
    model: CompressedModel
    process: EngineProcess

    def __call__(self, inputs: Inputs) -> NDArray[np.float32]:
        _, outputs = self.process.call("run", {"entry": ENTRIES[inputs["input_ids"].size]}, inputs)
        assert list(outputs) == [self.model.head.output_name]
        assert outputs[self.model.head.output_name].dtype == np.float32
        return np.asarray(outputs[self.model.head.output_name], dtype=np.float32)


Start = Callable[[str], Running]


@pytest.fixture(scope="module")
def running() -> Iterator[Start]:
    made: dict[str, Running] = {}

    def start(name: str) -> Running:
        if name not in made:
            made[name] = Running(exported(name).model, load(exported(name).path))
        return made[name]

    yield start
    for run in made.values():
        run.process.close()


def load(path: Path, entries: tuple[str, ...] = tuple(ENTRIES.values())) -> EngineProcess:
    process = EngineProcess("mobilekit.runtimes.service:service", hide=("tensorflow",))
    try:
        process.call("load", {"engine": "executorch", "path": str(path), "entries": entries, "threads": 2})
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


# gelu_new: XNNPACK's GELU is the exact one, and it is off by up to 5e-4 for each activation.
@pytest.mark.parametrize("name", [*NAMES, "gelu-new-fp32"])
def test_output_is_that_of_torch_on_the_same_weights(running: Start, name: str) -> None:
    run = running(name)
    for count, length in ((8, 8), (5, 8), (32, 32), (1, 32)):
        inputs = tokens(count, length)
        got, expected = run(inputs), torch_output(run.model, inputs)
        assert got.shape == expected.shape
        if not name.endswith(EXACT):
            assert cosine(got, expected) >= 0.999
        else:
            assert np.abs(got - expected).max() <= (1e-5 if "gelu" in name else 1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_output_does_not_change_with_padding(running: Start, name: str) -> None:
    run, limit = running(name), 1e-5 if name.endswith(EXACT) else 5e-3
    unpadded = run(tokens(8, 8))
    padded, garbage = run(tokens(8, 32)), run(tokens(8, 32, fill=TINY.vocab_size - 1))
    assert np.isfinite(unpadded).all()
    assert np.abs(unpadded - padded).max() <= limit
    assert np.abs(padded - garbage).max() <= limit
    assert padded.argmax() == garbage.argmax() == unpadded.argmax()


def test_output_follows_every_input(running: Start) -> None:
    run = running("classifier-fp32")
    base, other = tokens(8, 8, seed=1), tokens(8, 8, seed=2)
    for name in ("input_ids", "token_type_ids", "attention_mask"):
        changed = {**base, name: other[name] if name == "input_ids" else 1 - base[name] * (np.arange(8) > 5)}
        changed[name] = np.ascontiguousarray(changed[name], np.int32)
        assert np.abs(run(base) - run(changed)).max() > 1e-3


def test_an_answer_stays_when_the_next_one_is_computed(running: Start) -> None:
    run = running("classifier-int8")
    first = run(tokens(8, 8, seed=1))
    kept = first.copy()
    run(tokens(8, 8, seed=2))
    assert np.array_equal(first, kept)


@pytest.mark.parametrize("name", ["classifier-fp32", "classifier-int8", "classifier-int4"])
def test_all_but_the_lookups_is_delegated(running: Start, name: str) -> None:
    counts, _ = running(name).process.call("delegation")
    # Look-ups of tokens and types, the rows of their ids, the mask's cast; of codes the scales' look-up and a cast.
    assert counts["total"] - counts["delegated"] == (5 if name.endswith(EXACT) else 7)
    assert counts["delegated"] > 80


def test_a_missing_method_is_an_error_that_lists_those_there_are() -> None:
    with pytest.raises(ArtifactError, match="no method 'len_64', only len_32, len_8, metadata"):
        load(exported("classifier-int8").path, ("len_64",))


@pytest.mark.parametrize("content", [b"", b"\x20\0\0\0ET12" * 100], ids=["empty", "damaged"])
def test_a_damaged_file_is_an_error(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.pte"
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match=r"model\.pte: ExecuTorch cannot load it"):
        load(path)


_THREADS = """
import sys
from pathlib import Path
from mobilekit.errors import EngineError
from mobilekit.runtimes.base import engine
load = engine("executorch").load
kept = load(Path(sys.argv[1]), ("len_8",), 1)
from executorch.extension.pybindings import _C
assert _C._threadpool_get_thread_count() == 1
load(Path(sys.argv[1]), ("len_8",), 1)
try:
    load(Path(sys.argv[1]), ("len_8",), 2)
except EngineError as error:
    print(error)
print([m for m in sys.modules if m.startswith(("executorch.exir", "executorch.runtime", "executorch.backends"))])
"""


def test_threads_are_set_once_a_process_and_the_import_is_light() -> None:
    path = str(exported("classifier-int8").path)
    done = subprocess.run([sys.executable, "-c", _THREADS, path], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["this process runs ExecuTorch with 1 threads; take another for 2.", "[]"]
