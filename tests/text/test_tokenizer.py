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
    assert len(texts) == COUNT and len(set(texts)) > COUNT - 20
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
    with pytest.raises(InputError, match=r"expected tokenizer.json or vocab.txt"):
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
