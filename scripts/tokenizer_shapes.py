"""The tokenizers that `tokenizer_vectors.py` writes vectors for: one of each family's shape, made on the spot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tokenizer_parts import BERT_SPECIAL, ROBERTA_SPECIAL, small_tokenizers
from tokenizers import ByteLevelBPETokenizer, Tokenizer, models, pre_tokenizers, trainers

import mobilekit
from mobilekit.text.calibration import TEXTS
from mobilekit.text.parity import parity_texts
from mobilekit.text.text_tokenizer import TextTokenizer
from mobilekit.text.tokenizer import load_tokenizer

_LENGTH = 512
_CORPUS = [*TEXTS * 5, *[text for text in parity_texts()[:140] if 0 < len(text) < 2000]]


def full_tokenizers(scratch: Path) -> dict[str, TextTokenizer]:
    """The built-in models' tokenizers, one of each other family's shape, and the small ones; made in `scratch`."""
    return {
        "minilm-l6": mobilekit.load("minilm-l6").tokenizer,
        "e5-small-enpt": mobilekit.load("e5-small-enpt").tokenizer,
        "roberta": _roberta(scratch / "roberta", {}),
        "roberta-spaced": _roberta(scratch / "spaced", {"add_prefix_space": True, "trim_offsets": True}),
        "roberta-untrimmed": _roberta(scratch / "untrimmed", {"trim_offsets": False}),
        "albert": _sentencepiece(scratch / "albert", "spiece.model", "albert", {}),
        "albert-cased": _sentencepiece(
            scratch / "albert-cased", "spiece.model", "albert", {"do_lower_case": False, "keep_accents": True}
        ),
        "xlm-roberta": _sentencepiece(scratch / "xlm", "sentencepiece.bpe.model", "xlm-roberta", {}),
        "camembert": _sentencepiece(scratch / "camembert", "sentencepiece.bpe.model", "camembert", {}),
        "bert-cased": _bert(scratch / "cased", {"do_lower_case": False}),
        "bert-accents": _bert(scratch / "accents", {"strip_accents": False, "tokenize_chinese_chars": False}),
        **small_tokenizers(),
    }


def _write(folder: Path, name: str, content: dict[str, Any]) -> None:
    (folder / name).write_text(json.dumps(content), encoding="utf-8")


def _roberta(folder: Path, options: dict[str, Any]) -> TextTokenizer:
    folder.mkdir()
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(_CORPUS, vocab_size=1200, min_frequency=2, special_tokens=ROBERTA_SPECIAL)
    trained.save_model(str(folder))
    _write(folder, "tokenizer_config.json", {"tokenizer_class": "RobertaTokenizer", **options})
    return load_tokenizer(folder, _LENGTH)


def _bert(folder: Path, options: dict[str, Any]) -> TextTokenizer:
    folder.mkdir()
    trained = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    trained.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trained.train_from_iterator(_CORPUS, trainers.WordPieceTrainer(vocab_size=1500, special_tokens=BERT_SPECIAL))
    vocabulary = trained.get_vocab()
    (folder / "vocab.txt").write_text("\n".join(sorted(vocabulary, key=vocabulary.__getitem__)) + "\n", "utf-8")
    _write(folder, "tokenizer_config.json", {"tokenizer_class": "BertTokenizer", **options})
    return load_tokenizer(folder, _LENGTH)


def _sentencepiece(folder: Path, name: str, model_type: str, options: dict[str, Any]) -> TextTokenizer:
    import sentencepiece

    folder.mkdir()
    special: dict[str, Any] = {
        "pad_id": 0,
        "unk_id": 1,
        "bos_id": -1,
        "eos_id": -1,
        "control_symbols": "[CLS],[SEP],[MASK]",
        "user_defined_symbols": "(,),\u00e9",
    }
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(_CORPUS),
        model_prefix=str(folder / "trained"),
        vocab_size=1500,
        character_coverage=0.99,
        hard_vocab_limit=False,
        minloglevel=2,
        **(special if model_type == "albert" else {}),
    )
    (folder / "trained.model").rename(folder / name)
    _write(folder, "config.json", {"model_type": model_type})
    _write(folder, "tokenizer_config.json", options)
    return load_tokenizer(folder, _LENGTH)
