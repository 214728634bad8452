"""Special tokens: which there are and how they are found in text, as a folder's files say it.

The order and the flags are those of `transformers` 5 (`TokenizersBackend.__init__`), so that ids and offsets are, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tokenizers import AddedToken, Tokenizer

from mobilekit.errors import InputError
from mobilekit.text.options import OPTIONS_FILE, Options, read_object

# In the order in which tokens that the vocabulary lacks get their ids.
ROLES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


@dataclass(frozen=True)
class SpecialTokens:
    """roles: `cls_token` and its like -> the token. listed: (id, token) of all tokens outside the model's own rules,
    where the folder lists them. extra: more special tokens, or None where the folder says nothing of them."""

    roles: Mapping[str, AddedToken]
    listed: tuple[tuple[int, AddedToken], ...]
    extra: tuple[AddedToken, ...] | None
    where: str

    def text(self, role: str) -> str:
        """The token of a role as text."""
        return str(self.roles[role].content)

    def add_to(self, tokenizer: Tokenizer, extra: Iterable[AddedToken] = ()) -> None:
        """Make all of them tokens of the tokenizer; what its vocabulary lacks gets the next ids.

        extra: taken where the folder says nothing of extra tokens. Raises InputError when a listed token would get
        another id than listed.
        """
        named = {str(token.content) for token in self.roles.values()}
        added: dict[str, AddedToken] = {}
        more = extra if self.extra is None else self.extra
        for token in (*(t for _, t in self.listed), *(self.roles[r] for r in self.roles), *more):
            added.setdefault(str(token.content), token)
        for text, token in added.items():
            if text in named:
                token.special = True
        tokenizer.add_tokens(list(added.values()))
        for i, token in self.listed:
            got = tokenizer.token_to_id(token.content)
            if got != i:
                raise InputError(f"{self.where}: lists '{token.content}' as id {i}; in the vocabulary it is {got}.")


def read_special_tokens(options: Options, defaults: Mapping[str, str | AddedToken]) -> SpecialTokens:
    """The special tokens of a folder: tokenizer_config.json, else special_tokens_map.json and added_tokens.json.

    defaults: role -> the family's own token. Raises InputError for values of the wrong kind.
    """
    where = str(options.folder / OPTIONS_FILE)
    values = dict(options.values)
    listed = _listed(values.get("added_tokens_decoder"), where)
    if "added_tokens_decoder" not in values:
        old = read_object(options.folder / "special_tokens_map.json")
        values |= {role: old[role] for role in ROLES if role in old}
    by_text = {str(token.content): token for _, token in listed}
    roles: dict[str, AddedToken] = {}
    for role in ROLES:
        default = defaults[role]
        token = _token(values.get(role) or default, f"{where}: {role}")
        if isinstance(default, AddedToken) and values.get(role) == default.content:
            token = default
        roles[role] = by_text.get(str(token.content), token)
    extra = _extra(values, where)
    if "added_tokens_decoder" not in values:
        special = {str(token.content) for token in (*roles.values(), *(extra or ()))}
        listed, where = _old_listed(options, special, where)
    return SpecialTokens(roles, listed, extra, where)


def _listed(value: object, where: str) -> tuple[tuple[int, AddedToken], ...]:
    if value is None:
        return ()
    if not isinstance(value, dict) or not all(isinstance(i, str) and i.isdecimal() for i in value):
        raise InputError(f"{where}: added_tokens_decoder has to map ids to tokens.")
    return tuple(sorted(((int(i), _token(t, f"{where}: token {i}")) for i, t in value.items()), key=lambda x: x[0]))


def _old_listed(options: Options, special: set[str], where: str) -> tuple[tuple[tuple[int, AddedToken], ...], str]:
    file = options.folder / "added_tokens.json"
    content = read_object(file)
    if not content:
        return (), where
    if not all(isinstance(i, int) and not isinstance(i, bool) and i >= 0 for i in content.values()):
        raise InputError(f"{file}: has to map tokens to ids.")
    tokens = [(i, AddedToken(t, normalized=t not in special, special=t in special)) for t, i in content.items()]
    return tuple(sorted(tokens, key=lambda x: x[0])), str(file)


def _extra(values: Mapping[str, Any], where: str) -> tuple[AddedToken, ...] | None:
    names = [name for name in ("extra_special_tokens", "additional_special_tokens") if name in values]
    if not names:
        return None
    value = next((values[name] for name in names if values[name]), None) or []
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        raise InputError(f"{where}: {names[0]} has to be a list of tokens.")
    return tuple(_token(each, f"{where}: {names[0]}") for each in value)


def _token(value: object, where: str) -> AddedToken:
    if isinstance(value, AddedToken):
        return value
    if isinstance(value, str) and value:
        return AddedToken(value, special=True)
    content = value.get("content") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(content, str) or not content:
        raise InputError(f"{where} is {value!r}; it has to be a token.")
    flags = {name: value[name] for name in _FLAGS if value.get(name) is not None}
    if not all(isinstance(flag, bool) for flag in flags.values()):
        raise InputError(f"{where}: {', '.join(_FLAGS)} have to be true or false.")
    return AddedToken(content, **flags)
