"""CoNLL: a word a line, its tag in the last column, a blank line after each sentence.

Columns are separated by tabs where the file has tabs, else by white space. Lines that begin with -DOCSTART- are left
out. Tags stay as they are written: IOB1 (as in CoNLL-2003), IOB2 and others.
"""

from __future__ import annotations

from pathlib import Path

from mobilekit.errors import InputError
from mobilekit.text.data.encoding import read_text
from mobilekit.text.data.lines import require_rows
from mobilekit.text.data.nested import tag_index
from mobilekit.text.data.readers.registry import Reader, register
from mobilekit.text.data.request import Request
from mobilekit.text.data.rows import TextData, TokensRow

_TASK = "token-classification"
_Sentence = list[tuple[str, str]]


def _read(path: Path, request: Request) -> TextData:
    if request.task not in (None, _TASK) or request.problem_type is not None:
        raise InputError(
            f"{path}: CoNLL holds tags of words, for {_TASK}; it was read for {request.task or 'another'} task."
        )
    sentences, lines = _sentences(path)
    require_rows(path, len(sentences))
    names, index = tag_index(lines, request.labels, lambda line: f"{path}:{line}: ")
    rows = [TokensRow(tuple(w for w, _ in each), tuple(index[t] for _, t in each)) for each in sentences]
    return TextData(str(path), _TASK, names, None, rows)


def _sentences(path: Path) -> tuple[list[_Sentence], dict[str, int]]:
    """Words with their tags by sentence, and the first line of each tag."""
    text = read_text(path)
    separator = "\t" if "\t" in text else None
    sentences: list[_Sentence] = [[]]
    lines: dict[str, int] = {}
    width = 0
    for number, line in enumerate(text.split("\n"), 1):
        fields = [field.strip() for field in line.rstrip("\r").split(separator)] if line.strip() else []
        if not fields or fields[0] == "-DOCSTART-":
            if sentences[-1]:
                sentences.append([])
            continue
        width = width or len(fields)
        if len(fields) != width or width < 2 or not fields[0] or not fields[-1]:
            raise InputError(
                f"{path}:{number}: has {len(fields)} columns{'' if width < 2 else f' instead of {width}'}; each line "
                "needs a word first and its tag last, and sentences a blank line between them."
            )
        sentences[-1].append((fields[0], fields[-1]))
        lines.setdefault(fields[-1], number)
    return [sentence for sentence in sentences if sentence], lines


# Most CoNLL files are called train.txt: with the task named they are read too.
register(
    Reader(
        "conll", "a word and its tag a line", (".conll", ".iob", ".iob2", ".bio", ".txt"), _read, _TASK, columns=False
    )
)
