"""Weights stay clustered while their codebooks and scales learn."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from training_program import ROWS

from mobilekit.compression.cluster import cluster_rows
from mobilekit.compression.compress import compress
from mobilekit.compression.compressed import RECORDS_FILE, CompressedModel, load_records
from mobilekit.compression.folder import compressed_of, records_of
from mobilekit.compression.outliers import cluster_apart
from mobilekit.compression.quantize import quantize_rows
from mobilekit.compression.records import Clustered, Dense
from mobilekit.compression.schemes.floats import single
from mobilekit.compression.schemes.registry import Scheme
from mobilekit.errors import InputError
from mobilekit.models.load import load
from mobilekit.models.model import Model
from mobilekit.text.data.rows import TextData
from mobilekit.training.clustered import ClusteredModule, ClusteredWeight
from mobilekit.training.predict import measure
from mobilekit.training.settings import Settings
from mobilekit.training.train import Fitting, Splits, train

QUICK = Settings(epochs=3, batch=16, learning_rate=2e-3, length=64)
SENTIMENT = TextData("toy", "sequence-classification", ("negative", "positive"), "single_label_classification", ROWS)
IDS = torch.tensor([[2, 9, 10, 11, 3]])


def scheme(bits: int, groups: int = 1, smooth: float = 0.5) -> Scheme:
    """Clusters every matrix."""
    return Scheme("clusters", "", lambda weight: cluster_rows(weight, bits, groups), single, smooth=smooth)


def clustered(model: Model, bits: int = 2, groups: int = 1, smooth: float = 0.5) -> CompressedModel:
    """Records of a model."""
    return compress(model, scheme(bits, groups, smooth))


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("bits", [1, 2, 3])
def test_gradient_of_a_level_is_the_sum_over_what_shares_it(bits: int, groups: int) -> None:
    """Against the derivative of the decoded weight, entry by entry."""
    rng = np.random.default_rng(0)
    weight = rng.standard_normal((4, 5), np.float32)
    multiplier = np.array([1, 0.5, 2, 1.25, 1], np.float32)
    record = cluster_rows(weight, bits, groups)
    module = ClusteredWeight(record, multiplier)
    asked = rng.standard_normal((4, 5)).astype(np.float32)
    (module() * torch.from_numpy(asked)).sum().backward()
    levels = np.zeros(record.codebook.shape)
    for row, column in np.ndindex(4, 5):
        share = asked[row, column] * record.scale[row, 0] * multiplier[column]
        levels[row // (4 // groups), record.codes[row, column]] += share
    # Levels move 127 * 10 for each unit of the parameter.
    assert module.moved.grad is not None and module.stretched.grad is not None
    np.testing.assert_allclose(module.moved.grad.numpy(), 1270 * levels.ravel(), rtol=1e-4, atol=1e-4)
    scales = (asked * record.decode() * multiplier).sum(axis=1)
    np.testing.assert_allclose(module.stretched.grad.numpy(), 10 * scales, rtol=1e-4, atol=1e-4)


def test_levels_that_pass_each_other_decode_to_the_same() -> None:
    record = cluster_rows(np.random.default_rng(1).standard_normal((6, 8), np.float32), 2, 2)
    module = ClusteredWeight(record)
    with torch.no_grad():
        module.moved.copy_(torch.tensor([0.15, 0.0, -0.15, 0.3, 0.0, 0.0, -0.3, 0.02]))
        module.stretched.copy_(torch.linspace(-0.05, 0.05, 6))
    after = module.record()
    assert (np.diff(after.codebook.astype(int), axis=1) >= 0).all() and not np.array_equal(after.codes, record.codes)
    assert after.codebook.max() == 127
    assert np.array_equal(after.decode(), module().detach().numpy())


def test_outliers_keep_their_levels_and_move_with_their_rows() -> None:
    rng = np.random.default_rng(2)
    weight = rng.standard_t(3, (6, 40)).astype(np.float32)
    record = cluster_apart(weight, 2, 40)
    assert record.outliers is not None
    module = ClusteredWeight(record)
    assert np.array_equal(module().detach().numpy(), record.decode())
    asked = rng.standard_normal((6, 40)).astype(np.float32)
    (module() * torch.from_numpy(asked)).sum().backward()
    assert module.moved.grad is not None and module.stretched.grad is not None
    rest = np.ones(record.codes.size, bool)
    rest[record.outliers.positions] = False
    share = (asked * record.scale).ravel() * rest
    expected = np.bincount(record.codes.ravel(), share, 4)
    np.testing.assert_allclose(module.moved.grad.numpy(), 1270 * expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(
        module.stretched.grad.numpy(), 10 * (asked * record.decode()).sum(1), rtol=1e-4, atol=1e-4
    )
    with torch.no_grad():
        module.moved.copy_(torch.tensor([0.05, 0.0, -0.05, 0.01]))
        module.stretched.copy_(torch.linspace(-0.05, 0.05, 6))
    after = module.record()
    assert after.outliers is record.outliers and not np.array_equal(after.scale, record.scale)
    assert np.array_equal(after.decode(), module().detach().numpy())


def test_scales_stay_within_float16() -> None:
    record = Clustered(
        np.zeros((2, 2), np.uint8),
        np.array([[1, 2]], np.int8),
        np.array([[6e4], [1e-7]], np.float16).astype(np.float32),
    )
    module = ClusteredWeight(record)
    with torch.no_grad():
        module.stretched.copy_(torch.tensor([5.0, -5.0]))
    assert module.record().scale.ravel().tolist() == [65504, 2**-24]


@pytest.mark.parametrize("smooth", [0.0, 0.5])
@pytest.mark.parametrize("name", ["tiny-classifier", "tiny-shared", "tiny-words"])
def test_begins_as_the_records_have_it(name: str, smooth: float) -> None:
    """Also where layers share weights, and where a decoder is the token table."""
    model = load(name)
    records = clustered(model, smooth=smooth)
    module = ClusteredModule(model, records).eval()
    decoded = load(name)
    decoded.load_tensors(records.decoded())
    types = {"token_type_ids": torch.zeros_like(IDS)} if model.config.reads_token_types else {}
    with torch.no_grad():
        assert torch.equal(module(IDS, **types), decoded.module.eval()(IDS, **types))
    again = module.settled()
    assert again.digest() == records.digest()


def test_a_tied_decoder_adds_to_the_gradient_of_the_table() -> None:
    model = load("tiny-words")
    module = ClusteredModule(model, clustered(model)).eval()
    names = {place.name: place.parameters for place in module._places}
    assert len(names["embeddings.token.weight"]) == 2
    module(IDS).square().sum().backward()
    table = next(w for p, w in zip(module._places, module.weights, strict=True) if p.name == "embeddings.token.weight")
    whole = {n: p.detach().clone().requires_grad_() for n, p in model.module.named_parameters()}
    torch.func.functional_call(model.module, whole, (IDS,)).square().sum().backward()
    gradient = whole["encoder.embeddings.token.weight"].grad
    assert isinstance(table, ClusteredWeight) and gradient is not None and table.stretched.grad is not None
    decoded = whole["encoder.embeddings.token.weight"].detach()
    expected = 10 * (gradient * decoded).sum(dim=1)
    assert torch.allclose(table.stretched.grad, expected, rtol=1e-3, atol=1e-4)


def tuned(tmp_path: Path, bits: int, **more: object) -> tuple[CompressedModel, Model, CompressedModel]:
    """A classifier's records, and what training made of them."""
    settings = replace(QUICK, epochs=6, learning_rate=1e-3)
    model = load("tiny-classifier")
    records = compress(model, f"pal{bits}")
    trained = train(model, Splits(SENTIMENT, SENTIMENT), tmp_path / "out", settings, Fitting(clustered=records, **more))  # type: ignore[arg-type]
    assert trained.compressed is not None
    return records, trained.model, trained.compressed


def test_codes_stay_and_the_rest_learns(tmp_path: Path) -> None:
    before, model, after = tuned(tmp_path, 2)
    for name, record in before.records.items():
        new = after.records[name]
        if isinstance(record, Clustered):
            assert isinstance(new, Clustered) and not np.array_equal(new.decode(), record.decode()), name
            levels = new.as_quantized().codes
            assert all(len(np.unique(levels[record.codes == code])) <= 1 for code in range(4)), name
        elif name.endswith(".smooth.weight"):
            assert new.fingerprint() == record.fingerprint()
    assert measure(model, ROWS, 64).value > 0.9
    # What was judged is what is written, to the bit.
    loaded = load_records(tmp_path / "out" / RECORDS_FILE)
    assert loaded.digest() == after.digest()
    again = load(tmp_path / "out")
    assert records_of(again, tmp_path / "out", "pal2") is not None
    assert _equal(again.tensors(), loaded.decoded())
    assert json.loads((tmp_path / "out/metrics.json").read_text())["clustered"] == "pal2"


def test_outliers_stay_apart_through_a_training(tmp_path: Path) -> None:
    model, file = load("tiny-classifier"), tmp_path / "apart.toml"
    file.write_text('[[rule]]\npattern = "*"\nscheme = "pal2"\noutliers = 10\n', encoding="utf-8")
    before = compressed_of(model, str(file))
    made = train(model, Splits(SENTIMENT), tmp_path / "out", QUICK, Fitting(clustered=before))
    assert made.compressed is not None
    name = "layers.0.ffn.up.weight"
    old, new = before.records[name], made.compressed.records[name]
    assert isinstance(old, Clustered) and isinstance(new, Clustered) and old.outliers and new.outliers
    assert np.array_equal(old.outliers.positions, new.outliers.positions)
    assert np.array_equal(old.outliers.levels, new.outliers.levels) and old.fingerprint() != new.fingerprint()
    assert load_records(tmp_path / "out" / RECORDS_FILE).digest() == made.compressed.digest()


def test_frozen_embeddings_keep_their_codebook(tmp_path: Path) -> None:
    before, _, after = tuned(tmp_path, 2, freeze="embeddings")
    same = {
        name for name, record in before.records.items() if record.fingerprint() == after.records[name].fingerprint()
    }
    assert {name for name in before.records if name.startswith("embeddings.")} <= same
    assert "layers.0.ffn.up.weight" not in same


def test_what_is_quantized_or_half_stays(tmp_path: Path) -> None:
    model = load("tiny-classifier")
    mixed = dict(clustered(model, smooth=0).records)
    name, other = "layers.0.ffn.up.weight", "layers.0.ffn.up.bias"
    mixed[name] = quantize_rows(model.tensors()[name])
    mixed[other] = Dense(model.tensors()[other].astype(np.float16))
    records = CompressedModel(model.config, model.head, "pal2", mixed)
    trained = train(model, Splits(SENTIMENT), tmp_path / "out", QUICK, Fitting(clustered=records))
    assert trained.compressed is not None
    for each in (name, other):
        assert trained.compressed.records[each].fingerprint() == mixed[each].fingerprint()


def test_a_run_that_was_ended_goes_on_to_the_same_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mobilekit.training.loop import Loop

    def run(out: Path, resume: bool = False) -> str:
        model = load("tiny-classifier")
        how = Fitting(clustered=compress(model, "pal2"))
        made = train(
            model, Splits(SENTIMENT, SENTIMENT), out, replace(QUICK, epochs=3, save_every=1), how, resume=resume
        )
        assert made.compressed is not None
        return made.compressed.digest()

    whole = run(tmp_path / "whole")
    tell = Loop._tell

    def stop(loop: Loop, step: int, *more: object) -> None:
        tell(loop, step, *more)  # type: ignore[arg-type]
        if step == 4:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Loop, "_tell", stop)
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path / "parts")
    assert run(tmp_path / "parts", resume=True) == whole


def test_the_plan_goes_with_the_records(tmp_path: Path) -> None:
    file = tmp_path / "some.toml"
    file.write_text('[[rule]]\npattern = "layers.*"\nscheme = "pal3"\n', encoding="utf-8")
    model = load("tiny-classifier")
    before = model.tensors()["embeddings.token.weight"].copy()
    made = train(model, Splits(SENTIMENT), tmp_path / "out", QUICK, Fitting(clustered=compressed_of(model, str(file))))
    assert made.compressed is not None and made.compressed.scheme == "some"
    again = load(tmp_path / "out")
    found = records_of(again, tmp_path / "out", str(tmp_path / "out/some.toml"))
    assert found is not None and found.digest() == made.compressed.digest()
    # What no rule names is float, and learns.
    assert not np.array_equal(before, again.tensors()["embeddings.token.weight"])


@pytest.mark.parametrize(
    ("freeze", "labels", "message"),
    [
        ("encoder", SENTIMENT.labels, "leaves no clustered weights to train"),
        ("", ("bad", "good"), "fine-tune it first: mobilekit train without --clustered"),
    ],
)
def test_what_cannot_be_is_refused(freeze: str, labels: tuple[str, ...], message: str, tmp_path: Path) -> None:
    model = load("tiny-classifier")
    splits, how = Splits(replace(SENTIMENT, labels=labels)), Fitting(freeze=freeze, clustered=clustered(model))
    with pytest.raises(InputError, match=message):
        train(model, splits, tmp_path / "out", QUICK, how)
    assert not list(tmp_path.iterdir())


def test_a_scheme_without_clusters_is_refused() -> None:
    model = load("tiny-classifier")
    with pytest.raises(InputError, match="scheme int8 clusters no weights"):
        ClusteredModule(model, compress(model, "int8"))


def test_activations_with_fixed_scales_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "some.toml"
    rules = (("*", "pal3"), ("layers.*.attention.*", "int8-static"))
    file.write_text("".join(f'[[rule]]\npattern = "{p}"\nscheme = "{s}"\n' for p, s in rules), encoding="utf-8")
    model = load("tiny-classifier")
    with pytest.raises(InputError, match="plan some fixes scales of activations, which cannot be trained; take int8"):
        ClusteredModule(model, compressed_of(model, str(file)))


def _equal(ours: Mapping[str, np.ndarray], theirs: Mapping[str, np.ndarray]) -> bool:
    return set(ours) == set(theirs) and all(np.array_equal(ours[name], theirs[name]) for name in ours)
