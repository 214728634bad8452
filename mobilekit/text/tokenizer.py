"""The tokenizer of a model: tokenizer.json, or made from the vocabulary file that a checkpoint folder has."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tokenizers import Tokenizer

from mobilekit.errors import InputError
from mobilekit.text.byte_level import BYTE_LEVEL_FILE, MERGES_FILE, byte_level
from mobilekit.text.options import Options, read_options
from mobilekit.text.text_tokenizer import TOKENIZER_FILE, EncodedText, TextTokenizer, no_panic
from mobilekit.text.unigram import SENTENCEPIECE_FILES, sentence_pieces
from mobilekit.text.word_piece import VOCABULARY_FILE, word_piece

__all__ = [
    "LEAST_LENGTH",
    "TOKENIZER_FILE",
    "TOKENIZER_FILES",
    "VOCABULARY_FILE",
    "EncodedText",
    "TextTokenizer",
    "has_tokenizer",
    "load_tokenizer",
]
# Room for the special tokens of a pair and for text.
LEAST_LENGTH = 5


def has_tokenizer(folder: Path) -> bool:
    """Whether a folder has files that `load_tokenizer` makes a tokenizer from."""
    return (folder / TOKENIZER_FILE).is_file() or _vocabulary_of(folder) is not None


def load_tokenizer(folder: Path, max_length: int) -> TextTokenizer:
    """The tokenizer of a checkpoint folder.

    From the first of these that is there: tokenizer.json; vocab.txt (BERT's WordPiece); spiece.model (ALBERT);
    sentencepiece.bpe.model (XLM-RoBERTa, CamemBERT); vocab.json and merges.txt (RoBERTa). Where a file could be of
    several families, tokenizer_class and model_type in the folder's JSON files say which.

    max_length: the model's own limit; the folder's tokenizer_config.json (model_max_length) may lower it.
    Raises InputError when there is none of them, or when it cannot be read.
    """
    options = read_options(folder)
    max_length = options.max_length(max_length)
    if max_length < LEAST_LENGTH:
        raise InputError(f"{folder}: inputs of at most {max_length} ids; a pair's special tokens need {LEAST_LENGTH}.")
    file = folder / TOKENIZER_FILE
    if file.is_file():
        try:
            text = file.read_text(encoding="utf-8")
            return TextTokenizer(_as_configured(TextTokenizer(text, max_length), options), max_length)
        except UnicodeDecodeError as error:
            raise InputError(f"{file}: not UTF-8 text ({error}).") from error
        except InputError as error:
            raise InputError(f"{folder}/{error}") from error
    name = _vocabulary_of(folder)
    if name is None:
        alone = f"; {BYTE_LEVEL_FILE} needs {MERGES_FILE} beside it" if (folder / BYTE_LEVEL_FILE).is_file() else ""
        files = ", ".join((TOKENIZER_FILE, *_LOADERS))
        raise InputError(f"{folder}: no tokenizer; expected one of {files} in it{alone}.")
    try:
        with no_panic(f"{folder / name}: no tokenizer can be made from it"):
            made = _LOADERS[name](folder, options).to_str()
    except InputError:
        raise
    except Exception as error:  # the library raises plain Exception, and TypeError for lone surrogates
        raise InputError(f"{folder / name}: no tokenizer can be made from it ({error}).") from error
    return TextTokenizer(made, max_length)


def _as_configured(tokenizer: TextTokenizer, options: Options) -> str:
    """tokenizer.json with the options of tokenizer_config.json where they differ: `transformers` follows the latter."""
    named = str(options.values.get("tokenizer_class", "")).removesuffix("Fast")
    content = json.loads(tokenizer.serialized())
    parts = [content.get(name) or {} for name in ("normalizer", "pre_tokenizer", "post_processor")]
    for kind, classes, names in _FOLLOWED:
        for part in parts:
            if named in classes and part.get("type") == kind:
                for field, option in names.items():
                    part[field] = options.flag(option, part.get(field))
    return json.dumps(content)


_BERT_CLASSES = ("BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer")
# A part of tokenizer.json, the classes that set it anew, and which of its fields from which options.
_FOLLOWED = (
    (
        "BertNormalizer",
        _BERT_CLASSES,
        {
            "lowercase": "do_lower_case",
            "strip_accents": "strip_accents",
            "handle_chinese_chars": "tokenize_chinese_chars",
        },
    ),
    ("ByteLevel", ("RobertaTokenizer",), {"add_prefix_space": "add_prefix_space"}),
    ("RobertaProcessing", ("RobertaTokenizer",), {"add_prefix_space": "add_prefix_space"}),
)


def _vocabulary_of(folder: Path) -> str | None:
    for name in _LOADERS:
        complete = name != BYTE_LEVEL_FILE or (folder / MERGES_FILE).is_file()
        if complete and (folder / name).is_file():
            return name
    return None


def _from_pieces(name: str) -> Callable[[Path, Options], Tokenizer]:
    return lambda folder, options: sentence_pieces(folder, options, name)


_LOADERS: dict[str, Callable[[Path, Options], Tokenizer]] = {
    VOCABULARY_FILE: word_piece,
    **{name: _from_pieces(name) for name in SENTENCEPIECE_FILES},
    BYTE_LEVEL_FILE: byte_level,
}
# All files of tokens that a tokenizer is made from.
TOKENIZER_FILES = (TOKENIZER_FILE, *_LOADERS, MERGES_FILE)
