"""Augmentation against a direct computation, its rates, and all that it has to leave as it was."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from mobilekit.errors import InputError
from mobilekit.models.load import load
from mobilekit.models.model import Model
from mobilekit.text.data.rows import TextRow
from mobilekit.text.text_tokenizer import TextTokenizer
from mobilekit.training.augmentation import augment as module
from mobilekit.training.augmentation.augment import Augmentation, augment
from mobilekit.training.augmentation.neighbours import TableNeighbours

ALWAYS = Augmentation(copies=1, probability=1, candidates=1, at_once=0)
SENTENCE = "the good film was not that bad"


class Stub:
    """Neighbours that are made up; keeps what was asked."""

    def __init__(self, found: dict[str, list[str]] | None = None) -> None:
        self.found: dict[str, list[str]] = found or {}
        self.asked: list[str] = []
        self.prepared: set[str] = set()

    def nearest(self, word: str, count: int) -> list[str]:
        assert word in self.prepared
        self.asked.append(word)
        return self.found.get(word, [])

    def prepare(self, words: Sequence[str], count: int) -> None:
        self.prepared |= set(words)


@pytest.fixture(scope="module")
def tiny() -> Model:
    return load("tiny-words")


def run(model: Model, rows: Sequence[TextRow], how: Augmentation = ALWAYS, **changes: Any) -> list[TextRow]:
    settings: dict[str, Any] = {"neighbours": Stub(), "length": 64, "seed": 0, "report": lambda _: None, **changes}
    return augment(rows, model, augmentation=how, **settings)


def texts(model: Model, text: str, how: Augmentation = ALWAYS, **changes: Any) -> list[str]:
    return [row.text for row in run(model, [TextRow(text)], how, **changes)]


def ranked(model: Model, ids: Sequence[int], places: Sequence[int]) -> list[list[str]]:
    """By hand: whole words, the most likely first, at each of `places`, with all of them masked in one forward pass."""
    vocabulary = model.tokenizer.vocabulary()
    assert vocabulary is not None
    masked = torch.tensor([list(ids)])
    masked[0, list(places)] = vocabulary.index("[MASK]")
    with torch.no_grad():
        logits = model.module(masked)[0]
    words = [i for i, token in enumerate(vocabulary) if token.isalpha()]
    return [
        [vocabulary[i] for i in sorted(words, key=lambda i: -float(logits[place, i])) if i != ids[place]]
        for place in places
    ]


def seen_words(made: Sequence[str]) -> list[set[str]]:
    return [set(column) for column in zip(*(text.split() for text in made), strict=True)]


@pytest.mark.parametrize("count", [1, 4, 15])
def test_candidates_are_the_most_likely_words_where_each_is_masked_alone(tiny: Model, count: int) -> None:
    ids = tiny.tokenizer.encode(SENTENCE).ids.tolist()
    by_hand = [ranked(tiny, ids, [place])[0] for place in range(1, len(ids) - 1)]
    # So many copies that every candidate comes up: 1 - 15 * (14 / 15) ** 500.
    how = Augmentation(copies=500, probability=1, candidates=count, at_once=0)
    expected = [set(words[:count]) for words in by_hand]
    assert seen_words(texts(tiny, SENTENCE, how)) == expected
    # It could be otherwise: other places have other candidates.
    assert len({tuple(words[:count]) for words in by_hand}) > 1


def test_batches_of_many_lengths_give_each_sentence_its_own_candidates(tiny: Model) -> None:
    words = [w for w in SENTENCE.split() if len(w) > 1] * 4
    rng = np.random.default_rng(0)
    sentences = [" ".join(rng.choice(words, size=int(n))) for n in rng.integers(1, 16, size=40)]
    made = {row.id: row.text for row in run(tiny, [TextRow(s, id=str(i)) for i, s in enumerate(sentences)])}
    for i, sentence in enumerate(sentences):
        ids = tiny.tokenizer.encode(sentence).ids.tolist()
        assert made[f"{i}+1"] == " ".join(ranked(tiny, ids, [place])[0][0] for place in range(1, len(ids) - 1))


@pytest.mark.parametrize(
    ("count", "share", "passes"),
    [(20, 0.15, [3, 3, 3, 3, 3, 3, 2]), (20, 0.0, [1] * 20), (3, 0.3, [1, 1, 1]), (5, 1.0, [5]), (7, 0.5, [3, 2, 2])],
)
def test_words_of_a_pass_are_spread_over_the_sentence(tiny: Model, count: int, share: float, passes: list[int]) -> None:
    mask_id, seen = tiny.tokenizer.mask_id, []

    def look(_: torch.nn.Module, __: tuple[Any, ...], inputs: dict[str, torch.Tensor]) -> None:
        assert not torch.is_grad_enabled()
        seen.extend([torch.where(row == mask_id)[0].tolist() for row in inputs["input_ids"]])

    handle = tiny.module.encoder.register_forward_pre_hook(look, with_kwargs=True)
    try:
        (made,) = texts(tiny, " ".join(["film"] * count), replace(ALWAYS, at_once=share))
    finally:
        handle.remove()
    assert [len(places) for places in seen] == passes
    assert sorted(p for places in seen for p in places) == list(range(1, count + 1))
    for places in seen:
        assert {b - a for a, b in itertools.pairwise(places)} <= {len(passes)}
    ids = tiny.tokenizer.encode(" ".join(["film"] * count)).ids.tolist()
    best = {place: words[0] for places in seen for place, words in zip(places, ranked(tiny, ids, places), strict=True)}
    assert made == " ".join(best[place] for place in sorted(best))


def test_logits_in_parts_are_the_same(tiny: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = texts(tiny, SENTENCE, Augmentation(at_once=1))
    monkeypatch.setattr(module, "_LOGITS", 1)
    assert texts(tiny, SENTENCE, Augmentation(at_once=1)) == whole


def test_in_bf16_candidates_are_about_the_same(tiny: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    each, seen = module._Finder._ranked, set()

    def ranked_here(self: Any, states: torch.Tensor) -> Any:
        seen.add(torch.is_autocast_enabled("cpu"))
        return each(self, states)

    monkeypatch.setattr(module._Finder, "_ranked", ranked_here)
    how = Augmentation(copies=300, probability=1, candidates=15, at_once=0)
    whole, half = (seen_words(texts(tiny, SENTENCE, how, half=half)) for half in (False, True))
    assert seen == {False, True}
    assert all(len(a & b) >= 12 for a, b in zip(whole, half, strict=True))


def test_single_pieces_get_the_models_words_and_others_their_neighbours(tiny: Model) -> None:
    stub = Stub({"zebra": ["horse", "pony"], "good": ["never"]})
    how = Augmentation(copies=300, probability=1, candidates=2, at_once=0)
    good, zebra, film = seen_words(texts(tiny, "good zebra film", how, neighbours=stub))
    assert zebra == {"horse", "pony"} and stub.asked == ["zebra"]
    ids = tiny.tokenizer.encode("good zebra film").ids.tolist()
    assert good == set(ranked(tiny, ids, [1])[0][:2]) and film == set(ranked(tiny, ids, [len(ids) - 2])[0][:2])
    assert texts(tiny, "zebra", how) == []


def test_neighbours_by_the_models_table_work_together_with_it(tiny: Model) -> None:
    table = TableNeighbours(tiny)
    (made,) = texts(tiny, "good zebra", neighbours=table)
    assert made.split()[1] == table.nearest("zebra", 1)[0]


def test_probability_0_makes_nothing_and_1_replaces_every_word(tiny: Model) -> None:
    rows = [TextRow(SENTENCE), TextRow("a film"), TextRow("")]
    assert run(tiny, rows, Augmentation(probability=0)) == []
    made = run(tiny, rows, Augmentation(probability=1))
    assert len(made) > 30
    for row in made:
        original = SENTENCE if len(row.text.split()) == 7 else "a film"
        assert all(new != old for new, old in zip(row.text.split(), original.split(), strict=True))


@pytest.mark.parametrize("probability", [0.1, 0.4, 0.75])
def test_share_of_replaced_words_is_the_probability(tiny: Model, probability: float) -> None:
    words = [w for w in SENTENCE.split() if len(w) > 1]
    rng = np.random.default_rng(1)
    # So long that no copy is like the original or another one, and none is dropped.
    rows = [TextRow(" ".join(rng.choice(words, size=50))) for _ in range(20)]
    made = run(tiny, rows, Augmentation(copies=10, probability=probability, at_once=1))
    assert len(made) == 200
    pairs = [(rows[i // 10].text, row.text) for i, row in enumerate(made)]
    replaced = sum(a != b for old, new in pairs for a, b in zip(old.split(), new.split(), strict=True))
    deviation = math.sqrt(10_000 * probability * (1 - probability))
    assert abs(replaced - 10_000 * probability) < 4 * deviation


def test_candidates_are_equally_likely(tiny: Model) -> None:
    how = Augmentation(copies=1, probability=1, candidates=4, at_once=0)
    made = run(tiny, [TextRow("film", id=str(i)) for i in range(2000)], how)
    counts = [sum(row.text == word for row in made) for word in {row.text for row in made}]
    assert len(counts) == 4 and all(abs(n - 500) < 4 * math.sqrt(2000 * 0.25 * 0.75) for n in counts)


def test_what_is_between_words_stays(tiny: Model) -> None:
    text = "  The film's \t(good?!) -- 7 bad-film,\nisn't it…  "
    made = texts(tiny, text, Augmentation(probability=0.7), neighbours=Stub({"bad": ["x"]}))
    assert len(made) == 20
    for each in made:
        pattern = r"  [A-Z][a-z]* film's \t\([a-z]+\?!\) -- 7 [a-z]+-[a-z]+,\nisn't [a-z]+…  "
        assert re.fullmatch(pattern, each), each


def test_capitals_stay(tiny: Model) -> None:
    stub = Stub({"Zebra": ["horse"], "ZEBRA": ["horse"], "zebra": ["McHorse"]})
    (made,) = texts(tiny, "Good GOOD good Zebra ZEBRA zebra", neighbours=stub)
    new = made.split()
    assert new[0][0].isupper() and new[0][1:] == new[0][1:].lower() and new[1].isupper() and new[2].islower()
    assert new[3:] == ["Horse", "HORSE", "McHorse"]


def test_word_is_never_its_own_candidate(tiny: Model) -> None:
    stub = Stub({"Zebra": ["zebra", "ZEBRA", "horse", "Horse", "HORSE", "pony", "mule"]})
    how = Augmentation(copies=300, probability=1, candidates=3)
    assert set(texts(tiny, "Zebra", how, neighbours=stub)) == {"Horse", "HORSE", "Pony"}
    # Its piece is "film", which is not how it is written.
    many = texts(tiny, "fi\u0301lm", Augmentation(copies=2000, probability=1, candidates=100))
    assert len(many) > 30 and "film" not in many


def test_prefix_is_read_and_not_replaced(tiny: Model) -> None:
    model = replace_prefix(tiny, "good film: ")
    ids = tiny.tokenizer.encode("good film: " + SENTENCE).ids.tolist()
    best = [ranked(tiny, ids, [place])[0][0] for place in range(4, len(ids) - 1)]
    assert texts(model, SENTENCE) == [" ".join(best)] != texts(tiny, SENTENCE)


def replace_prefix(model: Model, prefix: str) -> Model:
    return replace(model, prefix=prefix)


def test_words_behind_the_length_stay(tiny: Model) -> None:
    (made,) = texts(tiny, SENTENCE, length=5)
    assert made.split()[3:] == SENTENCE.split()[3:]
    assert all(a != b for a, b in zip(made.split()[:3], SENTENCE.split()[:3], strict=True))
    long = " ".join(["film"] * 300)
    (made,) = texts(tiny, long, replace(ALWAYS, at_once=1), length=1000)
    assert made.split().count("film") == 300 - (tiny.tokenizer.max_length - 2)


def test_label_stays_and_id_is_marked_and_document_goes(tiny: Model) -> None:
    rows = [TextRow(SENTENCE, None, (0, 2), "a", 5), TextRow("film", None, 0.5, "b"), TextRow("bad", None, 0)]
    made = run(tiny, rows, Augmentation(copies=3, probability=1))
    assert [row.label for row in made[:3]] == [(0, 2)] * 3 and [row.id for row in made[:3]] == ["a+1", "a+2", "a+3"]
    assert {(row.label, row.id.split("+")[0]) for row in made[3:]} == {(0.5, "b"), (0, "")}
    assert all(row.document is None and row.pair is None for row in made)


def test_copies_are_new_and_differ(tiny: Model) -> None:
    made = texts(tiny, "film", Augmentation(copies=200, probability=0.5, candidates=3))
    assert sorted(made) == sorted(set(made)) and len(made) == 3 and "film" not in made


def test_texts_of_a_pair_are_augmented_each_on_its_own(tiny: Model) -> None:
    rows = [TextRow("the good film", SENTENCE, 1, "a"), TextRow(SENTENCE, "", 0, "b")]
    (first, second) = run(tiny, rows)
    (alone,) = texts(tiny, "the good film")
    (other,) = texts(tiny, SENTENCE)
    assert (first.text, first.pair, first.label) == (alone, other, 1)
    assert (second.text, second.pair, second.label) == (other, "", 0)
    half = run(tiny, [TextRow("film", "good")], Augmentation(copies=400, probability=0.5, candidates=1))
    # Each of the three ways to replace one or both, once.
    assert len(half) == 3 and {(row.text == "film", row.pair == "good") for row in half} == {
        (False, False), (True, False), (False, True),
    }  # fmt: skip


def test_same_seed_gives_the_same_and_another_seed_others(tiny: Model) -> None:
    rows = [TextRow(SENTENCE, id="a"), TextRow("it was a very good film", id="b")]
    how = Augmentation(copies=5)
    assert run(tiny, rows, how) == run(tiny, rows, how)
    assert run(tiny, rows, how) != run(tiny, rows, how, seed=1)
    # The same sentence twice becomes two different ones.
    twice = run(tiny, [TextRow(SENTENCE, id="x"), TextRow(SENTENCE, id="x")], how)
    assert [row.text for row in twice[:5]] != [row.text for row in twice[5:]]


def test_rows_do_not_depend_on_how_many_are_done_at_once(tiny: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [TextRow(" ".join(SENTENCE.split()[: n % 7 + 1]), id=str(n)) for n in range(20)]
    said: list[str] = []
    whole = run(tiny, rows, report=said.append)
    assert said == ["augmenting: 20 of 20 sentences"]
    monkeypatch.setattr(module, "_CHUNK", 8)
    monkeypatch.setattr(module, "_BATCH", 3)
    said.clear()
    rows_with_pair = [*rows[:-1], replace(rows[-1], pair="")]
    parts = run(tiny, rows_with_pair, report=said.append)
    assert [row.text for row in parts] == [row.text for row in whole]
    assert said == [f"augmenting: {n} of 21 sentences" for n in (8, 16, 21)]


@pytest.fixture
def training(tiny: Model) -> Iterator[Model]:
    tiny.module.train()
    yield tiny
    tiny.module.eval()


def test_model_is_in_evaluation_mode_meanwhile_and_training_again_after(training: Model) -> None:
    modes: list[bool] = []

    class Failing(Stub):
        def nearest(self, word: str, count: int) -> list[str]:
            modes.append(training.module.training)
            raise RuntimeError("no")

    assert run(training, [TextRow(SENTENCE)]) and training.module.training
    with pytest.raises(RuntimeError, match="no"):
        run(training, [TextRow("zebra")], neighbours=Failing())
    assert modes == [False] and training.module.training
    assert all(p.grad is None for p in training.module.parameters())


def test_no_rows_make_none(tiny: Model) -> None:
    assert run(tiny, []) == [] and run(tiny, [TextRow(""), TextRow("1, 2!", "?")]) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"copies": 0}, "copies is 0; it has to be at least 1"),
        ({"candidates": 0}, "candidates is 0; it has to be at least 1"),
        ({"probability": 1.1}, "probability is 1.1; it is a share, 0 to 1"),
        ({"probability": -0.1}, "probability is -0.1"),
        ({"probability": math.nan}, "probability is nan"),
        ({"at_once": -0.1}, "at_once is -0.1"),
        ({"at_once": 2}, "at_once is 2"),
    ],
)
def test_settings_outside_their_range_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Augmentation(**changes)


def test_defaults_are_the_papers() -> None:
    how = Augmentation()
    assert (how.probability, how.copies, how.candidates) == (0.4, 20, 15)


def test_model_has_to_fill_masks(tiny: Model) -> None:
    with pytest.raises(InputError, match="its head is of sequence-classification; augmentation needs a fill-mask"):
        run(load("tiny-classifier"), [TextRow("film")])
    tokenizer = TextTokenizer(tiny.tokenizer.serialized().replace("[MASK]", "[MUSK]"), 64)
    with pytest.raises(InputError, match="no mask token"):
        run(replace(tiny, tokenizer=tokenizer), [TextRow("film")])
