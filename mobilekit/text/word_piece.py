"""BERT's tokenizer from a vocabulary alone (Devlin et al. 2019)."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Tokenizer

from mobilekit.errors import InputError
from mobilekit.text.options import Options

VOCABULARY_FILE = "vocab.txt"
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def word_piece(folder: Path, options: Options) -> Tokenizer:
    """A WordPiece tokenizer from vocab.txt, with the clean-up rules that `transformers.BertTokenizer` has.

    options: do_lower_case, strip_accents, tokenize_chinese_chars. Raises InputError when it is no such vocabulary.
    """
    from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

    file = folder / VOCABULARY_FILE
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
        handle_chinese_chars=bool(options.flag("tokenize_chinese_chars", True)),
        strip_accents=options.flag("strip_accents", None),
        lowercase=bool(options.flag("do_lower_case", True)),
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
