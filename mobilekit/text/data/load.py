"""One way to all data: a built-in name, a file, or a data set of the hub."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from mobilekit.errors import InputError, unknown
from mobilekit.text.data.builtin import builtin_names, load_builtin
from mobilekit.text.data.hub import PREFIX, read_hub
from mobilekit.text.data.readers.registry import reader_for, readers
from mobilekit.text.data.request import DEFAULT_COLUMNS, Columns, Request
from mobilekit.text.data.rows import TextData


def load_data(
    spec: str,
    task: str | None = None,
    columns: Columns = DEFAULT_COLUMNS,
    split: str | None = None,
    labels: tuple[str, ...] | None = None,
    problem_type: str | None = None,
    plain_too: bool = False,
) -> TextData:
    """Labelled or plain text from `spec`: a built-in name, a file (read by its suffix), or `hub:NAME/CONFIG[:SPLIT]`.

    task: sequence-classification, token-classification, question-answering, "" for plain text (labels are left out),
    None for what the data hold. columns: of tables (CSV, TSV, JSON lines, Parquet, hub); questions and answers are in
    `question`, `context` and `answers` there. split: train (where None), dev, test or unlabelled of built-in data, or
    one of the hub's; a file has none. labels: names in the order of their indices, which makes several files agree
    (pass the training data's); None: numbers 0..n-1 as they stand, names sorted. problem_type: None for what the labels
    look like: numbers with fractions are regression, lists several labels, all else one label of many. plain_too: where
    the data have no labels (a `.txt`, a table without that column), plain text comes instead of an error.

    Rows of `.txt`, `.jsonl`, `.parquet` and the hub are made when they are asked for; those of other files are held in
    memory. Raises InputError, in one line with file and line number, for data that are not there, empty, not UTF-8, or
    wrong in a row; MissingExtraError when `datasets` is needed and not installed.
    """
    request = Request(task, columns, labels, problem_type, plain_too)
    if spec in builtin_names():
        return load_builtin(spec, split, request)
    if spec.startswith(PREFIX):
        return read_hub(spec, split, request)
    path = Path(spec)
    if not path.exists() and not path.suffix and "/" not in spec:
        raise unknown("data", spec, [*builtin_names(), f"{PREFIX}NAME/CONFIG", "a file"])
    if path.is_dir():
        raise InputError(
            f"{path}: is a folder; give one file of it, or {PREFIX}{path} for a folder as `datasets` reads it."
        )
    if split is not None:
        raise InputError(f"{path}: a file has no splits; leave out split '{split}'.")
    read = reader_for(path, task).read(path, request)
    return replace(read, name=path.name)


def has_columns(spec: str) -> bool:
    """Whether data, if they are there, have columns by name, so that a request may ask for some."""
    if spec in builtin_names() or spec.startswith(PREFIX):
        return spec.startswith(PREFIX)
    return any(reader.columns for reader in readers() if Path(spec).suffix.lower() in reader.suffixes)
