"""Whether a model is better than who guesses: what guessing is in each task, and how sure the difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mobilekit.evaluation.answers import token_f1s
from mobilekit.evaluation.intervals import Statistic, paired_bootstrap
from mobilekit.models.config import HeadConfig
from mobilekit.text.data.rows import AnswerRow, TextData

# One-sided; the lower end of a two-sided interval of 95 %.
_LEVEL = 0.025
# Fewer say nothing: a coin falls six times on one side less often than the level, five times more often.
_LEAST_ROWS = 6
# Up to there agreement beyond chance (Cohen's kappa) is "slight" in Landis & Koch 1977.
_SLIGHT = 0.2


def as_guessing(head: HeadConfig, data: TextData, predictions: Any, references: Any) -> str | None:
    """What model and guessing come to on data, in words, where the model is not clearly better; None where it is, and
    where so few rows, or so few that differ, could not show even of a perfect one that it is.

    predictions, references: as `predict` gives them for the data's rows. Guessing is: always the commonest label, or
    the commonest set of several labels; any value that knows nothing of the text; always the commonest tag; the whole
    text as answer to every question that has one.
    """
    if head.task == "token-classification":
        return _tags(data.name, predictions, references)
    if head.task == "question-answering":
        return _answers(data, predictions, references)
    if head.problem_type == "regression":
        return _values(data.name, predictions, references)
    if head.problem_type == "multi_label_classification":
        return _several(data, predictions, references)
    guess = float(np.bincount(references).max() / len(references))
    if _better(predictions == references, guess):
        return None
    share = float((predictions == references).mean())
    return f"{share:.1%} right on {data.name}, always giving the commonest label is {guess:.1%}"


def _several(data: TextData, predictions: NDArray[np.int64], references: NDArray[np.int64]) -> str | None:
    """Better is who has more sets wholly right, or more micro F1: one of a few labels often knows them one by one."""
    _, counts = np.unique(references, axis=0, return_counts=True)
    if _better((predictions == references).all(1), float(counts.max() / len(references))):
        return None
    # Of the sets that one could always give, the one with the largest micro F1 has the commonest labels.
    common = np.argsort(-references.sum(0), kind="stable")
    best = max(range(1, len(common) + 1), key=lambda count: _f1(_always(common[:count], references), references))
    guess = _always(common[:best], references)
    if _clearly(_micro(predictions, references), _micro(guess, references), _micro(references, references), len(guess)):
        return None
    always = ", ".join(data.labels[i] for i in sorted(common[:best])[:5]) + (", ..." if best > 5 else "")
    return (
        f"micro F1 {_f1(predictions, references):.1%} on {data.name}, always giving {always} is "
        f"{_f1(guess, references):.1%}"
    )


def _always(labels: NDArray[np.intp], references: NDArray[np.int64]) -> NDArray[np.int64]:
    given = np.zeros_like(references)
    given[:, labels] = 1
    return given


def _values(name: str, predictions: NDArray[np.float64], references: NDArray[np.float64]) -> str | None:
    from scipy.stats import pearsonr, spearmanr

    if len(references) < _LEAST_ROWS or np.ptp(references) == 0:
        return None
    if np.ptp(predictions) == 0:
        return f"gives the same value to every text of {name}, which is guessing"
    found = [measure(predictions, references, alternative="greater") for measure in (pearsonr, spearmanr)]
    if any(each.pvalue <= _LEVEL for each in found):
        return None
    return f"its values have a correlation of {found[0].statistic:.2f} with the right ones of {name}, guessing has 0"


def _tags(name: str, predictions: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> str | None:
    """Better is who has more words right, or agrees beyond chance: rare entities may be found at the cost of others."""
    words = np.array([len(tags) for tags in references])
    given, true = (np.concatenate([np.array(tags, object) for tags in each]) for each in (predictions, references))
    names, counts = np.unique(true.astype(str), return_counts=True)
    common = str(names[counts.argmax()])
    starts = np.concatenate([[0], np.cumsum(words)[:-1]])
    right, guessed = (np.add.reduceat(hit.astype(np.int64), starts) for hit in (given == true, true == common))
    own, guess, perfect = (_share(each, words) for each in (right, guessed, words))
    if _clearly(own, guess, perfect, len(words)) or _kappa(given, true) > _SLIGHT:
        return None
    everything = np.arange(len(words))
    return f"{own(everything):.1%} of the words right on {name}, always giving '{common}' is {guess(everything):.1%}"


def _answers(data: TextData, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> str | None:
    asked = [i for i, answers in enumerate(references) if answers]
    if not asked:
        return None
    contexts = [row.context for row in (data.rows[i] for i in asked) if isinstance(row, AnswerRow)]
    right = [references[i] for i in asked]
    own, guess = token_f1s([predictions[i] for i in asked], right), token_f1s(contexts, right)
    every = np.ones(len(asked))
    if _clearly(_share(own, every), _share(guess, every), _share(every, every), len(asked)):
        return None
    return f"F1 {own.mean():.1%} of its answers on {data.name}, always giving the whole text is {guess.mean():.1%}"


def _better(right: NDArray[np.bool_], guess: float) -> bool:
    """Whether so many right answers are more than those of who is right with probability `guess`, or as many could not
    be."""
    count = len(right)
    if guess >= 1 or _by_chance(count, count, guess) > _LEVEL:
        return True
    return _by_chance(int(right.sum()), count, guess) <= _LEVEL


def _by_chance(right: int, count: int, guess: float) -> float:
    """How likely so many right answers are for who is right with probability `guess`."""
    from scipy.stats import binomtest

    return float(binomtest(right, count, guess, alternative="greater").pvalue)


def _clearly(own: Statistic, guess: Statistic, perfect: Statistic, count: int) -> bool:
    """Whether a figure is clearly above that of guessing, or the perfect one would not be, either."""
    if count < _LEAST_ROWS or paired_bootstrap(perfect, guess, count).interval.low <= 0:
        return True
    return paired_bootstrap(own, guess, count).interval.low > 0


def _share(part: ArrayLike, whole: ArrayLike) -> Statistic:
    parts, wholes = np.asarray(part, np.float64), np.asarray(whole, np.float64)
    return lambda rows: float(parts[rows].sum() / max(wholes[rows].sum(), 1.0))


def _micro(predictions: NDArray[np.int64], references: NDArray[np.int64]) -> Statistic:
    """Micro F1, from counts of each row."""
    return _share(2 * (predictions & references).sum(1), predictions.sum(1) + references.sum(1))


def _f1(predictions: NDArray[np.int64], references: NDArray[np.int64]) -> float:
    return _micro(predictions, references)(np.arange(len(references)))


def _kappa(given: NDArray[np.object_], true: NDArray[np.object_]) -> float:
    """Agreement beyond chance (Cohen 1960): 0 for who always says the same, 1 for who is always right."""
    names, codes = np.unique(np.concatenate([given, true]).astype(str), return_inverse=True)
    ours, theirs = codes[: len(given)], codes[len(given) :]
    shares = [np.bincount(each, minlength=len(names)) / len(given) for each in (ours, theirs)]
    chance = float(shares[0] @ shares[1])
    return 0.0 if chance >= 1 else float(((ours == theirs).mean() - chance) / (1 - chance))
