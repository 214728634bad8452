"""What an answer is, head by head: from logits and a real tokenizer, without an engine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from mobilekit.decoding.entities import decode_entities
from mobilekit.decoding.item import Item
from mobilekit.decoding.labels import decode_labels
from mobilekit.decoding.spans import NO_ANSWER, decode_spans
from mobilekit.decoding.words import decode_words
from mobilekit.text.tokenizer import EncodedText, TextTokenizer, load_tokenizer

BIO = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
WORDS = ["ada", "love", "##lace", "was", "born", "in", "new", "york", "and", "paris", "who", "?", ".", "left"]


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> TextTokenizer:
    folder = tmp_path_factory.mktemp("tokenizer")
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    (folder / "vocab.txt").write_text("\n".join(tokens) + "\n")
    return load_tokenizer(folder, 64)


def logits_for(encoded: EncodedText, labels: Sequence[str], wanted: Sequence[str]) -> NDArray[np.float32]:
    """Logits that prefer `wanted`, one label a token without the special ones."""
    logits = np.zeros((len(encoded.ids), len(labels)), np.float32)
    inside = [i for i, word in enumerate(encoded.words) if word is not None]
    for i, label in zip(inside, wanted, strict=True):
        logits[i, labels.index(label)] = 4.0
    return logits


def entities(tokenizer: TextTokenizer, text: str, labels: Sequence[str], wanted: str) -> list[tuple[str, str]]:
    encoded = tokenizer.encode(text)
    found = decode_entities(logits_for(encoded, labels, wanted.split()), labels, encoded, text, 0)
    for item in found:
        assert item.start is not None and item.end is not None and text[item.start : item.end] == item.text
    return [(item.label, item.text or "") for item in found]


def test_words_of_one_entity_are_merged(tokenizer: TextTokenizer) -> None:
    text = "Ada Lovelace was born in New York."
    assert entities(tokenizer, text, BIO, "B-PER I-PER I-PER O O O B-LOC I-LOC O") == [
        ("PER", "Ada Lovelace"),
        ("LOC", "New York"),
    ]


def test_word_has_the_label_of_its_first_token(tokenizer: TextTokenizer) -> None:
    # "##lace" says O, and "Lovelace" stays whole.
    assert entities(tokenizer, "Ada Lovelace left", BIO, "B-PER I-PER O O") == [("PER", "Ada Lovelace")]


def test_begin_and_other_kinds_start_a_new_entity(tokenizer: TextTokenizer) -> None:
    assert entities(tokenizer, "Ada Ada Paris Paris", BIO, "B-PER B-PER B-LOC I-LOC") == [
        ("PER", "Ada"),
        ("PER", "Ada"),
        ("LOC", "Paris Paris"),
    ]
    # An inside without a begin begins one, and another kind ends it.
    assert entities(tokenizer, "Ada Paris", BIO, "I-PER I-LOC") == [("PER", "Ada"), ("LOC", "Paris")]


def test_single_and_last_words_end_an_entity(tokenizer: TextTokenizer) -> None:
    labels = ("O", "B-LOC", "I-LOC", "E-LOC", "S-LOC")
    assert entities(tokenizer, "New York Paris Paris", labels, "B-LOC E-LOC S-LOC I-LOC") == [
        ("LOC", "New York"),
        ("LOC", "Paris"),
        ("LOC", "Paris"),
    ]


def test_plain_labels_merge_and_parts_of_speech_do_not(tokenizer: TextTokenizer) -> None:
    assert entities(tokenizer, "New York left", ("O", "LOC"), "LOC LOC O") == [("LOC", "New York")]
    speech = entities(tokenizer, "New York left", ("NOUN", "VERB"), "NOUN NOUN VERB")
    assert speech == [("NOUN", "New"), ("NOUN", "York"), ("VERB", "left")]


def test_entity_score_is_the_mean_of_its_words(tokenizer: TextTokenizer) -> None:
    encoded = tokenizer.encode("New York")
    logits = logits_for(encoded, BIO, ["B-LOC", "I-LOC"])
    logits[2] = 0
    logits[2, BIO.index("I-LOC")] = 1.0
    (item,) = decode_entities(logits, BIO, encoded, "New York", 0)
    scores = [np.exp(s) / (np.exp(s) + 4) for s in (4.0, 1.0)]
    assert item.score == pytest.approx(np.mean(scores), rel=1e-6)


def test_prompt_before_the_text_is_no_entity_and_moves_no_offset(tokenizer: TextTokenizer) -> None:
    prefix, text = "who ", "Ada left"
    encoded = tokenizer.encode(prefix + text)
    found = decode_entities(logits_for(encoded, BIO, ["B-PER", "B-PER", "O"]), BIO, encoded, text, len(prefix))
    assert [(i.label, i.text, i.start, i.end) for i in found] == [("PER", "Ada", 0, 3)]


def test_prompt_moves_no_end_of_a_word_of_several_tokens(tokenizer: TextTokenizer) -> None:
    prefix, text = "who ", "Lovelace left"
    encoded = tokenizer.encode(prefix + text)
    found = decode_entities(logits_for(encoded, BIO, ["O", "B-PER", "O", "O"]), BIO, encoded, text, len(prefix))
    assert [(i.text, i.start, i.end) for i in found] == [("Lovelace", 0, 8)]


def test_other_letters_for_single_and_last_words(tokenizer: TextTokenizer) -> None:
    labels = ("O", "B-LOC", "I-LOC", "L-LOC", "U-LOC")
    assert entities(tokenizer, "New York Paris Paris", labels, "B-LOC L-LOC U-LOC I-LOC") == [
        ("LOC", "New York"),
        ("LOC", "Paris"),
        ("LOC", "Paris"),
    ]


def test_word_that_is_none_parts_two_entities(tokenizer: TextTokenizer) -> None:
    assert entities(tokenizer, "Paris and Paris", BIO, "B-LOC O I-LOC") == [("LOC", "Paris"), ("LOC", "Paris")]


def test_second_text_has_no_entities(tokenizer: TextTokenizer) -> None:
    encoded = tokenizer.encode("Ada left", "Paris")
    logits = logits_for(encoded, BIO, ["B-PER", "O", "B-LOC"])
    assert [item.text for item in decode_entities(logits, BIO, encoded, "Ada left", 0)] == ["Ada"]


def test_span_has_at_most_thirty_tokens(tokenizer: TextTokenizer) -> None:
    context = " ".join(["was"] * 40)
    encoded = tokenizer.encode("who", context)
    first = encoded.sequences.index(1)
    for length, whole in ((30, True), (31, False)):
        logits = np.zeros((len(encoded.ids), 2), np.float32)
        logits[first, 0] = logits[first + length - 1, 1] = 20
        best = next(item for item in decode_spans(logits, encoded, context, 1) if item.label != NO_ANSWER)
        assert ((best.text or "").count("was") == length) == whole


def test_question_takes_no_probability_and_no_answer_has_its_own(tokenizer: TextTokenizer) -> None:
    question, context = "who left", "Ada left"
    encoded = tokenizer.encode(question, context)
    logits = np.zeros((len(encoded.ids), 2), np.float32)
    # Three places each: the first token and two words of the context.
    logits[1:3], logits[encoded.sequences.index(1)] = 9, (1.0, 2.0)
    start, end = (np.exp(v) / (np.exp(v) + 2) for v in (1.0, 2.0))
    found = {item.text: item.score for item in decode_spans(logits, encoded, context, 1)}
    assert found["Ada"] == pytest.approx(start * end, rel=1e-6)
    assert found[""] == pytest.approx((1 - start) / 2 * (1 - end) / 2, rel=1e-6)


def spans(tokenizer: TextTokenizer, start: int, end: int, null: float = 0.0, count: int = 3) -> tuple[Item, ...]:
    question, context = "who left?", "Ada was born in New York and left Paris."
    encoded = tokenizer.encode(question, context)
    logits = np.zeros((len(encoded.ids), 2), np.float32)
    first = encoded.sequences.index(1)
    logits[first + start, 0] = 6
    logits[first + end, 1] = 6
    logits[0] = null
    return decode_spans(logits, encoded, context, count)


def test_best_span_comes_from_the_context_with_its_offsets(tokenizer: TextTokenizer) -> None:
    best = spans(tokenizer, 4, 5)[0]
    assert (best.text, best.start, best.end, best.chosen) == ("New York", 16, 24, True)
    assert best.score > 0.9


def test_span_never_ends_before_it_begins(tokenizer: TextTokenizer) -> None:
    for item in spans(tokenizer, 5, 2):
        assert item.label == NO_ANSWER or (item.start or 0) < (item.end or 0)


def test_no_answer_wins_where_the_first_token_does(tokenizer: TextTokenizer) -> None:
    best, *rest = spans(tokenizer, 4, 5, null=12.0)
    assert best.label == NO_ANSWER and best.chosen and not any(item.chosen for item in rest)


def test_spans_do_not_overlap_and_scores_are_probabilities(tokenizer: TextTokenizer) -> None:
    found = [item for item in spans(tokenizer, 4, 5, count=9) if item.label != NO_ANSWER]
    taken: set[int] = set()
    for item in found:
        assert item.start is not None and item.end is not None
        place = set(range(item.start, item.end))
        assert not place & taken
        taken |= place
    assert sum(item.score for item in found) <= 1
    assert len(spans(tokenizer, 4, 5, count=1)) == 2  # one span and "no answer"


def test_span_is_widened_to_whole_words(tokenizer: TextTokenizer) -> None:
    context = "Ada Lovelace left."
    encoded = tokenizer.encode("who ?", context)
    logits = np.zeros((len(encoded.ids), 2), np.float32)
    inside = encoded.sequences.index(1) + encoded.words[encoded.sequences.index(1) :].index(1)
    # "##lace" alone says start and end.
    logits[inside + 1] = 9
    best = decode_spans(logits, encoded, context, 1)[0]
    assert (best.text, best.start, best.end) == ("Lovelace", 4, 12)


def test_question_words_are_never_the_answer(tokenizer: TextTokenizer) -> None:
    question, context = "who left?", "Ada left."
    encoded = tokenizer.encode(question, context)
    logits = np.zeros((len(encoded.ids), 2), np.float32)
    logits[1:3] = 9
    for item in decode_spans(logits, encoded, context, 5):
        assert item.text in ("", "Ada", "left", ".", "Ada left", "left.", "Ada left.")


def test_one_choice_is_a_softmax_with_the_best_chosen() -> None:
    items = decode_labels(np.array([0.0, 2.0, 1.0]), ("a", "b", "c"), "single_label_classification", 0.5)
    assert [i.label for i in items] == ["b", "c", "a"] and [i.chosen for i in items] == [True, False, False]
    assert sum(i.score for i in items) == pytest.approx(1)


def test_several_labels_hold_above_the_threshold() -> None:
    logits = np.array([2.0, -2.0, 0.1])
    chosen = {i.label for i in decode_labels(logits, ("a", "b", "c"), "multi_label_classification", 0.5) if i.chosen}
    assert chosen == {"a", "c"}
    strict = decode_labels(logits, ("a", "b", "c"), "multi_label_classification", 0.8)
    assert {i.label for i in strict if i.chosen} == {"a"}
    # A logit of -1000 neither overflows nor warns.
    with np.errstate(all="raise"):
        extreme = decode_labels(np.array([-1000.0, 1000.0]), ("a", "b"), "multi_label_classification", 0.5)
    assert [i.score for i in extreme] == [1.0, 0.0]


def test_label_at_its_threshold_holds() -> None:
    (item,) = decode_labels(np.array([0.0]), ("a",), "multi_label_classification", 0.5)
    assert item.score == 0.5 and item.chosen


def test_space_that_a_token_brings_is_left_out() -> None:
    class Spaced:
        def has(self, index: int) -> bool:
            return True

        def decode(self, ids: Sequence[int]) -> str:
            return " Paris"

    found = decode_words(np.zeros(3, np.float32), Spaced(), "in <mask>.", (3, 9), 1)  # type: ignore[arg-type]
    assert (found[0].label, found[0].text) == ("Paris", "in Paris.")


def test_regression_keeps_its_value() -> None:
    (item,) = decode_labels(np.array([3.25]), ("score",), "regression", 0.5)
    assert (item.label, item.score, item.chosen) == ("score", 3.25, True)


def test_words_are_put_where_the_mask_was(tokenizer: TextTokenizer) -> None:
    text = "ada was born in [MASK]."
    logits = np.zeros(5 + len(WORDS), np.float32)
    logits[5 + WORDS.index("paris")], logits[5 + WORDS.index("york")] = 5, 4
    start = text.index("[MASK]")
    found = decode_words(logits, tokenizer, text, (start, start + len("[MASK]")), 2)
    assert [i.label for i in found] == ["paris", "york"] and [i.chosen for i in found] == [True, False]
    assert found[0].text == "ada was born in paris."


def test_rows_behind_the_vocabulary_are_no_words(tokenizer: TextTokenizer) -> None:
    logits = np.zeros(64, np.float32)
    logits[60], logits[5] = 9, 8
    found = decode_words(logits, tokenizer, "[MASK]", (0, 6), 3)
    assert found[0].label == "ada" and len(found) == 3


def test_piece_that_goes_on_joins_the_word_before_it(tokenizer: TextTokenizer) -> None:
    logits = np.zeros(5 + len(WORDS), np.float32)
    logits[tokenizer.encode("lovelace").ids[2]] = 9
    for text in ("love[MASK] left", "love [MASK] left"):
        start = text.index("[MASK]")
        (found,) = decode_words(logits, tokenizer, text, (start, start + 6), 1)
        assert (found.label, found.text) == ("##lace", "lovelace left")


def test_white_space_is_no_word() -> None:
    text = "New  York"
    places, words = ((0, 0), (0, 3), (3, 4), (5, 9), (0, 0)), (None, 0, 1, 2, None)
    sequences = tuple(None if word is None else 0 for word in words)
    ids = np.arange(5, dtype=np.int32)
    encoded = EncodedText(ids, np.zeros_like(ids), places, False, words, sequences)
    logits = logits_for(encoded, BIO, ["B-LOC", "O", "I-LOC"])
    assert [i.text for i in decode_entities(logits, BIO, encoded, text, 0)] == ["New  York"]


def test_special_tokens_have_a_name_too(tokenizer: TextTokenizer) -> None:
    logits = np.zeros(5 + len(WORDS), np.float32)
    logits[3] = 9
    assert decode_words(logits, tokenizer, "[MASK]", (0, 6), 1)[0].label == "[SEP]"
