"""Rows put to a model: the same answers as when it is trained, and sensible ones where rows have no labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from lessons import model

from mobilekit.models.config import HeadConfig
from mobilekit.models.load import load
from mobilekit.text.data.rows import AnswerRow, TextRow, TokensRow
from mobilekit.training.exam import answers, exam, model_outputs
from mobilekit.training.predict import predict

TEXTS = [TextRow(text) for text in ("a good film", "", "it was not good " * 9, "bad", "the [MASK] was bad")]
ROWS = {
    "tiny-classifier": [TextRow("a good film", None, 1), TextRow("bad", "it was", 0)],
    "tiny-tagger": [TokensRow(("good", "film"), (1, 2)), TokensRow(("bad",) * 40, (0,) * 40)],
    "tiny-reader": [AnswerRow("what", "a good film", ((2, "good"),)), AnswerRow("what", "bad", ())],
}


@pytest.mark.parametrize("name", ROWS)
def test_labelled_rows_are_answered_as_in_training(name: str) -> None:
    made, rows = load(name), ROWS[name]
    of = exam(made, rows, 16)
    given, references = answers(of, reversed(list(model_outputs(made, of))))
    expected, right = predict(made, rows, 16)
    assert (
        np.array_equal(np.array(given, object), np.array(expected, object))
        if name != "tiny-tagger"
        else given == expected
    )
    assert list(references) == list(right)
    assert of.cut == (1 if name == "tiny-tagger" else 0)


@pytest.mark.parametrize("problem", ["single_label_classification", "multi_label_classification", "regression"])
def test_classifiers_answer_plain_text(problem: str) -> None:
    made = model(HeadConfig("sequence-classification", ("a",) if problem == "regression" else ("a", "b", "c"), problem))
    made.module.train()
    of = exam(made, TEXTS, 12)
    given, _ = answers(of, model_outputs(made, of))
    assert len(given) == 5 and given.ndim == (2 if problem.startswith("multi") else 1)
    # Without dropout, and the model is left as it was.
    assert np.array_equal(given, answers(of, model_outputs(made, of))[0]) and made.module.training


def test_taggers_answer_plain_text_word_by_word() -> None:
    made = load("tiny-tagger")
    of = exam(made, TEXTS, 64)
    given, _ = answers(of, model_outputs(made, of))
    assert [len(tags) for tags in given] == [3, 0, 36, 1, 4]
    assert set(given[0]) <= set(made.head.labels)


def test_embeddings_are_those_of_the_module() -> None:
    made = replace(load("tiny-embedding"), prefix="the ")
    of = exam(made, TEXTS, 64)
    given, references = answers(of, model_outputs(made, of))
    ids = made.tokenizer.encode("the a good film").ids
    with torch.no_grad():
        expected = made.module(torch.from_numpy(ids)[None].long())[0].numpy()
    assert references is None and given.shape == (5, 64) and np.abs(given[0] - expected).max() < 1e-6


def test_one_word_of_each_text_is_asked_for_and_masked() -> None:
    made = load("tiny-words")
    of = exam(made, TEXTS, 64)
    mask, special = made.tokenizer.mask_id, set(made.tokenizer.special_ids().values())
    assert of.places is not None and len(of.places) == 5
    for row, each, place in zip(TEXTS, of.features, of.places, strict=True):
        true = made.tokenizer.encode(row.text, None, 64).ids
        assert each.ids[place] == mask and (np.delete(each.ids, place) == np.delete(true, place)).all()
        assert true[place] not in special or row.text in ("", TEXTS[4].text)
    assert made.tokenizer.encode(TEXTS[4].text).ids[of.places[4]] == mask
    given, _ = answers(of, model_outputs(made, of))
    with torch.no_grad():
        whole = [made.module(torch.from_numpy(each.ids)[None].long())[0] for each in of.features]
    assert given.tolist() == [int(logits[place].argmax()) for logits, place in zip(whole, of.places, strict=True)]
    assert exam(made, TEXTS, 64).places == of.places


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    made = load("tiny-classifier")
    of = exam(made, TEXTS * 20, 16)
    list(model_outputs(made, of, lambda done, count: told.append((done, count))))
    assert told == [(64, 100), (100, 100)]
