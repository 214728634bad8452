"""Peers made for `bench`: each gives what torch gives, and one that fails is a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.measuring.contender import Opened
from benchmarks.measuring.service import packed
from benchmarks.measuring.turns import ROWS, Protocol, measure
from benchmarks.peers import prepare, registry, service
from benchmarks.peers.prepare import FailedPeer, PreparedPeer, prepare_peers
from benchmarks.peers.registry import peer
from mobilekit.errors import EngineError, InputError
from mobilekit.models.load import load

LENGTHS = (32, 16)
# Least cosine with the float model. Random weights of 64 columns suffer more from 4 bits than trained ones.
LEAST = {"int8": 0.99, "fp16": 0.9999, "int4": 0.9, "pal4": 0.9}


def one(model_name: str, name: str, folder: Path) -> PreparedPeer | FailedPeer:
    [found] = prepare_peers(load(model_name), [name], LENGTHS, folder / "work", threads=1)
    return found


def check(found: PreparedPeer | FailedPeer) -> PreparedPeer:
    assert isinstance(found, PreparedPeer), found
    assert found.bytes > 50_000 and found.seconds > 0
    assert found.contender is not None and found.cosine is not None and found.difference is not None, found.note
    scheme = found.peer.name.rpartition("-")[2]
    if scheme in LEAST:
        assert found.cosine > LEAST[scheme]
        assert found.difference > 0
    else:
        assert found.difference < 1e-5
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "onnxruntime-fp32", "onnxruntime-int8",
        "stock-executorch-fp32", "stock-executorch-int8",
        "stock-tflite-fp32", "stock-tflite-int8", "stock-tflite-int4",
        "stock-coreml-fp16", "stock-coreml-int8", "stock-coreml-int4", "stock-coreml-pal4",
        "torch-compiled",
    ],
)  # fmt: skip
def test_a_peer_gives_what_torch_gives(name: str, tmp_path: Path) -> None:
    check(one("tiny-embedding", name, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["onnxruntime-fp32", "stock-executorch-fp32", "stock-tflite-fp32", "stock-coreml-fp16"]
)
def test_so_does_one_of_a_classifier(name: str, tmp_path: Path) -> None:
    check(one("tiny-classifier", name, tmp_path))


@pytest.mark.slow
def test_one_session_takes_every_length_and_padding_changes_nothing(tmp_path: Path) -> None:
    found = check(one("tiny-embedding", "onnxruntime-fp32", tmp_path))
    assert found.contender is not None
    assert found.contender.params["layout"]["lengths"] == []
    ids = np.arange(20, 29, dtype=np.int32)
    outputs = []
    for lengths in ([], [16]):
        params = {**found.contender.params, "layout": {**found.contender.params["layout"], "lengths": lengths}}
        with Opened(replace(found.contender, params=params), 1) as opened:
            outputs.append(opened.call("outputs", {}, packed([(ids, np.zeros_like(ids))]))[1]["output"])
    assert np.abs(outputs[0] - outputs[1]).max() < 1e-5


def test_a_prepared_peer_is_measured_beside_others(tmp_path: Path) -> None:
    ids = np.arange(20, 27, dtype=np.int32)
    rows = [(ids, np.zeros_like(ids))]
    [found] = prepare_peers(load("tiny-classifier"), ["torch-eager"], LENGTHS, tmp_path / "work", threads=1, rows=rows)
    contender = check(found).contender
    assert contender is not None
    assert contender.lengths == (16, 32)
    assert not contender.texts
    protocol = Protocol(threads=1, load_processes=1, least_runs=1, least_seconds=0, burst_seconds=0.001)
    [measured] = measure([contender], [16, ROWS], protocol).measured
    assert measured.summary("16").median > 0
    assert measured.summary(ROWS).median > 0
    assert measured.loaded.resident_bytes > 0


def test_an_unknown_name_stops_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="peer 'onnx' is unknown"):
        prepare_peers(load("tiny-classifier"), ["torch-eager", "onnx"], LENGTHS, tmp_path / "work", threads=1)
    assert not (tmp_path / "work").exists()


def test_a_model_that_no_peer_takes_is_a_row_for_each(tmp_path: Path) -> None:
    names = ["torch-eager", "stock-coreml-pal4"]
    found = prepare_peers(load("tiny-tagger"), names, LENGTHS, tmp_path / "work", threads=1)
    said = "tiny-tagger: peers take sequence-classification and sentence-embedding, not token-classification."
    assert found == [FailedPeer(peer(name), said) for name in names]


def test_a_package_that_is_missing_is_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "is_installed", lambda package: package != "onnxscript")
    found = one("tiny-classifier", "onnxruntime-fp32", tmp_path)
    assert isinstance(found, FailedPeer)
    assert found.reason == (
        "peer onnxruntime-fp32 needs onnxscript, which is not installed: pip install 'mobilekit[bench]'"
    )


def test_what_fails_in_its_process_is_a_row_and_the_next_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The process of its own does not know the name.
    known = {"torch-eager": peer("torch-eager"), "broken": replace(peer("torch-eager"), name="broken")}
    monkeypatch.setattr(prepare, "peer", known.__getitem__)
    names, said = ["broken", "torch-eager"], list[str]()
    broken, good = prepare_peers(load("tiny-classifier"), names, LENGTHS, tmp_path / "work", 1, said.append)
    assert isinstance(broken, FailedPeer)
    assert broken.reason.startswith("peer 'broken' is unknown; ")
    check(good)
    assert said == ["making broken", "making torch-eager"]


def test_a_process_that_dies_is_a_row_without_folders_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepare, "SERVICE", "no_such_module:service")
    found = one("tiny-classifier", "torch-eager", tmp_path)
    assert isinstance(found, FailedPeer)
    assert found.reason == "ModuleNotFoundError: No module named 'no_such_module' (details in torch-eager.log)"


def test_values_that_are_not_finite_are_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def tried(contender: object, job: Any) -> Any:
        return np.full_like(job.wanted, np.nan)

    monkeypatch.setattr(prepare, "_tried", tried)
    found = one("tiny-classifier", "torch-eager", tmp_path)
    assert isinstance(found, FailedPeer)
    assert found.reason == "its output has values that are not finite."
    assert found.bytes is not None and found.seconds is not None


def test_what_cannot_be_run_here_is_made_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def tried(contender: object, job: object) -> Any:
        raise EngineError("operation x: 'y' is unknown to the Core ML reference runtime; known: add.")

    monkeypatch.setattr(prepare, "peer", lambda name: replace(peer(name), timed=False))
    monkeypatch.setattr(prepare, "_tried", tried)
    found = one("tiny-classifier", "torch-eager", tmp_path)
    assert isinstance(found, PreparedPeer)
    assert found.contender is None and found.cosine is None
    assert found.note.startswith("operation x: 'y' is unknown")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (IndexError("first\nsecond"), "IndexError: first"),
        (AssertionError(), "AssertionError"),
        (EngineError("ours"), "ours"),
    ],
)
def test_what_a_tool_raises_becomes_its_kind_and_first_line(
    error: Exception, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(*given: object) -> tuple[int, ...]:
        raise error

    def found(name: str) -> Any:
        return replace(peer("torch-eager"), make=make)

    # It ties this process to its parent's life.
    monkeypatch.setattr("benchmarks.measuring.service._die_with_parent", lambda: None)
    monkeypatch.setattr(service, "peer", found)
    params: Mapping[str, Any] = {"peer": "", "source": "", "path": "", "lengths": [], "threads": 1}
    with pytest.raises(EngineError) as caught:
        service.service()("make", dict(params), {}, lambda text: None)
    assert str(caught.value) == said
