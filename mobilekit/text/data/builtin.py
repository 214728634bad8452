"""Data that come with a package: sentences with sentiment, and newspaper editorials sentence by sentence.

Both are of Hutto and Gilbert 2014 (VADER), in the source archive of `vaderSentiment`. The splits are a function of the
texts alone: the same on every machine and with every version of anything.
"""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mobilekit.errors import InputError, unknown
from mobilekit.text.data.fetch import Archive, fetch, member
from mobilekit.text.data.request import DATA_TASKS, DEFAULT_COLUMNS, Request
from mobilekit.text.data.rows import TextData, TextRow
from mobilekit.text.data.table import MemoryTable, table_data

VADER = Archive("vaderSentiment", "3.3.2", "5d7c06e027fc8b99238edb0d53d970cf97066ef97654009890b83703849632f9")
_INNER = "hutto_ICWSM_2014"
_SEED = "mobilekit-1"
# Of 10,072 sentences: 750 of each label are test, the next 500 of each dev, the others to train on.
_MOVIE_ENDS = (("test", 750), ("dev", 1250))
# Of 498 articles.
_ARTICLES_TEST, _ARTICLES_DEV = 25, 25
_LEAST_RATING = 0.5


@dataclass(frozen=True)
class BuiltinData:
    """One built-in data set: what it is, the names of its splits, and how one is made."""

    about: str
    splits: tuple[str, ...]
    make: Callable[[str, str, Request], TextData]


def builtin_names() -> list[str]:
    """Names of all built-in data."""
    return list(_BUILTINS)


def builtin_data() -> Mapping[str, BuiltinData]:
    """All built-in data by name."""
    return _BUILTINS


def load_builtin(name: str, split: str | None, request: Request) -> TextData:
    """A split ("train" where None) of built-in data.

    Raises InputError for a split that there is not, and when the data are neither cached nor to be fetched.
    """
    found = _BUILTINS[name]
    split = split or "train"
    if split not in found.splits:
        raise unknown("split", split, found.splits, f"{name}: ")
    return found.make(name, split, request)


def _movie_sentiment(name: str, split: str, request: Request) -> TextData:
    """Ratings above 0 are positive; those nearer to 0 than 0.5 are left out.

    The split is drawn by a hash of each text's words, 750 and 500 of each label for test and dev; texts that differ in
    case, punctuation or spaces only are always on one side. Row ids are the file's.
    """
    rows = [
        (id, text, "positive" if float(rating) > 0 else "negative")
        for id, rating, text in _read(name, "movieReviewSnippets_GroundTruth.txt")
        if abs(float(rating)) >= _LEAST_RATING
    ]
    sides = _movie_sides(rows)
    wanted = ("train", "dev") if split == "unlabelled" else (split,)
    columns = ("id", "text", "label")[: 2 if split == "unlabelled" else 3]
    chosen = [row[: len(columns)] for row in rows if sides[_draw(row[1])] in wanted]
    table = MemoryTable(name, columns, chosen, range(1, len(chosen) + 1))
    return table_data(table, replace(request, columns=DEFAULT_COLUMNS))


def _movie_sides(rows: Sequence[tuple[str, str, str]]) -> dict[str, str]:
    """Side of each draw: of each label the first draws are test, the next dev, the others train."""
    sizes: dict[str, int] = {}
    label_of: dict[str, str] = {}
    for _, text, label in rows:
        draw = _draw(text)
        sizes[draw] = sizes.get(draw, 0) + 1
        label_of.setdefault(draw, label)
    sides = {}
    taken = dict.fromkeys(label_of.values(), 0)
    for draw in sorted(sizes):
        label = label_of[draw]
        sides[draw] = next((side for side, end in _MOVIE_ENDS if taken[label] < end), "train")
        taken[label] += sizes[draw]
    return sides


def _editorials(name: str, split: str, request: Request) -> TextData:
    """Sentences in their order, split by article: 25 each are dev and test. Row ids are the file's, ARTICLE_SENTENCE.

    The file lacks some sentences, and some articles begin twice, of which the first time is left out. `document` counts
    the stretches without a gap.
    """
    if not request.plain_too and (request.task or request.labels or request.problem_type is not None):
        raise InputError(f"{name}: is plain text and has no labels; for {DATA_TASKS[0]} take movie-sentiment.")
    sentences = [(*_place(id), text) for id, _, text in _read(name, "nytEditorialSnippets_GroundTruth.txt")]
    last = {(article, _words(text)): number for article, number, text in sentences}
    sentences = [s for s in sentences if last[s[0], _words(s[2])] == s[1]]
    articles = sorted({article for article, _, _ in sentences}, key=lambda article: _draw(f"article {article}"))
    test, dev = articles[:_ARTICLES_TEST], articles[_ARTICLES_TEST : _ARTICLES_TEST + _ARTICLES_DEV]
    sides = dict.fromkeys(articles, "train") | dict.fromkeys(test, "test") | dict.fromkeys(dev, "dev")
    rows, document, before = [], -1, (0, 0)
    for article, number, text in sentences:
        document += before != (article, number - 1)
        before = (article, number)
        if sides[article] == split:
            rows.append(TextRow(text, id=f"{article}_{number}", document=document))
    return TextData(name, "", (), None, rows)


def _place(id: str) -> tuple[int, int]:
    article, _, sentence = id.partition("_")
    return int(article), int(sentence)


def _read(name: str, file: str) -> Iterator[tuple[str, str, str]]:
    """Id, mean rating (-4..4) and text of each line of a file in the archive."""
    inner = member(
        fetch(VADER, f"data '{name}'"), f"{VADER.package}-{VADER.version}/additional_resources/{_INNER}.tar.gz"
    )
    for line in member(inner, f"{_INNER}/{file}").decode("utf-8").split("\n"):
        id, rating, text = line.rstrip("\r").split("\t")
        yield id, rating, _clean(text)


def _clean(text: str) -> str:
    """Undo what the file's makers did: &amp; for &, two apostrophes for a quotation mark, runs of spaces for dashes."""
    # Twice: in the editorials it is &amp;amp;.
    return " ".join(html.unescape(html.unescape(text)).replace("''", '"').split())


def _words(text: str) -> str:
    """What is left of a text when case, punctuation and spaces do not count."""
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def _draw(text: str) -> str:
    return hashlib.sha256(f"{_SEED} {_words(text)}".encode()).hexdigest()


_BUILTINS: Mapping[str, BuiltinData] = {
    "movie-sentiment": BuiltinData(
        "10,072 sentences of film reviews, negative or positive; unlabelled: train and dev text",
        ("train", "dev", "test", "unlabelled"),
        _movie_sentiment,
    ),
    "editorials": BuiltinData(
        "5,118 sentences of 498 newspaper editorials in their order, no labels",
        ("train", "dev", "test"),
        _editorials,
    ),
}
