"""Strings that tokenizers stumble over, and the digest of what a tokenizer makes of them.

Made by code, seeded: the same on every machine. The digest of the source's tokenizer stands in the manifest, so that an
artifact's own tokenizer, and a phone's, can be held against it.
"""

from __future__ import annotations

import hashlib
import random

from mobilekit.text.tokenizer import TextTokenizer

COUNT = 500
_FIXED = (
    "",
    " ",
    "\t\n  \r",
    "The film wasn't good; it was great!",
    "naïve café, Ångström, coöperate, résumé",
    "nai\u0308ve cafe\u0301 (combining)",
    "İstanbul ıssız ẞ ß ﬁ ﬂ Ǆ",
    "日本語のテキストと中文 mixed 한국어",
    "русский текст, ελληνικά, עברית, العربية, हिन्दी, ไทย",
    "family: 👨‍👩‍👧‍👦 flags: 🇧🇷🇯🇵 skin: 👍🏽 heart: ❤️",
    "zero\u200bwidth\u200djoin\ufeffbom\u00adsoft",
    "controls \x00\x01\x07\x1f\x7f end",
    "non\u00a0breaking\u2003em\u3000ideographic spaces",
    "[CLS] literal [SEP] special [MASK] tokens [PAD] [UNK]",
    "x" * 10_000,
    "word " * 600,
    "http://example.org/a?b=c&d=%20#e user@example.com",
    "$1,234.56 50% 3/4 1e-9 ½ ² ㎏ Ⅳ",
    "«quotes» “curly” ‘single’ …ellipsis—dash–en",
    "\U0001d54f\U0001d4b3 astral \U00020000\U0002a6d6",
    "���",
)
_RANGES = (
    (0x20, 0x7F),
    (0xA0, 0x180),
    (0x300, 0x370),
    (0x370, 0x400),
    (0x400, 0x500),
    (0x590, 0x600),
    (0x600, 0x700),
    (0x900, 0x980),
    (0xE00, 0xE80),
    (0x2000, 0x2070),
    (0x3040, 0x3100),
    (0x4E00, 0x5000),
    (0xAC00, 0xAD00),
    (0xFE00, 0xFE10),
    (0xFF00, 0xFF60),
    (0x1F300, 0x1F650),
)
_WORDS = "a the not very un believ able ing film good bad running tokenization phone's e-mail U.S.A. 2024 GPU".split()


def parity_texts() -> list[str]:
    """`COUNT` strings: hand-picked ones, then mixtures of scripts and words, seeded."""
    rng = random.Random(20240229)
    texts = list(_FIXED)
    while len(texts) < COUNT:
        pieces = []
        for _ in range(rng.randint(1, 12)):
            if rng.random() < 0.5:
                pieces.append(rng.choice(_WORDS))
            else:
                low, high = rng.choice(_RANGES)
                pieces.append("".join(chr(rng.randrange(low, high)) for _ in range(rng.randint(1, 6))))
        texts.append(rng.choice(("", " ", " ", ", ")).join(pieces))
    return texts


def parity_digest(tokenizer: TextTokenizer) -> str:
    """sha256 over ids, type ids and offsets of all parity texts, and of each with its neighbour as a pair."""
    digest = hashlib.sha256()
    texts = parity_texts()
    for i, text in enumerate(texts):
        for pair in (None, texts[i - 1]):
            encoded = tokenizer.encode(text, pair, 512)
            digest.update(encoded.ids.astype("<i4").tobytes() + encoded.type_ids.astype("<i4").tobytes())
            digest.update(repr(encoded.offsets).encode())
    return digest.hexdigest()
