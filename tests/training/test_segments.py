"""Running text in chunks that fit, and pairs of segments: in order, swapped, or of two documents."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizer_support import train_byte_level
from tokenizers import Tokenizer, models

from mobilekit.errors import InputError
from mobilekit.models.load import load
from mobilekit.text.calibration import TEXTS
from mobilekit.text.data.rows import TextRow
from mobilekit.text.tokenizer import TextTokenizer, load_tokenizer
from mobilekit.text.unigram import add_ends, add_metaspace
from mobilekit.training.segments import Chunk, chunks, draw_pair

TINY = load("tiny-classifier").tokenizer
SIGMAS = 4


def rows_of(*documents: list[str]) -> list[TextRow]:
    return [TextRow(text, document=number) for number, texts in enumerate(documents) for text in texts]


def words(count: int) -> str:
    """A sentence of `count` ids."""
    return " ".join(["the"] * count)


def assert_share(count: int, total: int, expected: float) -> None:
    error = math.sqrt(expected * (1 - expected) / total)
    assert abs(count / total - expected) < SIGMAS * error, (count / total, expected, error)


@pytest.fixture(scope="module")
def byte_level(tmp_path_factory: pytest.TempPathFactory) -> TextTokenizer:
    folder: Path = tmp_path_factory.mktemp("byte-level")
    train_byte_level(folder)
    return load_tokenizer(folder, 512)


@pytest.fixture(scope="module")
def unigram() -> TextTokenizer:
    from tokenizers import trainers

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    made = Tokenizer(models.Unigram())
    add_metaspace(made, prefix_space=False)
    trainer = trainers.UnigramTrainer(vocab_size=500, special_tokens=special, unk_token="<unk>", show_progress=False)
    made.train_from_iterator(TEXTS, trainer)
    add_ends(made, "<s>", "</s>", bert=False)
    return TextTokenizer(made.to_str(), 512)


def test_sentences_are_packed_until_the_next_one_would_not_fit() -> None:
    rows = rows_of([words(4), words(6), words(1), words(9), words(3)], [words(2)])
    # 13 ids are 10 of text and three special ones.
    found = list(chunks(rows, TINY, 13, pairs=False))
    assert [[len(text.split()) for text in chunk.texts] for chunk in found] == [[4, 6], [1, 9], [3], [2]]
    assert [chunk.document for chunk in found] == [0, 0, 0, 1]
    assert len(TINY.encode(words(4), words(6)).ids) == 13
    assert [len(chunk.texts) for chunk in list(chunks(rows, TINY, 12, pairs=False))] == [1, 2, 1, 1, 1]


def test_a_sentence_that_is_too_long_is_a_chunk_alone() -> None:
    rows = rows_of([words(2), words(400), words(2), words(3)])
    found = list(chunks(rows, TINY, 13, pairs=False))
    assert [[len(text.split()) for text in chunk.texts] for chunk in found] == [[2], [400], [2, 3]]


def test_the_limit_of_the_tokenizer_holds_too() -> None:
    rows = rows_of([words(60), words(65), words(60), words(66)])
    assert TINY.max_length == 128
    found = list(chunks(rows, TINY, 10_000, pairs=False))
    assert [len(chunk.texts) for chunk in found] == [2, 1, 1]


def test_rows_without_a_document_stand_alone() -> None:
    rows = [TextRow("a"), TextRow("b"), TextRow("c", document=0), TextRow("d", document=0), TextRow("e")]
    found = list(chunks(rows, TINY, 64, pairs=False))
    assert found == [Chunk(("a",), None), Chunk(("b",), None), Chunk(("c", "d"), 0), Chunk(("e",), None)]
    assert list(chunks(rows, TINY, 64, pairs=True)) == [Chunk(("c", "d"), 0)]


def test_blank_texts_are_left_out_and_no_rows_are_no_chunks() -> None:
    assert list(chunks(rows_of(["a", "", " \t", "b"]), TINY, 64, pairs=True)) == [Chunk(("a", "b"), 0)]
    assert list(chunks([], TINY, 64, pairs=False)) == []


SENTENCES = st.tuples(st.sampled_from([0, 0, 1, 2, None]), st.sampled_from(TEXTS[:40]))


@settings(max_examples=60, deadline=None)
@given(st.lists(SENTENCES, max_size=20), st.integers(8, 130))
def test_every_sentence_is_packed_once_in_order_and_as_early_as_it_fits(
    sentences: list[tuple[int | None, str]], limit: int
) -> None:
    rows = [TextRow(text, document=document) for document, text in sentences]
    found = list(chunks(rows, TINY, limit, pairs=False))
    assert [(chunk.document, text) for chunk in found for text in chunk.texts] == sentences
    limit = min(limit, TINY.max_length)
    for chunk in found:
        assert len(chunk.texts) == 1 or length(TINY, chunk.texts, 1) <= limit
        assert len(chunk.texts) == 1 or chunk.document is not None
    for one, next_one in itertools.pairwise(found):
        if one.document is not None and one.document == next_one.document:
            assert length(TINY, (*one.texts, next_one.texts[0]), 1) > limit


def length(tokenizer: TextTokenizer, texts: tuple[str, ...], boundary: int) -> int:
    return len(tokenizer.encode(" ".join(texts[:boundary]), " ".join(texts[boundary:]), 10**6).ids)


def test_chunks_fit_wherever_they_are_split(byte_level: TextTokenizer, unigram: TextTokenizer) -> None:
    # Lower case at the start of sentences: pieces with the space before them are other ones than those without.
    rows = rows_of([text.lower() for text in TEXTS])
    for tokenizer in (TINY, byte_level, unigram):
        together = 0
        for limit in range(24, 128, 4):
            for chunk in list(chunks(rows, tokenizer, limit, pairs=True)):
                lengths = [length(tokenizer, chunk.texts, i) for i in range(1, len(chunk.texts))]
                assert max(lengths) <= limit and len(tokenizer.encode(" ".join(chunk.texts), None, 10**6).ids) <= limit
                together += 1
        assert together > 10


def test_pairs_leave_out_chunks_of_one_sentence() -> None:
    rows = rows_of(["a", "b"], ["c"], ["d", "e", "f"])
    assert list(chunks(rows, TINY, 64, pairs=True)) == [Chunk(("a", "b"), 0), Chunk(("d", "e", "f"), 2)]
    assert [c for c in list(chunks(rows, TINY, 64, pairs=False)) if len(c.texts) > 1] == list(
        chunks(rows, TINY, 64, pairs=True)
    )


def test_text_without_consecutive_sentences_makes_no_pairs() -> None:
    for rows in ([TextRow("a"), TextRow("b")], rows_of(["a"], ["b"]), rows_of([words(9), words(9)]), []):
        with pytest.raises(
            InputError, match=r"no two consecutive .* 16 ids.* \.txt .* blank lines .* `editorials`"
        ) as e:
            list(chunks(rows, TINY, 16, pairs=True))
        assert "\n" not in str(e.value)


def test_a_row_of_two_texts_is_refused() -> None:
    with pytest.raises(InputError, match="'a' has a second text"):
        chunks([TextRow("a", "b")], TINY, 64, pairs=False)


CHUNKS = [
    Chunk(("a1.", "a2.", "a3.", "a4."), 0),
    Chunk(("b1.", "b2."), 0),
    Chunk(("c1.", "c2.", "c3."), 1),
    Chunk(("d1.", "d2."), 2),
]
DRAWS = 4000


def test_sop_has_both_segments_of_one_chunk_every_second_time_swapped() -> None:
    rng = np.random.default_rng(0)
    swapped, boundaries = 0, Counter[int]()
    for _ in range(DRAWS):
        pair = draw_pair(CHUNKS, 0, "sop", rng)
        parts = (pair.second, pair.first) if pair.label else (pair.first, pair.second)
        assert " ".join(parts) == "a1. a2. a3. a4." and all(parts)
        swapped += pair.label
        boundaries[len(parts[0].split())] += 1
    assert_share(swapped, DRAWS, 1 / 2)
    assert sorted(boundaries) == [1, 2, 3]
    for boundary in boundaries:
        assert_share(boundaries[boundary], DRAWS, 1 / 3)


def test_sop_of_two_sentences() -> None:
    found = {draw_pair(CHUNKS, 1, "sop", np.random.default_rng(seed)) for seed in range(40)}
    assert {(pair.first, pair.second, pair.label) for pair in found} == {("b1.", "b2.", 0), ("b2.", "b1.", 1)}


def test_nsp_has_the_next_segment_or_one_of_another_document() -> None:
    rng = np.random.default_rng(1)
    seconds: Counter[str] = Counter()
    for _ in range(DRAWS):
        pair = draw_pair(CHUNKS, 0, "nsp", rng)
        assert pair.first in ("a1.", "a1. a2.", "a1. a2. a3.")
        if pair.label:
            seconds[pair.second] += 1
        else:
            assert f"{pair.first} {pair.second}" == "a1. a2. a3. a4."
    spoilt = sum(seconds.values())
    assert_share(spoilt, DRAWS, 1 / 2)
    # Of any chunk of another document, the second part of a random split.
    assert sorted(seconds) == ["c2. c3.", "c3.", "d2."]
    for second, expected in (("d2.", 1 / 2), ("c2. c3.", 1 / 4), ("c3.", 1 / 4)):
        assert_share(seconds[second], spoilt, expected)


def test_nsp_finds_another_document_where_there_are_few() -> None:
    many = [Chunk(("a1.", "a2."), 0)] * 3000 + [Chunk(("b1.", "b2."), 1)]
    rng = np.random.default_rng(2)
    found = {(pair.second, pair.label) for pair in (draw_pair(many, 0, "nsp", rng) for _ in range(30))}
    assert found == {("a2.", 0), ("b2.", 1)}


def test_nsp_of_a_single_document_fails_at_the_first_draw() -> None:
    for seed in range(20):
        with pytest.raises(InputError, match="single document"):
            draw_pair(CHUNKS[:2], 0, "nsp", np.random.default_rng(seed))
    assert draw_pair(CHUNKS[:2], 0, "sop", np.random.default_rng(0)).label in (0, 1)


@pytest.mark.parametrize("task", ["sop", "nsp"])
def test_drawing_is_a_function_of_the_random_state(task: str) -> None:
    def drawn(seed: int) -> list[tuple[str, str, int]]:
        rng = np.random.default_rng(seed)
        pairs = [draw_pair(CHUNKS, i % 4, task, rng) for i in range(20)]
        return [(pair.first, pair.second, pair.label) for pair in pairs]

    assert drawn(1) == drawn(1) != drawn(2)


def test_a_task_or_a_chunk_that_makes_no_pair_is_named() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="pair task 'sopp' is unknown; did you mean 'sop'"):
        draw_pair(CHUNKS, 0, "sopp", rng)
    with pytest.raises(InputError, match="pair task 'none' is unknown"):
        draw_pair(CHUNKS, 0, "none", rng)
    with pytest.raises(InputError, match="'x' is one sentence"):
        draw_pair([Chunk(("x",), 0)], 0, "sop", rng)
