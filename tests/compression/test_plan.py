from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from mobilekit.compression.calibrate import second_moments
from mobilekit.compression.compensate import Inputs, cluster_compensated, prepare
from mobilekit.compression.compress import compress
from mobilekit.compression.compressed import CompressedModel, load_records, save_records
from mobilekit.compression.folder import compressed_of, save_compressed
from mobilekit.compression.plan import NO_RULE, SKIP, Plan, Rule, plan_of
from mobilekit.compression.preview import relative_error
from mobilekit.compression.records import Clustered, Dense, Quantized, Record
from mobilekit.compression.schemes.registry import scheme
from mobilekit.errors import CompressionError, InputError
from mobilekit.models.load import load
from mobilekit.text.calibration import TEXTS

FIRST = "layers.0.attention"
SOME = TEXTS[4:12]


def plan(*rules: tuple[str, str], name: str = "mixed") -> Plan:
    """Rules from pattern to scheme; "skip" skips."""
    return Plan(name, tuple(Rule(pattern, SKIP if s == "skip" else scheme(s), where="p: ") for pattern, s in rules))


def dimensions(model: str) -> dict[str, int]:
    return {name: values.ndim for name, values in load(model).tensors().items()}


def kinds(compressed: CompressedModel) -> Mapping[str, str]:
    """What each weight is kept as."""
    return {
        name: f"{record.bits} bits, {record.groups} a row"
        if isinstance(record, Quantized)
        else str(record.decode().dtype)
        for name, record in compressed.records.items()
        if not name.endswith("smooth.weight")
    }


def test_the_last_rule_that_matches_wins() -> None:
    made = plan(("*", "int8"), ("layers.*", "int4"), ("layers.0.*", "fp16"), (f"{FIRST}.query", "skip"))
    found = {name: rule.scheme.name for name, rule in made.assigned(dimensions("tiny-classifier")).items()}
    assert found[f"{FIRST}.query.weight"] == found[f"{FIRST}.query.bias"] == "skip"
    assert found[f"{FIRST}.key.weight"] == found["layers.0.ffn.norm.bias"] == "fp16"
    assert found["layers.1.ffn.up.weight"] == "int4"
    assert found["embeddings.token.weight"] == found["head.pooler.weight"] == "int8"


def test_what_no_rule_names_stays_as_it_is() -> None:
    made = plan(("layers.*.ffn.up", "int8"))
    assert made.assigned(dimensions("tiny-classifier"))["head.pooler.weight"] is NO_RULE
    model = load("tiny-classifier")
    compressed = compress(model, made)
    for name, values in model.tensors().items():
        changed = name in ("layers.0.ffn.up.weight", "layers.1.ffn.up.weight")
        assert np.array_equal(compressed.decoded()[name], values) == (not changed), name


def test_whole_names_tell_weight_and_bias_apart() -> None:
    found = plan(("*", "skip"), ("layers.*.query.bias", "fp16")).assigned(dimensions("tiny-classifier"))
    assert found[f"{FIRST}.query.bias"].scheme.name == "fp16"
    assert found[f"{FIRST}.query.weight"].scheme is SKIP


@pytest.mark.parametrize("name", ["fp32", "fp16", "int8", "int4"])
def test_a_scheme_is_a_plan_of_one_rule(name: str) -> None:
    ready = plan_of(name)
    assert ready.is_ready and ready.to_json() == [{"pattern": "*", "scheme": name}]
    model = load("tiny-classifier")
    one, other = compress(model, name), compress(model, replace(ready, name="own"))
    assert {n: r.fingerprint() for n, r in one.records.items()} == {
        n: r.fingerprint() for n, r in other.records.items()
    }
    assert one.rules == other.rules and (one.scheme, other.scheme) == (name, "own")


@pytest.mark.parametrize("model", ["tiny-classifier", "tiny-shared", "tiny-words", "tiny-tagger"])
def test_mixed_schemes_are_each_kept_as_it_says(model: str) -> None:
    made = plan(("*", "int8"), ("layers.*.ffn.*", "int4-g32"), ("layers.*.attention.output", "skip"))
    compressed = compress(load(model), made)
    found = kinds(compressed)
    assert found["layers.0.ffn.up.weight"].startswith("4 bits") and found["layers.0.ffn.up.weight"] != "4 bits, 1 a row"
    assert found["embeddings.token.weight"] == found[f"{FIRST}.key.weight"] == "8 bits, 1 a row"
    assert isinstance(compressed.records[f"{FIRST}.output.weight"], Dense)
    assert np.array_equal(
        compressed.decoded()[f"{FIRST}.output.weight"], load(model).tensors()[f"{FIRST}.output.weight"]
    )
    assert not compressed.is_single and compress(load(model), "fp32").is_single


def test_skipped_tensors_stay_bit_equal_beside_smoothed_ones() -> None:
    model = load("tiny-classifier")
    skipped = [f"{FIRST}.query", "layers.1.ffn.up", "head.pooler", "embeddings.token"]
    compressed = compress(model, plan(("*", "int8"), *((name, "skip") for name in skipped)))
    vectors = {name for name in compressed.records if name.endswith("smooth.weight")}
    # What a skipped map reads is not smoothed, for none of the maps that read it.
    assert vectors == {"layers.0.ffn.smooth.weight", "layers.1.attention.smooth.weight"}
    for name in skipped:
        record = compressed.records[f"{name}.weight"]
        assert isinstance(record, Dense) and np.array_equal(record.values, model.tensors()[f"{name}.weight"])


def test_maps_that_read_one_norm_are_smoothed_as_the_least_of_them_asks() -> None:
    model, name = load("tiny-classifier"), f"{FIRST}.smooth.weight"
    eight, four, mixed = (
        compress(model, made).records[name].decode()
        for made in (plan(("*", "int8")), plan(("*", "int4")), plan(("*", "int8"), (f"{FIRST}.value", "int4")))
    )
    assert np.array_equal(mixed, four) and not np.array_equal(mixed, eight)


def test_calibrated_maps_see_what_plain_ones_lost() -> None:
    """Codes are made for the inputs that maps of another scheme before them really give, smoothing undone."""
    model, later, seen = load("tiny-classifier"), "layers.1.ffn.down", []

    def calibrated(weight: np.ndarray, inputs: Inputs) -> Record:
        seen.append(inputs)
        return Dense(weight)

    watching = replace(scheme("fp32"), name="watching", calibrated=calibrated)
    made = Plan("p", (Rule("layers.*", scheme("int8")), Rule(later, watching)))
    compressed = compress(model, made, SOME)
    assert "layers.0.attention.smooth.weight" in compressed.records
    other = load(model.name)
    other.load_tensors(compressed.decoded())
    expected, exact = (prepare(second_moments(each, SOME, [later])[later]).moments for each in (other, model))
    (found,) = seen
    assert torch.allclose(found.moments, expected, rtol=1e-3, atol=1e-6)
    assert not torch.allclose(found.moments, exact, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(
    ("model", "pattern", "message"),
    [
        ("tiny-classifier", "layers.*.attention.quary", r"matches no tensor; near names: layers\.\*\.attention\.query"),
        (
            "tiny-classifier",
            "embedding.token",
            r"p: 'embedding.token' matches no tensor; near names: embeddings.token,",
        ),
        ("tiny-classifier", "Head.*", r"matches no tensor; "),
        ("tiny-classifier", "zzz", r"there are embeddings.norm, .*layers\.\*\.attention\.key"),
        ("tiny-shared", "layers.3.ffn.up", r"matches no tensor; near names: .*layers.0.ffn.up"),
        ("tiny-classifier", "embeddings.position", "matches no weight that 'int8' compresses: norms, biases, posit"),
        ("tiny-words", "head.decoder", "matches no weight that 'int8' compresses"),
    ],
)
def test_patterns_without_effect_are_refused(model: str, pattern: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        compress(load(model), plan(("*", "int8"), (pattern, "int8")))


def test_least_ios_and_looking_at_text_are_those_of_the_neediest_scheme() -> None:
    assert plan(("*", "int8"), ("head.*", "int4")).minimum_ios == 18
    assert plan(("*", "int8"), ("head.*", "skip")).minimum_ios == 16
    assert plan(("*", "fp16"), ("head.*", "int8")).looks_at_text
    assert not plan(("*", "fp16"), ("head.*", "skip")).looks_at_text


def test_options_make_another_scheme() -> None:
    found = replace(
        scheme("int4"), options={"group": range(1, 9)}, configure=lambda group: replace(scheme("int4"), smooth=group)
    )
    assert found.configured(group=3).smooth == 3
    rule = Rule("*", found.configured(group=3), {"group": 3})
    assert rule.to_json() == {"pattern": "*", "scheme": "int4", "group": 3}
    assert not Plan("int4", (rule,)).is_ready


def test_records_carry_their_plan(tmp_path: Path) -> None:
    made = plan(("*", "int8"), ("head.*", "skip"))
    compressed = compress(load("tiny-classifier"), made)
    save_records(compressed, tmp_path / "a")
    again = load_records(tmp_path / "a")
    assert again.scheme == "mixed" and again.rules == made.to_json() == compressed.rules


def test_saved_folder_holds_the_plan_for_the_next_export(tmp_path: Path) -> None:
    model, made = load("tiny-classifier"), plan(("*", "int8"), ("head.*", "skip"))
    compressed, folder = compress(model, made), tmp_path / "out"
    save_compressed(model, compressed, folder)
    again = load(folder)
    for given in (made, str(folder / "mixed.toml")):
        found = compressed_of(again, given)
        assert {n: r.fingerprint() for n, r in found.records.items()} == {
            n: r.fingerprint() for n, r in compressed.records.items()
        }
    with pytest.raises(InputError, match=r"holds records of plan 'mixed', not of scheme 'int8'; export .*mixed.toml"):
        compressed_of(again, "int8")
    with pytest.raises(InputError, match="holds records of plan 'mixed', not of another plan of that name; export"):
        compressed_of(again, plan(("*", "int8"), ("head.pooler", "skip")))


def test_folder_of_a_scheme_has_no_plan_file(tmp_path: Path) -> None:
    model = load("tiny-classifier")
    save_compressed(model, compress(model, "int8"), tmp_path / "out")
    assert not list((tmp_path / "out").glob("*.toml"))


@pytest.mark.parametrize("texts", [SOME, ()], ids=["for text", "plain"])
def test_groups_of_rows_have_codebooks_of_their_own(texts: tuple[str, ...]) -> None:
    model, name = load("tiny-classifier"), "layers.0.ffn.up.weight"
    found = scheme("pal4").configured(groups=16)
    made = Plan("p", (Rule("*", scheme("int8")), Rule("layers.*.ffn.*", found, {"groups": 16})))
    record = compress(model, made, texts).records[name]
    one = compress(model, plan(("*", "int8"), ("layers.*.ffn.*", "pal4")), texts).records[name]
    assert isinstance(record, Clustered) and isinstance(one, Clustered)
    assert (record.groups, record.bits, one.groups) == (16, 4, 1) and record.shape == one.shape
    assert made.minimum_ios == 18 and plan(("*", "pal2")).minimum_ios == 16
    if not texts:
        exact = model.tensors()[name]
        assert relative_error(exact, record.decode()) < relative_error(exact, one.decode())


def test_groups_that_do_not_divide_the_rows_are_refused_before_text_is_looked_at() -> None:
    model = load("tiny-classifier")
    model.module.encoder.forward = None  # type: ignore[assignment]  # nothing may run it
    with pytest.raises(
        CompressionError, match=r"^head\.classifier\.weight: 4 groups do not divide its 2 rows; choose a"
    ):
        compress(model, Plan("p", (Rule("*", scheme("pal2").configured(groups=4)),)), SOME)


def test_compensated_groups_are_those_of_the_parts() -> None:
    rng = np.random.default_rng(0)
    weight, x = rng.normal(size=(8, 16)).astype(np.float32), rng.normal(size=(16, 50)).astype(np.float32)
    inputs = prepare(x @ x.T)
    whole = cluster_compensated(weight, 2, inputs, 2)
    parts = [cluster_compensated(part, 2, inputs) for part in (weight[:4], weight[4:])]
    assert np.array_equal(whole.decode(), np.concatenate([part.decode() for part in parts]))
