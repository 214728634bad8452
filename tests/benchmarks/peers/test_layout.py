"""How a peer's inputs are laid out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.peers.layout import Inputs, Layout, PeerSubject
from mobilekit.errors import EngineError, InputError

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
IDS, TYPES = np.array([5, 6, 7], np.int32), np.array([0, 1, 1], np.int32)


def test_an_input_is_padded_to_the_smallest_length_that_holds_it() -> None:
    length, inputs = Layout(INPUTS, 9, (2, 4, 8)).padded(IDS, TYPES)
    assert length == 4
    assert {name: values.tolist() for name, values in inputs.items()} == {
        "input_ids": [[5, 6, 7, 9]],
        "attention_mask": [[1, 1, 1, 0]],
        "token_type_ids": [[0, 1, 1, 0]],
    }
    assert {values.dtype for values in inputs.values()} == {np.dtype(np.int64)}


def test_a_file_for_any_length_takes_the_text_as_long_as_it_is() -> None:
    length, inputs = Layout(INPUTS[:2], 9, ()).padded(IDS, TYPES)
    assert length == 3
    assert list(inputs) == ["input_ids", "attention_mask"]
    assert inputs["input_ids"].tolist() == [[5, 6, 7]]


def test_an_input_that_no_length_holds_is_refused() -> None:
    with pytest.raises(InputError, match="an input of 3 ids is longer than the longest length, 2"):
        Layout(INPUTS, 0, (1, 2)).padded(IDS, TYPES)


def test_a_layout_goes_through_json() -> None:
    layout = Layout(INPUTS, 3, (32, 128))
    assert Layout.of(json.loads(json.dumps(layout.params()))) == layout


def test_what_a_tool_takes_is_made_before_it_runs() -> None:
    def adapt(length: int, inputs: Inputs) -> Mapping[str, Any]:
        return {name: values.astype(np.int32) for name, values in inputs.items()}

    def call(length: int, given: Mapping[str, NDArray[np.int32]]) -> NDArray[np.float64]:
        return np.array([[length, given["input_ids"].sum()]], np.float64)

    subject = PeerSubject(Layout(INPUTS, 0, (4,)), adapt, call)
    length, given = subject.prepare(IDS, TYPES)
    assert given["input_ids"].dtype == np.int32
    output = subject.run((length, given))
    assert output.tolist() == [4, 18]
    assert output.dtype == np.float32


def test_a_peer_takes_no_text() -> None:
    with pytest.raises(EngineError, match="tokens, not text"):
        PeerSubject(Layout(INPUTS, 0, ()), lambda n, x: x, lambda n, x: x).answer("Good.", None)
