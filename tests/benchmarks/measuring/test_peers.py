"""Peers among contenders: their answers to the data, and what becomes of those that fail."""

from __future__ import annotations

import pytest

from benchmarks.measuring.accuracy import FLOAT, Examiner
from benchmarks.measuring.contender import Contender
from benchmarks.measuring.peers import Peers
from mobilekit.models.load import load
from mobilekit.text.data.rows import TextData, TextRow

ROWS = [TextRow(text, None, i % 2) for i, text in enumerate(("a good film", "it was bad", "great", "not that bad"))]
DATA = TextData("films", "sequence-classification", ("negative", "positive"), "single_label_classification", ROWS)


@pytest.fixture
def examiner() -> Examiner:
    made = Examiner(DATA, load("tiny-classifier").head, 16)
    made.ask_model(FLOAT, load("tiny-classifier"))
    return made


def peer(name: str, **params: float) -> Contender:
    return Contender(name, "timed_subject:service", {"milliseconds": 0, **params}, may_fail=True)


def test_a_peer_that_fails_on_the_data_is_a_row_and_the_next_one_is_asked(examiner: Examiner) -> None:
    contenders = [peer("gone", runs=3), peer("nothing", gives=float("nan")), peer("good"), peer("failed before")]
    peers = Peers(load("tiny-classifier"), contenders=contenders)
    found = dict(peers.accuracies(examiner, 1, lambda _: None, {"failed before": "it did"}))
    assert list(found) == ["gone", "nothing", "good"]
    assert "the engine gave up" in found["gone"]["error"] and "not finite" in found["nothing"]["error"]
    assert found["good"]["accuracy"]["data"]["rows"] == len(ROWS)
