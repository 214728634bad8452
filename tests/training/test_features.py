"""Rows become ids and targets: a tag for the first token of each word, a span where the answer is whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mobilekit.models.config import HeadConfig
from mobilekit.models.load import load
from mobilekit.models.model import Model
from mobilekit.models.rehead import with_head
from mobilekit.models.tasks import SPAN_LABELS
from mobilekit.text.data.rows import AnswerRow, TextRow, TokensRow
from mobilekit.training.batches import epoch_batches, shares
from mobilekit.training.features import IGNORED, Features, collate, encode_rows
from mobilekit.training.predict import outputs, predict

TAGS = HeadConfig("token-classification", ("O", "X", "Y"))


@pytest.fixture(scope="module")
def tiny() -> Model:
    return load("tiny-classifier")


def test_tags_stand_on_the_first_token_of_each_word(tiny: Model) -> None:
    model = with_head(tiny, TAGS)
    row = TokensRow(("good", "zebra", "film", "U.S."), (0, 1, 2, 1))
    (found,) = encode_rows(model, [row], 64)
    tokens = [model.tokenizer.token_of(int(i)) for i in found.ids]
    marked = [(token, int(tag)) for token, tag in zip(tokens, found.target, strict=True) if tag != IGNORED]
    # "zebra" and "U.S." are several tokens each.
    assert marked == [("good", 0), ("z", 1), ("film", 2), ("u", 1)]
    assert found.count == 4 and len(tokens) > 6


def test_tags_follow_words_through_any_tokenizer(tmp_path: Path) -> None:
    from benchmarks.matrix_models import write_folder

    for family in ("roberta", "xlm-roberta"):
        write_folder(family, "token-classification", tmp_path / family)
        model = load(tmp_path / family)
        words = ("Ada", "left", "the", "quiet", "lighthouse", "yesterday")
        (found,) = encode_rows(model, [TokensRow(words, (1, 0, 0, 0, 2, 0))], 64)
        assert [int(t) for t in found.target if t != IGNORED] == [1, 0, 0, 0, 2, 0], family


def test_prefix_has_no_tags(tiny: Model) -> None:
    model = with_head(tiny, TAGS)
    model.prefix = "query: "
    (found,) = encode_rows(model, [TokensRow(("good", "film"), (1, 2))], 64)
    assert [int(t) for t in found.target if t != IGNORED] == [1, 2]


def test_tags_stay_with_their_words_when_the_tokenizer_drops_one() -> None:
    model = load("tiny-tagger")
    # Of a zero-width space there is nothing left.
    row = TokensRow(("\u200b", "good", "\u200b", "film"), (1, 2, 3, 4))
    (found,) = encode_rows(model, [row], 64)
    assert found.words.tolist() == [1, 3] and found.target[found.target != IGNORED].tolist() == [2, 4]
    said, true = predict(model, [row], 64)
    (logits,) = outputs(model, [found])
    labels = model.head.labels
    own = [labels[int(logits[i].argmax())] for i in np.flatnonzero(found.target != IGNORED)]
    assert said == [["O", own[0], "O", own[1]]] and true == [[labels[i] for i in row.tags]]


def test_span_covers_the_answer_and_a_cut_answer_is_none(tiny: Model) -> None:
    model = with_head(tiny, HeadConfig("question-answering", SPAN_LABELS))
    context = "It was a very good film in the end."
    row = AnswerRow("what was it?", context, ((context.index("very"), "very good film"),))
    (found,) = encode_rows(model, [row], 64)
    first, last = found.target
    tokens = [model.tokenizer.token_of(int(i)) for i in found.ids[first : last + 1]]
    assert tokens == ["very", "good", "film"]
    (cut,) = encode_rows(model, [row], int(last) + 1)
    assert cut.target.tolist() == [0, 0]
    (none,) = encode_rows(model, [AnswerRow("what?", context, ())], 64)
    assert none.target.tolist() == [0, 0]


def test_span_ends_where_the_answer_does(tiny: Model) -> None:
    model = with_head(tiny, HeadConfig("question-answering", SPAN_LABELS))
    context = "(good film!) was it"
    (found,) = encode_rows(model, [AnswerRow("what?", context, ((1, "good film"),))], 64)
    tokens = [model.tokenizer.token_of(int(i)) for i in found.ids[found.target[0] : found.target[1] + 1]]
    assert tokens == ["good", "film"]


def test_labels_of_all_kinds(tiny: Model) -> None:
    several = with_head(tiny, HeadConfig("sequence-classification", ("a", "b", "c"), "multi_label_classification"))
    (found,) = encode_rows(several, [TextRow("x", None, (0, 2))], 64)
    assert found.target.tolist() == [1, 0, 1]
    value = with_head(tiny, HeadConfig("sequence-classification", ("value",), "regression"))
    (found,) = encode_rows(value, [TextRow("x", None, 2.5)], 64)
    assert found.target.tolist() == [2.5]
    (pair,) = encode_rows(tiny, [TextRow("x", "y", 1)], 64)
    assert pair.target == 1 and pair.types.max() == 1


def test_batch_is_padded_with_the_models_own_id(tiny: Model) -> None:
    features = [
        Features(np.array(ids, np.int32), np.zeros(len(ids), np.int32), np.array(0)) for ids in ([2, 3], [2, 4, 3])
    ]
    batch = collate(features, tiny.config)
    assert batch["input_ids"].tolist() == [[2, 3, tiny.config.pad_id], [2, 4, 3]]
    assert batch["attention_mask"].tolist() == [[1, 1, 0], [1, 1, 1]] and batch["target"].tolist() == [0, 0]


def test_epoch_has_every_input_once_in_batches_of_about_one_length() -> None:
    rng = np.random.default_rng(0)
    lengths = rng.integers(3, 120, size=1003).tolist()
    batches = epoch_batches(lengths, 16, seed=1, epoch=0)
    assert sorted(i for batch in batches for i in batch) == list(range(1003))
    padded = sum(max(lengths[i] for i in batch) * len(batch) for batch in batches)
    assert padded < 1.1 * sum(lengths)
    assert batches == epoch_batches(lengths, 16, seed=1, epoch=0)
    assert batches != epoch_batches(lengths, 16, seed=1, epoch=1) and batches != epoch_batches(lengths, 16, 2, 0)


def test_processes_share_a_batch_without_overlap() -> None:
    batch = list(range(13))
    parts = [part for process in range(3) for part in shares(batch, process, 3, 2)]
    assert sorted(i for part in parts for i in part) == batch
