"""BERT's tokenizer from a vocabulary alone (Devlin et al. 2019)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tokenizers import Tokenizer

from mobilekit.errors import InputError
from mobilekit.text.options import Options
from mobilekit.text.special import SpecialTokens, read_special_tokens

VOCABULARY_FILE = "vocab.txt"
_ROLES = {
    "bos_token": "[CLS]",
    "eos_token": "[SEP]",
    "unk_token": "[UNK]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}


def word_piece(folder: Path, options: Options) -> Tokenizer:
    """A WordPiece tokenizer from vocab.txt, with the clean-up rules that `transformers.BertTokenizer` has.

    options: do_lower_case, strip_accents, tokenize_chinese_chars, special tokens. Raises InputError when it is no such
    vocabulary, or is of another class of tokenizer.
    """
    from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

    file = folder / VOCABULARY_FILE
    options.family(file, ("bert", "distilbert", "electra"))
    try:
        lines = file.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not UTF-8 text ({error}).") from error
    tokens = [line.rstrip("\r") for line in lines]
    vocabulary = {token: i for i, token in enumerate(tokens) if token or i < len(tokens) - 1}
    special = _known(read_special_tokens(options, _ROLES), vocabulary)
    first, last = special.text("cls_token"), special.text("sep_token")
    needed = (special.text("unk_token"), first, last, special.text("pad_token"))
    missing = [token for token in needed if token not in vocabulary]
    if missing:
        raise InputError(f"{file}: not a BERT vocabulary: {', '.join(missing)} missing.")
    made = Tokenizer(models.WordPiece(vocabulary, unk_token=needed[0], max_input_chars_per_word=100))
    made.normalizer = normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=bool(options.flag("tokenize_chinese_chars", True)),
        strip_accents=options.flag("strip_accents", None),
        lowercase=bool(options.flag("do_lower_case", True)),
    )
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece(prefix="##")
    made.post_processor = processors.TemplateProcessing(
        single=f"{first}:0 $A:0 {last}:0",
        pair=f"{first}:0 $A:0 {last}:0 $B:1 {last}:1",
        special_tokens=[(token, vocabulary[token]) for token in (first, last)],
    )
    special.add_to(made)
    return made


def _known(special: SpecialTokens, vocabulary: dict[str, int]) -> SpecialTokens:
    """Without a mask token that the vocabulary lacks: it would get an id of which the embedding has no row."""
    listed = {str(token.content) for _, token in special.listed}
    kept = {r: t for r, t in special.roles.items() if r != "mask_token" or str(t.content) in {*vocabulary, *listed}}
    return replace(special, roles=kept)
