"""RoBERTa's tokenizer from a vocabulary and its merges: byte-level BPE (Radford et al. 2019, section 2.2)."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Tokenizer

from mobilekit.errors import InputError
from mobilekit.text.options import Options, read_object
from mobilekit.text.special import read_special_tokens
from mobilekit.text.unigram import ROBERTA_ROLES

BYTE_LEVEL_FILE = "vocab.json"
MERGES_FILE = "merges.txt"


def byte_level(folder: Path, options: Options) -> Tokenizer:
    """A tokenizer from vocab.json and merges.txt, with the rules that `transformers.RobertaTokenizer` has.

    options: add_prefix_space, trim_offsets, special tokens. Raises InputError when a file is broken, or when the
    vocabulary lacks the tokens that stand around a text.
    """
    from tokenizers import decoders, models, pre_tokenizers, processors

    file = folder / BYTE_LEVEL_FILE
    options.family(file, ("roberta",))
    vocabulary = _vocabulary(file)
    merges = _merges(folder / MERGES_FILE, vocabulary)
    special = read_special_tokens(options, ROBERTA_ROLES)
    first, last = special.text("cls_token"), special.text("sep_token")
    missing = [token for token in (first, last) if token not in vocabulary]
    if missing:
        raise InputError(f"{file}: not a RoBERTa vocabulary: {', '.join(missing)} missing.")
    made = Tokenizer(
        models.BPE(
            vocabulary, merges, dropout=None, continuing_subword_prefix="", end_of_word_suffix="", fuse_unk=False
        )
    )
    space = bool(options.flag("add_prefix_space", False))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=space)
    made.decoder = decoders.ByteLevel()
    special.add_to(made)
    trim = bool(options.flag("trim_offsets", True))
    made.post_processor = processors.RobertaProcessing(
        (last, vocabulary[last]), (first, vocabulary[first]), trim, space
    )
    return made


def _vocabulary(file: Path) -> dict[str, int]:
    content = read_object(file)
    for token, i in content.items():
        if not isinstance(i, int) or isinstance(i, bool) or not 0 <= i < 2**31:
            raise InputError(f"{file}: the id of '{token}' is {i!r}; it has to be a whole number from 0.")
    if not content or len(set(content.values())) != len(content):
        raise InputError(f"{file}: it has no tokens, or two with the same id.")
    return dict(content)


def _merges(file: Path, vocabulary: dict[str, int]) -> list[tuple[str, str]]:
    try:
        lines = file.read_text(encoding="utf-8").split("\n")
    except FileNotFoundError as error:
        raise InputError(f"{file}: not found; {BYTE_LEVEL_FILE} beside it is of no use alone.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: not readable as UTF-8 text ({error}).") from error
    merges = []
    for number, line in enumerate(lines, 1):
        pair = line.rstrip("\r").split(" ")
        if line.startswith("#version") or (number == len(lines) and not line):
            continue
        if len(pair) != 2 or not all(part in vocabulary for part in (*pair, "".join(pair))):
            raise InputError(
                f"{file}: line {number} is no merge of two tokens of {BYTE_LEVEL_FILE} into a third: '{line[:40]}'."
            )
        merges.append((pair[0], pair[1]))
    return merges
