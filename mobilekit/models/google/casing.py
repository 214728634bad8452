"""Whether a release's text keeps its capital letters: no file of it says so."""

from __future__ import annotations

import json
from pathlib import Path

from mobilekit.text.tokenizer import TOKENIZER_FILE, TextTokenizer

_OPTIONS_FILE = "tokenizer_config.json"
# A vocabulary of lower-cased text has no capital letter as a word piece; one of cased text has its whole alphabet.
_LEAST_CAPITALS = 10


def with_own_case(folder: Path, tokenizer: TextTokenizer) -> tuple[TextTokenizer, tuple[str, ...]]:
    """A release's tokenizer with capital letters kept where its vocabulary has them; and what to say of it.

    tokenizer: that of the folder; it stays as it is where a tokenizer.json or tokenizer_config.json says how it works.
    Google's scripts take `--do_lower_case` by hand, and warn where it does not fit the folder's name (tokenization.py
    in google-research/bert); read in lower case, every capitalised word of a cased model would be another one.
    """
    content = json.loads(tokenizer.serialized())
    normalizer = content.get("normalizer") or {}
    decided = any((folder / name).is_file() for name in (TOKENIZER_FILE, _OPTIONS_FILE))
    if decided or normalizer.get("type") != "BertNormalizer":
        return tokenizer, ()
    capitals = sum(len(token) == 1 and token != token.lower() for token in content["model"]["vocab"])
    if capitals < _LEAST_CAPITALS:
        return tokenizer, ()
    normalizer["lowercase"] = False
    note = f"the vocabulary has capital letters, so text keeps its case (do_lower_case in {_OPTIONS_FILE} decides it)."
    return TextTokenizer(json.dumps(content), tokenizer.max_length), (note,)
