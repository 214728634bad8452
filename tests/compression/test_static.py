from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from mobilekit.compression.activations import MOST_BIAS, Activation, Static, bias_scale
from mobilekit.compression.bearing import rounding_losses, without_padding
from mobilekit.compression.calibrate import batches
from mobilekit.compression.compress import compress
from mobilekit.compression.compressed import CompressedModel
from mobilekit.compression.plan import SKIP, Plan, Rule
from mobilekit.compression.ranges import activation_of, static_ranges
from mobilekit.compression.records import Dense, Quantized
from mobilekit.compression.schemes.registry import scheme
from mobilekit.compression.smooth import multipliers
from mobilekit.compression.static import MOST_LOST, bearable
from mobilekit.errors import CompressionError, InputError
from mobilekit.models.load import load
from mobilekit.models.threads import one_thread
from mobilekit.runtimes.eager import decoded_module
from mobilekit.text.calibration import TEXTS


def ranges(*names: str, model: str = "tiny-classifier") -> dict[str, Static]:
    loaded = load(model)
    compressed = compress(loaded, "int8", TEXTS[:8])
    module = decoded_module(compressed)
    return static_ranges(loaded, module, multipliers_by_map(compressed), names, TEXTS[:8])


def multipliers_by_map(compressed: CompressedModel) -> dict[str, torch.Tensor]:
    found = multipliers(compressed.records).items()
    return {name.removesuffix(".weight"): torch.from_numpy(record.decode()) for name, record in found}


def coarser(around: Static) -> Static:
    return Static(*(Activation(each.scale * 4, each.zero_point // 4) for each in (around.input, around.output)))


def fixed(texts: tuple[str, ...] = TEXTS[:8]) -> CompressedModel:
    return compress(load("tiny-classifier"), "int8-static", texts)


def test_weights_are_those_of_int8_and_layers_have_fixed_scales() -> None:
    made, eight = fixed(), compress(load("tiny-classifier"), "int8", TEXTS[:8])
    assert made.activations and all(name.startswith("layers.") for name in made.activations)
    for name, record in eight.records.items():
        if name.removesuffix(".bias") not in made.activations:
            assert record.fingerprint() == made.records[name].fingerprint(), name


def test_biases_are_whole_numbers_of_what_sums_count_in() -> None:
    made = fixed()
    for name, static in made.activations.items():
        weight, bias = made.records[f"{name}.weight"], made.records[f"{name}.bias"]
        assert isinstance(weight, Quantized) and isinstance(bias, Dense)
        unit = bias_scale(weight.scale, static.input)
        codes = np.rint(bias.values / unit)
        assert np.array_equal(codes * unit, bias.values) and np.abs(codes).max() <= MOST_BIAS
        exact = load("tiny-classifier").tensors()[f"{name}.bias"]
        assert (np.abs(bias.values - exact) <= unit * 0.501).all()


def test_a_row_of_next_to_nothing_leaves_its_bias_a_number_that_fits() -> None:
    model = load("tiny-classifier")
    with torch.no_grad():
        model.module.encoder.layers[0].attention.query.weight[3] = 1e-7
        model.module.encoder.layers[0].attention.query.bias[3] = 2.0
    made = compress(model, "int8-static", TEXTS[:8])
    name = "layers.0.attention.query"
    weight, bias = made.records[f"{name}.weight"], made.records[f"{name}.bias"]
    assert isinstance(weight, Quantized) and isinstance(bias, Dense)
    unit = bias_scale(weight.scale, made.activations[name].input)
    assert abs(bias.values[3] / unit[3]) <= 2**22 + 1 and bias.values[3] == pytest.approx(2.0, rel=1e-6)


def test_rows_of_zeros_and_maps_of_zeros_count_as_their_output_does() -> None:
    """Of the scale 1 that they have elsewhere a step of the sums is worth more of the output than XNNPACK takes."""
    model = load("tiny-classifier")
    with torch.no_grad():
        model.module.encoder.layers[0].ffn.up.weight[:] = 0
        model.module.encoder.layers[0].ffn.up.bias[:] = 0
        model.module.encoder.layers[1].attention.key.weight[3] = 0
    made = compress(model, "int8-static", TEXTS[:8])
    for name in ("layers.0.ffn.up", "layers.1.attention.key"):
        weight, static = made.records[f"{name}.weight"], made.activations[name]
        assert isinstance(weight, Quantized)
        zero = ~weight.codes.any(axis=1)
        assert zero.any() and np.allclose(bias_scale(weight.scale, static.input)[zero], static.output.scale, rtol=1e-3)


def test_a_map_whose_sums_are_too_coarse_for_its_output_bears_no_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    made, steps = fixed(), {}
    for name, static in made.activations.items():
        weight = made.records[f"{name}.weight"]
        assert isinstance(weight, Quantized)
        steps[name] = float(bias_scale(weight.scale, static.input).max()) / static.output.scale
    most = float(np.median(list(steps.values())))
    monkeypatch.setattr("mobilekit.compression.static._MOST_STEPS", most)
    left = fixed().activations
    assert left and all(steps.get(name, 0) <= most for name in left)
    monkeypatch.setattr("mobilekit.compression.static._MOST_STEPS", 0.0)
    with pytest.raises(CompressionError, match="no linear map of the layers bears"):
        fixed()


@pytest.mark.parametrize("bias", [1e8, 1e25])
def test_a_map_whose_bias_fits_no_scale_bears_none(bias: float) -> None:
    model = load("tiny-classifier")
    with torch.no_grad():
        norm, ffn = model.module.encoder.layers[0].attention.norm, model.module.encoder.layers[0].ffn
        for values, value in ((norm.weight, 0.0), (norm.bias, 0.0), (ffn.up.bias[:4], bias), (ffn.down.weight, 0.0)):
            values[:] = value
    made = compress(model, "int8-static", TEXTS[:8])
    assert made.activations and "layers.0.ffn.up" not in made.activations


def test_ranges_hold_zero_and_the_text_that_was_looked_at() -> None:
    for least, most in ((-1.0, 3.0), (0.0, 5.0), (-2.0, 0.0), (0.0, 0.0), (-1e-9, 1e-9), (-1e7, 1e7)):
        made = activation_of(least, most)
        assert made.rounded(np.zeros(1, np.float32)).tolist() == [0.0]
        if 1e-3 < most - least < 100:
            ends = np.array([least, most], np.float32)
            assert np.abs(made.rounded(ends) - ends).max() <= made.scale


def test_what_gelu_flattens_has_no_codes_and_what_it_gives_has_nearly_all_above_zero() -> None:
    static = ranges("layers.0.ffn.up", "layers.0.ffn.down")
    assert static["layers.0.ffn.down"].input.zero_point < -90
    up = static["layers.0.ffn.up"].output
    lowest = (-128 - up.zero_point) * up.scale
    assert -3.5 < lowest < -1


def test_maps_that_read_the_same_round_it_once() -> None:
    static = ranges(*(f"layers.0.attention.{part}" for part in ("query", "key", "value", "output")))
    inputs = {name: around.input for name, around in static.items()}
    assert len(set(inputs.values())) == 2
    assert len({inputs[f"layers.0.attention.{part}"] for part in ("query", "key", "value")}) == 1


def test_losses_are_what_rounding_really_costs() -> None:
    # Logits of random weights are too few and too small to say anything: states are looked at.
    model = load("tiny-embedding")
    compressed = compress(model, "int8", TEXTS[:8])
    module, smoothing = decoded_module(compressed), multipliers_by_map(compressed)
    names = ["layers.0.attention.value", "layers.1.ffn.up", "layers.1.ffn.down"]
    coarse = {name: coarser(around) for name, around in ranges(*names, model="tiny-embedding").items()}
    # Signs are drawn anew for each text.
    losses = rounding_losses(model, module, smoothing, coarse, 4 * TEXTS[:120])
    for name in names:
        other = decoded_module(replace(compressed, activations={name: coarse[name]}))
        lost = whole = 0.0
        for ids, keep in batches(model, TEXTS[:120]):
            with torch.no_grad(), one_thread():
                exact, rounded = module(ids, keep), other(ids, keep)
            lost, whole = lost + float(((exact - rounded) ** 2).sum()), whole + float((exact**2).sum())
        assert losses[name] == pytest.approx(lost / whole, rel=0.4), name


def test_padding_does_not_count_in_losses() -> None:
    keep = torch.tensor([[1, 1, 0], [1, 1, 1]])
    of_tokens = without_padding(torch.ones(2, 3, 5), keep)
    assert of_tokens.sum() == 25 and not of_tokens[0, 2].any()
    # An embedding that is as wide as a text is long has no rows of tokens.
    assert torch.equal(without_padding(torch.ones(2, 3), keep), torch.ones(2, 3))


def test_maps_that_lose_least_come_first_and_all_together_lose_no_more_than_the_limit() -> None:
    around = ranges("layers.0.ffn.up", "layers.0.ffn.down", "layers.1.ffn.up")
    losses = {"layers.0.ffn.up": 0.5 * MOST_LOST, "layers.0.ffn.down": 0.6 * MOST_LOST, "layers.1.ffn.up": 0.0}
    assert list(bearable(around, losses)) == ["layers.1.ffn.up", "layers.0.ffn.up"]


def test_a_plan_fixes_scales_where_it_says_so_and_nowhere_else() -> None:
    rules = [Rule("*", scheme("int4")), Rule("layers.*.attention.*", scheme("int8-static"))]
    rules += [Rule("layers.1.attention.key", scheme("int8")), Rule("layers.0.attention.query.bias", SKIP)]
    made = compress(load("tiny-classifier"), Plan("mixed", tuple(rules)), TEXTS[:8])
    assert set(made.activations) <= {
        *(f"layers.0.attention.{part}" for part in ("key", "value", "output")),
        *(f"layers.1.attention.{part}" for part in ("query", "value", "output")),
    }
    exact = load("tiny-classifier").tensors()["layers.0.attention.query.bias"]
    assert made.activations and np.array_equal(made.records["layers.0.attention.query.bias"].decode(), exact)


def test_a_plan_that_fixes_no_scales_of_layers_is_refused() -> None:
    plan = Plan("head", (Rule("head.*", scheme("int8-static")),))
    with pytest.raises(
        CompressionError, match=r"int8-static is for linear maps of layers, .*, and is given to none here"
    ):
        compress(load("tiny-classifier"), plan, TEXTS[:8])


def test_where_no_map_bears_it_the_scheme_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mobilekit.compression.static.MOST_LOST", 0.0)
    with pytest.raises(CompressionError, match=r"no linear map of the layers bears .* choose int8"):
        fixed()


def test_model_whose_output_overflows_bears_nothing() -> None:
    model = load("tiny-classifier")
    with torch.no_grad():
        model.module.encoder.layers[1].ffn.up.bias.fill_(1e30)
    plan = Plan("first", (Rule("layers.0.attention.output", scheme("int8-static")),))
    with pytest.raises(CompressionError, match=r"no linear map of the layers bears .* choose int8"):
        compress(model, plan, TEXTS[:8])


def test_without_text_there_are_no_scales() -> None:
    with pytest.raises(InputError, match=r"scales of activations are fixed on text, and there is none"):
        fixed(())


def test_a_shared_layer_has_one_range() -> None:
    made = compress(load("tiny-shared"), "int8-static", TEXTS[:8])
    assert {name.split(".")[1] for name in made.activations} == {"0"}


def test_the_reference_rounds_as_the_record_says() -> None:
    made = fixed()
    ids = torch.arange(5, 25, dtype=torch.int32)[None]
    exact, rounded = decoded_module(made, rounded=False), decoded_module(made)
    seen: dict[str, np.ndarray] = {}
    name, static = next(iter(made.activations.items()))
    linear = rounded.get_submodule(f"encoder.{name}")
    linear.register_forward_hook(lambda _, inputs, output: seen.update(output=output.numpy()))
    with one_thread():
        one, other = exact(ids)[0].numpy(), rounded(ids)[0].numpy()
    assert np.array_equal(static.output.rounded(seen["output"]), seen["output"])
    assert 0 < np.abs(one - other).max() < 0.05 * np.abs(one).max()
