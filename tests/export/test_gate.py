"""What a gate refuses before any work: data, teachers and float models of another task or of other labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lessons import model
from support import fake_manifest

from export.gate import Gate, refuse_pairs
from mobilekit.artifact import Manifest
from mobilekit.compression.compress import compress
from mobilekit.compression.folder import save_compressed
from mobilekit.errors import InputError
from mobilekit.models.config import HeadConfig
from mobilekit.models.load import load
from mobilekit.text.data.rows import AnswerRow, TextData, TextRow, TokensRow

LABELS = ("negative", "positive")
SINGLE = "single_label_classification"
DATA = TextData("d", "sequence-classification", LABELS, SINGLE, [TextRow("good", None, 1)])
PLAIN = TextData("d", "", (), None, [TextRow("good")])
TAGS = TextData("d", "token-classification", ("O", "B"), None, [TokensRow(("good",), (0,))])
ASKED = TextData("d", "question-answering", (), None, [AnswerRow("q", "good", ())])
VALUES = TextData("d", "sequence-classification", ("value",), "regression", [TextRow("good", None, 0.5)])


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"max_drop": -0.1}, "--max-drop -0.1: expected points from 0 to 100"),
        ({"max_drop": float("nan")}, "--max-drop nan"),
        ({"max_drop": float("inf")}, "--max-drop inf"),
        ({"limit": 0}, "--limit 0: expected a number of rows >= 1"),
    ],
)
def test_numbers_that_say_nothing(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Gate(DATA, **given)


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("tiny-classifier", replace(DATA, rows=[]), "d: has no rows"),
        ("tiny-classifier", TAGS, "d: is for token-classification, and tiny-classifier is a sequence-classification"),
        ("tiny-classifier", replace(DATA, labels=LABELS[::-1]), "are not those of tiny-classifier .*in another order"),
        ("tiny-classifier", VALUES, r"d: its labels \(value\) are not those of tiny-classifier \(negative, positive\)"),
        ("tiny-tagger", TAGS, r"d: its labels \(O, B\) are not those of tiny-tagger \(O, B-PER"),
        ("tiny-reader", PLAIN, "is plain text, and tiny-reader is a question-answering model; give questions"),
        (
            "tiny-embedding",
            ASKED,
            "d: is for question-answering, and tiny-embedding is a sentence-embedding model; give p",
        ),
    ],
)
def test_data_of_another_task_or_of_other_labels(name: str, data: TextData, says: str) -> None:
    with pytest.raises(InputError, match=says):
        Gate(data).check(load(name))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("tiny-classifier", DATA),
        ("tiny-classifier", PLAIN),
        ("tiny-tagger", PLAIN),
        ("tiny-reader", ASKED),
        ("tiny-embedding", DATA),
        ("tiny-words", PLAIN),
    ],
)
def test_fitting_data(name: str, data: TextData) -> None:
    Gate(data, 0.5, 10).check(load(name))


def test_values_fit_a_model_of_values_whatever_it_calls_them() -> None:
    Gate(VALUES).check(model(HeadConfig("sequence-classification", ("LABEL_0",), "regression")))


@pytest.mark.parametrize("option", ["teacher", "against"])
def test_other_models_have_to_answer_the_same(option: str) -> None:
    ours = load("tiny-classifier")
    others = [
        (load("tiny-tagger"), f"--{option} tiny-tagger: is a token-classification model, and tiny-classifier a seq"),
        (
            model(),
            rf"--{option} model-1: its labels \(bad, so-so, good\) are not those of tiny-classifier \(negative, po",
        ),
        (
            model(HeadConfig("sequence-classification", LABELS, "multi_label_classification")),
            "was trained for multi_lab",
        ),
    ]
    for other, says in others:
        with pytest.raises(InputError, match=says):
            Gate(DATA, **{option: other}).check(ours)
    Gate(DATA, **{option: model(HeadConfig("sequence-classification", LABELS[::-1]))}).check(ours)
    narrow = model(HeadConfig("sentence-embedding"), hidden_size=32, embedding_size=32)
    with pytest.raises(
        InputError, match=f"--{option} model-1: its embeddings have 32 values, those of tiny-embedding 64"
    ):
        Gate(PLAIN, **{option: narrow}).check(load("tiny-embedding"))


def test_labels_in_another_order_are_put_in_ours() -> None:
    ours = load("tiny-classifier")
    found = Gate(DATA, against=model(HeadConfig("sequence-classification", LABELS[::-1]))).float_of(ours)
    assert found is not None and found.head.labels == LABELS and Gate(DATA).float_of(ours) is ours


def test_records_carry_no_float_model(tmp_path: Path) -> None:
    made = load("tiny-classifier")
    save_compressed(made, compress(made, "int8"), tmp_path / "records")
    records = load(tmp_path / "records")
    with pytest.raises(InputError, match="records: holds records, .* give --against MODEL"):
        Gate(DATA, 0.5).check(records)
    Gate(DATA).check(records)
    assert Gate(DATA).float_of(records) is None
    Gate(DATA, 0.5, against=load("tiny-classifier")).check(records)


def test_an_artifact_carries_no_float_model() -> None:
    manifest, tokenizer = Manifest(fake_manifest(None)), load("tiny-classifier").tokenizer
    for gate, says in (
        (Gate(DATA, 0.5), r"--max-drop: the artifact is held against .* --against MODEL \(it was made from 'fake'\)"),
        (Gate(PLAIN), "d: without labels, answers are held against .*which fake-int8 does not carry"),
        (Gate(TAGS), "d: is for token-classification, and fake-int8 is a sequence-classification model"),
        (Gate(DATA, teacher=model()), "--teacher model-1: its labels .* are not those of fake-int8"),
    ):
        with pytest.raises(InputError, match=says):
            gate.check_artifact(manifest, tokenizer)
    Gate(DATA).check_artifact(manifest, tokenizer)
    Gate(PLAIN, 1, against=load("tiny-classifier")).check_artifact(manifest, tokenizer)


def test_pairs_need_an_artifact_that_takes_them() -> None:
    pairs = replace(DATA, rows=[TextRow("good", "bad", 1)])
    content = fake_manifest(None)
    refuse_pairs(pairs, Manifest(content))
    content["tokenizer"]["pair_template"] = []
    with pytest.raises(InputError, match="d: holds pairs of texts, and fake-int8 takes no token types"):
        refuse_pairs(pairs, Manifest(content))
    refuse_pairs(DATA, Manifest(content))
