"""Every family with both heads equals transformers on random weights with randomised norms, and is saved and loaded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from support import randomise

from mobilekit.errors import InputError
from mobilekit.models.families.registry import families
from mobilekit.models.load import load, save_model

WIDE = {"num_labels": 3, "vocab_size": 90, "initializer_range": 0.15}
BERT_LIKE = {
    **WIDE,
    "hidden_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 96,
    "max_position_embeddings": 80,
}
DISTIL = {**WIDE, "dim": 48, "n_layers": 3, "n_heads": 4, "hidden_dim": 96, "max_position_embeddings": 80}
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "bert": ("Bert", BERT_LIKE),
    "bert-one-type": ("Bert", {**BERT_LIKE, "type_vocab_size": 1}),
    "distilbert": ("DistilBert", DISTIL),
    "distilbert-relu": ("DistilBert", {**DISTIL, "activation": "relu", "sinusoidal_pos_embds": True}),
    "roberta": ("Roberta", BERT_LIKE),
    "xlm-roberta": ("XLMRoberta", BERT_LIKE),
    "camembert": ("Camembert", {**BERT_LIKE, "type_vocab_size": 1}),
    "electra": ("Electra", {**BERT_LIKE, "embedding_size": 24}),
    "electra-wide": ("Electra", {**BERT_LIKE, "embedding_size": 48}),
    "albert": ("Albert", {**BERT_LIKE, "embedding_size": 24}),
    "albert-groups": ("Albert", {**BERT_LIKE, "num_hidden_layers": 4, "num_hidden_groups": 2, "embedding_size": 24}),
    "albert-not-shared": ("Albert", {**BERT_LIKE, "num_hidden_groups": 3, "embedding_size": 48}),
}
Case = tuple[Path, torch.nn.Module]


def vocabulary() -> str:
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz", "good", "film", "."]
    return "\n".join(tokens) + "\n"


@pytest.fixture
def folder_of(tmp_path: Path) -> Callable[[str, str], Case]:
    def make(case: str, head: str) -> Case:
        import transformers

        name, values = FAMILIES[case]
        torch.manual_seed(0)
        config = getattr(transformers, f"{name}Config")(**values)
        suffix = "ForSequenceClassification" if head == "classification" else "Model"
        model = getattr(transformers, f"{name}{suffix}")(config)
        randomise(model)
        folder = tmp_path / case
        model.eval().save_pretrained(folder)
        (folder / "vocab.txt").write_text(vocabulary())
        return folder, model

    return make


def inputs_of(model: torch.nn.Module, length: int, padding: int) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(length)
    ids = torch.randint(5, 90, (2, length + padding), generator=generator)
    mask = torch.ones_like(ids)
    if padding:
        mask[:, length:] = 0
        ids[:, length:] = model.config.pad_token_id  # type: ignore[union-attr]
    return {"input_ids": ids, "attention_mask": mask}


@pytest.mark.parametrize("case", FAMILIES)
@pytest.mark.parametrize("length", [1, 7, 64])
@pytest.mark.parametrize("padding", [0, 9])
def test_classification_equals_transformers(
    folder_of: Callable[[str, str], Case], case: str, length: int, padding: int
) -> None:
    folder, theirs = folder_of(case, "classification")
    ours, inputs = load(folder), inputs_of(theirs, length, padding)
    if ours.config.reads_token_types:
        types = torch.arange(length + padding) % 2
        inputs["token_type_ids"] = types.expand(2, -1).clone()
    with torch.no_grad():
        assert (ours.module(**inputs) - theirs(**inputs).logits).abs().max() < 1e-5


@pytest.mark.parametrize("case", FAMILIES)
def test_states_equal_transformers(folder_of: Callable[[str, str], Case], case: str) -> None:
    folder, theirs = folder_of(case, "base")
    ours, inputs = load(folder, task="sentence-embedding"), inputs_of(theirs, 20, 5)
    with torch.no_grad():
        got = ours.module.encoder(**inputs).last
        expected = theirs(**inputs).last_hidden_state
    assert (got - expected)[:, :20].abs().max() < 1e-5


@pytest.mark.parametrize("case", FAMILIES)
@pytest.mark.parametrize("head", ["classification", "base"])
def test_saved_model_is_read_by_us_and_by_transformers(
    folder_of: Callable[[str, str], Case], case: str, head: str, tmp_path: Path
) -> None:
    from transformers import AutoModel, AutoModelForSequenceClassification

    folder, theirs = folder_of(case, head)
    ours = load(folder, task=None if head == "classification" else "sentence-embedding")
    out = tmp_path / "saved"
    out.mkdir()
    assert save_model(ours, out) == []
    again, inputs = load(out), inputs_of(theirs, 9, 0)
    assert again.config == ours.config and again.head == ours.head
    kind = AutoModelForSequenceClassification if head == "classification" else AutoModel
    reread, info = kind.from_pretrained(out, output_loading_info=True)
    # An unused pooler may be new there; nothing of ours may be left over or missing.
    assert not info["unexpected_keys"] and all("pooler" in key for key in info["missing_keys"])
    with torch.no_grad():
        assert torch.equal(again.module(**inputs), ours.module(**inputs))
        assert (reread.eval()(**inputs)[0] - theirs(**inputs)[0]).abs().max() < 1e-5


def test_every_family_is_covered() -> None:
    assert {case for case in FAMILIES if case in families()} == set(families()) - {"mobilekit"}


def test_albert_with_more_layers_inside_a_group_is_refused(folder_of: Callable[[str, str], Case]) -> None:
    import json

    folder, _ = folder_of("albert", "classification")
    file = folder / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "inner_group_num": 2}))
    with pytest.raises(InputError, match="inner_group_num 2 is not supported"):
        load(folder)
