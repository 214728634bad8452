"""The tokenizers that `tokenizer_vectors.py` writes vectors for: each family's shape, and each part by itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tokenizers import (
    AddedToken,
    ByteLevelBPETokenizer,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

import mobilekit
from mobilekit.text.calibration import TEXTS
from mobilekit.text.charsmap import make_charsmap
from mobilekit.text.parity import parity_texts
from mobilekit.text.text_tokenizer import TextTokenizer
from mobilekit.text.tokenizer import load_tokenizer

_LENGTH = 512
_CORPUS = [*TEXTS * 5, *[text for text in parity_texts()[:140] if 0 < len(text) < 2000]]
_BERT_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
_ROBERTA_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def full_tokenizers(scratch: Path) -> dict[str, TextTokenizer]:
    """The built-in models' tokenizers, one of each other family's shape, and the small ones."""
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
    trained.train_from_iterator(_CORPUS, vocab_size=1200, min_frequency=2, special_tokens=_ROBERTA_SPECIAL)
    trained.save_model(str(folder))
    _write(folder, "tokenizer_config.json", {"tokenizer_class": "RobertaTokenizer", **options})
    return load_tokenizer(folder, _LENGTH)


def _bert(folder: Path, options: dict[str, Any]) -> TextTokenizer:
    folder.mkdir()
    trained = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    trained.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trained.train_from_iterator(_CORPUS, trainers.WordPieceTrainer(vocab_size=1500, special_tokens=_BERT_SPECIAL))
    vocabulary = trained.get_vocab()
    (folder / "vocab.txt").write_text("\n".join(sorted(vocabulary, key=vocabulary.__getitem__)) + "\n", "utf-8")
    _write(folder, "tokenizer_config.json", {"tokenizer_class": "BertTokenizer", **options})
    return load_tokenizer(folder, _LENGTH)


def _sentencepiece(folder: Path, name: str, model_type: str, options: dict[str, Any]) -> TextTokenizer:
    import sentencepiece

    folder.mkdir()
    special = {"pad_id": 0, "unk_id": 1, "bos_id": -1, "eos_id": -1, "control_symbols": "[CLS],[SEP],[MASK]"}
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


def small_tokenizers() -> dict[str, TextTokenizer]:
    """Tokenizers of a few dozen tokens, which have every part that the Android demo reads at least once."""
    made = {
        "small-wordpiece": _small_wordpiece(),
        "small-unigram": _small_unigram(byte_fallback=False),
        "small-unigram-bytes": _small_unigram(byte_fallback=True),
        "small-bytepairs": _small_bytepairs(trims=True),
        "small-bytepairs-unknown": _small_bytepairs_unknown(),
        "small-added": _small_added(),
        "small-split": _small_split(),
        "small-forms": _small_forms(),
    }
    return {name: TextTokenizer(tokenizer.to_str(), _LENGTH) for name, tokenizer in made.items()}


def _word_pieces(special: list[str]) -> models.WordPiece:
    letters = "abcdefghijklmnopqrstuvwxyz\u00e9\u65e5\u672c'.,!1<>"
    words = ["the", "caf", "cafe", "text", "in", "na", "naive", "word", "mixed", "\u05e2", "\U0001d54f"]
    tokens = [*special, *letters, *(f"##{c}" for c in letters), *words, "##ord", "##wo", "##ing", "##\u0301", "##\U0001d4b3"]
    return models.WordPiece({t: i for i, t in enumerate(tokens)}, unk_token=special[1], max_input_chars_per_word=100)


def _small_wordpiece() -> Tokenizer:
    made = Tokenizer(_word_pieces(_BERT_SPECIAL))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    made.decoder = decoders.WordPiece()
    made.add_special_tokens(_BERT_SPECIAL)
    return made


def _small_unigram(byte_fallback: bool) -> Tokenizer:
    letters = "\u2581abcdefghijklmnopqrstuvwxyz.,'!\u00e9\u65e5"
    pieces = [(t, 0.0) for t in _ROBERTA_SPECIAL]
    pieces += [(c, -5.0 - i / 8) for i, c in enumerate(letters)]
    pieces += [(p, -3.5) for p in ("\u2581the", "\u2581caf", "af\u00e9", "\u2581text", "in", "wo", "rd", "word", "\u2581\u2581", "xx")]
    if byte_fallback:
        pieces += [(f"<0x{byte:02X}>", -9.0) for byte in range(256)]
    made = Tokenizer(models.Unigram(pieces, 3, byte_fallback))
    table = {0xFF21 + i: chr(0x61 + i) for i in range(26)}
    table |= {0xA0: " ", 0x3000: " ", 0x200B: "", 0xFB01: "fi", 0xBD: "1/2", 0x301: "\u00b4", 0x65: "e", 0xE9: "e\u0301"}
    made.normalizer = normalizers.Sequence(
        [normalizers.Precompiled(make_charsmap(table)), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    scheme = "first" if byte_fallback else "always"
    made.pre_tokenizer = pre_tokenizers.Metaspace("\u2581", scheme, split=not byte_fallback)
    steps = [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    made.decoder = decoders.Sequence(steps) if byte_fallback else decoders.Metaspace("\u2581", scheme)
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B:1 </s>:1", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    made.add_special_tokens([AddedToken(t, lstrip=t == "<mask>", special=True) for t in _ROBERTA_SPECIAL])
    return made


def _byte_pairs() -> tuple[dict[str, int], list[tuple[str, str]]]:
    merges = [("t", "h"), ("th", "e"), ("\u0120", "the"), ("\u0120", "t"), ("e", "x"), ("w", "o"), ("r", "d"), ("wo", "rd")]
    merges += [("\u0120", "word"), ("a", "b"), ("ab", "c"), ("b", "c"), ("a", "bc"), ("'", "s"), ("\u00c3", "\u00a9"), ("x", "x")]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens = dict.fromkeys([*_ROBERTA_SPECIAL, *alphabet, *(a + b for a, b in merges)])
    return {token: i for i, token in enumerate(tokens)}, merges


def _small_bytepairs(trims: bool) -> Tokenizer:
    made = Tokenizer(models.BPE(*_byte_pairs()))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trims, False)
    made.add_special_tokens([AddedToken(t, lstrip=t == "<mask>", special=True) for t in _ROBERTA_SPECIAL])
    return made


def _small_bytepairs_unknown() -> Tokenizer:
    """Byte pairs without a byte level, so that there are unknown characters, which are fused."""
    vocabulary, merges = _byte_pairs()
    kept = {t: i for i, t in enumerate(t for t in vocabulary if all(ord(c) < 0x80 for c in t) or t in ("\u0120", "\u0120t"))}
    merges = [(a, b) for a, b in merges if a in kept and b in kept and a + b in kept]
    made = Tokenizer(models.BPE(kept, merges, unk_token="<unk>", fuse_unk=True))
    made.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Strip()])
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.decoder = decoders.BPEDecoder("x")
    return made


def _small_added() -> Tokenizer:
    made = _small_wordpiece()
    made.post_processor = None
    made.decoder = None
    made.add_tokens(
        [
            AddedToken("<a>", lstrip=True, normalized=False),
            AddedToken("<b>", rstrip=True, normalized=False),
            AddedToken("<C>", normalized=True),
            AddedToken("<d>", single_word=True, lstrip=True, rstrip=True, normalized=False),
            AddedToken("caf\u00e9", normalized=True, single_word=True),
            AddedToken("we", single_word=True, normalized=True),
        ]
    )
    return made


def _small_split() -> Tokenizer:
    made = Tokenizer(models.BPE(*_byte_pairs()))
    made.normalizer = normalizers.Sequence([normalizers.Prepend("the "), normalizers.Replace("a", "xx")])
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.WhitespaceSplit(),
            pre_tokenizers.Punctuation("merged_with_previous"),
            pre_tokenizers.Split("e", "merged_with_next"),
            pre_tokenizers.Split(Regex(r"\p{N}+|(?<=o)(?=r)|[^\s\p{L}]"), "contiguous"),
            pre_tokenizers.Split("x", "removed", invert=False),
            pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False),
        ]
    )
    made.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=True, add_prefix_space=False),
            processors.TemplateProcessing(
                single="$A </s>", pair="$B:3 </s>:2 $A:1", special_tokens=[("</s>", 2)]
            ),
        ]
    )
    made.decoder = decoders.ByteLevel()
    return made


def _small_forms() -> Tokenizer:
    letters = [*"abcdefghijklmnopqrstuvwxyz", "\u00e9", "e\u0301", "\u1100", "\uac00", "\u0301", "\u0323", "fi", "1", "2", "\u2044"]
    made = Tokenizer(models.Unigram([("<unk>", 0.0), *((c, -3.0) for c in letters)], 0, False))
    made.normalizer = normalizers.Sequence(
        [normalizers.NFKD(), normalizers.NFKC(), normalizers.NFD(), normalizers.Lowercase(), normalizers.NFC()]
        + [normalizers.NFKD(), normalizers.StripAccents(), normalizers.NFC()]
    )
    made.post_processor = processors.ByteLevel(trim_offsets=False)
    return made
