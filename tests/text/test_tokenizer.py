from __future__ import annotations

import json
from pathlib import Path

import pytest

from mobilekit.errors import InputError
from mobilekit.text.parity import COUNT, parity_digest, parity_texts
from mobilekit.text.tokenizer import TextTokenizer, load_tokenizer

LETTERS = [chr(c) for c in range(97, 123)]
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *(f"##{c}" for c in LETTERS)]
VOCABULARY += ["é", "##é", "Ä", "film", ".", ",", "日", "本", "good", "bad", "'", "!", "##!"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("accents", [None, True, False])
def test_vocabulary_alone_equals_transformers(folder: Path, lower: bool, accents: bool | None) -> None:
    from transformers import BertTokenizerFast

    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": lower, "strip_accents": accents}))
    ours = load_tokenizer(folder, 512)
    theirs = BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=lower, strip_accents=accents)
    for text in parity_texts():
        expected = theirs(text, return_offsets_mapping=True, truncation=True, max_length=512)
        got = ours.encode(text)
        assert got.ids.tolist() == expected["input_ids"], text
        assert list(got.offsets) == [tuple(o) for o in expected["offset_mapping"]], text
        pair = theirs(text, "good film", truncation="longest_first", max_length=512)
        got = ours.encode(text, "good film")
        assert got.ids.tolist() == pair["input_ids"] and got.type_ids.tolist() == pair["token_type_ids"]


def test_truncation_is_said_and_keeps_the_special_tokens(folder: Path) -> None:
    tokenizer = load_tokenizer(folder, 8)
    short, long = tokenizer.encode("good film"), tokenizer.encode("good film " * 20)
    assert not short.truncated and long.truncated and len(long.ids) == 8
    assert long.ids[0] == 2 and long.ids[-1] == 3
    assert tokenizer.encode("good film " * 20, max_length=6).ids.size == 6
    # A limit for one call is not kept.
    assert tokenizer.encode("good film " * 20).ids.size == 8


def test_padding_and_truncation_of_the_file_are_left_out(folder: Path) -> None:
    content = json.loads(load_tokenizer(folder, 512).serialized())
    content["truncation"] = {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0}
    content["padding"] = {
        "strategy": {"Fixed": 16},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "[PAD]",
    }
    (folder / "tokenizer.json").write_text(json.dumps(content))
    assert load_tokenizer(folder, 512).encode("good film good film").ids.size == 6


def test_description_for_the_manifest(folder: Path) -> None:
    tokenizer = load_tokenizer(folder, 512)
    assert tokenizer.type == "WordPiece" and tokenizer.lower_case
    assert tokenizer.special_ids()["[SEP]"] == 3
    single, pair = tokenizer.templates()
    assert single == ["[CLS]:0", "$A:0", "[SEP]:0"]
    assert pair == ["[CLS]:0", "$A:0", "[SEP]:0", "$B:1", "[SEP]:1"]
    assert tokenizer.vocabulary() == VOCABULARY


def test_parity_texts_are_many_and_the_same_each_time() -> None:
    texts = parity_texts()
    assert COUNT == 500 and len(texts) == COUNT and len(set(texts)) > COUNT - 20
    assert texts == parity_texts()


def test_parity_digest_sees_every_change_of_the_rules(folder: Path) -> None:
    tokenizer = load_tokenizer(folder, 512)
    digest = parity_digest(tokenizer)
    assert digest == parity_digest(TextTokenizer(tokenizer.serialized(), 512))
    for key, value in (("lowercase", False), ("strip_accents", False), ("handle_chinese_chars", False)):
        content = json.loads(tokenizer.serialized())
        content["normalizer"][key] = value
        assert parity_digest(TextTokenizer(json.dumps(content), 512)) != digest, key


@pytest.mark.parametrize("content", ["", "{", "[]", '{"model": {}}', "\x00"])
def test_broken_files_are_named(folder: Path, content: str) -> None:
    (folder / "tokenizer.json").write_text(content)
    with pytest.raises(InputError, match=r"tokenizer.json: not a tokenizer"):
        load_tokenizer(folder, 512)


def test_missing_and_foreign_vocabularies_are_named(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"expected one of tokenizer.json, vocab.txt, spiece.model, sentencepiece.bpe.model"
    ):
        load_tokenizer(tmp_path, 512)
    (tmp_path / "vocab.txt").write_text("a\nb\n")
    with pytest.raises(InputError, match=r"not a BERT vocabulary: \[UNK\], \[CLS\]"):
        load_tokenizer(tmp_path, 512)
    (tmp_path / "vocab.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        load_tokenizer(tmp_path, 512)


def test_lone_surrogates_are_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="cannot be encoded"):
        load_tokenizer(folder, 512).encode("a \ud800 b")


def test_words_and_sequences_of_ids(folder: Path) -> None:
    got = load_tokenizer(folder, 512).encode("good films!", "bad")
    assert got.words == (None, 0, 1, 1, 2, None, 0, None)
    assert got.sequences == (None, 0, 0, 0, 0, None, 1, None)
    assert len(got.words) == len(got.sequences) == len(got.ids) == len(got.offsets)


def test_only_one_text_is_cut_when_asked(folder: Path) -> None:
    from transformers import BertTokenizerFast

    tokenizer, theirs = load_tokenizer(folder, 512), BertTokenizerFast(str(folder / "vocab.txt"))
    first, second = "good film " * 4, "bad film " * 9
    for way, text, pair in (
        ("only_second", first, second),
        ("only_first", second, first),
        ("longest_first", first, second),
    ):
        for limit in (12, 13, 20):
            got, expected = (
                tokenizer.encode(text, pair, limit, way),
                theirs(text, pair, truncation=way, max_length=limit),
            )
            assert got.truncated and got.ids.tolist() == expected["input_ids"]
    whole = tokenizer.encode(first, second, truncation="only_second")
    assert not whole.truncated and whole.ids.tolist() == theirs(first, second)["input_ids"]


def test_a_text_that_may_not_be_cut_and_is_too_long_is_refused(folder: Path) -> None:
    tokenizer = load_tokenizer(folder, 512)
    with pytest.raises(InputError, match="the first text takes 11 of 11 ids .* no room for the second; shorten it"):
        tokenizer.encode("good film " * 4, "bad " * 9, 11, truncation="only_second")
    with pytest.raises(InputError, match="the second text takes 12 of 11 ids .* no room for the first"):
        tokenizer.encode("good", "bad " * 9, 11, truncation="only_first")
    with pytest.raises(InputError, match="the first text takes 42 of 12 ids"):
        tokenizer.encode("good film " * 20, None, 12, truncation="only_second")
    with pytest.raises(InputError, match="did you mean 'only_second'"):
        tokenizer.encode("good", "bad", truncation="only_secnd")
    with pytest.raises(InputError, match="at most 2 ids leave no room for the 3 special tokens"):
        tokenizer.encode("good", "bad", 2)
    # A refused text leaves no limit behind.
    assert len(tokenizer.encode("good film " * 20).ids) == 42
    assert tokenizer.encode("good", "bad", 3).ids.tolist() == [2, 3, 3]


def test_ids_back_to_text(folder: Path) -> None:
    tokenizer = load_tokenizer(folder, 512)
    ids = tokenizer.encode("Good films!", "bad").ids
    assert " ".join(map(tokenizer.token_of, ids)) == "[CLS] good film ##s ! [SEP] bad [SEP]"
    assert tokenizer.decode(ids) == "good films! bad" and tokenizer.decode([]) == ""
    for wrong in (-1, len(VOCABULARY), 2**31, 2**40):
        with pytest.raises(InputError, match=f"id {wrong} is not in the tokenizer's vocabulary of {len(VOCABULARY)}"):
            tokenizer.token_of(wrong)
        with pytest.raises(InputError, match=f"id {wrong} is not in"):
            tokenizer.decode([2, wrong])


def test_mask_token(folder: Path) -> None:
    tokenizer = load_tokenizer(folder, 512)
    assert (tokenizer.mask_token, tokenizer.mask_id) == ("[MASK]", 4)
    assert tokenizer.encode("a [MASK] film").ids.tolist() == [2, 5, 4, VOCABULARY.index("film"), 3]
    (folder / "vocab.txt").write_text("\n".join(t for t in VOCABULARY if t != "[MASK]") + "\n")
    tokenizer = load_tokenizer(folder, 512)
    assert (tokenizer.mask_token, tokenizer.mask_id) == (None, None)


def test_damaged_character_map_in_tokenizer_json_is_an_input_error(folder: Path) -> None:
    content = json.loads(load_tokenizer(folder, 512).serialized())
    # A trie of one unit whose children lie outside of it.
    content["normalizer"] = {"type": "Precompiled", "precompiled_charsmap": "BAAAAAD8//8="}
    (folder / "tokenizer.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match="tokenizer: its file is damaged and cannot encode this text"):
        load_tokenizer(folder, 512).encode("good")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("[]", "expected a JSON object, got list"),
        ("{", "tokenizer_config.json: not JSON"),
        ('{"do_lower_case": 1}', "do_lower_case is 1; it has to be true or false"),
        ('{"strip_accents": "no"}', "strip_accents is 'no'"),
        ('{"model_max_length": 4}', "inputs of at most 4 ids"),
    ],
)
def test_bad_options_are_named(folder: Path, options: str, message: str) -> None:
    (folder / "tokenizer_config.json").write_text(options)
    with pytest.raises(InputError, match=message):
        load_tokenizer(folder, 512)


def same_as_transformers(folder: Path, kind: str, texts: tuple[str, ...]) -> None:
    import transformers

    theirs, ours = getattr(transformers, kind).from_pretrained(folder), load_tokenizer(folder, 512)
    for text in (*texts, "good film", "Good, bad!"):
        assert ours.encode(text).ids.tolist() == theirs(text)["input_ids"], text


def test_added_tokens_beside_a_vocabulary_are_found(folder: Path) -> None:
    size = len(VOCABULARY)
    (folder / "added_tokens.json").write_text(json.dumps({"<e1>": size, "</e1>": size + 1}))
    (folder / "special_tokens_map.json").write_text(json.dumps({"additional_special_tokens": ["<e1>", "</e1>"]}))
    same_as_transformers(folder, "BertTokenizer", ("<e1>good</e1> film", "a<e1>"))


def test_special_tokens_of_other_names_are_taken(folder: Path) -> None:
    names = {"[PAD]": "<pad>", "[UNK]": "<unk>", "[CLS]": "<s>", "[SEP]": "</s>", "[MASK]": "<mask>"}
    (folder / "vocab.txt").write_text("\n".join(names.get(t, t) for t in VOCABULARY) + "\n", encoding="utf-8")
    roles = {"pad": "<pad>", "unk": "<unk>", "cls": "<s>", "sep": "</s>", "mask": "<mask>"}
    (folder / "tokenizer_config.json").write_text(json.dumps({f"{role}_token": t for role, t in roles.items()}))
    same_as_transformers(folder, "BertTokenizer", ("good <mask> film", "☃"))
    assert load_tokenizer(folder, 512).mask_id == 4


def test_vocabulary_of_another_class_is_refused(folder: Path) -> None:
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertJapaneseTokenizer"}))
    with pytest.raises(InputError, match="'BertJapaneseTokenizer' is not supported with this file alone"):
        load_tokenizer(folder, 512)


@pytest.mark.parametrize("option", ["do_lower_case", "strip_accents", "tokenize_chinese_chars"])
def test_options_win_over_tokenizer_json(folder: Path, option: str) -> None:
    (folder / "tokenizer.json").write_text(load_tokenizer(folder, 512).serialized())
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer", option: False}))
    same_as_transformers(folder, "BertTokenizer", ("Good FILM", "é Ä", "日本"))


def test_space_before_the_first_word_follows_the_options(tmp_path: Path) -> None:
    from tokenizer_support import train_byte_level

    train_byte_level(tmp_path)
    (tmp_path / "tokenizer.json").write_text(load_tokenizer(tmp_path, 512).serialized())
    options = {"tokenizer_class": "RobertaTokenizer", "add_prefix_space": True}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(options))
    same_as_transformers(tmp_path, "RobertaTokenizer", ("Good.", " The film", ""))
