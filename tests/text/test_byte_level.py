from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizer_support import assert_same, train_byte_level, write_json

from mobilekit.errors import InputError
from mobilekit.text.tokenizer import load_tokenizer

MASKED = ("a <mask> film", "a  <mask>.", "<s>x</s>", " leading", "trailing ")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    train_byte_level(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"add_prefix_space": True},
        {"trim_offsets": False},
        {"add_prefix_space": True, "trim_offsets": False},
        {"mask_token": {"__type": "AddedToken", "content": "<mask>", "lstrip": True}},
        {"extra_special_tokens": ["<more>", "film"]},
    ],
)
def test_roberta_equals_transformers(folder: Path, options: dict[str, Any]) -> None:
    from transformers import RobertaTokenizer

    write_json(folder / "tokenizer_config.json", **options)
    ours = load_tokenizer(folder, 512)
    assert_same(ours, RobertaTokenizer.from_pretrained(folder), (*MASKED, "a <more> film"))
    assert ours.type == "BPE" and not ours.lower_case
    assert ours.mask_token == "<mask>" and ours.mask_id == 4
    assert ours.templates() == (
        ["<s>:0", "$A:0", "</s>:0"],
        ["<s>:0", "$A:0", "</s>:0", "</s>:0", "$B:0", "</s>:0"],
    )


def test_special_tokens_that_the_vocabulary_lacks_get_the_next_ids(folder: Path) -> None:
    from transformers import RobertaTokenizer

    vocabulary = json.loads((folder / "vocab.json").read_text())
    kept = [token for token in vocabulary if token not in ("<mask>", "<unk>", "<pad>")]
    write_json(folder / "vocab.json", **{token: i for i, token in enumerate(kept)})
    ours = load_tokenizer(folder, 512)
    assert_same(ours, RobertaTokenizer.from_pretrained(folder), MASKED)
    assert ours.special_ids()["<unk>"] == len(kept) and ours.mask_id == len(kept) + 2


def test_tokenizer_json_of_transformers_loads_equal(folder: Path, tmp_path: Path) -> None:
    from transformers import RobertaTokenizer

    theirs = RobertaTokenizer.from_pretrained(folder, add_prefix_space=True)
    theirs.save_pretrained(tmp_path / "saved")
    assert not (tmp_path / "saved" / "merges.txt").exists()
    assert_same(load_tokenizer(tmp_path / "saved", 512), theirs, MASKED)


def test_other_tokenizers_of_the_same_files_are_refused(folder: Path) -> None:
    write_json(folder / "tokenizer_config.json", tokenizer_class="CLIPTokenizer")
    with pytest.raises(InputError, match=r"vocab.json: the folder's tokenizer_class 'CLIPTokenizer' is not supported"):
        load_tokenizer(folder, 512)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "vocab.json: not JSON"),
        ("[]", "vocab.json: expected a JSON object, got list"),
        ("{}", "it has no tokens"),
        ('{"a": 0, "b": 0}', "two with the same id"),
        ('{"a": -1}', "the id of 'a' is -1"),
        ('{"a": 4294967296}', "the id of 'a' is 4294967296"),
        ('{"a": true}', "the id of 'a' is True"),
        ('{"a": "0"}', "the id of 'a' is '0'"),
        ('{"a": 0}', r"merges.txt: line 2 is no merge of two tokens of vocab.json"),
        ('{"\\ud800": 0}', "merges.txt: line 2"),
    ],
)
def test_bad_vocabularies_are_named(folder: Path, content: str, message: str) -> None:
    (folder / "vocab.json").write_text(content)
    with pytest.raises(InputError, match=message):
        load_tokenizer(folder, 512)


def test_bad_vocabularies_without_merges_are_named(folder: Path) -> None:
    (folder / "merges.txt").write_text("")
    (folder / "vocab.json").write_text('{"a": 0}')
    with pytest.raises(InputError, match=r"vocab.json: not a RoBERTa vocabulary: <s>, </s> missing"):
        load_tokenizer(folder, 512)
    (folder / "vocab.json").write_text('{"<s>": 0, "</s>": 1, "\\ud800": 2}')
    with pytest.raises(InputError, match=r"vocab.json: no tokenizer can be made from it"):
        load_tokenizer(folder, 512)
    (folder / "merges.txt").unlink()
    with pytest.raises(InputError, match=r"no tokenizer; expected one of .*; vocab.json needs merges.txt beside it"):
        load_tokenizer(folder, 512)


@pytest.mark.parametrize("line", ["a", "a b c", "zzz qqq", " ", "Ġ zzz"])
def test_bad_merges_are_named(folder: Path, line: str) -> None:
    with (folder / "merges.txt").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(InputError, match=r"merges.txt: line \d+ is no merge"):
        load_tokenizer(folder, 512)
    (folder / "merges.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"merges.txt: not readable as UTF-8"):
        load_tokenizer(folder, 512)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_files_are_refused_or_load(folder: Path, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["vocab.json", "merges.txt"]))
    good = (folder / name).read_bytes()
    at = data.draw(st.integers(0, len(good) - 1))
    bad = data.draw(st.sampled_from([good[:at], good[:at] + data.draw(st.binary(min_size=1, max_size=4)) + good[at:]]))
    try:
        (folder / name).write_bytes(bad)
        load_tokenizer(folder, 512).encode("a naïve film")
    except InputError as error:
        assert str(folder) in str(error)
    finally:
        (folder / name).write_bytes(good)
