"""What a checkpoint folder says of its tokenizer beside the vocabulary: options, family, special tokens."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mobilekit.errors import InputError

OPTIONS_FILE = "tokenizer_config.json"
_MODEL_FILE = "config.json"
# transformers' classes by the family whose rules they hold; what is generic says nothing.
_FAMILIES = {
    "AlbertTokenizer": "albert",
    "BertTokenizer": "bert",
    "DistilBertTokenizer": "distilbert",
    "ElectraTokenizer": "electra",
    "CamembertTokenizer": "camembert",
    "RobertaTokenizer": "roberta",
    "XLMRobertaTokenizer": "xlm-roberta",
}
_GENERIC = ("PreTrainedTokenizer", "TokenizersBackend", "SentencePieceBackend", "PythonBackend")


@dataclass(frozen=True)
class Options:
    """values: tokenizer_config.json; model: config.json (an empty object where there is none)."""

    folder: Path
    values: Mapping[str, Any]
    model: Mapping[str, Any]

    def flag(self, name: str, default: bool | None) -> bool | None:
        """A true-or-false option; null is the default. Raises InputError when it is anything else."""
        value = self.values.get(name)
        if value is not None and not isinstance(value, bool):
            raise InputError(f"{self.folder / OPTIONS_FILE}: {name} is {value!r}; it has to be true or false.")
        return default if value is None else value

    def max_length(self, most: int) -> int:
        """`most`, or model_max_length where that is less."""
        own = self.values.get("model_max_length")
        if not isinstance(own, int | float) or isinstance(own, bool) or not own >= 1:
            return most
        return int(min(most, own))

    def family(self, file: Path, fits: tuple[str, ...]) -> str | None:
        """Which of the families that have such a file it is, or None where neither class nor model_type says.

        Raises InputError for a tokenizer class that is not made from such a file, or is not known.
        """
        named = self.values.get("tokenizer_class") or self.model.get("tokenizer_class")
        if isinstance(named, str) and (name := named.removesuffix("Fast")) not in _GENERIC:
            if _FAMILIES.get(name) in fits:
                return _FAMILIES[name]
            known = ", ".join(cls for cls, family in _FAMILIES.items() if family in fits)
            raise InputError(
                f"{file}: the folder's tokenizer_class '{named}' is not supported with this file alone; supported: "
                f"{known}. Otherwise save the tokenizer as tokenizer.json (transformers: save_pretrained)."
            )
        model_type = self.model.get("model_type")
        return model_type if model_type in fits else None


def read_options(folder: Path) -> Options:
    """The options of a folder. Raises InputError for files that are not JSON objects."""
    return Options(folder, read_object(folder / OPTIONS_FILE), read_object(folder / _MODEL_FILE))


def read_object(file: Path) -> Mapping[str, Any]:
    """A JSON object, empty where there is no such file. Raises InputError when it is not one."""
    if not file.is_file():
        return {}
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{file}: not JSON ({error}).") from error
    if not isinstance(content, dict):
        raise InputError(f"{file}: expected a JSON object, got {type(content).__name__}.")
    return content
