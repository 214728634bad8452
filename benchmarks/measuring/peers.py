"""Peers among what `bench` measures: made, put in turn with artifacts, asked the same rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring.accuracy import Examiner
from benchmarks.measuring.contender import Contender, Opened, forgiven
from benchmarks.measuring.rows import row
from benchmarks.measuring.service import packed
from benchmarks.measuring.texts import Texts, rows_of
from benchmarks.measuring.turns import Protocol
from benchmarks.peers.prepare import PreparedPeer, prepare_peers
from mobilekit.errors import InputError
from mobilekit.models.model import Model

Json = dict[str, Any]
Say = Callable[[str], None]
# Inputs in one message.
_AT_ONCE = 64


@dataclass(frozen=True)
class Peers:
    """rows: of all, by name. contenders: those that are timed. untimed: those that only answer."""

    model: Model | None = None
    rows: Mapping[str, Json] = field(default_factory=dict)
    contenders: Sequence[Contender] = ()
    untimed: Sequence[Contender] = ()

    def accuracies(
        self, examiner: Examiner, threads: int, say: Say, failed: Mapping[str, str]
    ) -> Iterator[tuple[str, Json]]:
        """Name and row values of each but those that failed before: its accuracy, or why it has none."""
        for slow, contenders in ((False, self.contenders), (True, self.untimed)):
            for each in contenders:
                if each.name not in failed:
                    say(f"asking {each.name}")
                    yield each.name, self._asked(each, examiner, threads, slow)

    def _asked(self, one: Contender, examiner: Examiner, threads: int, slow: bool) -> Json:
        assert self.model is not None
        of, failed = examiner.asked(self.model, slow), dict[str, str]()
        inputs = [(features.ids, features.types) for features in of.features]
        with forgiven(one, failed), Opened(one, threads) as opened:
            outputs = [
                np.asarray(opened.call("outputs", {}, packed(inputs[i : i + _AT_ONCE]))[1]["output"], np.float32)
                for i in range(0, len(inputs), _AT_ONCE)
            ]
            return {"accuracy": examiner.figures_of(of, np.concatenate(outputs), slow)}
        return {"error": failed[one.name]}


def peers_of(
    model: Model | None,
    names: Sequence[str],
    lengths: tuple[int, ...],
    texts: Texts,
    folder: Path,
    protocol: Protocol,
    say: Say,
) -> Peers:
    """Peers made of a model's weights, their files in a folder of their own, which may exist. Raises InputError where
    there is no model."""
    if not names:
        return Peers()
    if model is None:
        raise InputError("peers are made of the float model, which artifacts do not carry; give --against MODEL.")
    tokens = rows_of(texts, model.tokenizer, model.prefix, max(lengths), model.head.task)
    made = prepare_peers(model, names, lengths, folder / "files", protocol.threads, say, tokens)
    rows, timed, untimed = dict[str, Json](), list[Contender](), list[Contender]()
    for each in made:
        peer = each.peer
        rows[peer.name] = row(
            peer.name, "peer", model.name, scheme=peer.scheme, engine=peer.tool, bytes=each.bytes, error=_error(each)
        )
        if isinstance(each, PreparedPeer) and each.contender is not None:
            (timed if peer.timed else untimed).append(replace(each.contender, may_fail=True))
    return Peers(model, rows, timed, untimed)


def _error(each: Any) -> str | None:
    return (each.note or None) if isinstance(each, PreparedPeer) else str(each.reason)
