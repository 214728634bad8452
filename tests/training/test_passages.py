"""Plain text as passages: in memory and in a mapped file the same; corpora one after the other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from training_program import ROWS

from mobilekit.errors import InputError
from mobilekit.models.load import load
from mobilekit.text.data.plain import plain_texts, split_texts
from mobilekit.text.data.rows import TextRow
from mobilekit.training.lengths import prefix_ids
from mobilekit.training.passages import PassageFeatures, Texts


def test_a_mapped_file_holds_the_same_passages(tmp_path: Path) -> None:
    model = load("tiny-words")
    rows = [*ROWS, TextRow("one film", document=3), TextRow("and another", document=3), TextRow("  ")]
    held, mapped = Texts(model, rows, 32), Texts(model, rows, 32, tmp_path / "work")
    assert len(held) == len(mapped) == len(ROWS) + 1 and held.lengths == mapped.lengths
    for ours, theirs in zip(held, mapped, strict=True):
        assert np.array_equal(ours.ids, theirs.ids) and np.array_equal(ours.types, theirs.types)
    assert model.tokenizer.decode(held[len(held) - 1].ids.tolist()) == "one film and another"
    # A run that goes on takes what is there.
    again = Texts(model, [], 32, tmp_path / "work")
    assert again.lengths == held.lengths and np.array_equal(again[5].ids, held[5].ids)
    features = PassageFeatures(mapped)
    assert len(features) == len(held) and np.array_equal(features[-1].ids, held[len(held) - 1].ids)
    assert [len(each.ids) for each in features[:3]] == held.lengths[:3]


@pytest.mark.parametrize("mapped", [False, True])
def test_nothing_to_read_is_named(mapped: bool, tmp_path: Path) -> None:
    model = load("tiny-words")
    model.prefix = "a film "
    with pytest.raises(InputError, match="nothing to learn from"):
        Texts(model, [TextRow(" ")], 32, tmp_path / "work" if mapped else None)
    assert prefix_ids(model) == 2


def test_corpora_come_one_after_the_other_and_documents_stay_apart(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("a\nb\n\nc\n")
    (tmp_path / "two.csv").write_text("text,label\nx,1\ny,0\n")
    texts = plain_texts([str(tmp_path / "one.txt"), str(tmp_path / "two.csv"), str(tmp_path / "one.txt")])
    assert [row.text for row in texts] == ["a", "b", "c", "x", "y", "a", "b", "c"]
    assert texts[-1].text == "c" and [row.text for row in texts[2:4]] == ["c", "x"]
    documents = [row.document for row in texts]
    assert documents[0] == documents[1] != documents[2] and documents[3] is None
    assert len({document for document in documents if document is not None}) == 4
    assert all(row.label is None for row in texts)
    with pytest.raises(IndexError):
        texts[8]
    assert split_texts(None, [str(tmp_path / "one.txt")], "dev") == []
    assert len(split_texts(str(tmp_path / "one.txt"), [], "dev")) == 3


@pytest.mark.slow
def test_unlabelled_text_has_nothing_of_the_test_sentences() -> None:
    learnt = {row.text for row in plain_texts(["movie-sentiment"])}
    judged = {row.text for row in plain_texts(["movie-sentiment:test"])}
    assert len(learnt) > 8000 and len(judged) >= 1450 and not learnt & judged
    assert len(split_texts(None, ["editorials"], "test")) == 278
    assert len(split_texts(None, ["movie-sentiment", "editorials"], "test")) == 1500
    assert len(split_texts(None, ["movie-sentiment", "editorials"], "dev")) == 263
    assert split_texts(None, ["editorials", "editorials:test"], "test") == []
