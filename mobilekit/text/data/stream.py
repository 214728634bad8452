"""Texts of a corpus one after the other, for what is too large to be fetched or indexed first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mobilekit.text.data.arrow import ArrowStream, datasets_errors, require_datasets
from mobilekit.text.data.hub import PREFIX, choose_split, load_hub, split_spec
from mobilekit.text.data.load import load_data
from mobilekit.text.data.readers.parquet import require_parquet
from mobilekit.text.data.request import DEFAULT_COLUMNS, Columns
from mobilekit.text.data.rows import TextRow


@dataclass(frozen=True)
class TextStream(Iterable[TextRow]):
    """Texts without labels; each loop over it begins at the start."""

    name: str
    _texts: Callable[[], Iterator[TextRow]]

    def __iter__(self) -> Iterator[TextRow]:
        return self._texts()


def stream_texts(spec: str, columns: Columns = DEFAULT_COLUMNS, split: str | None = None) -> TextStream:
    """The texts of data that `load_data` reads, labels left out.

    `hub:NAME/CONFIG` is fetched while it is read and Parquet is read a part at a time, both through `datasets`; neither
    is written to the disk. Other files are those of `load_data`. Raises InputError as `load_data` does, for what a row
    holds only when its turn comes.
    """
    if spec.startswith(PREFIX):
        name, part = split_spec(spec, split)
        found = load_hub(name, streaming=True)
        chosen = choose_split(list(found), part, f"{PREFIX}{name}")
        return _stream(f"{PREFIX}{name}:{chosen}", found[chosen], columns)
    if Path(spec).suffix.lower() == ".parquet" and split is None:
        require_parquet(Path(spec))
        datasets = require_datasets(f"{spec}: Parquet")
        with datasets_errors(spec):
            data = datasets.load_dataset("parquet", data_files=spec, split="train", streaming=True)
        return _stream(spec, data, columns)
    loaded = load_data(spec, task="", columns=columns, split=split)
    return TextStream(loaded.name, lambda: (row for row in loaded.rows if isinstance(row, TextRow)))


def _stream(name: str, data: Any, columns: Columns) -> TextStream:
    records = ArrowStream(name, data, (columns.text,))

    def texts() -> Iterator[TextRow]:
        with datasets_errors(name):
            for record in records:
                yield TextRow(record[columns.text], record.get(columns.pair), id=str(record.get("id", "")))

    return TextStream(name, texts)
