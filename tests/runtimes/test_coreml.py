"""The native Core ML runtime: against a stand-in for coremltools' MLModel here, for real on a Mac."""

from __future__ import annotations

import ast
import enum
import importlib.util
import sys
import types
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from coreml_support import Exported, exported, inputs
from support import CLASSIFIER, EMBEDDING, TINY

from mobilekit.errors import EngineError
from mobilekit.runtimes.base import engine
from mobilekit.runtimes.coreml import CoreML
from mobilekit.runtimes.coreml_reference import CoreMLReference

FUNCTIONS = (TINY, CLASSIFIER, "int8", (16, 32), 18)
ONE = (TINY, EMBEDDING, "int8", (16,), 16)


class Unit(enum.Enum):
    ALL = 1


class FakeModel:
    """What coremltools' MLModel does, as far as the runtime asks for it; the reference runtime does the work."""

    made: list[dict[str, Any]] = []  # noqa: RUF012 (a record of calls, emptied by the fixture)
    refuses = False

    def __init__(self, model: str, *, compute_units: Unit, function_name: str | None = None) -> None:
        assert isinstance(model, str)
        assert compute_units is Unit.ALL
        if self.refuses:
            warnings.warn("You will not be able to run predict() on this Core ML model.", RuntimeWarning, stacklevel=2)
        self.made.append({"model": model, "function_name": function_name})
        self.entry = function_name or "main"
        self.engine = CoreMLReference(Path(model), (self.entry,))

    def predict(self, data: dict[str, Any]) -> dict[str, Any]:
        assert type(data) is dict
        if any(values.max() > 400 for values in data.values()):
            raise RuntimeError("the device is gone")
        outputs = self.engine.run(self.entry, data)
        data.clear()  # the real one changes what it is given
        return {name: values.astype(np.float64) for name, values in outputs.items()}


@pytest.fixture
def mac(monkeypatch: pytest.MonkeyPatch) -> type[FakeModel]:
    # coremltools' protobufs are found before it is replaced.
    CoreMLReference(exported(*FUNCTIONS).path, ("len_16",))
    fake = types.ModuleType("coremltools")
    fake.models = types.SimpleNamespace(MLModel=FakeModel)  # type: ignore[attr-defined]
    fake.ComputeUnit = Unit  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "coremltools", fake)
    monkeypatch.setattr("mobilekit.runtimes.coreml.sys", types.SimpleNamespace(platform="darwin"))
    monkeypatch.setattr(FakeModel, "made", [])
    return FakeModel


def small(of: Exported, length: int) -> dict[str, Any]:
    given = inputs(of, length, 9)
    return given | {"input_ids": given["input_ids"] % 300 + 1}


def test_each_function_is_loaded_by_its_name_and_run(mac: type[FakeModel]) -> None:
    of = exported(*FUNCTIONS)
    runtime = engine("coreml").load(of.path, ("len_16", "len_32"), 2)
    assert [made["function_name"] for made in mac.made] == ["len_16", "len_32"]
    assert {made["model"] for made in mac.made} == {str(of.path)}
    for length, entry in of.entries.items():
        given = small(of, length)
        got = runtime.run(entry, given)
        assert set(given) == set(of.input_names), "the caller's inputs were changed"
        assert got["logits"].dtype == np.float32
        np.testing.assert_array_equal(got["logits"], CoreMLReference(of.path, (entry,)).run(entry, given)["logits"])
    assert runtime.delegation() is None


def test_a_plain_model_is_loaded_without_a_function_name(mac: type[FakeModel]) -> None:
    of = exported(*ONE)
    runtime = CoreML(of.path, ("main",))
    assert [made["function_name"] for made in mac.made] == [None]
    assert runtime.run("main", small(of, 16))["embedding"].shape == (1, 64)


def test_a_model_that_core_ml_refuses_is_an_error_at_once(
    mac: type[FakeModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mac, "refuses", True)
    with pytest.raises(EngineError, match="Core ML refuses function 'len_16'"):
        CoreML(exported(*FUNCTIONS).path, ("len_16",))


def test_a_failure_inside_core_ml_is_an_engine_error(mac: type[FakeModel]) -> None:
    of = exported(*FUNCTIONS)
    given = small(of, 16) | {"input_ids": np.full((1, 16), 450, np.int32)}
    with pytest.raises(EngineError, match="function 'len_16': the device is gone"):
        CoreML(of.path, ("len_16",)).run("len_16", given)


@pytest.mark.skipif(sys.platform == "darwin", reason="the engine runs here")
def test_off_macos_it_says_so_and_names_the_engine_that_runs() -> None:
    with pytest.raises(EngineError, match=r"Core ML runs on macOS only.*'coreml_reference'"):
        CoreML(exported(*FUNCTIONS).path, ("len_16",))
    assert engine("coreml").platform == "darwin"


def test_the_stand_in_has_the_signatures_of_the_real_one() -> None:
    found = importlib.util.find_spec("coremltools")
    assert found is not None
    assert found.origin is not None
    tree = ast.parse((Path(found.origin).parent / "models" / "model.py").read_text(encoding="utf-8"))
    (model,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "MLModel")
    methods = {node.name: node.args for node in model.body if isinstance(node, ast.FunctionDef)}
    assert {"model", "compute_units", "function_name"} <= {a.arg for a in methods["__init__"].args}
    assert [a.arg for a in methods["predict"].args][:2] == ["self", "data"]


@pytest.mark.macos
@pytest.mark.skipif(sys.platform != "darwin", reason="needs macOS")
@pytest.mark.parametrize("case", [FUNCTIONS, ONE, (TINY, EMBEDDING, "fp32", (16, 32), 16)])
def test_core_ml_itself_agrees_with_the_reference(case: tuple[Any, ...]) -> None:
    of = exported(*case)
    entries = tuple(dict.fromkeys(of.entries.values()))
    native, reference = CoreML(of.path, entries), CoreMLReference(of.path, entries)
    for length, entry in of.entries.items():
        given = inputs(of, length, 9)
        for name, values in native.run(entry, given).items():
            # The Neural Engine and the GPU sum in float16.
            np.testing.assert_allclose(values, reference.run(entry, given)[name], atol=2e-2)
