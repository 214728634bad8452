"""How inputs of a peer are laid out, which is the same for all: int64, as `transformers` takes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring.service import Ids
from mobilekit.errors import EngineError, InputError

Inputs = Mapping[str, NDArray[np.int64]]


@dataclass(frozen=True)
class Layout:
    """inputs: names in the graph's order. pad_id: what fills up input_ids. lengths: those that the file takes,
    ascending; none where it takes any."""

    inputs: tuple[str, ...]
    pad_id: int
    lengths: tuple[int, ...]

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> Layout:
        """From the params of a service's `load`, where it is "layout"."""
        values = params["layout"]
        return cls(tuple(values["inputs"]), int(values["pad_id"]), tuple(values["lengths"]))

    def params(self) -> dict[str, Any]:
        """JSON values for `of`."""
        return {"layout": {"inputs": list(self.inputs), "pad_id": self.pad_id, "lengths": list(self.lengths)}}

    def padded(self, ids: Ids, types: Ids) -> tuple[int, Inputs]:
        """The length, and int64 [1, length] by name. Raises InputError when no length holds it."""
        length = next((n for n in self.lengths or (len(ids),) if n >= len(ids)), None)
        if length is None:
            raise InputError(f"an input of {len(ids)} ids is longer than the longest length, {max(self.lengths)}.")
        rows = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": types}
        fills = {"input_ids": self.pad_id}
        padded = {}
        for name in self.inputs:
            padded[name] = np.full((1, length), fills.get(name, 0), np.int64)
            padded[name][0, : len(ids)] = rows[name]
        return length, padded


class PeerSubject:
    """A loaded peer. adapt: inputs -> what the tool takes; never timed. call: length and that -> the output [1, size].

    Both are given the length that the input was padded to: files with an entry for each length choose by it.
    """

    def __init__(
        self, layout: Layout, adapt: Callable[[int, Inputs], Any], call: Callable[[int, Any], NDArray[Any]]
    ) -> None:
        self._layout, self._adapt, self._call = layout, adapt, call

    def prepare(self, ids: Ids, types: Ids) -> tuple[int, Any]:
        """As the tool takes it: padded to the smallest length made, or as long as the text."""
        length, inputs = self._layout.padded(ids, types)
        return length, self._adapt(length, inputs)

    def run(self, prepared: tuple[int, Any]) -> NDArray[np.float32]:
        """The tool alone."""
        return np.asarray(self._call(*prepared)[0], np.float32)

    def answer(self, text: str, pair: str | None) -> object:
        """Nothing: a peer is a model file, without a tokenizer."""
        raise EngineError("a peer takes tokens, not text.")
