"""Parquet, through `datasets`: written once to its cache as Arrow, which is then mapped into memory."""

from __future__ import annotations

import os
from pathlib import Path

from mobilekit.errors import InputError
from mobilekit.text.data.arrow import ArrowTable, datasets_errors, require_datasets
from mobilekit.text.data.encoding import require_file
from mobilekit.text.data.readers.registry import Reader, register
from mobilekit.text.data.request import Request
from mobilekit.text.data.rows import TextData
from mobilekit.text.data.table import table_data

_MAGIC = b"PAR1"
# The marks at both ends, and the length of the footer.
_LEAST = 12


def _read(path: Path, request: Request) -> TextData:
    require_parquet(path)
    datasets = require_datasets(f"{path}: Parquet")
    with datasets_errors(str(path)):
        data = datasets.Dataset.from_parquet(str(path))
    return table_data(ArrowTable(str(path), data), request)


def require_parquet(path: Path) -> None:
    """Raise InputError when the file is missing, or has not the marks at both ends that a whole Parquet file has."""
    require_file(path)
    with path.open("rb") as file:
        head = file.read(len(_MAGIC))
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - len(_MAGIC)))
        if size < _LEAST or head != _MAGIC or file.read() != _MAGIC:
            raise InputError(f"{path}: not a Parquet file, or cut off; write or copy it again.")


register(Reader("parquet", "a Parquet table, memory-mapped (extra: train)", (".parquet",), _read))
