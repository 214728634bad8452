"""Which words may be replaced, what pieces they become, and which words a vocabulary has whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tokenizer_support import write_json

from mobilekit.errors import InputError
from mobilekit.models.load import load
from mobilekit.text.tokenizer import TextTokenizer, load_tokenizer
from mobilekit.text.unigram import add_metaspace
from mobilekit.training.augmentation.words import WholeWords, Word, alphabetic, find_words, whole_words, words_of


def found(text: str) -> list[str]:
    return [text[start:end] for start, end in find_words(text)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A good film, isn't it?", ["A", "good", "film", "it"]),
        ("well-made (1995) mp3 2nd", ["well", "made"]),
        ("the film 's end - it’s n't o'clock", ["the", "film", "end"]),
        ("snake_case _x a\u00adb", []),
        ("não cafe\u0301 \u0301x हिन्दी, Straße", ["não", "cafe\u0301", "हिन्दी", "Straße"]),
        ("a\u00a0b\u2028c\td", ["a", "b", "c", "d"]),
        ("", []),
        ("... 12 !", []),
    ],
)
def test_words_are_runs_of_letters_that_nothing_joins_to_more(text: str, words: list[str]) -> None:
    assert found(text) == words


def test_text_is_alphabetic_when_it_begins_with_a_letter_and_has_only_letters_and_marks() -> None:
    assert alphabetic("é") and alphabetic("e\u0301") and alphabetic("हिन्दी")
    assert not any(map(alphabetic, ("", "\u0301e", "a1", "a-b", "a b", "½", "[PAD]")))


def words_in(tokenizer: TextTokenizer, text: str, prefix: str = "", length: int | None = None) -> list[Word]:
    whole = whole_words(tokenizer, tokenizer.largest_id + 1)
    return words_of(text, tokenizer.encode(prefix + text, None, length), prefix, whole)


def test_words_know_their_pieces_and_the_prefix_is_none_of_them() -> None:
    tokenizer = load("tiny-words").tokenizer
    prefix, text = "the film: ", "Good zebra, 7 film"
    encoded = tokenizer.encode(prefix + text)
    good, zebra, film = words_in(tokenizer, text, prefix)
    tokens = [tokenizer.token_of(int(i)) for i in encoded.ids]
    assert [[tokens[p] for p in word.pieces] for word in (good, zebra, film)] == [
        ["good"], ["z", "##e", "##b", "##r", "##a"], ["film"],
    ]  # fmt: skip
    assert [word.single for word in (good, zebra, film)] == [True, False, True]
    assert [text[w.start : w.end] for w in (good, zebra, film)] == [w.text for w in (good, zebra, film)]
    # The second "film" of the input, not the prefix's.
    assert film.pieces == (len(tokens) - 2,)


def test_words_that_were_cut_off_have_no_pieces_and_half_a_word_is_not_single() -> None:
    good, half, film = words_in(load("tiny-words").tokenizer, "good ab film", length=4)
    assert good.single and good.pieces == (1,)
    assert len(half.pieces) == 1 and not half.single
    assert film.pieces == () and not film.single


def test_unknown_words_are_not_single() -> None:
    (word,) = words_in(load("tiny-words").tokenizer, "日本")
    assert not word.single


def test_whole_words_are_alphabetic_and_neither_special_nor_later_pieces() -> None:
    tokenizer = load("tiny-words").tokenizer
    whole = whole_words(tokenizer, 600)
    vocabulary = tokenizer.vocabulary()
    assert vocabulary is not None
    assert [text for text in whole.texts if text] == [t for t in vocabulary if t.isalpha()]
    assert whole.mask.shape == (600,) and whole.mask.dtype == np.bool_ and len(whole.texts) == 600
    assert [whole.texts[i] == vocabulary[i] for i in np.flatnonzero(whole.mask)] == [True] * int(whole.mask.sum())
    assert {"good", "a", "film"} <= set(whole.texts) and not {"##a", "[MASK]", "1", "!"} & set(whole.texts)
    # Special tokens may be of letters, too.
    named = TextTokenizer(tokenizer.serialized().replace("[MASK]", "masked"), 64)
    assert named.token_of(4) == "masked" and whole_words(named, 600).texts == whole.texts
    # A table may be smaller than the vocabulary.
    assert whole_words(tokenizer, 60).mask.shape == (60,)


@pytest.mark.parametrize("kind", ["Unigram", "BPE", "BPE with spaces"])
def test_whole_words_of_other_tokenizers_begin_with_their_mark(kind: str, tmp_path: Path) -> None:
    tokenizer, mark = _trained(kind, tmp_path)
    assert tokenizer.type == kind.split()[0]
    whole = whole_words(tokenizer, tokenizer.largest_id + 1)
    assert "the" in whole.texts and "não" in whole.texts
    for i in np.flatnonzero(whole.mask):
        assert tokenizer.token_of(int(i)).startswith(mark)
        assert tokenizer.encode("x " + whole.texts[i] + " x").ids.tolist().count(i) >= 1
    inside = {tokenizer.token_of(i) for i in np.flatnonzero(~whole.mask)}
    assert any(token.isalpha() and not token.startswith(mark) for token in inside)
    the, unseen, nao, end = words_in(tokenizer, "(x1) the unwatchably não.  end", "in the ")
    assert the.single and nao.single and not unseen.single and len(unseen.pieces) > 1
    assert end.start == 27


def _trained(kind: str, folder: Path) -> tuple[TextTokenizer, str]:
    corpus = ["the film and the end of the film", "não é bom, mas não é mau", "in the end of it all the rest"] * 20
    if kind != "Unigram":
        from tokenizers import ByteLevelBPETokenizer

        trained = ByteLevelBPETokenizer()
        special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
        trained.train_from_iterator(corpus, vocab_size=330, min_frequency=2, special_tokens=special)
        trained.save_model(str(folder))
        (folder / "config.json").write_text('{"model_type": "roberta"}')
        # A piece has the space before it in its offsets, or not.
        write_json(folder / "tokenizer_config.json", trim_offsets=kind == "BPE")
        return load_tokenizer(folder, 64), "Ġ"
    from tokenizers import Tokenizer, models

    scores = {"<unk>": 0.0, "▁": -9.0, **{f"▁{word}": -2.0 for word in dict.fromkeys(" ".join(corpus).split())}}
    scores |= dict.fromkeys("abcdefghijlmnotuvwxyã.,()1", -8.0) | {"▁(": -3.0, "able": -4.0}
    pieces = Tokenizer(models.Unigram(list(scores.items()), 0, False))
    pieces.add_special_tokens(["<unk>"])
    add_metaspace(pieces, True)
    return TextTokenizer(pieces.to_str(), 64), "▁"


def test_vocabulary_without_words_is_refused() -> None:
    with pytest.raises(InputError, match="no whole words of letters"):
        whole_words(load("tiny-words").tokenizer, 5)


def test_piece_counts_as_single_only_where_the_vocabulary_has_it_whole() -> None:
    tokenizer = load("tiny-words").tokenizer
    nothing = WholeWords(np.zeros(600, np.bool_), ("",) * 600)
    (word,) = words_of("good", tokenizer.encode("good"), "", nothing)
    assert len(word.pieces) == 1 and not word.single
