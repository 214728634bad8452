"""Which of a teacher's layers a student begins with, or learns from; all are counted from 0."""

from __future__ import annotations

from mobilekit.errors import InputError


def spread_map(ours: int, theirs: int) -> tuple[int, ...]:
    """For each of the student's layers the teacher's that it learns from: m -> m * N / M in Jiao et al. 2020."""
    return tuple(int((i + 1) * theirs / ours + 0.5) - 1 for i in range(ours))


def read_map(text: str, ours: int, theirs: int) -> tuple[int, ...]:
    """A layer map such as "1,3,5", checked; "" is the spread one. Raises InputError."""
    return read_layers("layer-map", text, ours, theirs) if text else spread_map(ours, theirs)


def read_layers(option: str, text: str, ours: int, theirs: int, names: str = "") -> tuple[int, ...]:
    """One of the teacher's layers for each of the student's, as numbers with commas between.

    option: what messages call it. names: what else it may be. Raises InputError for anything but `ours` numbers below
    `theirs`.
    """
    try:
        layers = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"{option} '{text}': give {names}numbers of the teacher's layers, such as 0,2,4.") from None
    if len(layers) != ours:
        raise InputError(f"{option} '{text}' names {len(layers)} of the teacher's layers, the student has {ours}.")
    wrong = [layer for layer in layers if not 0 <= layer < theirs]
    if wrong:
        raise InputError(f"{option} '{text}': layer {wrong[0]} is out of range; the teacher's are 0 to {theirs - 1}.")
    return layers
