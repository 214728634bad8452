"""Small SentencePiece models and byte-level vocabularies in the hub's layouts, and how tokenizers are compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mobilekit.text.calibration import TEXTS
from mobilekit.text.parity import parity_texts
from mobilekit.text.tokenizer import TextTokenizer

CORPUS = [
    *TEXTS * 5,
    *[t for t in parity_texts()[:140] if 0 < len(t) < 2000],
    *["``odd'' (quotes), 1,234,567 and 12,"] * 3,
]
FAIRSEQ: dict[str, Any] = {}
ALBERT: dict[str, Any] = {
    "pad_id": 0,
    "unk_id": 1,
    "bos_id": -1,
    "eos_id": -1,
    "control_symbols": "[CLS],[SEP],[MASK]",
    "user_defined_symbols": "(,),é",
}


def train_sentencepiece(file: Path, **options: Any) -> None:
    """Train a model of some 1,500 pieces on `CORPUS` with the sentencepiece library."""
    import sentencepiece

    settings: dict[str, Any] = {"vocab_size": 1500, "character_coverage": 0.99, "model_type": "unigram", **options}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS),
        model_prefix=str(file.with_suffix("")),
        hard_vocab_limit=False,
        minloglevel=2,
        **settings,
    )
    file.with_suffix(".model").rename(file)


def train_byte_level(folder: Path) -> None:
    """vocab.json and merges.txt of a byte-level BPE, with RoBERTa's special tokens where RoBERTa has them."""
    from tokenizers import ByteLevelBPETokenizer

    trained = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    trained.train_from_iterator(CORPUS, vocab_size=1200, min_frequency=2, special_tokens=[*special, "<mask>"])
    trained.save_model(str(folder))


def write_json(file: Path, **values: Any) -> None:
    """Write an object, as a folder's configuration has it."""
    file.write_text(json.dumps(values), encoding="utf-8")


def assert_same(ours: TextTokenizer, theirs: Any, more: tuple[str, ...] = ()) -> None:
    """Ids, type ids and offsets of all parity texts (and `more`), singly and in pairs, are those of `transformers`."""
    texts = [*parity_texts(), *more]
    for i, text in enumerate(texts):
        # transformers takes an empty second text for none.
        for pair in (None, texts[i - 1] or "x"):
            expected = theirs(
                text,
                pair,
                truncation="longest_first",
                max_length=512,
                return_offsets_mapping=True,
                return_token_type_ids=True,
            )
            got = ours.encode(text, pair, 512)
            assert got.ids.tolist() == expected["input_ids"], (text, pair)
            assert got.type_ids.tolist() == expected["token_type_ids"], (text, pair)
            assert list(got.offsets) == [tuple(o) for o in expected["offset_mapping"]], (text, pair)
            assert list(got.words) == expected.word_ids() and list(got.sequences) == expected.sequence_ids()
        assert ours.decode(got.ids.tolist()) == theirs.decode(got.ids.tolist(), skip_special_tokens=True), text
