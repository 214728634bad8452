"""What tells one run from another: contents, and not names or the last bit of a number."""

from __future__ import annotations

import torch

from mobilekit.models.load import load
from mobilekit.text.data.rows import AnswerRow, Row, TextRow, TokensRow
from mobilekit.training.identity import Identity, model_part, rows_digest


def test_a_models_weights_are_told_apart_but_not_by_rounding() -> None:
    model = load("tiny-classifier")
    read, made = (Identity({}, {"model": model_part("model x", model, made)}) for made in (False, True))
    with torch.no_grad():
        for parameter in model.module.parameters():
            # The last bit, as another number of threads may give it; the sign, as an eigenvector may come.
            parameter.mul_(-(1 + 1e-7))
    again = Identity({}, {"model": model_part("model x", model, True)})
    assert again.changes(made.to_dict()) == ([], []) and again.digest() == made.digest()
    exact = Identity({}, {"model": model_part("model x", model)})
    assert exact.changes(read.to_dict()) == (["model x has other weights"], []) and exact.digest() != read.digest()
    with torch.no_grad():
        model.module.encoder.layers[0].ffn.up.weight.mul_(1.01)
    other = Identity({}, {"model": model_part("model x", model, True)})
    assert other.changes(made.to_dict()) == (["model x has other weights"], [])


def test_rows_are_told_apart_by_all_that_is_learned_from() -> None:
    rows: list[Row] = [
        TextRow("a"), TextRow("a", "b"), TextRow("a", None, 1), TextRow("a", None, 1.0), TextRow("a", None, (1,)),
        TextRow("a", document=1), TextRow("\udc80"), TokensRow(("a", "b"), (0, 1)), TokensRow(("a", "b"), (1, 1)),
        TokensRow(("a b",), (0,)), AnswerRow("a", "b", ((0, "b"),)), AnswerRow("a", "b", ()), AnswerRow("a b", "", ()),
    ]  # fmt: skip
    digests = {rows_digest(each) for each in [[], rows, rows[::-1], *([row] for row in rows)]}
    assert len(digests) == 3 + len(rows)
    # What the source calls a row is not learned from; a corpus may be read as it comes.
    assert rows_digest([TextRow("a", id="1")]) == rows_digest(iter([TextRow("a", id="2")]))
