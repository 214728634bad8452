"""The tokenizer of a model, on the `tokenizers` library; the artifact carries it as one tokenizer.json."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from mobilekit.errors import InputError

TOKENIZER_FILE = "tokenizer.json"
VOCABULARY_FILE = "vocab.txt"
# Room for the special tokens of a pair and a token of text each.
LEAST_LENGTH = 5
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


@dataclass(frozen=True)
class EncodedText:
    """ids, type_ids: int32 [length], special tokens included, no padding. offsets: (start, end) in characters of
    the text that each id came from. truncated: whether text was cut off."""

    ids: NDArray[np.int32]
    type_ids: NDArray[np.int32]
    offsets: tuple[tuple[int, int], ...]
    truncated: bool


class TextTokenizer:
    """Text to ids. max_length: ids an input may have, special tokens included.

    The tokenizer is kept without padding and truncation of its own: both are the caller's.
    """

    def __init__(self, serialized: str, max_length: int) -> None:
        try:
            self._tokenizer = Tokenizer.from_str(serialized)
        except Exception as error:  # the library raises plain Exception
            raise InputError(f"{TOKENIZER_FILE}: not a tokenizer ({error}).") from error
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.max_length = max_length

    def encode(self, text: str, pair: str | None = None, max_length: int | None = None) -> EncodedText:
        """Encode one text, or a pair; too long an input is cut, the longer part first.

        Raises InputError when text holds characters that are not valid Unicode (lone surrogates).
        """
        for part in (text, pair or ""):
            try:
                part.encode()
            except UnicodeEncodeError as error:
                raise InputError(f"text cannot be encoded: character {error.start} is not valid Unicode.") from error
        whole = self._tokenizer.encode(text, pair)
        limit = self.max_length if max_length is None else max_length
        cut = len(whole.ids) > limit
        if cut:
            self._tokenizer.enable_truncation(limit, strategy="longest_first")
            try:
                whole = self._tokenizer.encode(text, pair)
            finally:
                self._tokenizer.no_truncation()
        return EncodedText(
            np.array(whole.ids, np.int32),
            np.array(whole.type_ids, np.int32),
            tuple((int(a), int(b)) for a, b in whole.offsets),
            cut,
        )

    def serialized(self) -> str:
        """tokenizer.json as text, the same for the same tokenizer."""
        return self._tokenizer.to_str()

    @property
    def type(self) -> str:
        """The model's type as tokenizer.json calls it: WordPiece, Unigram, BPE."""
        return str(self._content["model"]["type"])

    @property
    def lower_case(self) -> bool:
        """Whether the normalizer lowers case."""
        return '"lowercase": true' in json.dumps(self._content.get("normalizer"))

    @property
    def vocab_size(self) -> int:
        """Number of ids, added tokens included."""
        return int(self._tokenizer.get_vocab_size())

    @property
    def largest_id(self) -> int:
        """The largest id that can come out."""
        return max(self._tokenizer.get_vocab().values(), default=-1)

    def special_ids(self) -> dict[str, int]:
        """Ids of the special tokens by token."""
        return {t["content"]: int(t["id"]) for t in self._content.get("added_tokens", []) if t["special"]}

    def templates(self) -> tuple[list[str], list[str]]:
        """The single and the pair template: special tokens, `$A` and `$B`, each followed by `:` and its type id."""
        single = self._tokenizer.encode("a")
        pair = self._tokenizer.encode("a", "a")
        return _template(single), _template(pair)

    def vocabulary(self) -> list[str] | None:
        """Tokens in the order of their ids where the ids have no gap and no token has a line break, else None."""
        by_id = {i: token for token, i in self._tokenizer.get_vocab().items()}
        if sorted(by_id) != list(range(len(by_id))) or any("\n" in t or "\r" in t for t in by_id.values()):
            return None
        return [by_id[i] for i in range(len(by_id))]

    @property
    def _content(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.serialized())
        return content


def _template(encoding: Any) -> list[str]:
    parts: list[str] = []
    for token, kind, sequence in zip(encoding.tokens, encoding.type_ids, encoding.sequence_ids, strict=True):
        part = f"{token}:{kind}" if sequence is None else f"${'AB'[sequence]}:{kind}"
        if not parts or parts[-1] != part:
            parts.append(part)
    return parts


def load_tokenizer(folder: Path, max_length: int) -> TextTokenizer:
    """The tokenizer of a checkpoint folder: tokenizer.json, else WordPiece from vocab.txt.

    max_length: the model's own limit; the folder's tokenizer_config.json (model_max_length) may lower it.
    Raises InputError when there is neither, or when it cannot be read.
    """
    file, vocabulary, options = folder / TOKENIZER_FILE, folder / VOCABULARY_FILE, _options(folder)
    own = options.get("model_max_length")
    if isinstance(own, int | float) and own >= 1:
        max_length = int(min(max_length, own))
    if max_length < LEAST_LENGTH:
        raise InputError(f"{folder}: inputs of at most {max_length} ids; a pair's special tokens need {LEAST_LENGTH}.")
    if file.is_file():
        try:
            return TextTokenizer(file.read_text(encoding="utf-8"), max_length)
        except UnicodeDecodeError as error:
            raise InputError(f"{file}: not UTF-8 text ({error}).") from error
        except InputError as error:
            raise InputError(f"{folder}/{error}") from error
    if vocabulary.is_file():
        return TextTokenizer(_word_piece(vocabulary, options).to_str(), max_length)
    raise InputError(f"{folder}: no tokenizer; expected {TOKENIZER_FILE} or {VOCABULARY_FILE} in it.")


def _options(folder: Path) -> dict[str, Any]:
    file = folder / "tokenizer_config.json"
    if not file.is_file():
        return {}
    try:
        options = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{file}: not JSON ({error}).") from error
    return options if isinstance(options, dict) else {}


def _word_piece(file: Path, options: dict[str, Any]) -> Tokenizer:
    """BERT's tokenizer from a vocabulary, with the clean-up rules that `transformers.BertTokenizer` has."""
    from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

    try:
        lines = file.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not UTF-8 text ({error}).") from error
    tokens = [line.rstrip("\r") for line in lines]
    vocabulary = {token: i for i, token in enumerate(tokens) if token or i < len(tokens) - 1}
    missing = [token for token in ("[UNK]", "[CLS]", "[SEP]", "[PAD]") if token not in vocabulary]
    if missing:
        raise InputError(f"{file}: not a BERT vocabulary: {', '.join(missing)} missing.")
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    made.normalizer = normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=bool(options.get("tokenize_chinese_chars", True)),
        strip_accents=options.get("strip_accents"),
        lowercase=bool(options.get("do_lower_case", True)),
    )
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece(prefix="##")
    made.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")],
    )
    made.add_special_tokens([token for token in _SPECIAL if token in vocabulary])
    return made
