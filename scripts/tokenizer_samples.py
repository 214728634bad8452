"""Strings that tokenizers stumble over, beyond those of `mobilekit.text.parity`; all made by code, seeded."""

from __future__ import annotations

import random
from collections.abc import Iterator

from mobilekit.text.parity import parity_texts
from mobilekit.text.text_tokenizer import TextTokenizer

_TRICKY = (
    "",
    " ",
    "   \t\n\r ",
    "\u00a0\u2003\u3000",
    "\u200b\u200c\u200d\ufeff\u00ad\u2060",
    "The caf\u00e9's na\u00efve r\u00e9sum\u00e9, co\u00f6perate! \u00c5ngstr\u00f6m",
    "e\u0301\u0323 \u0323e\u0301 \u0301 \u0344\u0334 \u0f73\u0f71",
    "\u0130stanbul \u0131ss\u0131z \u1e9e \u00df \ufb01ne \ufb03 \u01c4 \u03a3\u03c3\u03c2",
    "\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8\u3068\u4e2d\u6587 mixed \ud55c\uad6d\uc5b4",
    "\u1112\u1161\u11ab \u1100\u1161\u0300\u11a8 \u1100\u0300 \u1100\u1100\u0300 \uac00\u11a8 \uac01\u11a8",
    "\uff26\uff35\uff2c\uff2c \uff77\uff9e\uff8a\uff9f \u3231 \u33a1 \u00bd \u00b2 \u2167",
    "\u05e2\u05d1\u05e8\u05d9\u05ea \u0627\u0644\u0639\u0631\u0628\u064a\u0629\u064b \u202babc\u202c",
    "\u0600\u0661 \u0600e\u0301",
    "\u0939\u093f\u0928\u094d\u0926\u0940 \u0e44\u0e17\u0e22\u0e33",
    "\u0915\u0300 \u0915\u094d\u0915\u0300 \u0915\u0301\u094d\u0915\u0300",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e7\U0001f1f7\U0001f1ef\U0001f1f5\U0001f1fa",
    "\U0001f44d\U0001f3fd \u2764\ufe0f",
    "\u00a9\u0300 \u00a9\u0301\u0301 \u00a9\u200d\u00a9\u0300 \u00a9\u200d\u200d\u00a9\u0300",
    "\u00ae\u0301\u200d\u00a9\u0300 \u200d\u00a9\u0300",
    "controls \x00\x01\x07\x1f\x7f\x80\x9f \ufffd \ufffe \U0010ffff end\r\nline\u2028\u2029\u0085",
    "[CLS] in [SEP]text [MASK]  [PAD][UNK] <s></s> <mask>  <pad> <unk>a<mask>b",
    "\ue000\uf8ff\U000f0000 private \U0001d54f\U0001d4b3 \U00020000\U0002a6d6\U0002ebf0 \U0001fae9 \U00016d63\ua7cb",
    "don't we'll they've I'm you're he'd it's 'S 'll'' \u2019s",
    " lead  two   three    trail ",
    "abc abcabc bcabc  the\tthe",
    "## ##ing a##b \u2581a \u2581 \u0120b",
    "1,234.56 50% 3/4 1e-9 x=y+z;{}[]|\\~`^<>$\u20ac\u00a3",
    "word" * 60,
)
SMALL_TEXTS = (*_TRICKY, "x" * 120, "<a> <b> <C>< b>  <d> x<d>x", "cafe\u0301 Caf\u00e9 CAFE\u0301")
TEXTS = (*SMALL_TEXTS, *parity_texts(), "\u00e9" * 10_000, "\U0001f600" * 10_000, "a b " * 2_000)

_PLANES = ((0x20, 0x7F), (0xA0, 0x250), (0x300, 0x370), (0x370, 0x600), (0x600, 0xE80), (0xE80, 0x1200))
_MORE = ((0x1200, 0x2000), (0x2000, 0x2C00), (0x2C00, 0x3400), (0x4E00, 0xA000), (0xA000, 0xD800), (0xE000, 0x10000))
_HIGH = ((0x10000, 0x12000), (0x16000, 0x19000), (0x1B000, 0x20000), (0x20000, 0x32000), (0xE0000, 0xE0200))
_BLOCKS = (*_PLANES, *_MORE, *_HIGH, (0xF0000, 0x110000))
_GLUE = tuple(
    "\u0300\u0301\u0323\u0327\u05b0\u064b\u093c\u094d\u0e33\u200d\u200c\ufe0f\u3099\u302a\u0345\u0334\u0600\u1161\u11a8"
    "\u1100\u00a9\u2764\u0915\r\n \t\u00a0\u3000'-.,\u2581"
)


def random_texts(tokenizer: TextTokenizer, rng: random.Random, count: int) -> Iterator[str]:
    """Mixtures of words of the vocabulary, characters of all planes, and marks and joiners; seeded."""
    vocabulary = [tokenizer.token_of(i) for i in range(tokenizer.largest_id + 1) if tokenizer.has(i)]
    specials = list(tokenizer.special_ids())
    for _ in range(count):
        pieces = []
        for _ in range(rng.randint(1, 9)):
            kind = rng.random()
            if kind < 0.35:
                pieces.append(rng.choice(vocabulary).replace("\u2581", " ").replace("\u0120", " "))
            elif kind < 0.4:
                pieces.append(rng.choice(specials or vocabulary))
            elif kind < 0.75:
                pieces.append(_characters(rng, *rng.choice(_BLOCKS)))
            else:
                pieces.append("".join(rng.choice(_GLUE) for _ in range(rng.randint(1, 3))))
        yield rng.choice(("", "", " ")).join(pieces)


def _characters(rng: random.Random, low: int, high: int) -> str:
    return "".join(chr(rng.randrange(low, high)) for _ in range(rng.randint(1, 4)))
