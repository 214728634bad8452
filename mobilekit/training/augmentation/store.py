"""Augmented rows on the disk, so that a run that goes on does not make them again: one JSON object a line."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from mobilekit.errors import InputError, short
from mobilekit.reading import read_errors
from mobilekit.staging import disk_errors, scratch
from mobilekit.text.data.rows import TextRow

_KEYS = ("text", "text_pair", "label", "id")
Label = int | float | tuple[int, ...] | None


def write_rows(path: Path, rows: Iterable[TextRow]) -> None:
    """Write `path` anew; what was there is replaced only when all is written. A row's document is not kept.

    Raises InputError when the disk is full or not writable.
    """
    with scratch(path.parent, path.name) as folder:
        beside = folder / path.name
        with beside.open("w", encoding="utf-8", newline="\n") as file:
            for row in rows:
                values = dict(zip(_KEYS, (row.text, row.pair, row.label, row.id), strict=True))
                file.write(json.dumps(values, ensure_ascii=False, allow_nan=False) + "\n")
        with disk_errors(path, every=True):
            beside.replace(path)


def read_rows(path: Path) -> list[TextRow]:
    """The rows of a file that `write_rows` wrote; none where it is empty.

    Raises InputError, naming file and line, when it is missing or holds anything else.
    """
    with read_errors(path):
        if not path.is_file():
            raise InputError(f"{path}: {'is not a file' if path.exists() else 'not found'}.")
        with path.open("rb") as file:
            return list(_rows(path, file))


def _rows(path: Path, lines: Iterable[bytes]) -> Iterator[TextRow]:
    for number, line in enumerate(lines, 1):
        where = f"{path}:{number}: "
        try:
            values: Any = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
            # Halves of characters, which no tokenizer takes.
            json.dumps(values, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where}not JSON ({error}); remove the file to have it made again.") from error
        yield _row(where, values)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def _row(where: str, values: object) -> TextRow:
    if not isinstance(values, dict) or set(values) != set(_KEYS):
        raise InputError(f"{where}has to be an object with {', '.join(_KEYS)}.")
    text, pair, name = values["text"], values["text_pair"], values["id"]
    if not isinstance(text, str) or not isinstance(name, str) or not (pair is None or isinstance(pair, str)):
        raise InputError(f"{where}text, text_pair and id have to be texts; text_pair may be null.")
    return TextRow(text, pair, _label(where, values["label"]), name)


def _label(where: str, value: object) -> Label:
    if isinstance(value, list) and all(map(_is_index, value)):
        return tuple(value)
    if value is None or _is_index(value) or (isinstance(value, float) and math.isfinite(value)):
        return value  # type: ignore[return-value]
    raise InputError(f"{where}label is {short(repr(value))}; it has to be a number, a list of numbers from 0, or null.")


def _is_index(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
