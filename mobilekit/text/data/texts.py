"""The texts of data, whatever their labels are for: what compression looks at activations with."""

from __future__ import annotations

from pathlib import Path

from mobilekit.text.data.builtin import builtin_names
from mobilekit.text.data.hub import PREFIX
from mobilekit.text.data.load import load_data
from mobilekit.text.data.readers.registry import reader_for
from mobilekit.text.data.rows import AnswerRow, Row, TextRow


def load_texts(spec: str, most: int) -> list[str]:
    """Texts of `spec` (as for `load_data`), of at most `most` rows from all over it, in their order.

    Both texts of a pair are texts, and so are a question and its context. Raises what `load_data` raises.
    """
    named = spec in builtin_names() or spec.startswith(PREFIX) or not Path(spec).is_file()
    # Files of tags and of answers hold nothing else; of all other data labels are left out.
    task = "" if named else reader_for(Path(spec), None).task or ""
    rows = load_data(spec, task).rows
    count = min(most, len(rows))
    return [text for i in range(count) for text in _texts(rows[i * len(rows) // count])]


def _texts(row: Row) -> list[str]:
    if isinstance(row, TextRow):
        return [row.text] if row.pair is None else [row.text, row.pair]
    return [row.question, row.context] if isinstance(row, AnswerRow) else [" ".join(row.words)]
