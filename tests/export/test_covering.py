"""Each family, head, tokenizer type and target at least once, from a folder of `transformers` to a checked artifact.

All combinations are `make test-all`; its committed result is held by tests/benchmarks/test_matrix.py.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support import TINY, randomise
from tensorflow_support import second_opinion

from benchmarks.matrix_models import LENGTHS, family_names, write_folder
from export.pipeline import ExportResult, export
from mobilekit.models.config import EncoderConfig, HeadConfig
from mobilekit.models.load import load
from mobilekit.models.model import Model, Source, fresh_module
from mobilekit.models.tasks import TASKS
from mobilekit.runtimes.answer import answer, artifact_tokenizer
from mobilekit.runtimes.runner import Runner, open_artifact
from mobilekit.text.tokenizer import TextTokenizer

# family, head, changes of the configuration, scheme, tokenizer type
CASES = [
    ("bert", "token-classification", {}, "int8", "WordPiece"),
    ("distilbert", "question-answering", {}, "int8", "WordPiece"),
    ("roberta", "fill-mask", {}, "int8", "BPE"),
    ("xlm-roberta", "sentence-embedding", {}, "int8", "Unigram"),
    ("camembert", "token-classification", {}, "fp16", "Unigram"),
    ("electra", "sequence-classification", {"problem_type": "multi_label_classification"}, "int8", "WordPiece"),
    ("albert", "fill-mask", {}, "int8", "Unigram"),
    ("albert", "fill-mask", {"tie_word_embeddings": False}, "fp16", "Unigram"),
    ("roberta", "question-answering", {}, "fp32", "BPE"),
    ("albert", "sequence-classification", {}, "int4", "Unigram"),
    ("bert", "question-answering", {"hidden_size": 64, "intermediate_size": 128}, "int4-g32", "WordPiece"),
    ("albert", "fill-mask", {}, "pal4", "Unigram"),
    ("bert", "token-classification", {}, "pal3", "WordPiece"),
    ("albert", "sequence-classification", {}, "int8-static", "Unigram"),
]
MASKED = {"BPE": "The film is <mask> and <mask>.", "Unigram": "The film is [MASK]."}


@pytest.mark.slow
@pytest.mark.parametrize(("family", "task", "changes", "scheme", "kind"), CASES)
def test_folder_of_transformers_passes_on_every_target(
    family: str, task: str, changes: dict[str, object], scheme: str, kind: str, tmp_path: Path
) -> None:
    write_folder(family, task, tmp_path / "model", **changes)
    model = load(tmp_path / "model")
    assert (model.head.task, model.tokenizer.type) == (task, kind)
    targets = ("coreml", "tflite") if scheme == "fp16" else None
    for result in export(model, targets, scheme, lengths=LENGTHS, out=tmp_path / "out"):
        _hold(result, model)
        if result.target == "tflite":
            assert result.folder is not None
            second_opinion(result.folder)


def _hold(result: ExportResult, model: Model) -> None:
    inputs = [port["name"] for port in result.manifest["inputs"]]
    assert ("token_type_ids" in inputs) == (model.config.token_types > 1)
    assert ("predict_mask" in inputs) == TASKS[model.head.task].asks_token
    assert result.manifest["tokenizer"]["pad_id"] == model.config.pad_id
    names = [tensor["name"] for tensor in result.manifest["tensors"]]
    assert ("head.decoder.weight" in names) == (model.head.task == "fill-mask" and not model.head.tied)
    assert result.folder is not None
    with open_artifact(result.folder) as runner:
        _answers(model, runner)


def _answers(model: Model, runner: Runner) -> None:
    """`run` has an answer for the head."""
    tokenizer, task = artifact_tokenizer(runner.artifact), model.head.task
    text = MASKED.get(model.tokenizer.type, "") if task == "fill-mask" else "Ada left the old town of Lisbon."
    pair = "It was a quiet film about a lighthouse." if task == "question-answering" else None
    found = answer(runner, tokenizer, text, pair, count=3)
    if task == "sentence-embedding":
        assert not found.items and found.output.shape == (model.config.hidden_size,)
    elif task == "fill-mask":
        assert len(found.items) == 3 * text.count(tokenizer.mask_token or "-")
    elif task == "question-answering":
        assert pair is not None and all(i.text == "" or (i.text or "-") in pair for i in found.items)
    elif task == "token-classification":
        assert found.output.shape == (found.tokens, len(model.head.labels))
        assert all(text[i.start : i.end] == i.text for i in found.items)
    else:
        assert {i.label for i in found.items} == set(model.head.labels)


# What no checkpoint of the hub has, but our own encoder can be.
OWN: dict[str, tuple[EncoderConfig, HeadConfig]] = {
    "half-shared": (replace(TINY, layers=4, sharing="attention"), HeadConfig("sentence-embedding")),
    "as-wide": (replace(TINY, projection=True, sharing="all"), HeadConfig("sentence-embedding", pooling="cls")),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", OWN)
def test_own_encoder_passes_on_every_target(case: str, tmp_path: Path) -> None:
    encoder, head = OWN[case]
    encoder = replace(encoder, max_positions=66, initializer_range=0.1)
    module = fresh_module(encoder, head)
    randomise(module)
    tokenizer = TextTokenizer(load("tiny-classifier").tokenizer.serialized(), encoder.max_tokens)
    for result in export(Model(case, module, head, tokenizer, Source(case)), lengths=LENGTHS, out=tmp_path):
        assert result.passed


def test_every_family_head_tokenizer_and_target_is_covered() -> None:
    assert {case[0] for case in CASES} == set(family_names())
    assert {case[1] for case in CASES} == set(TASKS)
    assert {case[4] for case in CASES} == {"WordPiece", "Unigram", "BPE"}
    named = {"fp32", "fp16", "int8", "int8-static", "int4", "int4-g32", "pal4", "pal3"}
    assert {case[3] for case in CASES} == named
