"""Every family with every head equals transformers on random weights with randomised norms, and is saved and loaded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from support import randomise

from mobilekit.errors import InputError
from mobilekit.models.families.registry import families
from mobilekit.models.load import load
from mobilekit.models.model import EncoderWithHead
from mobilekit.models.save import save_model

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
    "electra-relu": ("Electra", {**BERT_LIKE, "embedding_size": 24, "hidden_act": "relu"}),
    "roberta-relu": ("Roberta", {**BERT_LIKE, "hidden_act": "relu"}),
    "albert-relu": ("Albert", {**BERT_LIKE, "embedding_size": 24, "hidden_act": "relu"}),
    "electra-wide": ("Electra", {**BERT_LIKE, "embedding_size": 48}),
    "albert": ("Albert", {**BERT_LIKE, "embedding_size": 24}),
    "albert-groups": ("Albert", {**BERT_LIKE, "num_hidden_layers": 4, "num_hidden_groups": 2, "embedding_size": 24}),
    "albert-not-shared": ("Albert", {**BERT_LIKE, "num_hidden_groups": 3, "embedding_size": 48}),
}
Case = tuple[Path, torch.nn.Module]


def vocabulary() -> str:
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz", "good", "film", "."]
    return "\n".join(tokens) + "\n"


HEADS = {
    "sequence-classification": "ForSequenceClassification",
    "token-classification": "ForTokenClassification",
    "question-answering": "ForQuestionAnswering",
    "fill-mask": "ForMaskedLM",
    "sentence-embedding": "Model",
}


@pytest.fixture
def folder_of(tmp_path: Path) -> Callable[..., Case]:
    def make(case: str, task: str, **changes: Any) -> Case:
        import transformers

        name, values = FAMILIES[case]
        torch.manual_seed(0)
        labels = {"num_labels": 2} if task == "question-answering" else {}
        config = getattr(transformers, f"{name}Config")(**{**values, **labels, **changes})
        model = getattr(transformers, f"{name}{HEADS[task]}")(config)
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
    inputs = {"input_ids": ids, "attention_mask": mask}
    if getattr(model.config, "type_vocab_size", 0) > 1:
        inputs["token_type_ids"] = (torch.arange(length + padding) % 2).expand(2, -1).clone()
    return inputs


def states(task: str, module: EncoderWithHead, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
    """What transformers' class of that task gives first: logits, start and end as columns, or the last state."""
    return module.encoder(**inputs).last if task == "sentence-embedding" else module(**inputs)


def reference(task: str, model: torch.nn.Module, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
    output = model(**inputs)
    if task == "question-answering":
        return torch.stack([output.start_logits, output.end_logits], -1)
    return output[0]


@pytest.mark.parametrize("case", FAMILIES)
@pytest.mark.parametrize("task", HEADS)
def test_family_equals_transformers(folder_of: Callable[..., Case], case: str, task: str) -> None:
    folder, theirs = folder_of(case, task)
    ours = load(folder, task="sentence-embedding" if task == "sentence-embedding" else None)
    assert ours.head.task == task
    for length in (1, 7, 64):
        for padding in (0, 9):
            inputs = inputs_of(theirs, length, padding)
            with torch.no_grad():
                got, expected = states(task, ours.module, inputs), reference(task, theirs, inputs)
            if got.dim() == 3:
                got, expected = got[:, :length], expected[:, :length]
            assert (got - expected).abs().max() < 1e-5, (length, padding)


@pytest.mark.parametrize("case", FAMILIES)
@pytest.mark.parametrize("task", HEADS)
def test_saved_model_is_read_by_us_and_by_transformers(
    folder_of: Callable[..., Case], case: str, task: str, tmp_path: Path
) -> None:
    import transformers

    folder, theirs = folder_of(case, task)
    ours = load(folder, task="sentence-embedding" if task == "sentence-embedding" else None)
    out = tmp_path / "saved"
    out.mkdir()
    assert save_model(ours, out) == []
    again, inputs = load(out), inputs_of(theirs, 9, 0)
    assert again.config == ours.config and again.head == ours.head
    reread, info = getattr(transformers, type(theirs).__name__).from_pretrained(out, output_loading_info=True)
    # An unused pooler may be new there; nothing of ours may be left over or missing.
    assert not info["unexpected_keys"] and all("pooler" in key for key in info["missing_keys"])
    with torch.no_grad():
        assert torch.equal(again.module(**inputs), ours.module(**inputs))
        assert (reference(task, reread.eval(), inputs) - reference(task, theirs, inputs)).abs().max() < 1e-5


@pytest.mark.parametrize("case", ["bert", "distilbert", "roberta", "electra", "albert"])
def test_decoder_of_its_own_is_read_and_saved(folder_of: Callable[..., Case], case: str, tmp_path: Path) -> None:
    import transformers

    folder, theirs = folder_of(case, "fill-mask", tie_word_embeddings=False)
    ours, inputs = load(folder), inputs_of(theirs, 9, 3)
    assert not ours.head.tied and "head.decoder.weight" in ours.tensors()
    with torch.no_grad():
        assert (ours.module(**inputs) - theirs(**inputs)[0])[:, :9].abs().max() < 1e-5
    out = tmp_path / "saved"
    out.mkdir()
    assert save_model(ours, out) == [] and load(out).head == ours.head
    reread = getattr(transformers, type(theirs).__name__).from_pretrained(out).eval()
    with torch.no_grad():
        assert (reread(**inputs)[0] - theirs(**inputs)[0]).abs().max() < 1e-5


@pytest.mark.parametrize("case", ["bert", "albert"])
def test_checkpoint_of_pre_training_fills_masks(folder_of: Callable[..., Case], case: str) -> None:
    import json

    folder, theirs = folder_of(case, "fill-mask")
    file = folder / "config.json"
    name = type(theirs).__name__.replace("MaskedLM", "PreTraining")
    file.write_text(json.dumps({**json.loads(file.read_text()), "architectures": [name]}))
    assert load(folder).head.task == "fill-mask"


def test_any_backbone_embeds_sentences_but_has_no_other_head(folder_of: Callable[..., Case]) -> None:
    folder, _ = folder_of("bert", "question-answering")
    assert load(folder, task="sentence-embedding").head.pooling == "mean"
    with pytest.raises(InputError, match="is a question-answering model; it has no fill-mask head"):
        load(folder, task="fill-mask")


def test_every_family_is_covered() -> None:
    assert {case for case in FAMILIES if case in families()} == set(families()) - {"mobilekit"}


def test_albert_with_more_layers_inside_a_group_is_refused(folder_of: Callable[..., Case]) -> None:
    import json

    folder, _ = folder_of("albert", "sequence-classification")
    file = folder / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "inner_group_num": 2}))
    with pytest.raises(InputError, match="inner_group_num 2 is not supported"):
        load(folder)
