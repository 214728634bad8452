"""Exact match and F1 of answers, as SQuAD defines them (Rajpurkar et al. 2016, section 6.1; 2018 for no answer)."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalized(answer: str) -> str:
    """An answer without what does not count: case, ASCII punctuation, the English articles, extra white space."""
    return " ".join(_ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split())


def exact_matches(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """1 where a prediction equals one of its right answers, else 0, [questions]; "" is right where there is none."""
    return _best(predictions, references, lambda given, right: float(given == right))


def token_f1s(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """F1 of the words of each prediction against its best right answer, 0..1, [questions].

    A word that is there twice counts twice. Where prediction or answer have no words, it is 1 if both have none.
    """
    return _best(predictions, references, _token_f1)


def _best(
    predictions: Sequence[str], references: Sequence[Sequence[str]], score: Callable[[str, str], float]
) -> NDArray[np.float64]:
    best = []
    for given, answers in zip(predictions, references, strict=True):
        plain = normalized(given)
        # An answer that is nothing but articles and punctuation cannot be found; beside others it does not count.
        right = [text for text in map(normalized, answers) if text] or [""]
        best.append(max(score(plain, text) for text in right))
    return np.array(best)


def _token_f1(given: str, right: str) -> float:
    words, true = given.split(), right.split()
    if not words or not true:
        return float(words == true)
    common = sum((Counter(words) & Counter(true)).values())
    return 2 * common / (len(words) + len(true))
