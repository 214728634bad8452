"""What is asked for is what is done: pooling, labels in another order, options that are read, room for text."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from training_program import ROWS

from mobilekit.errors import InputError
from mobilekit.models.config import HeadConfig
from mobilekit.models.load import load
from mobilekit.models.model import Model
from mobilekit.models.rehead import with_head
from mobilekit.models.tasks import SPAN_LABELS
from mobilekit.text.data.rows import AnswerRow, TextData, TextRow, TokensRow
from mobilekit.training.lengths import require_room, require_room_for
from mobilekit.training.options import GENERAL, TASK, make_options, may_read
from mobilekit.training.predict import outputs
from mobilekit.training.recipes.registry import recipe, recipes
from mobilekit.training.teachers import in_order
from mobilekit.training.train import head_for

LABELS = ("negative", "positive")
SENTIMENT = TextData("toy", "sequence-classification", LABELS, "single_label_classification", ROWS)
TAGS = TextData("tags", "token-classification", ("O", "B"), None, [TokensRow(("a", "film"), (0, 1))])


@pytest.mark.parametrize(
    ("own", "asked", "kept"),
    [(True, None, True), (False, None, True), (True, True, True), (False, False, True), (True, False, False)],
)
def test_pooling_that_is_asked_for_is_what_the_head_has(own: bool, asked: bool | None, kept: bool) -> None:
    head = HeadConfig("sequence-classification", LABELS, mean=own)
    model = with_head(load("tiny-embedding"), head)
    found = head_for(model, SENTIMENT, asked)
    assert (found == head) == kept and found.mean == (own if asked is None else asked)


def test_pooling_of_a_fresh_head_is_the_familys() -> None:
    model = load("tiny-embedding")
    assert [head_for(model, SENTIMENT, asked).mean for asked in (None, False, True)] == [False, False, True]
    for asked in (True, False):
        with pytest.raises(InputError, match="pooling: is of classifiers of whole texts; leave it out for token-cl"):
            head_for(model, TAGS, asked)


def test_a_regression_keeps_its_head_whatever_its_value_is_called() -> None:
    data = TextData(
        "r", "sequence-classification", ("value",), "regression", [TextRow("a", None, 0.5), TextRow("b", None, 1)]
    )
    own = HeadConfig("sequence-classification", ("LABEL_0",), "regression")
    assert head_for(with_head(load("tiny-embedding"), own), data) == own
    two = HeadConfig("sequence-classification", ("a", "b"), "regression")
    assert head_for(with_head(load("tiny-embedding"), two), data).labels == ("value",)


@pytest.mark.parametrize("name", ["tiny-classifier", "tiny-tagger"])
def test_a_teacher_says_the_same_in_another_order(name: str) -> None:
    from mobilekit.training.features import Features

    teacher = load(name)
    backwards = tuple(reversed(teacher.head.labels))
    head = replace(teacher.head, labels=backwards)
    turned = in_order(teacher, head)
    assert turned.head == head and teacher.head.labels != backwards and turned.name == teacher.name
    encoded = teacher.tokenizer.encode("a good film")
    given = [Features(encoded.ids, encoded.type_ids, encoded.ids[:0])]
    ours, theirs = outputs(teacher, given)[0], outputs(turned, given)[0]
    assert torch.allclose(torch.from_numpy(ours).flip(-1), torch.from_numpy(theirs), atol=1e-5)
    assert in_order(teacher, teacher.head) is teacher
    assert in_order(teacher, replace(head, labels=("other", *backwards[1:]))) is teacher
    assert in_order(load("tiny-reader"), HeadConfig("question-answering", SPAN_LABELS)).head.labels == SPAN_LABELS


@pytest.mark.parametrize("name", recipes())
def test_all_defaults_but_those_that_exclude_each_other_are_accepted(name: str) -> None:
    how = recipe(name)
    made = make_options(how.options, vars(how.options()), f"recipe {name}")
    assert made == how.options()


def test_options_are_read_where_their_stages_are() -> None:
    options = recipe("distilbert").options
    assert may_read(options, "temperature", GENERAL) and may_read(options, "temperature", TASK)
    assert may_read(options, "soft_words", GENERAL) and not may_read(options, "soft_words", TASK)
    assert not may_read(recipe("tinybert").options, "temperature", GENERAL)
    assert not may_read(recipe("tinybert").options, "glove", GENERAL)
    assert may_read(recipe("tinybert").options, "layer_map", GENERAL)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"temperature": 2.0, "match": "logits", "general_epochs": 0},
            "with --general-epochs 0 and with --match logits",
        ),
        ({"temperature": 2.0, "match": "logits", "soft_words": 0.0}, "with --soft-words 0 and with --match logits"),
        ({"temperature": 2.0, "soft": 0.0, "soft_words": 0.0}, "with --soft-words 0 and with --soft 0"),
        ({"cosine_layer": "last", "general_epochs": 0}, "--cosine-layer changes nothing with --general-epochs 0"),
    ],
)
def test_every_reason_is_named(given: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_options(recipe("distilbert").options, given, "recipe distilbert")


def test_one_use_is_enough() -> None:
    given = {"temperature": 2.0, "match": "logits"}
    assert make_options(recipe("distilbert").options, given, "recipe distilbert").match == "logits"
    given = {"temperature": 2.0, "general_epochs": 0}
    assert make_options(recipe("distilbert").options, given, "recipe distilbert").general_epochs == 0


def test_text_needs_room_beside_what_is_special() -> None:
    model = load("tiny-embedding")
    require_room(model, 3)
    require_room(model, 5, pair=True)
    for length, pair in ((2, False), (4, True)):
        with pytest.raises(
            InputError, match=f"length is {length}; {length if not pair else 3} ids .* --length {length + 1}"
        ):
            require_room(model, length, pair)
    prefixed: Model = replace(model, prefix="a film: ")
    require_room(prefixed, 6)
    with pytest.raises(InputError, match="length is 5; 5 ids that are special or the model's prefix"):
        require_room(prefixed, 5)


def test_a_question_needs_room_for_its_context() -> None:
    reader = load("tiny-reader")
    rows = [AnswerRow("good", "it was good", ()), AnswerRow("was it very good", "it was good", ())]
    data = TextData("test.json", "question-answering", (), None, rows)
    require_room_for(reader, (None, data), 8)
    with pytest.raises(InputError, match=r"test\.json: question 'was it very good' takes 7 of 7 ids"):
        require_room_for(reader, (None, data), 7)
