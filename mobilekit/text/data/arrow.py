"""Tables of the `datasets` library: mapped into memory, or streamed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mobilekit.errors import InputError, MissingExtraError, short
from mobilekit.text.data.table import Record, require_column

if TYPE_CHECKING:
    import datasets


class ArrowTable:
    """A `datasets.Dataset` as a table: its rows stay on the disk until they are asked for."""

    def __init__(self, name: str, data: datasets.Dataset) -> None:
        self.name = name
        self.columns = tuple(data.column_names)
        self._data = data

    def __len__(self) -> int:
        return len(self._data)

    def where(self, index: int) -> str:
        """Name and number of the row, from 1."""
        return f"{self.name}, row {index + 1}: "

    def record(self, index: int) -> Record:
        """Row `index`; labels that the data names are names."""
        record = self._data[index]
        return {column: self._named(column, value) for column, value in record.items()}

    def scan(self, texts: Sequence[str], label: str | None) -> Iterator[object]:
        """Check by type and count of nulls that the columns hold texts, without reading them; yields the labels."""
        for column in texts:
            kind = getattr(self._data.features[column], "dtype", "lists or objects")
            if kind not in ("string", "large_string"):
                raise InputError(f"{self.name}: column '{column}' holds {kind}, not texts.")
            if self._data.data.column(column).null_count:
                row = next(i for i, text in enumerate(self._values(column)) if text is None)
                raise InputError(f"{self.where(row)}{column} is empty (null); it has to be a text.")
        if label is not None:
            yield from (self._named(label, value) for value in self._values(label))

    def label_names(self, column: str) -> tuple[str, ...] | None:
        """The names of a column of class labels, or of lists of them."""
        names = _class_names(self._data.features[column])
        return None if names is None else tuple(names)

    def _values(self, column: str) -> Iterator[Any]:
        for batch in self._data.select_columns([column]).iter(batch_size=1000):
            yield from batch[column]

    def _named(self, column: str, value: Any) -> Any:
        names = _class_names(self._data.features[column])
        if names is None or value is None:
            return value
        if isinstance(value, list):
            return [self._named(column, each) for each in value]
        # -1 stands for a label that the makers keep to themselves.
        return names[value] if 0 <= value < len(names) else None


class ArrowStream:
    """A `datasets.IterableDataset` as records that come one after the other, from the start for each loop."""

    def __init__(self, name: str, data: datasets.IterableDataset, texts: Sequence[str]) -> None:
        self.name, self._data, self._texts = name, data, texts

    def __iter__(self) -> Iterator[Record]:
        for i, record in enumerate(self._data):
            for column in self._texts:
                if i == 0:
                    require_column(self.name, tuple(record), column, "the texts")
                if not isinstance(record.get(column), str):
                    got = short(repr(record.get(column)))
                    raise InputError(f"{self.name}, row {i + 1}: {column} is {got}; it has to be a text.")
            yield record


def require_datasets(purpose: str) -> Any:
    """The `datasets` library; raises MissingExtraError when it is not installed."""
    try:
        import datasets
    except ImportError as error:
        raise MissingExtraError("datasets", "train", purpose) from error
    return datasets


@contextlib.contextmanager
def datasets_errors(place: str) -> Iterator[None]:
    """Turn what `datasets` raises about files and disks into an InputError about `place`."""
    library = require_datasets(f"reading {place}")
    try:
        yield
    except (library.exceptions.DatasetsError, OSError, ValueError) as error:
        reason = str(error.__cause__ or error).strip().split("\n")[0].rstrip(".")
        raise InputError(f"{place}: `datasets` cannot read it: {short(reason, 300)}.") from error


def _class_names(feature: Any) -> list[str] | None:
    names = getattr(getattr(feature, "feature", feature), "names", None)
    return names if isinstance(names, list) else None
