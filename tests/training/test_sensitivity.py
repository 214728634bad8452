from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest
import torch

from mobilekit.compression.compress import compress
from mobilekit.compression.plan import Plan, Rule
from mobilekit.compression.schemes.registry import scheme
from mobilekit.errors import InputError
from mobilekit.models.load import load
from mobilekit.text.calibration import TEXTS
from mobilekit.text.data.rows import AnswerRow, Row, TextData, TextRow, TokensRow
from mobilekit.training.exam import exam, model_outputs
from mobilekit.training.sensitivity import Measured, Sensitivity, sensitivity, tensor_groups
from mobilekit.training.sensitivity_plot import plot

FEW = TEXTS[4:8]


def labelled(model: str) -> TextData:
    """Rows that the model's head could be trained on."""
    head = load(model).head
    rows: list[Row]
    if head.task == "token-classification":
        rows = [TokensRow(tuple(t.split()), tuple(i % len(head.labels) for i in range(len(t.split())))) for t in FEW]
    elif head.task == "question-answering":
        rows = [AnswerRow("What is it?", text, ((0, text.split()[0]),)) for text in FEW]
    else:
        rows = [TextRow(text, label=i % 2) for i, text in enumerate(FEW)]
    problem = head.problem_type if head.task == "sequence-classification" else None
    return TextData("rows", head.task, head.labels, problem, rows)


PLAIN = TextData("texts", "", (), None, [TextRow(text) for text in FEW])


def by_group(found: Sensitivity, name: str) -> dict[str, Measured]:
    return {row.group: row for row in found.rows if row.scheme == name}


def test_groups_are_the_parts_of_a_model_in_their_order() -> None:
    names = [group.name for group in tensor_groups(load("tiny-classifier"))]
    layers = [f"layers.{i}.{part}" for i in (0, 1) for part in ("attention", "ffn")]
    assert names == ["embeddings.token", *layers, "head", "all"]
    shared = {group.name: group for group in tensor_groups(load("tiny-shared"))}
    assert list(shared)[:4] == ["embeddings.token", "embeddings.projection", "layers.0.attention", "layers.0.ffn"]
    assert len(shared["layers.0.attention"].weights) == 4
    assert sum(len(group.weights) for group in shared.values() if group.name != "all") == len(shared["all"].weights)


@pytest.mark.parametrize("model", ["tiny-classifier", "tiny-tagger", "tiny-reader"])
def test_fewer_bits_lose_more_and_floats_nothing(model: str) -> None:
    loaded, data = load(model), labelled(model)
    before = {name: values.copy() for name, values in loaded.tensors().items()}
    found = sensitivity(loaded, [scheme(s) for s in ("fp32", "int8", "int4")], data, 32, texts=FEW)
    exact, eight, four = (by_group(found, name) for name in ("fp32", "int8", "int4"))
    assert len(found.rows) == 3 * len(found.groups) and found.data["labelled"]
    for group in exact:
        assert exact[group].distance == exact[group].rise == 0 and exact[group].drop is not None
        assert exact[group].drop.points == 0
        assert 0 < (eight[group].distance or 0) < (four[group].distance or 0)
        assert 32.0 == exact[group].bits > (eight[group].bits or 0) > (four[group].bits or 0) > 4
        for row in (eight[group], four[group]):
            assert row.loss is not None and row.rise == pytest.approx(row.loss - found.base["loss"])
    # The whole loses more than its parts do on average, and the model itself is as it was.
    parts = [row.distance or 0 for name, row in eight.items() if name != "all"]
    assert (eight["all"].distance or 0) > np.mean(parts)
    assert all(np.array_equal(values, before[name]) for name, values in loaded.tensors().items())


def test_only_the_group_is_compressed() -> None:
    model, data, group = load("tiny-classifier"), labelled("tiny-classifier"), "layers.1.ffn"
    found = sensitivity(model, [scheme("int8")], data, 32, texts=FEW)
    of = exam(model, data.rows, 32)
    base = dict(model_outputs(model, of))
    plan = Plan("one", (Rule(f"{group}.*", scheme("int8")),))
    model.load_tensors(compress(model, plan, FEW).decoded())
    other = dict(model_outputs(model, of))
    between = np.sqrt(sum(np.square(base[i] - other[i]).sum() for i in base))
    expected = between / np.sqrt(sum(np.square(base[i]).sum() for i in base))
    assert by_group(found, "int8")[group].distance == pytest.approx(expected, rel=1e-3)


def test_loss_is_that_of_training() -> None:
    model, data = load("tiny-classifier"), labelled("tiny-classifier")
    found = sensitivity(model, [scheme("fp32")], data, 32, texts=FEW)
    outputs = [torch.from_numpy(o) for _, o in sorted(model_outputs(model, exam(model, data.rows, 32)))]
    targets = torch.tensor([row.label for row in data.rows if isinstance(row, TextRow)])
    expected = torch.nn.functional.cross_entropy(torch.stack(outputs), targets)
    assert found.base["loss"] == pytest.approx(float(expected), rel=1e-5)


@pytest.mark.parametrize(("model", "metric"), [("tiny-embedding", "cosine"), ("tiny-words", "agreement")])
def test_without_labels_answers_are_held_against_the_float_model(model: str, metric: str) -> None:
    found = sensitivity(load(model), [scheme("int4")], PLAIN, 32, texts=FEW)
    assert found.metric == metric and found.base["loss"] is None and not found.data["labelled"]
    for row in found.rows:
        assert row.loss is None and row.rise is None and (row.distance or 0) > 0
        assert row.drop is not None and row.drop.points >= 0


def test_groups_that_a_scheme_cannot_hold_are_refused_by_row() -> None:
    model = load("tiny-classifier")
    model.module.head.classifier.weight.data = model.module.head.classifier.weight.data[:, :30]
    model.module.head.classifier.register_forward_pre_hook(lambda _, inputs: (inputs[0][..., :30],))
    found = by_group(sensitivity(model, [scheme("int4-g32")], labelled("tiny-classifier"), 32, texts=FEW), "int4-g32")
    assert "head.classifier.weight: groups of 32 do not divide its 30 columns" in found["head"].refused
    assert found["head"].drop is None and found["all"].refused and not found["layers.0.ffn"].refused
    assert (found["layers.0.ffn"].distance or 0) > 0


def test_what_fixed_scales_of_activations_lose_is_measured() -> None:
    schemes = [scheme("int8"), scheme("int8-static")]
    found = sensitivity(load("tiny-classifier"), schemes, labelled("tiny-classifier"), 32, texts=FEW)
    eight, static = (by_group(found, each.name) for each in schemes)
    assert static["layers.0.attention"].distance != eight["layers.0.attention"].distance
    assert static["layers.0.attention"].bits == eight["layers.0.attention"].bits
    assert "int8-static is for linear maps of layers" in static["head"].refused
    # What one row leaves behind would be in all that follow.
    again = by_group(
        sensitivity(load("tiny-classifier"), schemes[:1], labelled("tiny-classifier"), 32, texts=FEW), "int8"
    )
    assert again == eight


def test_limit_takes_fewer_rows_and_says_so() -> None:
    found = sensitivity(load("tiny-classifier"), [scheme("fp32")], labelled("tiny-classifier"), 32, limit=4, texts=FEW)
    assert (found.data["rows"], found.data["of"]) == (4, len(FEW))


def test_outputs_that_are_not_finite_are_refused() -> None:
    model = load("tiny-classifier")
    model.module.head.classifier.bias.data[0] = float("inf")
    with pytest.raises(InputError, match="tiny-classifier: its output for row . is not finite"):
        sensitivity(model, [scheme("int8")], labelled("tiny-classifier"), 32, texts=FEW)


def test_progress_names_group_and_scheme() -> None:
    said: list[str] = []
    sensitivity(
        load("tiny-classifier"), [scheme("fp32")], labelled("tiny-classifier"), 32, texts=FEW, report=said.append
    )
    assert said[0] == "step 1 of 7: embeddings.token as fp32" and said[-1] == "step 7 of 7: all as fp32"


def test_plot_has_every_measure_that_there_is() -> None:
    found = sensitivity(load("tiny-classifier"), [scheme("int8")], labelled("tiny-classifier"), 32, texts=FEW)
    texts = [t.text for t in ElementTree.fromstring(plot(found)).iter("{http://www.w3.org/2000/svg}text")]
    assert {"points of accuracy lost, 95 % interval", "distance of outputs, relative", "layers.1.ffn", "int8"} <= set(
        texts
    )
    assert "loss against the labels, over the float model's" in texts
    refused = replace(found, rows=tuple(Measured(row.group, row.scheme, refused="no") for row in found.rows))
    assert "loss" not in plot(refused).replace("points of accuracy lost", "")
