"""Text to ids: what a model, an artifact and a check ask of a tokenizer, on the `tokenizers` library."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, normalizers

from mobilekit.errors import InputError, unknown

TOKENIZER_FILE = "tokenizer.json"
TRUNCATIONS = ("longest_first", "only_first", "only_second")
_MASKS = ("[MASK]", "<mask>")
_LOWERING = ('"lowercase": true', '"type": "Lowercase"')


@dataclass(frozen=True)
class EncodedText:
    """What a text, or a pair of texts, became.

    ids, type_ids: int32 [length], special tokens included, no padding. offsets: (start, end) in characters of the
    text that each id came from. truncated: whether text was cut off. words: index of the word that each id belongs
    to, counted from 0 in each text as the tokenizer splits it. sequences: 0 for ids of the first text, 1 of the
    second. Both are None for special tokens.
    """

    ids: NDArray[np.int32]
    type_ids: NDArray[np.int32]
    offsets: tuple[tuple[int, int], ...]
    truncated: bool
    words: tuple[int | None, ...]
    sequences: tuple[int | None, ...]


class TextTokenizer:
    """Text to ids. max_length: ids an input may have, special tokens included.

    The tokenizer is kept without padding and truncation of its own: both are the caller's.
    """

    def __init__(self, serialized: str, max_length: int) -> None:
        try:
            with no_panic(f"{TOKENIZER_FILE}: not a tokenizer"):
                self._tokenizer = Tokenizer.from_str(serialized)
        except InputError:
            raise
        except Exception as error:  # the library raises plain Exception
            raise InputError(f"{TOKENIZER_FILE}: not a tokenizer ({error}).") from error
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.max_length = max_length

    def encode(
        self, text: str, pair: str | None = None, max_length: int | None = None, truncation: str = "longest_first"
    ) -> EncodedText:
        """Encode one text, or a pair; too long an input is cut at the end of a text.

        max_length: the most ids, special tokens included (None: the tokenizer's own limit). truncation: what is cut,
        a name of `TRUNCATIONS`; only_first and only_second leave the other text whole.

        Raises InputError when text holds characters that are not valid Unicode (lone surrogates), and when the text
        that may not be cut leaves no room for the other.
        """
        if truncation not in TRUNCATIONS:
            raise unknown("truncation", truncation, TRUNCATIONS)
        for part in (text, pair or ""):
            try:
                part.encode()
            except UnicodeEncodeError as error:
                raise InputError(f"text cannot be encoded: character {error.start} is not valid Unicode.") from error
        limit = self.max_length if max_length is None else max_length
        whole = self._run(text, pair)
        cut = len(whole.ids) > limit
        if cut:
            self._check_room(whole, pair is not None, limit, truncation)
            self._tokenizer.enable_truncation(limit, strategy=truncation)
            try:
                whole = self._run(text, pair)
            finally:
                self._tokenizer.no_truncation()
        return EncodedText(
            np.array(whole.ids, np.int32),
            np.array(whole.type_ids, np.int32),
            tuple((int(a), int(b)) for a, b in whole.offsets),
            cut,
            tuple(whole.word_ids),
            tuple(whole.sequence_ids),
        )

    def decode(self, ids: Sequence[int]) -> str:
        """The text that ids stand for, as near as the vocabulary keeps it; special tokens are left out.

        Raises InputError for an id that is not in the vocabulary.
        """
        for each in ids:
            self.token_of(each)
        return str(self._tokenizer.decode([int(each) for each in ids], skip_special_tokens=True))

    def has(self, token_id: int) -> bool:
        """Whether an id stands for a token."""
        return 0 <= token_id < 2**31 and self._tokenizer.id_to_token(token_id) is not None

    def token_of(self, token_id: int) -> str:
        """The token of an id, as the vocabulary writes it (`##ing`, `▁the`). Raises InputError when there is none."""
        if not self.has(int(token_id)):
            raise InputError(f"id {token_id} is not in the tokenizer's vocabulary of {self.vocab_size}.")
        return str(self._tokenizer.id_to_token(int(token_id)))

    def lowered(self) -> TextTokenizer:
        """The same tokenizer, with text in lower case before anything else is done to it."""
        made = Tokenizer.from_str(self.serialized())
        steps = [normalizers.Lowercase(), *([made.normalizer] if made.normalizer is not None else [])]
        made.normalizer = normalizers.Sequence(steps)
        return TextTokenizer(made.to_str(), self.max_length)

    def serialized(self) -> str:
        """tokenizer.json as text, the same for the same tokenizer."""
        return self._tokenizer.to_str()

    @property
    def type(self) -> str:
        """The model's type as tokenizer.json calls it: WordPiece, Unigram, BPE."""
        return type(self._tokenizer.model).__name__

    @functools.cached_property
    def lower_case(self) -> bool:
        """Whether the normalizer lowers case."""
        normalizer = json.dumps(json.loads(self.serialized()).get("normalizer"))
        return any(sign in normalizer for sign in _LOWERING)

    @property
    def vocab_size(self) -> int:
        """Number of ids, added tokens included."""
        return int(self._tokenizer.get_vocab_size())

    @property
    def largest_id(self) -> int:
        """The largest id that can come out."""
        return max(self._tokenizer.get_vocab().values(), default=-1)

    @property
    def mask_token(self) -> str | None:
        """The token that stands for a masked word, `[MASK]` or `<mask>`, or None where there is none."""
        special = self.special_ids()
        return next((token for token in _MASKS if token in special), None)

    @property
    def mask_id(self) -> int | None:
        """Id of `mask_token`."""
        token = self.mask_token
        return None if token is None else self.special_ids()[token]

    def special_ids(self) -> dict[str, int]:
        """Ids of the special tokens by token."""
        added = sorted(self._tokenizer.get_added_tokens_decoder().items())
        return {token.content: int(i) for i, token in added if token.special}

    def templates(self) -> tuple[list[str], list[str]]:
        """The single and the pair template: special tokens, `$A` and `$B`, each followed by `:` and its type id."""
        single = self._tokenizer.encode("a")
        pair = self._tokenizer.encode("a", "a")
        return _template(single), _template(pair)

    def vocabulary(self) -> list[str] | None:
        """WordPiece's tokens in the order of their ids, what vocab.txt lists.

        None where the ids have a gap or a token has a line break, and for other types, which a list does not describe.
        """
        if self.type != "WordPiece":
            return None
        by_id = {i: token for token, i in self._tokenizer.get_vocab().items()}
        if sorted(by_id) != list(range(len(by_id))) or any("\n" in t or "\r" in t for t in by_id.values()):
            return None
        return [by_id[i] for i in range(len(by_id))]

    def _run(self, text: str, pair: str | None) -> Any:
        with no_panic("tokenizer: its file is damaged and cannot encode this text"):
            return self._tokenizer.encode(text, pair)

    def _check_room(self, whole: Any, is_pair: bool, limit: int, truncation: str) -> None:
        if truncation == "longest_first":
            least = int(self._tokenizer.num_special_tokens_to_add(is_pair))
            if limit < least:
                raise InputError(f"at most {limit} ids leave no room for the {least} special tokens; allow more.")
            return
        may_be_cut = 0 if truncation == "only_first" else 1
        others = sum(sequence != may_be_cut for sequence in whole.sequence_ids)
        if others >= limit:
            kept, other = ("second", "first") if may_be_cut == 0 else ("first", "second")
            raise InputError(
                f"the {kept} text takes {others} of {limit} ids with the special tokens, which leaves no room for the "
                f"{other}; shorten it."
            )


@contextmanager
def no_panic(message: str) -> Iterator[None]:
    """The library's own assertions (a damaged character map, say) come as a BaseException of pyo3: name them."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise InputError(f"{message} ({str(error).splitlines()[0] if str(error) else 'panic'}).") from error


def _template(encoding: Any) -> list[str]:
    parts: list[str] = []
    for token, kind, sequence in zip(encoding.tokens, encoding.type_ids, encoding.sequence_ids, strict=True):
        part = f"{token}:{kind}" if sequence is None else f"${'AB'[sequence]}:{kind}"
        # A text may be several tokens; two special tokens in a row (RoBERTa's pairs) are two.
        if sequence is None or not parts or parts[-1] != part:
            parts.append(part)
    return parts
