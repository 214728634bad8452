"""What a model has to guess: whole words, n-grams of the lengths asked for, never more than the budget, no specials."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tokenizer_support import train_byte_level
from tokenizers import Tokenizer, models, pre_tokenizers

from mobilekit.errors import InputError
from mobilekit.models.load import load
from mobilekit.text.calibration import TEXTS
from mobilekit.text.tokenizer import TextTokenizer, load_tokenizer
from mobilekit.text.unigram import add_ends, add_metaspace
from mobilekit.training.features import IGNORED
from mobilekit.training.masking import Masker, Masking

BERT_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PAD, UNKNOWN, FIRST, LAST, MASK = range(5)
SIGMAS = 4


def word_piece(tokens: Sequence[str], skipped: int = 0) -> TextTokenizer:
    """WordPiece of `tokens`; the ids between the special tokens and the others are left out."""
    ids = {token: i for i, token in enumerate(BERT_SPECIAL)}
    ids |= {token: len(BERT_SPECIAL) + skipped + i for i, token in enumerate(tokens)}
    made = Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.add_special_tokens(BERT_SPECIAL)
    add_ends(made, "[CLS]", "[SEP]", bert=True)
    return TextTokenizer(made.to_str(), 10**6)


def unigram() -> TextTokenizer:
    """SentencePiece's marks, with pieces that other schemes would take for theirs."""
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    pieces = [f"▁{word}" for word in ("the", "film", "was", "g", "un")] + [
        *"oditefhsrlaumnvy.!",
        "▁",
        "##",
        "##e",
        "Ġa",
    ]
    made = Tokenizer(models.Unigram([*((token, 0.0) for token in special), *((p, -float(len(p))) for p in pieces)], 3))
    made.add_special_tokens(special)
    add_metaspace(made, prefix_space=True)
    add_ends(made, "<s>", "</s>", bert=False)
    return TextTokenizer(made.to_str(), 512)


@pytest.fixture(scope="module")
def byte_level(tmp_path_factory: pytest.TempPathFactory) -> TextTokenizer:
    folder: Path = tmp_path_factory.mktemp("byte-level")
    train_byte_level(folder)
    return load_tokenizer(folder, 512)


@pytest.fixture(scope="module")
def tiny() -> TextTokenizer:
    return load("tiny-classifier").tokenizer


# 1,000 words of one piece each, and two pieces that join.
WORDS = word_piece([*(f"w{i}" for i in range(1000)), "##x", "##y"])
W0, X = len(BERT_SPECIAL), len(BERT_SPECIAL) + 1000


def one_piece_text(count: int, seed: int = 0) -> NDArray[np.int32]:
    inner = W0 + np.random.default_rng(seed).integers(1000, size=count)
    return np.array([FIRST, *inner, LAST], np.int32)


def masker(masking: Masking | None = None, tokenizer: TextTokenizer = WORDS) -> Masker:
    return Masker(tokenizer, tokenizer.largest_id + 1, masking or Masking())


def assert_share(count: int, total: int, expected: float) -> None:
    error = math.sqrt(expected * (1 - expected) / total)
    assert abs(count / total - expected) <= SIGMAS * error, (count / total, expected, error)


def test_targets_are_masked_replaced_or_left_in_the_shares_asked_for() -> None:
    made, ids, rng = masker(), one_piece_text(400), np.random.default_rng(1)
    found: Counter[str] = Counter()
    replaced: Counter[int] = Counter()
    for _ in range(300):
        masked = made.mask(ids, rng)
        asked = masked.target != IGNORED
        assert (masked.target[asked] == ids[asked]).all() and (masked.ids[~asked] == ids[~asked]).all()
        for true, shown in zip(ids[asked], masked.ids[asked], strict=True):
            found["masked" if shown == MASK else "left" if shown == true else "random"] += 1
            if shown not in (MASK, true):
                replaced[int(shown)] += 1
    total = sum(found.values())
    same = 0.1 / 1002  # a random token may be the true one
    assert_share(found["masked"], total, 0.8)
    assert_share(found["random"], total, 0.1 - same)
    assert_share(found["left"], total, 0.1 + same)
    # All of the vocabulary is drawn from: 1,800 draws of 1,002 tokens leave a sixth out.
    assert_share(len(replaced), 1002, 1 - math.exp(-found["random"] / 1002))
    assert min(replaced) < W0 + 20 and max(replaced) >= X - 20


def test_mask_and_random_are_drawn_token_by_token() -> None:
    words = word_piece(["a", "##x"])
    made = masker(Masking(share=0.5, longest=1, masked=0.5, random=0), words)
    ids, rng = np.array([FIRST, *[5, 6] * 200, LAST], np.int32), np.random.default_rng(2)
    mixed = total = 0
    for _ in range(20):
        shown = made.mask(ids, rng)
        for start, end in made.words(ids):
            if shown.target[start] != IGNORED:
                total += 1
                mixed += len({bool(i == MASK) for i in shown.ids[start:end]}) == 2
    assert_share(mixed, total, 0.5)


@pytest.mark.parametrize(
    ("masking", "expected"),
    [
        (Masking(masked=1, random=0), "masked"),
        (Masking(masked=0, random=1), "random"),
        (Masking(masked=0, random=0), "left"),
    ],
)
def test_a_single_kind_of_target(masking: Masking, expected: str) -> None:
    ids = one_piece_text(500)
    masked = masker(masking).mask(ids, np.random.default_rng(0))
    asked = masked.target != IGNORED
    shown = masked.ids[asked]
    assert asked.sum() == 75
    if expected == "masked":
        assert (shown == MASK).all()
    elif expected == "left":
        assert (masked.ids == ids).all()
    else:
        assert (shown != MASK).all() and (shown != ids[asked]).sum() > 65


def test_share_of_targets_is_the_share_asked_for() -> None:
    made, rng = masker(), np.random.default_rng(3)
    for count, budget in ((1, 1), (3, 1), (20, 3), (40, 6), (127, 19), (1000, 150)):
        ids = one_piece_text(count)
        assert made.budget(ids) == budget
        for _ in range(20):
            # Words of one piece fill any budget.
            assert (made.mask(ids, rng).target != IGNORED).sum() == budget
    assert masker(Masking(share=0.4)).budget(one_piece_text(100)) == 40
    everything = masker(Masking(share=1)).mask(one_piece_text(100), rng)
    assert (everything.target != IGNORED).sum() == 100


def test_share_of_targets_in_sentences_of_long_words(tiny: TextTokenizer) -> None:
    made, rng = masker(tokenizer=tiny), np.random.default_rng(4)
    asked = total = 0
    for text in TEXTS:
        ids = tiny.encode(text).ids
        for _ in range(20):
            asked += int((made.mask(ids, rng).target != IGNORED).sum())
            total += len(ids) - 2
    # Words of many pieces leave a rest of the budget now and then.
    assert 0.13 < asked / total <= 0.155


@pytest.mark.parametrize("longest", [1, 3, 5])
def test_ngrams_have_lengths_in_the_shares_of_albert(longest: int) -> None:
    made, ids, rng = masker(Masking(longest=longest)), one_piece_text(2000), np.random.default_rng(5)
    lengths: Counter[int] = Counter()
    for _ in range(80):
        lengths.update(end - start for start, end in made.draw(ids, rng))
    total, harmonic = sum(lengths.values()), sum(1 / k for k in range(1, longest + 1))
    assert sorted(lengths) == list(range(1, longest + 1))
    for n in lengths:
        assert_share(lengths[n], total, 1 / n / harmonic)


def test_default_lengths_are_six_three_and_two_elevenths() -> None:
    made, ids, rng = masker(), one_piece_text(2000), np.random.default_rng(6)
    lengths = Counter(end - start for _ in range(80) for start, end in made.draw(ids, rng))
    for n, expected in ((1, 6 / 11), (2, 3 / 11), (3, 2 / 11)):
        assert_share(lengths[n], sum(lengths.values()), expected)


def test_every_word_is_as_likely_as_any_other() -> None:
    made, ids, rng = masker(Masking(longest=1)), one_piece_text(40), np.random.default_rng(7)
    runs = 4000
    asked = sum((made.mask(ids, rng).target != IGNORED).astype(int) for _ in range(runs))
    for count in asked[1:-1]:
        assert_share(int(count), runs, 6 / 40)


def by_white_space(tokenizer: TextTokenizer, text: str) -> list[tuple[int, int]]:
    """Words as white space bounds them, found by characters instead of pieces."""
    encoded = tokenizer.encode(text)
    inside = [i for i, sequence in enumerate(encoded.sequences) if sequence is not None]
    # A mark alone has no characters; it is of the word behind it.
    ends = [max(encoded.offsets[i][1], encoded.offsets[i][0] + 1) for i in inside]
    index = [len(text[:end].split()) for end in ends]
    cuts = [0, *(i for i in range(1, len(index)) if index[i] != index[i - 1]), len(index)]
    return [(inside[a], inside[b - 1] + 1) for a, b in itertools.pairwise(cuts)]


def assert_whole_words(made: Masker, ids: NDArray[np.int32], words: list[tuple[int, int]]) -> None:
    assert made.words(ids) == words
    rng = np.random.default_rng(0)
    for _ in range(20):
        asked = made.mask(ids, rng).target != IGNORED
        for start, end in words:
            assert len(set(asked[start:end].tolist())) == 1, (start, end)


def test_word_pieces_are_asked_for_as_whole_words(tiny: TextTokenizer) -> None:
    made = Masker(tiny, tiny.vocab_size, Masking(share=0.4))
    seen = 0
    for text in TEXTS[:30]:
        encoded = tiny.encode(text)
        # BERT's own words, punctuation apart, as the tokenizer counts them.
        counted = [(i, word) for i, word in enumerate(encoded.words) if word is not None]
        starts = [i for k, (i, word) in enumerate(counted) if k == 0 or counted[k - 1][1] != word]
        words = list(zip(starts, [*starts[1:], len(encoded.ids) - 1], strict=True))
        if UNKNOWN not in encoded.ids:
            assert_whole_words(made, encoded.ids, words)
            seen += any(end - start > 3 for start, end in words)
    assert seen > 10


def test_sentence_pieces_are_asked_for_as_whole_words() -> None:
    tokenizer = unigram()
    made = Masker(tokenizer, tokenizer.vocab_size, Masking(share=0.5))
    text = "the film was good. the hero was unloved! so is eve"
    words = by_white_space(tokenizer, text)
    pieces = [[tokenizer.token_of(int(i)) for i in tokenizer.encode(text).ids[a:b]] for a, b in words]
    assert ["▁g", "o", "o", "d", "."] in pieces and ["▁", "s", "o"] in pieces and ["▁film"] in pieces
    assert_whole_words(made, tokenizer.encode(text).ids, words)


def test_bytes_are_asked_for_as_whole_words(byte_level: TextTokenizer) -> None:
    made = Masker(byte_level, byte_level.vocab_size, Masking(share=0.4))
    seen = 0
    # Its merges do not know swapped case, so that words are several pieces; a space too many is a word of its own.
    for text in (" ".join(text.swapcase().split()) for text in TEXTS):
        words = by_white_space(byte_level, text)
        assert_whole_words(made, byte_level.encode(text).ids, words)
        seen += any(end - start > 2 for start, end in words)
    assert seen > 10


def test_a_vocabulary_without_marks_has_words_of_one_piece() -> None:
    tokenizer = word_piece(["a", "b", "c"])
    assert masker(tokenizer=tokenizer).words(np.array([FIRST, 5, 6, 7, LAST])) == [(1, 2), (2, 3), (3, 4)]


def test_what_follows_a_special_token_begins_a_word() -> None:
    made = masker()
    ids = np.array([X, FIRST, X, X + 1, LAST, X, W0, X, UNKNOWN, X, PAD, PAD])
    assert made.words(ids) == [(0, 1), (2, 4), (5, 6), (6, 8), (9, 10)]


def test_both_halves_of_a_pair_are_asked_for_and_no_ngram_is_in_both() -> None:
    made, rng = masker(Masking(longest=5)), np.random.default_rng(8)
    ids = np.array([FIRST, *range(W0, W0 + 20), LAST, *range(W0, W0 + 20), LAST], np.int32)
    first = second = 0
    for _ in range(2000):
        for start, end in made.draw(ids, rng):
            assert start >= 1 and (end <= 21 or (start >= 22 and end <= 42))
            first, second = first + (end - start) * (end <= 21), second + (end - start) * (start >= 22)
    assert first + second == 2000 * made.budget(ids)
    # Tokens of an n-gram go together: at most 5 a draw, so the error is that of a fifth of the draws.
    assert abs(first / (first + second) - 0.5) < SIGMAS * 0.5 / math.sqrt((first + second) / 5)


def test_special_tokens_are_neither_asked_for_nor_put_in(byte_level: TextTokenizer, tiny: TextTokenizer) -> None:
    for tokenizer in (byte_level, tiny, unigram()):
        special = set(tokenizer.special_ids().values())
        made = Masker(tokenizer, tokenizer.vocab_size, Masking(share=1, masked=0, random=1))
        rng = np.random.default_rng(9)
        put_in = set()
        for text in TEXTS[:30]:
            encoded = tokenizer.encode(text, "the film é漢")
            for _ in range(10):
                masked = made.mask(encoded.ids, rng)
                asked = masked.target != IGNORED
                assert not special & {int(i) for i in masked.target[asked]}
                put_in |= {int(i) for i in masked.ids[asked]}
                assert asked.sum() == sum(int(i) not in special for i in encoded.ids)
        assert not special & put_in and all(tokenizer.has(i) for i in put_in)
        assert len(put_in) >= 0.9 * min(400, tokenizer.vocab_size - len(special))


def test_random_tokens_are_ids_that_tokenizer_and_model_have() -> None:
    tokenizer = word_piece([f"w{i}" for i in range(20)], skipped=50)
    ids = np.array([FIRST, *[55] * 300, LAST], np.int32)
    everything = Masking(share=1, masked=0, random=1)
    for size, there in ((1000, range(55, 75)), (65, range(55, 65))):
        masked = Masker(tokenizer, size, everything).mask(ids, np.random.default_rng(0))
        assert set(masked.ids[1:-1].tolist()) == set(there)


PIECES = word_piece(["a", "b", "c", "##x", "##y"])


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from([UNKNOWN, FIRST, LAST, 5, 5, 6, 7, 8, 8, 9, 9]), max_size=40),
    st.sampled_from([0.05, 0.15, 0.5, 1.0]),
    st.integers(1, 8),
    st.integers(0, 5),
)
def test_ngrams_are_free_whole_words_of_one_segment_and_use_the_budget_up(
    tokens: list[int], share: float, longest: int, seed: int
) -> None:
    made, ids = masker(Masking(share, longest), PIECES), np.array(tokens, np.int32)
    grams, words, budget = made.draw(ids, np.random.default_rng(seed)), made.words(ids), made.budget(ids)
    starts = {start: i for i, (start, _) in enumerate(words)}
    ends = {end: i for i, (_, end) in enumerate(words)}
    taken: list[int] = []
    for start, end in grams:
        assert 1 <= ends[end] - starts[start] + 1 <= longest
        assert all(token > MASK for token in tokens[start:end])
        taken += range(starts[start], ends[end] + 1)
    assert len(set(taken)) == len(taken)
    sizes = [end - start for start, end in words]
    used = sum(sizes[i] for i in taken)
    free = [size for i, size in enumerate(sizes) if i not in taken]
    if sizes and min(sizes) > budget:
        assert len(taken) == 1
    else:
        assert used <= budget and all(used + size > budget for size in free)
    assert bool(grams) == any(token > MASK for token in tokens)
    masked = made.mask(ids, np.random.default_rng(seed))
    assert (masked.target != IGNORED).sum() == used


def test_no_text_has_no_target() -> None:
    made, rng = masker(), np.random.default_rng(0)
    for tokens in ([], [FIRST, LAST], [FIRST, UNKNOWN, LAST, PAD]):
        ids = np.array(tokens, np.int32)
        masked = made.mask(ids, rng)
        assert made.budget(ids) == 0 and made.words(ids) == [] == made.draw(ids, rng)
        assert masked.ids.tolist() == tokens and masked.target.tolist() == [IGNORED] * len(tokens)
        assert masked.ids.dtype == np.int32 and masked.target.dtype == np.int64


def test_a_word_longer_than_the_budget_is_taken_whole_where_all_words_are() -> None:
    made, rng = masker(), np.random.default_rng(10)
    one = np.array([FIRST, W0, *[X] * 30, LAST], np.int32)
    assert made.budget(one) == 5 and made.draw(one, rng) == [(1, 32)]
    two = np.array([FIRST, *[W0, X, X, X] * 2, LAST], np.int32)
    drawn = Counter(made.draw(two, rng)[0] for _ in range(1000) if made.budget(two) == 1)
    assert set(drawn) == {(1, 5), (5, 9)}
    assert_share(drawn[1, 5], 1000, 0.5)
    # A word that fits comes first, as often as there is one.
    short = np.array([FIRST, W0, *[X] * 30, W0, LAST], np.int32)
    assert all(made.draw(short, rng) == [(32, 33)] for _ in range(50))


def test_drawing_is_a_function_of_the_random_state(tiny: TextTokenizer) -> None:
    ids = tiny.encode(TEXTS[0], TEXTS[1]).ids
    before = ids.copy()

    def drawn(seed: int) -> list[list[int]]:
        rng = np.random.default_rng(seed)
        made = Masker(tiny, tiny.vocab_size)
        return [[*masked.ids.tolist(), *masked.target.tolist()] for masked in (made.mask(ids, rng) for _ in range(5))]

    assert drawn(1) == drawn(1) != drawn(2)
    assert drawn(1)[0] != drawn(1)[1]
    assert (ids == before).all()


def test_draw_is_what_mask_asks_for(tiny: TextTokenizer) -> None:
    made, ids = Masker(tiny, tiny.vocab_size), tiny.encode(TEXTS[0], TEXTS[1]).ids
    for seed in range(20):
        grams = made.draw(ids, np.random.default_rng(seed))
        asked = np.flatnonzero(made.mask(ids, np.random.default_rng(seed)).target != IGNORED)
        assert asked.tolist() == sorted(i for start, end in grams for i in range(start, end))


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"share": 0}, "share is 0"),
        ({"share": 1.01}, "share is 1.01"),
        ({"share": math.nan}, "share is nan"),
        ({"longest": 0}, "longest is 0"),
        ({"masked": -0.1}, "masked is -0.1"),
        ({"random": -0.1}, "random is -0.1"),
        ({"masked": 0.8, "random": 0.3}, "together at most 1"),
        ({"masked": math.nan}, "masked is nan"),
    ],
)
def test_settings_out_of_range_are_named(values: dict[str, float], named: str) -> None:
    with pytest.raises(InputError, match=named):
        Masking(**values)  # type: ignore[arg-type]


def test_a_tokenizer_that_cannot_be_masked_with_is_refused() -> None:
    bare = Tokenizer(models.WordPiece({"[UNK]": 0, "a": 1}, unk_token="[UNK]"))
    with pytest.raises(InputError, match="no mask token"):
        Masker(TextTokenizer(bare.to_str(), 128), 2)
    with pytest.raises(InputError, match="mask token's id is 4; .* below 4 only"):
        Masker(WORDS, MASK)
    with pytest.raises(InputError, match="special tokens only"):
        Masker(word_piece([]), 5)
