"""Tokenizers are the same when their ids are, however their files are written."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from mobilekit.models.load import load
from mobilekit.text.same_ids import same_ids
from mobilekit.text.text_tokenizer import TextTokenizer


def changed(change: Callable[[dict[str, Any]], object], most: int = 128) -> TextTokenizer:
    content = json.loads(load("tiny-classifier").tokenizer.serialized())
    change(content)
    return TextTokenizer(json.dumps(content), most)


def test_what_no_id_depends_on_does_not_count() -> None:
    own = load("tiny-classifier").tokenizer
    assert same_ids(own, own) and same_ids(own, TextTokenizer(own.serialized(), 16))
    assert same_ids(own, changed(lambda content: content.update(decoder=None)))
    truncation = {"max_length": 9, "stride": 0, "strategy": "LongestFirst", "direction": "Right"}
    assert same_ids(own, changed(lambda content: content.update(truncation=truncation)))
    # The same steps, written otherwise.
    assert same_ids(own, changed(lambda c: c.update(normalizer={"type": "Sequence", "normalizers": [c["normalizer"]]})))


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["normalizer"].update(lowercase=False),
        lambda c: c["normalizer"].update(strip_accents=False),
        lambda c: c.update(post_processor=None),
        lambda c: c["model"].update(max_input_chars_per_word=5),
        lambda c: c["model"]["vocab"].update(
            {"film": c["model"]["vocab"]["movie"], "movie": c["model"]["vocab"]["film"]}
        ),
        lambda c: c["model"]["vocab"].pop("film"),
    ],
    ids=["case", "accents", "special tokens", "long words", "ids", "a word fewer"],
)
def test_what_ids_depend_on_counts(change: Callable[[dict[str, Any]], object]) -> None:
    assert not same_ids(load("tiny-classifier").tokenizer, changed(change))


def unigram(**scores: float) -> TextTokenizer:
    pieces = {"<unk>": 0.0, "▁": -3.0, "▁film": -4.0, "▁fi": -5.0, "lm": -5.5, **scores}
    made = Tokenizer(models.Unigram(list(pieces.items()), 0, False))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.normalizer = normalizers.NFKC()
    return TextTokenizer(made.to_str(), 16)


def test_scores_are_the_same_but_for_rounding() -> None:
    assert same_ids(unigram(), unigram(lm=-5.5 + 1e-12))
    assert not same_ids(unigram(), unigram(lm=-5.0))


def test_texts_tell_what_probes_do_not() -> None:
    own = load("tiny-classifier").tokenizer
    odd = {"type": "Replace", "pattern": {"String": "zzz"}, "content": "good"}
    other = changed(lambda c: c.update(normalizer={"type": "Sequence", "normalizers": [odd, c["normalizer"]]}))
    assert same_ids(own, other) and not same_ids(own, other, ["a zzz film"])
