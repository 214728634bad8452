"""A head on states that were computed once: the same loss as with the encoder, for every way in which heads read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from lessons import CLASSIFIER, CPU, ROWS, labelled, look, teacher
from torch import nn

from mobilekit.models.config import HeadConfig
from mobilekit.models.tasks import SPAN_LABELS
from mobilekit.text.data.rows import AnswerRow, Row, TokensRow
from mobilekit.training.features import encode_rows
from mobilekit.training.objectives.frozen import Frozen

TAGS = HeadConfig("token-classification", ("O", "B-A"))
SPANS = HeadConfig("question-answering", SPAN_LABELS)
TAGGED: list[Row] = [TokensRow(("the", "film", "was", "great"), (0, 1, 0, 0)), TokensRow(("bad",), (1,))]
ASKED: list[Row] = [AnswerRow("is it good", "it was great", ((7, "great"),)), AnswerRow("bad", "not it", ((0, "not"),))]


@pytest.mark.parametrize("head", [CLASSIFIER, replace(CLASSIFIER, mean=True)])
def test_a_text_is_read_as_its_head_reads_it(head: HeadConfig, tmp_path: Path) -> None:
    made = teacher(head)
    objective = Frozen(made, encode_rows(made, ROWS, 32), tmp_path)
    expected = sum(float(labelled(look(made, row.text).logits, int(row.label or 0))) for row in ROWS)
    with torch.no_grad():
        got = objective.loss(made.module.head.eval(), range(4), CPU)
        turned = objective.loss(made.module.head, [3, 1], CPU)
    assert got.item() == pytest.approx(expected, rel=1e-4)
    chosen = sum(float(labelled(look(made, ROWS[i].text).logits, int(ROWS[i].label or 0))) for i in (3, 1))
    assert turned.item() == pytest.approx(chosen, rel=1e-4) and objective.count(range(4)) == 4


def test_words_and_answers_are_read_token_by_token(tmp_path: Path) -> None:
    tagger, reader = teacher(TAGS), teacher(SPANS)
    objective = Frozen(tagger, encode_rows(tagger, TAGGED, 32), tmp_path / "tags")
    seen = [look(tagger, "the film was great").logits, look(tagger, "bad").logits]
    expected = sum(float(labelled(seen[0][1 + i], tag)) for i, tag in enumerate((0, 1, 0, 0)))
    expected += float(labelled(seen[1][1], 1))
    with torch.no_grad():
        assert objective.loss(tagger.module.head.eval(), range(2), CPU).item() == pytest.approx(expected, rel=1e-4)
    assert objective.count(range(2)) == 5
    objective = Frozen(reader, encode_rows(reader, ASKED, 32), tmp_path / "answers")
    expected = 0.0
    # Behind [CLS], the question and [SEP].
    for row, place in zip(ASKED, (7, 3), strict=True):
        assert isinstance(row, AnswerRow)
        logits = look(reader, row.question, row.context).logits
        expected += float(labelled(logits[:, 0], place) + labelled(logits[:, 1], place)) / 2
    with torch.no_grad():
        assert objective.loss(reader.module.head.eval(), range(2), CPU).item() == pytest.approx(expected, rel=1e-4)


def test_only_the_head_learns_from_it(tmp_path: Path) -> None:
    made = teacher()
    objective = Frozen(made, encode_rows(made, ROWS, 32), tmp_path)
    head: nn.Module = made.module.head
    objective.loss(head, range(4), CPU).backward()  # type: ignore[no-untyped-call]
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in head.parameters())
    assert all(p.grad is None for p in made.module.encoder.parameters())
