"""Whole packages in the reference runtime: against torch, against coremltools, padded, wrong."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from coreml_support import Exported, emit, exported, inputs, torch_output, worker
from support import CLASSIFIER, DENSE_EMBEDDING, EMBEDDING, SHARED, TINY, random_compressed

from mobilekit.compression.compressed import CompressedModel
from mobilekit.compression.records import Dense
from mobilekit.errors import EngineError
from mobilekit.models.config import EncoderConfig, HeadConfig
from mobilekit.runtimes.base import engine
from mobilekit.runtimes.coreml_reference import CoreMLReference

LENGTHS = (16, 32)
GELU = replace(TINY, activation="gelu_new")
CASES: dict[str, tuple[EncoderConfig, HeadConfig, str, tuple[int, ...], int]] = {
    "fp32-classifier": (TINY, CLASSIFIER, "fp32", LENGTHS, 18),
    "fp32-shared-embedding": (SHARED, EMBEDDING, "fp32", LENGTHS, 18),
    "fp32-shapes": (SHARED, DENSE_EMBEDDING, "fp32", LENGTHS, 16),
    "fp16-classifier": (TINY, CLASSIFIER, "fp16", LENGTHS, 18),
    "fp16-embedding-shapes": (GELU, EMBEDDING, "fp16", LENGTHS, 17),
    "int8-classifier": (TINY, CLASSIFIER, "int8", LENGTHS, 18),
    "int8-shared-dense": (SHARED, DENSE_EMBEDDING, "int8", LENGTHS, 18),
    "int8-shapes": (SHARED, CLASSIFIER, "int8", LENGTHS, 17),
    "int4-classifier": (TINY, CLASSIFIER, "int4", LENGTHS, 18),
    "int4-g32-shared-dense": (SHARED, DENSE_EMBEDDING, "int4-g32", LENGTHS, 18),
    "pal4-classifier": (TINY, CLASSIFIER, "pal4", LENGTHS, 18),
    "pal2-shared-shapes": (SHARED, CLASSIFIER, "pal2", LENGTHS, 17),
    "int8-first-token": (TINY, replace(EMBEDDING, pooling="cls"), "int8", (16,), 16),
}
# Those that coremltools itself evaluates too.
CHECKED = ("fp32-classifier", "fp32-shapes", "int8-shared-dense", "int8-first-token", "int4-classifier")
CHECKED += ("int4-g32-shared-dense", "pal4-classifier", "pal2-shared-shapes")
TOLERANCE = {"fp32": 1e-4, "fp16": 5e-3, "int8": 5e-3, "int4": 5e-3, "int4-g32": 5e-3, "pal4": 5e-3, "pal2": 5e-3}
PADDING = {"fp32": 1e-5, "fp16": 2e-3, "int8": 5e-3, "int4": 5e-3, "int4-g32": 5e-3, "pal4": 5e-3, "pal2": 5e-3}


def loaded(of: Exported) -> CoreMLReference:
    return CoreMLReference(of.path, tuple(dict.fromkeys(of.entries.values())))


def output(of: Exported, runtime: CoreMLReference, length: int, tokens: int, garbage: bool = False) -> Any:
    (values,) = runtime.run(of.entries[length], inputs(of, length, tokens, garbage)).values()
    assert values.dtype == np.float32
    return values


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_output_equals_torch_on_the_same_decoded_weights(case: tuple[Any, ...]) -> None:
    of = exported(*case)
    runtime = loaded(of)
    for length in of.entries:
        for tokens in (1, 7, length):
            got, wanted = output(of, runtime, length, tokens), torch_output(of, length, tokens)
            assert got.shape == wanted.shape
            assert np.abs(got - wanted).max() <= TOLERANCE[of.model.scheme]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_output_does_not_change_with_padding_or_what_stands_in_it(case: tuple[Any, ...]) -> None:
    of = exported(*case)
    runtime = loaded(of)
    shortest = min(of.entries)
    for tokens in (3, 11):
        base = output(of, runtime, shortest, tokens)
        for length in of.entries:
            for garbage in (False, True) if "attention_mask" in of.input_names else (False,):
                other = output(of, runtime, length, tokens, garbage)
                assert np.abs(other - base).max() <= PADDING[of.model.scheme]
                assert other.argmax() == base.argmax()


@pytest.mark.parametrize("case", CHECKED)
def test_coremltools_own_evaluation_of_the_package_agrees(case: str) -> None:
    of = exported(*CASES[case])
    runtime, length = loaded(of), max(of.entries)
    given = inputs(of, length, 9)
    (theirs,) = worker().call("evaluate", {"path": str(of.path), "entry": of.entries[length]}, given)[1].values()
    (ours,) = runtime.run(of.entries[length], given).values()
    # coremltools sums in float16 where the graph is float16.
    assert np.abs(theirs - ours).max() <= (1e-5 if of.model.scheme == "fp32" else 2e-2)


def test_a_graph_that_leaves_float16_is_not_hidden() -> None:
    model = random_compressed(TINY, CLASSIFIER)
    records = dict(model.records)
    # The feed-forward part's output grows to some 1e5, which float32 holds and float16 does not.
    records["layers.0.ffn.down.bias"] = Dense(np.full(64, 6e4, np.float32))
    records["layers.0.attention.norm.bias"] = Dense(np.full(64, 6e4, np.float32))
    of = emit(CompressedModel(TINY, CLASSIFIER, "int8", records), "overflow", (16,))
    assert not np.isfinite(output(of, loaded(of), 16, 9)).any()
    assert np.isfinite(torch_output(of, 16, 9)).all()


def test_functions_share_their_decoded_constants() -> None:
    of = exported(*CASES["int8-classifier"])
    runtime = loaded(of)
    held = [i._constants for i in runtime._interpreters.values()]
    shared = {id(v) for v in held[0].values() if v.ndim == 2} & {id(v) for v in held[1].values() if v.ndim == 2}
    matrices = [name for name, record in of.model.records.items() if len(record.shape) == 2]
    assert len(shared) == len(matrices) - 1  # each length has its own rows of positions


def test_wrong_inputs_are_one_clear_error() -> None:
    of = exported(*CASES["int8-classifier"])
    runtime, good = loaded(of), inputs(of, 16, 5)
    with pytest.raises(EngineError, match="takes only"):
        runtime.run("len_32", good)
    with pytest.raises(EngineError, match="'attention_mask' is missing"):
        runtime.run("len_16", {"input_ids": good["input_ids"]})
    with pytest.raises(EngineError, match="int64; it has to be int32"):
        runtime.run("len_16", good | {"input_ids": good["input_ids"].astype(np.int64)})
    with pytest.raises(EngineError, match="no function 'len_64'; it has len_16, len_32"):
        CoreMLReference(of.path, ("len_64",))


def test_an_enumerated_shape_takes_only_its_lengths() -> None:
    of = exported(*CASES["int8-shapes"])
    with pytest.raises(EngineError, match="takes only"):
        loaded(of).run("main", {"input_ids": np.ones((1, 24), np.int32)})


def test_it_runs_anywhere_is_never_timed_and_knows_no_delegation() -> None:
    info = engine("coreml_reference")
    assert (info.target, info.platform, info.timed) == ("coreml", "", False)
    of = exported(*CASES["int8-classifier"])
    assert info.load(of.path, ("len_16",), 1).delegation() is None


@pytest.mark.slow
def test_the_built_in_model_at_128_is_right_and_takes_seconds_at_most() -> None:
    from mobilekit.compression.compress import compress
    from mobilekit.models.load import load

    of = emit(compress(load("minilm-l6"), "int8"), "minilm", (32, 128))
    runtime = loaded(of)
    for length, tokens in ((32, 20), (128, 128), (128, 57)):
        got, wanted = output(of, runtime, length, tokens), torch_output(of, length, tokens)
        assert float((got * wanted).sum() / np.linalg.norm(got) / np.linalg.norm(wanted)) >= 0.999
        assert np.abs(got - wanted).max() < 5e-3
    times = []
    for _ in range(5):
        started = time.perf_counter()
        output(of, runtime, 128, 128)
        times.append(time.perf_counter() - started)
    # Half a second where nothing else runs.
    assert min(times) < 4.0
