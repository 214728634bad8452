from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from support import ANSWER, CLASSIFIER, EMBEDDING, TINY, TOKENS, WORDS, randomise

from mobilekit.errors import InputError
from mobilekit.models.config import HeadConfig
from mobilekit.models.load import load, load_backbone
from mobilekit.models.model import Model, Source, fresh_module
from mobilekit.models.save import save_model

Make = Callable[..., tuple[Path, torch.nn.Module]]
IDS = torch.tensor([[2, 7, 8, 9, 3]])


def edit(file: Path, **changes: object) -> None:
    content = json.loads(file.read_text())
    content.update(changes)
    file.write_text(json.dumps({k: v for k, v in content.items() if v is not None}))


def test_labels_come_in_their_order(bert_folder: Make) -> None:
    folder, _ = bert_folder(id2label={0: "bad", 1: "so so", 2: "good"})
    assert load(folder).head.labels == ("bad", "so so", "good")


@pytest.mark.parametrize("name", ["tiny-embedding", "tiny-classifier", "tiny-shared"])
def test_saved_folder_loads_with_equal_outputs(name: str, tmp_path: Path) -> None:
    model = load(name)
    notes = save_model(model, tmp_path)
    again = load(tmp_path)
    assert again.head == model.head and again.config == model.config
    assert torch.equal(model.module(IDS), again.module(IDS))
    assert again.tokenizer.encode("a good film").ids.tolist() == model.tokenizer.encode("a good film").ids.tolist()
    assert bool(notes) == (name == "tiny-shared")
    # Whoever may read the configuration may read the weights.
    assert len({file.stat().st_mode for file in tmp_path.rglob("*") if file.is_file()}) == 1


@pytest.mark.parametrize("sharing", ["attention", "ffn"])
@pytest.mark.parametrize("width", [64, 32])
@pytest.mark.parametrize(
    "head",
    [CLASSIFIER, replace(CLASSIFIER, activation="gelu"), EMBEDDING, TOKENS, ANSWER, WORDS],
    ids=lambda head: f"{head.task}-{head.activation}",
)
def test_half_shared_encoder_is_saved_compactly_and_for_transformers(
    sharing: str, width: int, head: HeadConfig, tmp_path: Path
) -> None:
    import transformers

    encoder = replace(TINY, layers=4, groups=2, sharing=sharing, embedding_size=width, initializer_range=0.1)
    module = fresh_module(encoder, head)
    randomise(module)
    model = Model("half", module, head, load("tiny-classifier").tokenizer, Source("half"))
    compact, expanded = tmp_path / "compact", tmp_path / "expanded"
    for folder in (compact, expanded):
        folder.mkdir()
    assert "own layout" in save_model(model, compact)[0]
    assert "each layer with a copy" in save_model(model, expanded, layout="transformers")[0]
    with torch.no_grad():
        expected = model.module(IDS)
        for folder in (compact, expanded):
            assert torch.equal(load(folder).module(IDS), expected)
        config = json.loads((expanded / "config.json").read_text())
        theirs = getattr(transformers, config["architectures"][0]).from_pretrained(expanded).eval()
        if head.task == "sentence-embedding":
            assert (theirs(IDS)[0] - model.module.encoder(IDS).last).abs().max() < 1e-5
        elif head.task != "question-answering":
            assert (theirs(IDS).logits - expected).abs().max() < 1e-5
    assert len(load(compact).tensors()) < len(load(expanded).tensors())


def test_transformers_loads_what_we_save(tmp_path: Path) -> None:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = load("tiny-classifier")
    save_model(model, tmp_path)
    theirs = AutoModelForSequenceClassification.from_pretrained(tmp_path).eval()
    assert (theirs(IDS).logits - model.module(IDS)).abs().max() < 1e-5
    assert theirs.config.id2label == {0: "negative", 1: "positive"}
    text = "a good film, isn't it?"
    assert AutoTokenizer.from_pretrained(tmp_path)(text)["input_ids"] == model.tokenizer.encode(text).ids.tolist()


def test_sharded_weights_and_family_prefix_and_old_norm_names(bert_folder: Make) -> None:
    folder, theirs = bert_folder()
    tensors = {n: t.clone() for n, t in load_file(folder / "model.safetensors").items()}
    assert any(name.startswith("bert.") for name in tensors)
    old = {n.replace("LayerNorm.weight", "LayerNorm.gamma"): t for n, t in tensors.items()}
    old = {n.removeprefix("bert.").replace("LayerNorm.bias", "LayerNorm.beta"): t for n, t in old.items()}
    names = sorted(old)
    shards = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
    for file, some in shards.items():
        save_file({n: old[n] for n in some}, folder / file)
    (folder / "model.safetensors").unlink()
    index = {"weight_map": {n: file for file, some in shards.items() for n in some}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    assert (load(folder).module(IDS) - theirs(IDS).logits).abs().max() < 1e-5


def test_half_precision_weights_load(bert_folder: Make) -> None:
    folder, _ = bert_folder()
    tensors = {n: t.clone() for n, t in load_file(folder / "model.safetensors").items()}
    save_file({n: t.to(torch.bfloat16) for n, t in tensors.items()}, folder / "model.safetensors")
    assert load(folder).module(IDS).dtype == torch.float32


def test_backbone_embeds_sentences_and_unknown_classes_need_a_task(bert_folder: Make) -> None:
    folder, _ = bert_folder("base")
    assert load(folder).head == HeadConfig("sentence-embedding") and "no head" in load(folder).notes[0]
    edit(folder / "config.json", architectures=["BertForNextSentencePrediction"])
    with pytest.raises(InputError, match="--task sentence-embedding"):
        load(folder)
    with pytest.raises(InputError, match="has no sequence-classification head"):
        load(folder, task="sequence-classification")
    assert load(folder, task="sentence-embedding").head.task == "sentence-embedding"


def test_problem_types(bert_folder: Make) -> None:
    folder, _ = bert_folder(problem_type="multi_label_classification")
    assert load(folder).head.problem_type == "multi_label_classification"
    edit(folder / "config.json", problem_type="guessing")
    with pytest.raises(InputError, match="problem type 'guessing'"):
        load(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_type": "deberta-v2"}, "model_type 'deberta-v2' is not supported; supported: albert, bert, camembert"),
        ({"model_type": ["bert"]}, "not supported"),
        ({"hidden_size": 50}, "50 is not divisible by 4 heads"),
        ({"hidden_size": "48"}, "hidden_size is '48'"),
        ({"num_hidden_layers": 0}, "layers is 0"),
        ({"num_hidden_layers": 4}, r"tensors missing from the weights: encoder.layer.3"),
        ({"intermediate_size": 97}, r"has shape \[96, 48\]; the configuration asks for \[97, 48\]"),
        ({"vocab_size": None}, "vocab_size is missing"),
        ({"hidden_act": "silu"}, "hidden_act 'silu' is not supported"),
        ({"position_embedding_type": "relative_key"}, "relative_key"),
        ({"is_decoder": True}, "mobilekit exports encoders"),
        ({"pad_token_id": 90}, "pad_id 90"),
        ({"id2label": {"0": "a", "2": "b", "3": "c"}}, "id2label has no entry"),
        ({"id2label": {"0": "a", "1": "a", "2": "c"}}, "two labels have the same name"),
    ],
)
def test_bad_configurations_are_named(bert_folder: Make, changes: dict[str, object], message: str) -> None:
    folder, _ = bert_folder()
    edit(folder / "config.json", **changes)
    with pytest.raises(InputError, match=message):
        load(folder)


def test_bad_weights_are_named(bert_folder: Make) -> None:
    folder, _ = bert_folder()
    file = folder / "model.safetensors"
    # Copies: load_file maps the file, which is overwritten below.
    good, tensors = file.read_bytes(), {n: t.clone() for n, t in load_file(file).items()}
    file.write_bytes(good[: len(good) // 2])
    with pytest.raises(InputError, match="not a whole safetensors file"):
        load(folder)
    tensors["classifier.weight"][0, 0] = float("nan")
    save_file(tensors, file)
    with pytest.raises(InputError, match=r"classifier.weight has values that are not finite"):
        load(folder)
    file.rename(folder / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"pickled weights are not read.*save_pretrained"):
        load(folder)
    (folder / "pytorch_model.bin").unlink()
    with pytest.raises(InputError, match="no weights"):
        load(folder)


def test_vocabulary_larger_than_the_table_is_refused(bert_folder: Make) -> None:
    folder, _ = bert_folder()
    words = [f"w{i}" for i in range(60)]
    with (folder / "vocab.txt").open("a") as file:
        file.write("\n".join(words) + "\n")
    with pytest.raises(InputError, match="do not belong together"):
        load(folder)


def test_unknown_names() -> None:
    with pytest.raises(InputError, match="did you mean 'minilm-l6'"):
        load("minilm-l7")
    with pytest.raises(InputError, match="no such folder"):
        load("./no-such-folder")
    with pytest.raises(InputError, match="did you mean 'sentence-embedding'"):
        load("tiny-embedding", task="sentence-embeding")
    with pytest.raises(InputError, match="has no sequence-classification head"):
        load("tiny-embedding", task="sequence-classification")


def test_hub_id_goes_through_the_hub_client(bert_folder: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    folder, theirs = bert_folder()
    commit = folder.rename(folder.with_name("c0ffee"))
    asked = {}

    def snapshot(repository: str, **options: object) -> str:
        asked.update(options, repository=repository)
        return str(commit)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    model = load("someone/some-model", revision="v1")
    assert asked["repository"] == "someone/some-model" and asked["revision"] == "v1"
    assert not any("bin" in str(p) for p in asked["allow_patterns"])  # type: ignore[attr-defined]
    assert (model.name, model.source.id, model.source.revision) == ("some-model", "someone/some-model", "c0ffee")
    assert (model.module(IDS) - theirs(IDS).logits).abs().max() < 1e-5


def test_hub_without_network_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import huggingface_hub
    from huggingface_hub.errors import LocalEntryNotFoundError

    def fail(*_: object, **__: object) -> str:
        raise LocalEntryNotFoundError("offline")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fail)
    with pytest.raises(InputError, match="the hub cannot be reached"):
        load("someone/some-model")


def test_checkpoint_that_names_no_class_is_a_backbone(bert_folder: Make) -> None:
    folder, _ = bert_folder("base")
    edit(folder / "config.json", architectures=None)
    assert load(folder).head == HeadConfig("sentence-embedding")


def test_missing_model_type_says_what_to_add(bert_folder: Make) -> None:
    folder, _ = bert_folder()
    edit(folder / "config.json", model_type=None)
    with pytest.raises(InputError, match="model_type is missing; add it, one of albert, bert"):
        load(folder)


def test_padding_id_is_the_tokenizers(bert_folder: Make) -> None:
    folder, _ = bert_folder()
    edit(folder / "config.json", pad_token_id=7)
    assert load(folder).config.pad_id == 0


def test_decoder_that_is_not_the_table_is_kept(bert_folder: Make) -> None:
    from transformers import BertConfig, BertForMaskedLM

    folder, _ = bert_folder("base")
    config = BertConfig.from_pretrained(folder)
    torch.manual_seed(1)
    model = BertForMaskedLM(config).eval()
    randomise(model)
    tensors = {name: p.detach().clone() for name, p in model.named_parameters()}
    tensors["cls.predictions.decoder.weight"] = torch.randn(90, 48) * 0.1
    tensors["cls.predictions.decoder.bias"] = tensors["cls.predictions.bias"].clone()
    save_file(tensors, folder / "model.safetensors")
    edit(folder / "config.json", architectures=["BertForMaskedLM"])
    ours, theirs = load(folder), BertForMaskedLM.from_pretrained(folder).eval()
    assert not ours.head.tied and "both are kept" in ours.notes[0]
    with torch.no_grad():
        assert (ours.module(IDS) - theirs(IDS).logits).abs().max() < 1e-5


@pytest.mark.parametrize("architecture", ["BertForNextSentencePrediction", None])
def test_anything_can_be_fine_tuned(bert_folder: Make, architecture: str | None) -> None:
    folder, _ = bert_folder("base")
    edit(folder / "config.json", architectures=architecture and [architecture])
    assert load_backbone(folder).head.task == "sentence-embedding"
    with pytest.raises(InputError, match="did you mean 'minilm-l6'"):
        load_backbone("minilm-l7")
