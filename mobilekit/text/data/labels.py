"""The labels of a column: which there are, in which order, and each row's as an index, indices or a value."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from mobilekit.errors import InputError, short, unknown
from mobilekit.text.data.request import REGRESSION_LABELS, Request

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
# Between the labels of one row, where a file has no lists.
SEPARATOR = "|"
Where = Callable[[int], str]
Label = int | float | tuple[int, ...]


@dataclass(frozen=True)
class LabelCode:
    """names: of the classes in the order of their indices. encode: a row's value in the file -> its label."""

    names: tuple[str, ...]
    problem_type: str
    encode: Callable[[object], Label]


@dataclass
class _Seen:
    """What a column holds: each label as it is spelled with its first row, and the first rows of lists and others."""

    spelled: dict[str, int] = field(default_factory=dict)
    first_list: int | None = None
    first_single: int | None = None


def learn_labels(
    values: Iterable[object], where: Where, request: Request, names: tuple[str, ...] | None = None
) -> LabelCode:
    """How the values of a column become labels.

    Numbers are indices as they stand, names are sorted; `request.labels` sets names and order instead, and else
    `names` does, where the source knows them. Numbers with fractions are regression and lists are several labels,
    unless `request.problem_type` says otherwise. where: number of a row, from 0 -> its place, for messages. Raises
    InputError, naming the place, for a missing label, a label outside the given ones, numbers with a gap, names among
    numbers, lists among single labels, and values of regression that are not finite numbers.
    """
    if request.problem_type == "regression":
        return _regression(values, where)
    seen = _look(values, where, request.problem_type)
    several = request.problem_type == "multi_label_classification" or seen.first_list is not None
    given = request.labels or names
    if given:
        index = index_of(seen.spelled, given, where)
    elif request.problem_type is None and not several and _is_regression(seen):
        return LabelCode(REGRESSION_LABELS, "regression", _value)
    else:
        given, index = own_index(seen.spelled, where)
    if several:
        return LabelCode(
            given, "multi_label_classification", lambda value: tuple(sorted(index[p] for p in parts(value)))
        )
    return LabelCode(given, "single_label_classification", lambda value: index[spelling(value)])


def spelling(value: object) -> str:
    """A label as text, "" where there is none."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).strip()


def parts(value: object) -> list[str]:
    """The labels of one row as texts: the items of a list, or what SEPARATOR separates."""
    items = value if isinstance(value, list | tuple) else spelling(value).split(SEPARATOR)
    return [text for text in map(spelling, items) if text]


def index_of(spelled: dict[str, int], given: tuple[str, ...], where: Where) -> dict[str, int]:
    """Spelling -> index into `given`: by name, or by number where all labels are numbers and no names of it."""
    names = {name: i for i, name in enumerate(given)}
    foreign = {text: row for text, row in spelled.items() if text not in names}
    numbers = {text: _whole(text) for text in spelled}
    if not foreign:
        return {text: names[text] for text in spelled}
    if any(number is None for number in numbers.values()):
        text, row = min(foreign.items(), key=lambda item: item[1])
        raise unknown("label", text, given, where(row))
    for text, row in spelled.items():
        if not 0 <= (numbers[text] or 0) < len(given):
            last = len(given) - 1
            raise InputError(f"{where(row)}label {short(text)} is outside 0..{last}, the labels {', '.join(given)}.")
    return {text: number for text, number in numbers.items() if number is not None}


def own_index(spelled: dict[str, int], where: Where) -> tuple[tuple[str, ...], dict[str, int]]:
    """Names and indices of labels that nobody named: numbers from 0 without a gap, or names, sorted."""
    numbers = {text: _whole(text) for text in spelled}
    names = [text for text in spelled if not _NUMBER.fullmatch(text)]
    if not spelled or len(names) == len(spelled):
        ordered = tuple(sorted(names))
        return ordered, {name: i for i, name in enumerate(ordered)}
    if names:
        name, number = names[0], next(text for text in spelled if text not in names)
        other = where(spelled[number]).rstrip(": ")
        raise InputError(
            f"{where(spelled[name])}label '{short(name)}' is a name, and '{number}' ({other}) is a number; correct "
            "one, or give the labels if both are right."
        )
    fraction = next((text for text, number in numbers.items() if number is None), None)
    if fraction is not None:
        raise InputError(f"{where(spelled[fraction])}label {short(fraction)} is no whole number; is it regression?")
    found = sorted({number for number in numbers.values() if number is not None})
    if found != list(range(len(found))):
        some = ", ".join(map(str, found[:8])) + (", ..." if len(found) > 8 else "")
        raise InputError(
            f"{where(0)}the numbers of the labels are {some}; they have to run from 0 without a gap: number them so, "
            "or give the labels."
        )
    return tuple(map(str, found)), {text: number for text, number in numbers.items() if number is not None}


def _look(values: Iterable[object], where: Where, problem_type: str | None) -> _Seen:
    seen, several = _Seen(), problem_type == "multi_label_classification"
    for row, value in enumerate(values):
        if isinstance(value, Mapping):
            raise InputError(f"{where(row)}the label is an object; it has to be a name, a number, or a list of those.")
        if several or isinstance(value, list | tuple):
            _look_at_several(seen, row, value, where)
        elif text := spelling(value):
            seen.spelled.setdefault(text, row)
        else:
            raise InputError(f"{where(row)}has no label; give it one, or remove the row.")
        if isinstance(value, list | tuple):
            seen.first_list = row if seen.first_list is None else seen.first_list
        else:
            seen.first_single = row if seen.first_single is None else seen.first_single
    if seen.first_list is not None and problem_type == "single_label_classification":
        raise InputError(f"{where(seen.first_list)}has a list of labels, and single labels were asked for.")
    if seen.first_list is not None and seen.first_single is not None and not several:
        raise InputError(
            f"{where(max(seen.first_list, seen.first_single))}lists of labels and single labels are mixed; write "
            "lists everywhere."
        )
    return seen


def _look_at_several(seen: _Seen, row: int, value: object, where: Where) -> None:
    if value is None:
        raise InputError(f"{where(row)}has no labels; where none applies, write an empty list.")
    texts = parts(value)
    if len(set(texts)) != len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise InputError(
            f"{where(row)}has label '{short(twice)}' twice; list the names or numbers of the labels that apply, not a "
            "0 or 1 for each."
        )
    for text in texts:
        seen.spelled.setdefault(text, row)


def _regression(values: Iterable[object], where: Where) -> LabelCode:
    for row, value in enumerate(values):
        text = spelling(value)
        if not text:
            raise InputError(f"{where(row)}has no value; give it one, or remove the row.")
        if isinstance(value, list | tuple) or not _NUMBER.fullmatch(text) or not math.isfinite(float(text)):
            raise InputError(f"{where(row)}'{short(text)}' is not a finite number, and regression needs one.")
    return LabelCode(REGRESSION_LABELS, "regression", _value)


def _is_regression(seen: _Seen) -> bool:
    numbers = [text for text in seen.spelled if _NUMBER.fullmatch(text)]
    return len(numbers) == len(seen.spelled) and any(_whole(text) is None for text in numbers)


def _value(value: object) -> float:
    return float(spelling(value))


def _whole(text: str) -> int | None:
    """The whole number that a text says ("3", "3.0"), None if it says none."""
    if not _NUMBER.fullmatch(text):
        return None
    number = float(text)
    return int(number) if math.isfinite(number) and number.is_integer() else None
