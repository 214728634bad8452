from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from mobilekit.compression.calibrate import MOST_TEXTS, batches, checked_texts, linear_maps, second_moments
from mobilekit.compression.compensate import DAMPING, Inputs, prepare
from mobilekit.compression.compress import compress
from mobilekit.compression.records import Dense, Record
from mobilekit.compression.schemes.registry import scheme
from mobilekit.compression.sequential import moved, parts, sequential_records
from mobilekit.errors import CompressionError, InputError
from mobilekit.models.load import load
from mobilekit.models.model import Model
from mobilekit.text.calibration import TEXTS

TINY = ("tiny-embedding", "tiny-classifier", "tiny-tagger", "tiny-reader", "tiny-words", "tiny-shared")
SOME = TEXTS[4:16]


def weights_of(model: Model) -> dict[str, np.ndarray]:
    names = {f"{name}.weight" for name in linear_maps(model.module)}
    return {name: values for name, values in model.tensors().items() if name in names}


def loss(model: Model, tensors: dict[str, np.ndarray], texts: tuple[str, ...]) -> float:
    """Squared error of the outputs against the model's own."""
    other = load(model.name)
    other.load_tensors(tensors)
    total = 0.0
    with torch.no_grad():
        for ids, keep in batches(model, texts):
            total += float((model.module(ids, keep) - other.module(ids, keep)).square().sum())
    return total


@pytest.mark.parametrize("name", TINY)
def test_parts_are_the_model(name: str) -> None:
    model = load(name)
    for ids, keep in batches(model, SOME):
        with torch.no_grad():
            state = model.module.encoder.embeddings(ids, None)
            for part in parts(model.module):
                state = part.run(model.module, state, keep)
            assert torch.equal(state, model.module(ids, keep))
    read = {each for part in parts(model.module) for names in part.readers for each in names}
    assert read == set(linear_maps(model.module))


def test_batches_hold_every_text_once_and_few_tokens() -> None:
    model = load("tiny-classifier")
    found = [
        row[kept == 1].tolist() for ids, keep in batches(model, TEXTS) for row, kept in zip(ids, keep, strict=True)
    ]
    assert sorted(found) == sorted(model.tokenizer.encode(text, None, 128).ids.tolist() for text in TEXTS)
    assert all(ids.numel() <= 1024 or len(ids) == 1 for ids, _ in batches(model, TEXTS))
    assert list(batches(model, ())) == []


def test_second_moments_are_those_of_the_inputs_without_padding() -> None:
    model = load("tiny-shared")
    name, seen = "layers.0.ffn.down", []
    linear_maps(model.module)[name].register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    with torch.no_grad():
        for text in SOME:
            model.module(torch.from_numpy(model.tokenizer.encode(text).ids)[None])
    x = torch.cat([each[0] for each in seen])
    # A shared map reads the inputs of all layers.
    assert len(seen) == len(SOME) * model.config.layers
    assert np.allclose(second_moments(model, SOME, [name])[name], x.T @ x, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", TINY)
def test_weights_that_lose_nothing_stay_as_they_are(name: str) -> None:
    model = load(name)
    weights, seen = weights_of(model), {}

    def make(name: str, weight: np.ndarray, inputs: Inputs) -> Record:
        seen[name] = inputs
        return Dense(weight)

    found = sequential_records(model, weights, {}, {}, make, SOME)
    assert found.keys() == weights.keys()
    assert all(np.allclose(found[n].decode(), weights[n], atol=1e-6) for n in weights)
    moments = second_moments(model, SOME, [n.removesuffix(".weight") for n in weights])
    for each, inputs in seen.items():
        expected = prepare(moments[each.removesuffix(".weight")]).moments
        assert torch.allclose(inputs.moments, expected, rtol=1e-3, atol=1e-3 * float(expected.diagonal().mean()))


def test_order_is_that_of_computing_and_maps_with_one_input_are_together() -> None:
    model, order = load("tiny-classifier"), []

    def make(name: str, weight: np.ndarray, inputs: Inputs) -> Record:
        order.append((name, inputs))
        return Dense(weight)

    sequential_records(model, weights_of(model), {}, {}, make, SOME)
    names = [name for name, _ in order]
    layer = [*(f"attention.{n}" for n in ("query", "key", "value", "output")), "ffn.up", "ffn.down"]
    layers = [f"layers.{i}.{n}.weight" for i in (0, 1) for n in layer]
    assert names == [*layers, "head.pooler.weight", "head.classifier.weight"]
    assert order[0][1] is order[1][1] is order[2][1] is not order[3][1]


def test_inputs_are_those_of_the_compressed_model_and_losses_are_made_up_for() -> None:
    model = load("tiny-classifier")
    weights, given = weights_of(model), {}
    broken = "layers.0.attention.value.weight"

    def make(name: str, weight: np.ndarray, inputs: Inputs) -> Record:
        given[name] = weight, inputs
        return Dense(weight * np.float32(0.8) if name == broken else weight)

    found = {n: r.decode() for n, r in sequential_records(model, weights, {}, {}, make, SOME).items()}
    after = "layers.0.attention.output"
    other = load(model.name)
    other.load_tensors(model.tensors() | {broken: found[broken]})
    expected = prepare(second_moments(other, SOME, [after])[after]).moments
    assert torch.allclose(given[f"{after}.weight"][1].moments, expected, rtol=1e-3, atol=1e-6)
    assert not np.allclose(given[f"{after}.weight"][0], weights[f"{after}.weight"])
    tensors = model.tensors()
    assert loss(model, tensors | found, SOME) < 0.7 * loss(model, tensors | {broken: found[broken]}, SOME)


def test_moving_is_a_ridge_regression() -> None:
    rng = np.random.default_rng(0)
    x, weight = rng.normal(size=(5, 40)).astype(np.float32), rng.normal(size=(3, 5)).astype(np.float32)
    exact = x + 0.3 * rng.normal(size=(5, 40)).astype(np.float32)
    found = moved(weight, x @ x.T, (exact - x) @ x.T)
    # Rows below: what keeps weights where they are.
    pull = np.sqrt(np.square(x).sum() / 5) * np.eye(5)
    target = np.concatenate([(weight @ exact).T, pull @ weight.T])
    expected = np.linalg.lstsq(np.concatenate([x.T, pull]), target, rcond=None)[0].T
    assert np.allclose(found, expected, atol=1e-5)
    assert np.array_equal(moved(weight, x @ x.T, np.zeros((5, 5), np.float32)), weight)


@pytest.mark.parametrize("bits_scheme", ["int4", "int4-g32", "pal4", "pal3"])
def test_calibrated_codes_lose_less_on_other_text(bits_scheme: str) -> None:
    model, held_out = load("tiny-embedding"), TEXTS[16:]
    exact = replace(scheme(bits_scheme), smooth=0.0)
    plain, calibrated = compress(model, exact, ()), compress(model, exact, TEXTS[:16])
    assert loss(model, calibrated.decoded(), held_out) < 0.8 * loss(model, plain.decoded(), held_out)
    # The table has no inputs.
    table = "embeddings.token.weight"
    assert plain.records[table].fingerprint() == calibrated.records[table].fingerprint()


def test_inputs_of_smoothed_weights_are_smoothed() -> None:
    model, seen = load("tiny-classifier"), {}

    def calibrated(weight: np.ndarray, inputs: Inputs) -> Record:
        seen[weight.tobytes()] = inputs
        return Dense(weight)

    compressed = compress(model, replace(scheme("fp32"), smooth=0.5, calibrated=calibrated), SOME)
    multiplier = compressed.records["layers.1.ffn.smooth.weight"].decode()
    assert len(set(multiplier.tolist())) > 1
    record = compressed.records["layers.1.ffn.up.weight"]
    moments = second_moments(model, SOME, ["layers.1.ffn.up"])["layers.1.ffn.up"] * np.outer(multiplier, multiplier)
    found = seen[record.values.tobytes()].moments.numpy().copy()
    found -= np.eye(len(found)) * DAMPING / (1 + DAMPING) * found.diagonal().mean()
    assert np.allclose(found, moments, rtol=1e-3, atol=1e-3 * moments.diagonal().mean())
    # Nothing was lost, and nothing is: smoothing is undone.
    assert loss(model, compressed.decoded(), SOME) < 1e-8


@pytest.mark.parametrize("name", TINY)
def test_every_model_has_the_records_of_plain_codes_and_stays_itself(name: str) -> None:
    model = load(name)
    before = {n: v.copy() for n, v in model.tensors().items()}
    first, again, plain = (compress(model, "int4", texts) for texts in (SOME, SOME, ()))
    kinds = {n: (type(r), r.shape) for n, r in first.records.items() if not n.endswith("smooth.weight")}
    assert kinds == {n: (type(r), r.shape) for n, r in plain.records.items()}
    assert {n: r.fingerprint() for n, r in first.records.items()} == {
        n: r.fingerprint() for n, r in again.records.items()
    }
    assert all(np.array_equal(before[n], v) for n, v in model.tensors().items())
    assert not any(m._forward_pre_hooks for m in model.module.modules())


def test_builtin_text_is_the_default_and_own_text_changes_codes() -> None:
    model = load("tiny-classifier")
    default, own, none = (compress(model, "int4", texts) for texts in (None, SOME, ()))
    name = "layers.0.ffn.up.weight"
    assert len({c.records[name].fingerprint() for c in (default, own, none)}) == 3
    # int8 looks at text for its smoothing alone.
    own8, default8 = compress(model, "int8", SOME), compress(model, "int8")
    assert (
        own8.records["head.classifier.weight"].fingerprint() == default8.records["head.classifier.weight"].fingerprint()
    )
    assert not [n for n in compress(model, "int8", ()).records if "smooth" in n]


def test_text_without_a_word_is_refused_and_a_long_list_is_thinned() -> None:
    with pytest.raises(InputError, match="calibration text is empty"):
        compress(load("tiny-classifier"), "int4", ["", "  \n"])
    assert checked_texts(["a", " ", "b"]) == ("a", "b")
    found = checked_texts([str(i) for i in range(10 * MOST_TEXTS)])
    assert len(found) == MOST_TEXTS and found[1] == "10" and len(set(found)) == MOST_TEXTS


def test_weight_that_cannot_be_compressed_is_named() -> None:
    model = load("tiny-classifier")
    model.module.encoder.layers[1].ffn.down.weight.data[0, 0] = float("inf")
    with pytest.raises(CompressionError, match=r"layers\.1\.ffn\.down\.weight: the weight has values"):
        compress(model, "int4", SOME)


def test_shape_that_a_scheme_cannot_hold_is_refused_before_text_is_looked_at() -> None:
    model = load("tiny-classifier")
    model.module.encoder.forward = None  # nothing may run it
    model.module.head.classifier.weight.data = model.module.head.classifier.weight.data[:, :40]
    with pytest.raises(CompressionError, match=r"^head\.classifier\.weight: groups of 32 do not divide its 40 columns"):
        compress(model, "int4-g32", SOME)
