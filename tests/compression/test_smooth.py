from __future__ import annotations

import numpy as np
import pytest
import torch

from mobilekit.compression.calibrate import input_magnitudes
from mobilekit.compression.compress import compress
from mobilekit.compression.compressed import CompressedModel
from mobilekit.compression.smooth import smoothed_linears, smoothing, unsmoothed
from mobilekit.models.load import load
from mobilekit.models.model import Model
from mobilekit.text.calibration import TEXTS


def quantized_rows(x: torch.Tensor) -> torch.Tensor:
    """What int8 engines do to activations: 255 steps over each row's range."""
    low, high = x.amin(-1, keepdim=True).clamp(max=0), x.amax(-1, keepdim=True).clamp(min=0)
    step = (high - low) / 255
    zero = torch.round(-low / step)
    return ((torch.round(x / step) + zero).clamp(0, 255) - zero) * step


def test_every_input_behind_a_norm_has_one_vector() -> None:
    found = smoothed_linears(list(load("tiny-classifier").tensors()))
    assert found == {
        "layers.0.attention.smooth.weight": tuple(f"layers.0.attention.{n}.weight" for n in ("query", "key", "value")),
        "layers.0.ffn.smooth.weight": ("layers.0.ffn.up.weight",),
        "layers.1.attention.smooth.weight": tuple(f"layers.1.attention.{n}.weight" for n in ("query", "key", "value")),
        "layers.1.ffn.smooth.weight": ("layers.1.ffn.up.weight",),
        "head.smooth.weight": ("head.pooler.weight",),
    }


def test_multipliers_have_three_bits_and_are_found_from_activations() -> None:
    model = load("tiny-classifier")
    strengths = dict.fromkeys(smoothed_linears(list(model.tensors())), 0.75)
    vectors = smoothing(model.tensors(), input_magnitudes(model, TEXTS[:4]), strengths)
    for vector in vectors.values():
        mantissa, _ = np.frexp(vector)
        assert set((mantissa * 8).tolist()) <= {4.0, 5.0, 6.0, 7.0}
        assert np.array_equal(vector, vector.astype(np.float16))
    # A channel that grows gets a smaller multiplier.
    model.module.encoder.embeddings.norm.bias.data[5] = 50.0
    again = smoothing(model.tensors(), input_magnitudes(model, TEXTS[:4]), strengths)
    assert again["layers.0.attention.smooth.weight"][5] < vectors["layers.0.attention.smooth.weight"][5] / 4


def test_undoing_is_exact() -> None:
    model = load("tiny-classifier")
    compressed = compress(model, "int8")
    raw = {name: record.decode() for name, record in compressed.records.items()}
    plain = compressed.decoded()
    assert set(plain) == set(model.tensors())
    for name, weights in smoothed_linears(list(raw)).items():
        for weight in weights:
            # Dividing again gives back the decoded codes, bit for bit: nothing was rounded away.
            assert np.array_equal(plain[weight] / raw[name], raw[weight])
    assert unsmoothed(plain).keys() == plain.keys()


def test_float_schemes_are_not_smoothed() -> None:
    assert not [name for name in compress(load("tiny-classifier"), "fp16").records if "smooth" in name]


def test_magnitudes_are_those_of_the_inputs() -> None:
    model, seen = load("tiny-classifier"), {}
    layer = model.module.encoder.layers[1].ffn.up
    layer.register_forward_pre_hook(lambda module, inputs: seen.update(x=inputs[0]))
    found = input_magnitudes(model, ["a good film"])
    assert np.allclose(found["layers.1.ffn.up"], seen["x"].abs().amax((0, 1)).numpy())


@pytest.mark.slow
def test_real_model_loses_less_to_int8_activations() -> None:
    """The built-in model, weights decoded, activations rounded as engines do, on text that did not calibrate it."""
    texts = ["The train was late again.", "A moving, funny and beautifully acted film.", "reset password", "ok"]

    def loss(compressed: CompressedModel, model: Model) -> float:
        ids = [torch.from_numpy(model.tokenizer.encode(text).ids)[None] for text in texts]
        model.load_tensors(compressed.decoded())
        with torch.no_grad():
            exact = torch.cat([model.module(i) for i in ids])
            multipliers = {
                weight: torch.from_numpy(compressed.records[name].decode())
                for name, weights in smoothed_linears(list(compressed.records)).items()
                if name in compressed.records
                for weight in weights
            }
            for name, module in model.module.encoder.named_modules():
                if isinstance(module, torch.nn.Linear):
                    multiplier = multipliers.get(f"{name}.weight", torch.ones(()))
                    module.register_forward_pre_hook(lambda _, x, m=multiplier: (quantized_rows(x[0] * m) / m,))
            rounded = torch.cat([model.module(i) for i in ids])
        return float(1 - torch.cosine_similarity(exact, rounded).mean())

    compressed = compress(load("minilm-l6"), "int8")
    plain = {n: r for n, r in compressed.records.items() if "smooth" not in n}
    with_smoothing = loss(compressed, load("minilm-l6"))
    unsmoothed_records = {**plain, **_requantized(compressed)}
    without = loss(CompressedModel(compressed.encoder, compressed.head, "int8", unsmoothed_records), load("minilm-l6"))
    assert with_smoothing < 0.6 * without
    assert with_smoothing < 1e-3


def _requantized(compressed: CompressedModel) -> dict[str, object]:
    from mobilekit.compression.quantize import quantize_rows

    tensors = load("minilm-l6").tensors()
    names = {w for weights in smoothed_linears(list(tensors)).values() for w in weights}
    return {name: quantize_rows(tensors[name]) for name in names}
