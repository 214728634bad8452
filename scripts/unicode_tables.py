"""Write the Unicode tables of the Android demo's tokenizers, as the reference `tokenizers` library behaves.

    python scripts/unicode_tables.py android_demo/core/src/main/resources/org/mobilekit/core/text/unicode.txt

The library mixes tables of several Unicode versions (Rust's, those of four crates, Oniguruma's), and a phone has those
of its Android version. So every property is read off the library itself, by asking it about every character.

The file has a line a property: its name, then ranges of code points in hexadecimal: how far a range's first is from the
last of the range before, and after `-` how far its last is from its first. Lines of maps have entries
`how far from the entry before=code points that are written instead`. Hangul syllables, which follow a rule, are in no
map.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tokenizers import Regex, normalizers, pre_tokenizers

from mobilekit.text.charsmap import make_charsmap

_POINTS = [p for p in range(0x110000) if not 0xD800 <= p < 0xE000]


def main() -> None:
    """Write the tables to the path of the first argument."""
    lines = [" ".join((name, *entries)) for name, entries in _lines()]
    Path(sys.argv[1]).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _lines() -> Iterator[tuple[str, Iterable[str]]]:
    for name, holds in _TABLES.items():
        yield name, _ranges(p for p in _POINTS if holds(chr(p)))
    steps = {"lower": normalizers.Lowercase(), "nfd": normalizers.NFD(), "nfkd": normalizers.NFKD()}
    for name, normalizer in steps.items():
        maps = {p: normalizer.normalize_str(chr(p)) for p in _POINTS if not 0xAC00 <= p < 0xD7A4}
        yield name, _entries({p: text for p, text in maps.items() if text != chr(p)})
    classes = _combining_classes()
    for value in sorted(set(classes.values())):
        yield f"ccc{value}", _ranges(p for p, each in classes.items() if each == value)
    yield "compose", _entries(_compositions())


def _ranges(points: Iterable[int]) -> list[str]:
    found: list[list[int]] = []
    for point in points:
        if found and found[-1][1] == point - 1:
            found[-1][1] = point
        else:
            found.append([point, point])
    entries, last = [], 0
    for low, high in found:
        entries.append(f"{low - last:x}" if low == high else f"{low - last:x}-{high - low:x}")
        last = high
    return entries


def _entries(maps: dict[int, str]) -> list[str]:
    entries, last = [], 0
    for point, text in sorted(maps.items()):
        entries.append(f"{point - last:x}=" + ",".join(f"{ord(c):x}" for c in text))
        last = point
    return entries


def _control(c: str) -> bool:
    cleaner = normalizers.BertNormalizer(True, False, False, False)
    return cleaner.normalize_str(c) == ""


def _nonspacing(c: str) -> bool:
    # Only characters without a decomposition are asked for: the library takes accents off after NFD.
    return normalizers.BertNormalizer(False, False, True, False).normalize_str(c) == ""


def _split_by(splitter: pre_tokenizers.PreTokenizer) -> Callable[[str], bool]:
    return lambda c: len(splitter.pre_tokenize_str(f"a{c}a")) > 1


def _matches(pattern: str) -> Callable[[str], bool]:
    replace = normalizers.Replace(Regex(pattern), "")
    return lambda c: replace.normalize_str(c) == ""


def _word(c: str) -> bool:
    return len(pre_tokenizers.Whitespace().pre_tokenize_str(f"a{c}a")) == 1


def _whole_cluster(cluster: str) -> normalizers.Normalizer:
    """Writes X for a grapheme cluster of at most five bytes that begins with `cluster`, and takes the rest away."""
    return normalizers.Precompiled(make_charsmap({ord(cluster): "X"}))


_FIRST = {c: _whole_cluster(c) for c in "a\u00a9\u0300\u0915\u1100\u1160\u11a8"}
# What makes each of them a cluster of four or five bytes; in a longer one it is not taken away.
_TAILS = {"a": "\u0300\u0301", "\u00a9": "\u0300", "\u0300": "\u0301"}


def _joined(before: str, c: str) -> bool:
    """Whether `before` and the cluster that begins with `c` are one cluster."""
    tail = _TAILS.get(c, "\u0300")
    return _FIRST[c].normalize_str(before + c + tail).endswith("X" + tail)


def _extends(c: str) -> bool:
    return _FIRST["a"].normalize_str("a" + c) == "X"


def _grapheme_control(c: str) -> bool:
    return _FIRST["\u0300"].normalize_str(c + "\u0300\u0301") == c + "X"


_TABLES: dict[str, Callable[[str], bool]] = {
    "white": _split_by(pre_tokenizers.WhitespaceSplit()),
    "control": _control,
    "punctuation": _split_by(pre_tokenizers.BertPreTokenizer()),
    "nonspacing": _nonspacing,
    "combining": lambda c: normalizers.StripAccents().normalize_str(c) == "",
    "word": _word,
    "regexLetter": _matches(r"\p{L}"),
    "regexNumber": _matches(r"\p{N}"),
    "regexMark": _matches(r"\p{M}"),
    "regexSpace": _matches(r"\s"),
    "graphemeControl": _grapheme_control,
    "graphemeExtend": lambda c: _extends(c) and _joined("\u00a9" + c + "\u200d", "\u00a9") and c != "\u200d",
    "graphemeSpacing": lambda c: _extends(c) and not _joined("\u00a9" + c + "\u200d", "\u00a9") and c != "\u200d",
    "graphemePrepend": lambda c: _joined(c, "a"),
    "graphemeL": lambda c: _joined(c, "\u1100") and not _joined(c, "a"),
    "graphemeV": lambda c: _joined(c, "\u1160") and not _joined(c, "\u1100") and not 0xAC00 <= ord(c) < 0xD7A4,
    "graphemeT": lambda c: _joined(c, "\u11a8") and not _joined(c, "\u1160") and not 0xAC00 <= ord(c) < 0xD7A4,
    "pictographic": lambda c: _joined(c + "\u200d", "\u00a9"),
    "conjunctConsonant": lambda c: _joined(c + "\u094d", "\u0915"),
    "conjunctLinker": lambda c: _joined("\u0915" + c, "\u0915") and not _joined(c, "a"),
    "conjunctExtend": lambda c: (
        _joined("\u0915\u094d" + c, "\u0915") and not _joined(c, "a") and not _joined(c + "\u094d", "\u0915")
    ),
}


def _combining_classes() -> dict[int, int]:
    """Canonical combining classes other than 0: Python's, where the library sorts as they say."""
    nfd = normalizers.NFD().normalize_str

    def sorts(c: str) -> bool:
        return nfd("\u0345" + c) != "\u0345" + c or nfd(c + "\u0334") != c + "\u0334"

    # A character of each class that the library knows; those that decompose are never sorted themselves.
    kept: dict[int, str] = {}
    for point in _POINTS:
        value = unicodedata.combining(chr(point))
        if value and nfd(chr(point)) == chr(point) and sorts(chr(point)):
            kept.setdefault(value, chr(point))
    found = {}
    for point in _POINTS:
        c = chr(point)
        if 0xAC00 <= point < 0xD7A4 or nfd(c) != c:
            continue
        if not sorts(c):
            continue
        same = [value for value, r in kept.items() if nfd(r + c) == r + c and nfd(c + r) == c + r]
        if len(same) != 1:
            raise SystemExit(f"{point:#x} is of no combining class, or of {len(same)}")
        found[point] = same[0]
    return found


def _compositions() -> dict[int, str]:
    """Characters that NFC writes for two others."""
    nfc, nfd = normalizers.NFC().normalize_str, normalizers.NFD().normalize_str
    found = {}
    for point in _POINTS:
        c = chr(point)
        parts = nfd(c)
        if 0xAC00 <= point < 0xD7A4 or len(parts) < 2 or nfc(c) != c:
            continue
        found[point] = nfc(parts[:-1]) + parts[-1]
    return found


if __name__ == "__main__":
    main()
