from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tokenizer_support import ALBERT, FAIRSEQ, assert_same, train_sentencepiece, write_json

from mobilekit.errors import InputError
from mobilekit.text.tokenizer import LEAST_LENGTH, TextTokenizer, has_tokenizer, load_tokenizer

SPIECE, BPE_MODEL = "spiece.model", "sentencepiece.bpe.model"
MASKED = ("a [MASK] film", "a <mask> film", "a  <mask>.", "[CLS]x[SEP]", "<s>NOTUSED </s>", "(é)")
TRAINED: dict[str, dict[str, Any]] = {
    "albert": ALBERT,
    "albert-bytes": {**ALBERT, "byte_fallback": True},
    "fairseq": FAIRSEQ,
    "fairseq-lower": {"normalization_rule_name": "nmt_nfkc_cf"},
    "fairseq-identity": {"normalization_rule_name": "identity"},
    "fairseq-bytes": {"byte_fallback": True},
    "bpe": {"model_type": "bpe"},
    "word": {"model_type": "word"},
    "char": {"model_type": "char"},
}
Place = Callable[..., Path]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("sentencepiece")
    for name, options in TRAINED.items():
        train_sentencepiece(folder / f"{name}.spm", **options)
    return {name: folder / f"{name}.spm" for name in TRAINED}


@pytest.fixture
def place(tmp_path: Path, trained: dict[str, Path]) -> Place:
    """A folder with one trained model under the name that a family's files have, and its options."""

    def make(name: str, file: str, **options: Any) -> Path:
        shutil.copy(trained[name], tmp_path / file)
        if options:
            write_json(tmp_path / "tokenizer_config.json", **options)
        return tmp_path

    return make


@pytest.mark.parametrize("name", ["albert", "albert-bytes"])
@pytest.mark.parametrize(
    "options",
    [{}, {"do_lower_case": False}, {"keep_accents": True}, {"do_lower_case": False, "keep_accents": True}],
)
def test_albert_equals_transformers(place: Place, name: str, options: dict[str, Any]) -> None:
    from transformers import AlbertTokenizer

    folder = place(name, SPIECE, **options)
    ours = load_tokenizer(folder, 512)
    assert_same(ours, AlbertTokenizer.from_pretrained(folder), MASKED)
    assert ours.type == "Unigram" and ours.lower_case == options.get("do_lower_case", True)
    assert ours.mask_token == "[MASK]" and ours.mask_id == 4
    single, pair = ours.templates()
    assert single == ["[CLS]:0", "$A:0", "[SEP]:0"] and pair == [*single, "$B:1", "[SEP]:1"]


@pytest.mark.parametrize("name", ["fairseq", "fairseq-lower", "fairseq-identity", "fairseq-bytes"])
@pytest.mark.parametrize("options", [{}, {"add_prefix_space": False}])
def test_xlm_roberta_equals_transformers(place: Place, name: str, options: dict[str, Any]) -> None:
    from transformers import XLMRobertaTokenizer

    folder = place(name, BPE_MODEL, **options)
    ours = load_tokenizer(folder, 512)
    assert_same(ours, XLMRobertaTokenizer.from_pretrained(folder), MASKED)
    assert ours.special_ids() == {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "<mask>": ours.vocab_size - 1}
    assert ours.templates()[1] == ["<s>:0", "$A:0", "</s>:0", "</s>:0", "$B:0", "</s>:0"]
    # The least length that a model may have holds a pair's special tokens.
    assert len(ours.encode("a good film", "a bad film", LEAST_LENGTH).ids) == LEAST_LENGTH


@pytest.mark.parametrize("name", ["fairseq", "fairseq-lower"])
def test_camembert_equals_transformers(place: Place, name: str) -> None:
    from transformers import CamembertTokenizer

    folder = place(name, BPE_MODEL)
    write_json(folder / "config.json", model_type="camembert")
    ours = load_tokenizer(folder, 512)
    assert_same(ours, CamembertTokenizer.from_pretrained(folder), MASKED)
    assert (ours.special_ids()["<s>"], ours.special_ids()["</s>"]) == (5, 6)


MASK = {"content": "<mask>", "lstrip": True, "normalized": True, "rstrip": False, "single_word": False}


@pytest.mark.parametrize(
    "options",
    [
        {"mask_token": {"__type": "AddedToken", **MASK}},
        {"mask_token": "<mask>", "added_tokens_decoder": {"MASK": {**MASK, "special": True}}},
        {"added_tokens_decoder": {"NEXT": {**MASK, "content": "<new>", "special": False}}},
        {"bos_token": "<b>", "eos_token": "<e>"},
        {"extra_special_tokens": ["film"]},
        {"additional_special_tokens": ["<more>", "bad"]},
    ],
)
def test_special_tokens_of_the_folder_count(place: Place, options: dict[str, Any]) -> None:
    from transformers import XLMRobertaTokenizer

    folder = place("fairseq", BPE_MODEL)
    mask = load_tokenizer(folder, 512).mask_id
    assert mask is not None
    listed = options.get("added_tokens_decoder", {})
    # The ids depend on how many pieces the trainer found.
    listed = {{"MASK": mask, "NEXT": mask + 1}[i]: token for i, token in listed.items()}
    more = {"added_tokens_decoder": listed} if listed else {}
    write_json(folder / "tokenizer_config.json", **{**options, **more})
    theirs = XLMRobertaTokenizer.from_pretrained(folder)
    assert_same(load_tokenizer(folder, 512), theirs, (*MASKED, "a <new> <more> bad film"))


def test_files_of_old_folders_count(place: Place) -> None:
    from transformers import XLMRobertaTokenizer

    folder = place("fairseq", BPE_MODEL)
    write_json(folder / "special_tokens_map.json", mask_token=MASK, bos_token="<s>")
    mask = load_tokenizer(folder, 512).mask_id
    assert mask is not None
    write_json(folder / "added_tokens.json", **{"<new>": mask + 1})
    theirs = XLMRobertaTokenizer.from_pretrained(folder)
    assert_same(load_tokenizer(folder, 512), theirs, (*MASKED, "a <new>film"))
    write_json(folder / "added_tokens.json", **{"<new>": mask + 9})
    with pytest.raises(InputError, match=r"added_tokens.json: lists '<new>' as id \d+; in the vocabulary it is \d+"):
        load_tokenizer(folder, 512)


@pytest.mark.parametrize(("kind", "file"), [("albert", SPIECE), ("xlm_roberta", BPE_MODEL), ("camembert", BPE_MODEL)])
def test_tokenizer_json_of_transformers_loads_equal(place: Place, tmp_path: Path, kind: str, file: str) -> None:
    import transformers

    cls = {"albert": "AlbertTokenizer", "xlm_roberta": "XLMRobertaTokenizer", "camembert": "CamembertTokenizer"}[kind]
    theirs = getattr(transformers, cls).from_pretrained(place("albert" if kind == "albert" else "fairseq", file))
    theirs.save_pretrained(tmp_path / "saved")
    (tmp_path / "saved" / file).unlink(missing_ok=True)
    assert_same(load_tokenizer(tmp_path / "saved", 512), theirs, MASKED)


def test_which_family_it_is(place: Place, tmp_path: Path) -> None:
    folder = place("fairseq", BPE_MODEL)

    def first(tokenizer: TextTokenizer) -> int:
        return int(tokenizer.encode("a").ids[0])

    assert first(load_tokenizer(folder, 512)) == 0
    # A class says more than the encoder's type: e5 is a BERT with XLM-RoBERTa's tokenizer.
    write_json(folder / "config.json", model_type="camembert")
    assert first(load_tokenizer(folder, 512)) == 5
    write_json(folder / "tokenizer_config.json", tokenizer_class="XLMRobertaTokenizerFast")
    assert first(load_tokenizer(folder, 512)) == 0
    write_json(folder / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast")
    assert first(load_tokenizer(folder, 512)) == 5
    write_json(folder / "config.json", model_type="bert")
    assert first(load_tokenizer(folder, 512)) == 0
    write_json(folder / "tokenizer_config.json", tokenizer_class="XLNetTokenizer")
    with pytest.raises(InputError, match="tokenizer_class 'XLNetTokenizer' is not supported with this file alone"):
        load_tokenizer(folder, 512)
    (folder / "tokenizer_config.json").unlink()
    (folder / BPE_MODEL).rename(folder / SPIECE)
    with pytest.raises(InputError, match=r"spiece.model: its pieces \(<unk>, <s>, </s>, ...\) are not ALBERT's"):
        load_tokenizer(folder, 512)
    write_json(folder / "config.json", model_type="albert")
    with pytest.raises(InputError, match=r"piece 1 has to be <unk>"):
        load_tokenizer(folder, 512)


def test_a_file_of_another_family_is_refused(place: Place) -> None:
    folder = place("albert", BPE_MODEL, tokenizer_class="CamembertTokenizer")
    with pytest.raises(InputError, match=r"first pieces are <pad>, <unk>, \[CLS\]; a file of camembert begins"):
        load_tokenizer(folder, 512)


@pytest.mark.parametrize("algorithm", ["bpe", "word", "char"])
def test_other_algorithms_are_refused(place: Place, algorithm: str) -> None:
    # transformers 5 takes them for unigram models, and splits otherwise than they were trained to.
    with pytest.raises(InputError, match=f"bpe.model: not a SentencePiece model .* its algorithm is {algorithm}"):
        load_tokenizer(place(algorithm, BPE_MODEL), 512)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"do_lower_case": "yes"}, "do_lower_case is 'yes'; it has to be true or false"),
        ({"mask_token": 5}, "mask_token is 5; it has to be a token"),
        ({"mask_token": {"content": "[MASK]", "lstrip": "no"}}, "have to be true or false"),
        ({"cls_token": "[NONE]"}, r"no file of albert: \[NONE\] missing"),
        ({"added_tokens_decoder": []}, "has to map ids to tokens"),
        ({"added_tokens_decoder": {"-1": "x"}}, "has to map ids to tokens"),
        ({"added_tokens_decoder": {"7": {"content": "<new>"}}}, "lists '<new>' as id 7"),
        ({"extra_special_tokens": "x"}, "has to be a list of tokens"),
    ],
)
def test_bad_options_are_named(place: Place, options: dict[str, Any], message: str) -> None:
    folder = place("albert", SPIECE, **options)
    with pytest.raises(InputError, match=message):
        load_tokenizer(folder, 512)


def test_special_tokens_that_no_template_can_hold_are_refused(place: Place) -> None:
    folder = place("fairseq", BPE_MODEL, bos_token="< s >")
    with pytest.raises(InputError, match="special token '< s >' has a colon, a dollar or white space"):
        load_tokenizer(folder, 512)


def test_has_tokenizer(place: Place, tmp_path: Path) -> None:
    assert not has_tokenizer(tmp_path)
    (tmp_path / "vocab.json").write_text("{}")
    assert not has_tokenizer(tmp_path)
    (tmp_path / "merges.txt").write_text("")
    assert has_tokenizer(tmp_path)
    assert has_tokenizer(place("albert", SPIECE))
