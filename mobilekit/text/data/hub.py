"""Data sets of the Hugging Face hub through the `datasets` library."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mobilekit.errors import InputError, unknown
from mobilekit.text.data.arrow import ArrowTable, datasets_errors, require_datasets
from mobilekit.text.data.request import Request
from mobilekit.text.data.rows import TextData
from mobilekit.text.data.table import table_data

PREFIX = "hub:"
# What the hub's data sets call their splits.
_ALIASES = {"dev": ("dev", "validation", "valid", "val"), "test": ("test", "eval"), "train": ("train",)}


def read_hub(spec: str, split: str | None, request: Request) -> TextData:
    """A split of `hub:NAME/CONFIG[:SPLIT]`, memory-mapped.

    NAME is OWNER/NAME or one of the old names without an owner; CONFIG may be left out. It may be a folder of data
    files too. The split is that of the spec, else `split` ("dev" means the hub's "validation" too), else "train" or the
    only one. Raises InputError when there is no such data set, configuration or split, or no network.
    """
    name, part = split_spec(spec, split)
    found = load_hub(name, streaming=False)
    chosen = choose_split(list(found), part, f"{PREFIX}{name}")
    return table_data(ArrowTable(f"{PREFIX}{name}:{chosen}", found[chosen]), request)


def split_spec(spec: str, split: str | None) -> tuple[str, str | None]:
    """NAME/CONFIG and SPLIT; raises InputError when the spec and `split` name different ones."""
    name, _, part = spec.removeprefix(PREFIX).partition(":")
    if not name.strip("/") or spec.endswith(":"):
        raise InputError(f"'{spec}': expected {PREFIX}NAME/CONFIG, or {PREFIX}NAME/CONFIG:SPLIT.")
    if part and split and part != split:
        raise InputError(f"'{spec}': names split '{part}', and split '{split}' was asked for; give one of them.")
    return name, part or split


def choose_split(names: Sequence[str], wanted: str | None, place: str) -> str:
    """The split that is meant among those there are."""
    if wanted is None:
        if "train" not in names and len(names) != 1:
            raise InputError(f"{place}: say which split; it has {', '.join(names)}.")
        return "train" if "train" in names else names[0]
    found = next((name for name in _ALIASES.get(wanted, (wanted,)) if name in names), None)
    if found is None:
        raise unknown("split", wanted, names, f"{place}: ")
    return found


def load_hub(name: str, streaming: bool) -> Any:
    """All splits of a data set by name: `datasets.DatasetDict`, or `IterableDatasetDict` when streaming."""
    datasets = require_datasets(f"{PREFIX}{name}")
    missing: Exception | None = None
    for repository, config in _readings(name):
        try:
            with datasets_errors(f"{PREFIX}{name}"):
                return datasets.load_dataset(repository, config, streaming=streaming)
        except InputError as error:
            missing = error.__cause__ if isinstance(error.__cause__, Exception) else error
            absent = isinstance(missing, datasets.exceptions.DatasetNotFoundError)
            # Without a network asking for the other reading takes another half minute.
            offline = isinstance(missing, ConnectionError) and datasets.config.HF_HUB_OFFLINE
            if not absent and not offline:
                _explain(name, missing)
                raise
    _explain(name, missing)
    raise InputError(f"{PREFIX}{name}: the hub has no such public data set; check the name.") from missing


def _readings(name: str) -> list[tuple[str, str | None]]:
    """What NAME/CONFIG can mean: A/B is owner and name, or an old name without an owner and a configuration."""
    if Path(name).is_dir():
        return [(name, None)]
    parts = name.strip("/").split("/")
    if len(parts) == 3:
        return [(f"{parts[0]}/{parts[1]}", parts[2])]
    if len(parts) == 2:
        return [("/".join(parts), None), (parts[0], parts[1])]
    if len(parts) == 1:
        return [(parts[0], None)]
    raise InputError(f"'{PREFIX}{name}': has too many parts; expected {PREFIX}OWNER/NAME/CONFIG.")


def _explain(name: str, error: Exception | None) -> None:
    if isinstance(error, ConnectionError):
        raise InputError(
            f"{PREFIX}{name}: the hub cannot be reached, and the data set is not in the local cache; check the "
            "network, or give a file."
        ) from error
