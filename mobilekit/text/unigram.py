"""ALBERT's, XLM-RoBERTa's and CamemBERT's tokenizers from a SentencePiece model alone.

Each gives the ids and offsets of the family's class in `transformers` 5 loaded from the same file: pieces as they are
(ALBERT), or moved to make room for fairseq's special tokens (the other two). As there, byte fallback is not used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tokenizers import AddedToken, Tokenizer
from tokenizers.normalizers import Normalizer

from mobilekit.errors import InputError
from mobilekit.text.options import Options
from mobilekit.text.sentencepiece import CONTROL, USER_DEFINED, Piece, read_sentencepiece
from mobilekit.text.special import SpecialTokens, read_special_tokens

SENTENCEPIECE_FILES = ("spiece.model", "sentencepiece.bpe.model", "30k-clean.model")
METASPACE = "▁"
Vocabulary = list[tuple[str, float]]
_FAIRSEQ_FIRST = ("<unk>", "<s>", "</s>")
_BERT_ROLES: dict[str, str | AddedToken] = {
    "bos_token": "[CLS]",
    "eos_token": "[SEP]",
    "unk_token": "<unk>",
    "sep_token": "[SEP]",
    "pad_token": "<pad>",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}
ROBERTA_ROLES: dict[str, str | AddedToken] = {
    "bos_token": "<s>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "sep_token": "</s>",
    "pad_token": "<pad>",
    "cls_token": "<s>",
    "mask_token": "<mask>",
}


@dataclass(frozen=True)
class _Family:
    """roles: the special tokens. first: how the file's pieces have to begin. place: (pieces, special tokens) -> the
    vocabulary. unknown: id of the unknown token in it. ends: roles of what stands before and after a text."""

    roles: Mapping[str, str | AddedToken]
    first: tuple[str, ...]
    place: Callable[[Sequence[Piece], SpecialTokens], Vocabulary]
    unknown: int
    ends: tuple[str, str]


def sentence_pieces(folder: Path, options: Options, name: str) -> Tokenizer:
    """The tokenizer of a folder's SentencePiece model, file `name`.

    options: do_lower_case and keep_accents (ALBERT), add_prefix_space, special tokens. Raises InputError when the file
    is broken, is no unigram model, or does not begin as the family's files do.
    """
    file = folder / name
    model = read_sentencepiece(file)
    kind = options.family(file, tuple(_FAMILIES)) or _guess(file, model.pieces)
    family = _FAMILIES[kind]
    texts = [piece.text for piece in model.pieces]
    special = read_special_tokens(options, family.roles)
    _check(file, kind, family, texts, special)

    from tokenizers import models, normalizers

    made = Tokenizer(models.Unigram(family.place(model.pieces, special), family.unknown, False))
    steps = _albert_clean_up(options) if kind == "albert" else []
    if model.charsmap:
        steps.append(normalizers.Precompiled(model.charsmap))
    if steps:
        made.normalizer = normalizers.Sequence(steps)
    extra = [
        AddedToken(piece.text, normalized=False, special=piece.kind == CONTROL)
        for piece in model.pieces
        if piece.kind in (CONTROL, USER_DEFINED)
    ]
    special.add_to(made, extra)
    first, last = (special.text(role) for role in family.ends)
    add_ends(made, first, last, bert=kind == "albert")
    add_metaspace(made, bool(options.flag("add_prefix_space", True)))
    return made


def add_ends(tokenizer: Tokenizer, first: str, last: str, bert: bool) -> None:
    """Put special tokens around texts: BERT's pairs `first A last B last` with types 0 and 1, RoBERTa's
    `first A last last B last` with type 0."""
    from tokenizers import processors

    for token in (first, last):
        if any(c in ":$" or c.isspace() for c in token):
            raise InputError(f"special token '{token}' has a colon, a dollar or white space; no template can hold it.")
    pair = "{0}:0 $A:0 {1}:0 $B:1 {1}:1" if bert else "{0}:0 $A:0 {1}:0 {1}:0 $B:0 {1}:0"
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first}:0 $A:0 {last}:0".split(),
        pair=pair.format(first, last).split(),
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in (first, last)],
    )


def add_metaspace(tokenizer: Tokenizer, prefix_space: bool) -> None:
    """Split at white space, and let each word begin with `▁`."""
    from tokenizers import decoders, pre_tokenizers

    scheme = "always" if prefix_space else "never"
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(METASPACE, scheme)]
    )
    tokenizer.decoder = decoders.Metaspace(METASPACE, scheme)


def _albert_clean_up(options: Options) -> list[Normalizer]:
    from tokenizers import normalizers

    steps: list[Normalizer] = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
    if not options.flag("keep_accents", False):
        steps += [normalizers.NFKD(), normalizers.StripAccents()]
    if options.flag("do_lower_case", True):
        steps.append(normalizers.Lowercase())
    return steps


def _guess(file: Path, pieces: Sequence[Piece]) -> str:
    texts = [piece.text for piece in pieces]
    if {"[CLS]", "[SEP]"} <= set(texts):
        return "albert"
    if file.name == SENTENCEPIECE_FILES[1] and tuple(texts[:3]) == _FAIRSEQ_FIRST:
        return "xlm-roberta"
    raise InputError(
        f"{file}: its pieces ({', '.join(texts[:3])}, ...) are not ALBERT's nor XLM-RoBERTa's; say in "
        "tokenizer_config.json which tokenizer_class it is, or save the tokenizer as tokenizer.json."
    )


def _check(file: Path, kind: str, family: _Family, texts: list[str], special: SpecialTokens) -> None:
    begin = tuple(texts[: len(family.first)])
    if begin != family.first:
        raise InputError(
            f"{file}: its first pieces are {', '.join(begin)}; a file of {kind} begins with {', '.join(family.first)}."
        )
    if kind != "albert":
        return
    if len(texts) < 2 or texts[1] != special.text("unk_token"):
        raise InputError(f"{file}: piece 1 has to be {special.text('unk_token')}, as in every file of albert.")
    missing = [special.text(role) for role in ("cls_token", "sep_token") if special.text(role) not in texts]
    if missing:
        raise InputError(f"{file}: no file of albert: {', '.join(missing)} missing.")


def _as_they_are(pieces: Sequence[Piece], special: SpecialTokens) -> Vocabulary:
    return [(piece.text, piece.score) for piece in pieces]


def _xlm_roberta(pieces: Sequence[Piece], special: SpecialTokens) -> Vocabulary:
    first = [(special.text(role), 0.0) for role in ("bos_token", "pad_token", "eos_token", "unk_token")]
    return [*first, *_as_they_are(pieces[3:], special), (special.text("mask_token"), 0.0)]


def _camembert(pieces: Sequence[Piece], special: SpecialTokens) -> Vocabulary:
    # fairseq's dictionary comes before the pieces and has these four already; the pieces' own follow it.
    first = [
        ("<s>NOTUSED", 0.0),
        (special.text("pad_token"), 0.0),
        ("</s>NOTUSED", 0.0),
        (special.text("unk_token"), 0.0),
        ("<unk>NOTUSED", -100.0),
    ]
    return [*first, *_as_they_are(pieces[1:], special), (special.text("mask_token"), 0.0)]


_CAMEMBERT_ROLES = {**ROBERTA_ROLES, "mask_token": AddedToken("<mask>", lstrip=True, special=True)}
_FAMILIES = {
    "albert": _Family(_BERT_ROLES, (), _as_they_are, 1, ("cls_token", "sep_token")),
    "camembert": _Family(_CAMEMBERT_ROLES, _FAIRSEQ_FIRST, _camembert, 3, ("bos_token", "eos_token")),
    "xlm-roberta": _Family(ROBERTA_ROLES, _FAIRSEQ_FIRST, _xlm_roberta, 3, ("bos_token", "eos_token")),
}
