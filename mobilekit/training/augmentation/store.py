"""Augmented rows on the disk, so that a run that goes on does not make them again: one JSON object a line; and beside
them a file that says what they were made of."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from mobilekit.errors import InputError, short
from mobilekit.models.config import HeadConfig
from mobilekit.reading import read_errors, read_values
from mobilekit.staging import disk_errors, scratch
from mobilekit.text.data.rows import TextRow

_KEYS = ("text", "text_pair", "label", "id")
# What rows are made of, as a message says that it was something else.
_ORIGINS = {
    "rows": "of other rows",
    "words": "by another general teacher",
    "vectors": "with other word vectors",
    "options": "with other options",
}
Label = int | float | tuple[int, ...] | None


def write_rows(path: Path, rows: Iterable[TextRow], origin: Mapping[str, str] | None = None) -> None:
    """Write `path` anew; what was there is replaced only when all is written. A row's document is not kept.

    origin: digests of what the rows are made of (rows, words, vectors, options), written beside `path`. Raises
    InputError when the disk is full or not writable.
    """
    with scratch(path.parent, path.name) as folder:
        beside = folder / path.name
        if origin is not None:
            (folder / "origin").write_text(json.dumps(dict(origin)), encoding="utf-8")
        with beside.open("w", encoding="utf-8", newline="\n") as file:
            for row in rows:
                values = dict(zip(_KEYS, (row.text, row.pair, row.label, row.id), strict=True))
                file.write(json.dumps(values, ensure_ascii=False, allow_nan=False) + "\n")
        with disk_errors(path, every=True):
            # Before the rows: where these are, it is known what they are of.
            if origin is not None:
                (folder / "origin").replace(_origin_file(path))
            beside.replace(path)


def read_rows(path: Path, origin: Mapping[str, str] | None = None, head: HeadConfig | None = None) -> list[TextRow]:
    """The rows of a file that `write_rows` wrote; none where it is empty.

    head: of the model that will learn their labels. Raises InputError, naming file and line, when it is missing, holds
    anything else, or a label that is none for that head, or when it says that its rows were made of something else than
    `origin`.
    """
    require_origin(path, origin or {})
    with read_errors(path):
        if not path.is_file():
            raise InputError(f"{path}: {'is not a file' if path.exists() else 'not found'}.")
        with path.open("rb") as file:
            return list(_rows(path, file, head))


def _origin_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.origin.json")


def require_origin(path: Path, origin: Mapping[str, str]) -> None:
    """Raise InputError when the rows of a file are said to be made of something else than `origin`."""
    file = _origin_file(path)
    # Rows from elsewhere say nothing of where they come from.
    said = read_values(file) if file.exists() else {}
    if not isinstance(said, dict):
        raise InputError(f"{file}: has to be an object; remove it and {path.name} to have both made again.")
    other = [_ORIGINS[name] for name in _ORIGINS if name in said and name in origin and said[name] != origin[name]]
    if other:
        raise InputError(
            f"{path}: its variations were made {', '.join(other)}; name another file with --augmented, or remove this "
            "one to have it made again."
        )


def _rows(path: Path, lines: Iterable[bytes], head: HeadConfig | None) -> Iterator[TextRow]:
    for number, line in enumerate(lines, 1):
        where = f"{path}:{number}: "
        try:
            values: Any = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
            # Halves of characters, which no tokenizer takes.
            json.dumps(values, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where}not JSON ({error}); remove the file to have it made again.") from error
        row = _row(where, values)
        if head is not None and not _fits(row.label, head):
            raise InputError(
                f"{where}label {short(repr(row.label))} is none of the data's ({', '.join(head.labels)}); remove the "
                "file to have it made again, or name another one."
            )
        yield row


def _fits(label: Label, head: HeadConfig) -> bool:
    """Whether a head can learn a label: an index, indices, or a value."""
    count = len(head.labels)
    if head.problem_type == "multi_label_classification":
        return isinstance(label, tuple) and all(each < count for each in label)
    if head.problem_type == "regression":
        return isinstance(label, int | float)
    return isinstance(label, int) and label < count


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
