"""Google's releases of BERT and ALBERT: checkpoints as TensorFlow writes them, under the published names."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from google_support import ALBERT, BERT, random_model, variables_of
from tensorflow_support import SharedProcess, needs_tensorflow, write_checkpoint
from tokenizer_support import ALBERT as ALBERT_PIECES
from tokenizer_support import train_sentencepiece

from mobilekit.errors import InputError, MissingExtraError
from mobilekit.models.google import release as release_module
from mobilekit.models.google.casing import with_own_case
from mobilekit.models.google.checkpoints import choose_checkpoint
from mobilekit.models.google.release import find_release
from mobilekit.models.load import load
from mobilekit.models.save import save_model
from mobilekit.process import EngineProcess
from mobilekit.text.tokenizer import load_tokenizer

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz", "##s", "film", "good", "."]


def write_folder(folder: Path, kind: str, config: dict[str, Any]) -> Path:
    """What stands beside the checkpoint."""
    folder.mkdir(exist_ok=True)
    (folder / f"{kind}_config.json").write_text(json.dumps(config, indent=2))
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    return folder


def pretend_checkpoint(folder: Path, *names: str) -> None:
    """Files of the right names, which tensorflow would not read."""
    for name in names:
        for part in ("index", "data-00000-of-00001", "meta"):
            (folder / f"{name}.{part}").write_bytes(b"none")


@pytest.fixture
def shared_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads in the session's one tensorflow."""
    monkeypatch.setattr(release_module, "EngineProcess", lambda _: SharedProcess())


def outputs(model: Any, task: str | None) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    generator = torch.Generator().manual_seed(1)
    inputs = {"input_ids": torch.randint(5, 90, (2, 17), generator=generator)}
    inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
    inputs["token_type_ids"] = (torch.arange(17) % 2).expand(2, -1).clone()
    with torch.no_grad():
        output = model(**inputs)
    if task == "question-answering":
        return torch.stack([output.start_logits, output.end_logits], -1), inputs
    return output[0], inputs


def differs(ours: Any, theirs: Any) -> float:
    """Largest difference to transformers: of the logits, or of the last hidden state."""
    expected, inputs = outputs(theirs, ours.head.task)
    module = ours.module
    with torch.no_grad():
        got = module.encoder(**inputs).last if ours.head.task == "sentence-embedding" else module(**inputs)
    assert got.shape == expected.shape
    return float((got - expected).abs().max())


CASES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "fill-mask": ("bert", "ForMaskedLM", BERT),
    "sequence-classification": ("bert", "ForSequenceClassification", BERT),
    "question-answering": ("bert", "ForQuestionAnswering", BERT),
    "sentence-embedding": ("bert", "Model", BERT),
    "fill-mask albert": ("albert", "ForMaskedLM", ALBERT),
    "fill-mask albert groups": ("albert", "ForMaskedLM", {**ALBERT, "num_hidden_groups": 2}),
    "sequence-classification albert": ("albert", "ForSequenceClassification", ALBERT),
    "question-answering albert": ("albert", "ForQuestionAnswering", ALBERT),
}


@pytest.mark.slow
@needs_tensorflow
@pytest.mark.parametrize("case", CASES)
def test_release_equals_transformers(case: str, tmp_path: Path, shared_reader: None) -> None:
    kind, head, config = CASES[case]
    task = case.split()[0]
    # What Google calls gelu there is its tanh form.
    changes = {"hidden_act": "gelu_new"} if kind == "albert" else {}
    labels = {"num_labels": 3} if task == "sequence-classification" else {}
    theirs = random_model(kind, head, config, **changes, **labels)
    folder = write_folder(tmp_path / "release", kind, config)
    write_checkpoint(folder, variables_of(theirs), "bert_model.ckpt" if kind == "bert" else "model.ckpt-best")
    ours = load(folder, task="sentence-embedding" if task == "sentence-embedding" else None)
    assert (ours.head.task, ours.family, ours.name, ours.notes) == (task, kind, "release", [])
    assert ours.config.activation == ("gelu_new" if kind == "albert" else "gelu")
    if labels:
        assert ours.head.labels == ("LABEL_0", "LABEL_1", "LABEL_2") and ours.head.activation == "tanh"
    if task == "fill-mask":
        assert ours.head.activation == ours.config.activation
    assert differs(ours, theirs) < 1e-5
    out = tmp_path / "saved"
    out.mkdir()
    assert save_model(ours, out) == []
    assert differs(load(out, task=ours.head.task), theirs) < 1e-5


@pytest.mark.slow
@needs_tensorflow
def test_fine_tuned_folder_in_a_process_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As run_classifier.py leaves it: steps, an optimizer's variables, the state file; and tensorflow stays outside."""
    started: list[EngineProcess] = []

    def start(service: str) -> EngineProcess:
        started.append(EngineProcess(service))
        return started[-1]

    monkeypatch.setattr(release_module, "EngineProcess", start)
    folder = write_folder(tmp_path / "fine-tuned", "bert", BERT)
    theirs = random_model("bert", "ForSequenceClassification", BERT, num_labels=1)
    variables = variables_of(theirs)
    write_checkpoint(folder, {**variables, "output_bias": variables["output_bias"] + 1}, "model.ckpt", 9)
    slots = {f"{name}/adam_{kind}": np.zeros_like(values) for name, values in variables.items() for kind in "mv"}
    write_checkpoint(folder, {**variables, **slots, "global_step": np.array(30, np.int64)}, "model.ckpt", 30)
    ours = load(folder)
    assert differs(ours, theirs) < 1e-5
    assert (ours.head.labels, ours.head.problem_type) == (("LABEL_0",), "regression")
    assert ours.notes == ["model.ckpt-30 was read, which the file checkpoint names; not read: model.ckpt-9."]
    assert "tensorflow" not in sys.modules
    (process,) = started
    assert process._child.poll() is not None and not process.log.exists()


@pytest.mark.slow
@needs_tensorflow
def test_albert_as_wide_as_its_embeddings_has_no_projection(tmp_path: Path, shared_reader: None) -> None:
    """Google's code projects only where it has to; transformers always does."""
    config = {**ALBERT, "embedding_size": 48}
    theirs = random_model("albert", "ForMaskedLM", config, hidden_act="gelu_new")
    with torch.no_grad():
        theirs.albert.encoder.embedding_hidden_mapping_in.weight.copy_(torch.eye(48))
        theirs.albert.encoder.embedding_hidden_mapping_in.bias.zero_()
    variables = {name: v for name, v in variables_of(theirs).items() if "hidden_mapping" not in name}
    folder = write_folder(tmp_path / "wide", "albert", config)
    write_checkpoint(folder, variables, "model.ckpt-best")
    ours = load(folder)
    assert not ours.config.projected and differs(ours, theirs) < 1e-5


@pytest.mark.slow
@needs_tensorflow
def test_bad_checkpoints_are_one_clear_line(tmp_path: Path, shared_reader: None) -> None:
    folder = write_folder(tmp_path / "release", "bert", BERT)
    variables = variables_of(random_model("bert", "ForMaskedLM", BERT))
    lacking = {n: v for n, v in variables.items() if n != "bert/encoder/layer_1/attention/self/key/kernel"}
    path = write_checkpoint(folder, lacking)
    with pytest.raises(
        InputError, match=r"missing from the checkpoint: bert/encoder/layer_1/attention/self/key/kernel"
    ):
        load(folder)
    with pytest.raises(InputError, match="is a fill-mask model; it has no question-answering head"):
        load(folder, task="question-answering")
    write_checkpoint(folder, {**variables, "bert/pooler/dense/bias": np.zeros(48, np.int32)})
    assert load(folder).head.task == "fill-mask"
    with pytest.raises(InputError, match=r"has shape \[90, 48\]; the configuration asks for \[91, 48\]"):
        (folder / "bert_config.json").write_text(json.dumps({**BERT, "vocab_size": 91}))
        load(folder)
    (folder / "bert_config.json").write_text(json.dumps(BERT))
    name = "bert/embeddings/LayerNorm/beta"
    for values, message in (
        (np.full(48, np.nan, np.float32), "not finite"),
        (np.zeros(48, np.int32), f"{name} is of type int32"),
    ):
        write_checkpoint(folder, {**variables, name: values})
        with pytest.raises(InputError, match=message):
            load(folder)
    SharedProcess().call("write_objects", {"path": str(path)})
    with pytest.raises(InputError, match="a checkpoint of TensorFlow 2"):
        load(folder)
    write_checkpoint(folder, variables)
    for part, end in ((".data-00000-of-00001", 0.5), (".index", 0.5)):
        file = Path(f"{path}{part}")
        whole = file.read_bytes()
        file.write_bytes(whole[: int(len(whole) * end)])
        with pytest.raises(InputError, match=r"bert_model\.ckpt: .*damaged or incomplete: get them again") as caught:
            load(folder)
        assert "\n" not in str(caught.value)
        file.write_bytes(whole)
    assert load(folder).head.task == "fill-mask"


def test_without_tensorflow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    folder = write_folder(tmp_path / "release", "bert", BERT)
    pretend_checkpoint(folder, "bert_model.ckpt")
    with pytest.raises(MissingExtraError, match=r"bert_model\.ckpt.*pip install 'mobilekit\[tensorflow\]'"):
        load(folder)


def test_what_is_wrong_is_found_without_tensorflow(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "release", "bert", BERT)
    with pytest.raises(InputError, match=r"has bert_config\.json but no checkpoint"):
        load(folder)
    pretend_checkpoint(folder, "bert_model.ckpt")
    config = folder / "bert_config.json"
    for text, message in (
        ("{", r"bert_config\.json: not readable as JSON"),
        ("[]", r"bert_config\.json: expected a JSON object"),
        (json.dumps({**BERT, "hidden_size": "48"}), r"bert_config\.json: hidden_size is '48'"),
        (json.dumps({**BERT, "hidden_act": "swish"}), r"bert_config\.json: hidden_act 'swish' is not supported"),
    ):
        config.write_text(text)
        with pytest.raises(InputError, match=message):
            load(folder)
    config.write_text(json.dumps(BERT))
    (folder / "albert_config.json").write_text(json.dumps(ALBERT))
    with pytest.raises(InputError, match=r"and both of bert_config\.json and albert_config\.json"):
        load(folder)
    (folder / "albert_config.json").unlink()
    (folder / "vocab.txt").rename(folder / "words.txt")
    with pytest.raises(InputError, match="no tokenizer"):
        load(folder)
    config.unlink()
    with pytest.raises(InputError, match=r"checkpoint bert_model\.ckpt\.index and neither of bert_config\.json"):
        load(folder)


def test_albert_with_more_layers_inside_a_group_is_refused(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "release", "albert", {**ALBERT, "inner_group_num": 2})
    pretend_checkpoint(folder, "model.ckpt-best")
    with pytest.raises(InputError, match=r"albert_config\.json: inner_group_num 2 is not supported"):
        load(folder)


def test_safetensors_beside_a_checkpoint_win(bert_folder: Callable[..., tuple[Path, torch.nn.Module]]) -> None:
    folder, theirs = bert_folder()
    (folder / "bert_config.json").write_text("{}")
    pretend_checkpoint(folder, "bert_model.ckpt")
    assert find_release(folder) is None
    assert differs(load(folder), theirs) < 1e-5


def test_of_several_checkpoints_one_is_chosen(tmp_path: Path) -> None:
    def chosen() -> tuple[str, tuple[str, ...]]:
        path, notes = choose_checkpoint(tmp_path, sorted(tmp_path.glob("*.index")))
        return path.name, notes

    pretend_checkpoint(tmp_path, "bert_model.ckpt", "model.ckpt-9", "model.ckpt-10")
    assert chosen() == (
        "model.ckpt-10",
        ("model.ckpt-10 was read, the one of the highest step; not read: bert_model.ckpt, model.ckpt-9.",),
    )
    state = tmp_path / "checkpoint"
    state.write_text('model_checkpoint_path: "gs://somewhere/run/model.ckpt-9"\nall_model_checkpoint_paths: "x"\n')
    assert chosen()[0] == "model.ckpt-9" and "which the file checkpoint names" in chosen()[1][0]
    state.write_text('model_checkpoint_path: "/training/machine/model.ckpt-11"\n')
    assert chosen()[0] == "model.ckpt-10" and "the model.ckpt-11 of checkpoint is not here" in chosen()[1][0]
    state.unlink()
    for file in tmp_path.glob("model.ckpt-*"):
        file.rename(file.with_name(file.name.replace("-9.", "-last.").replace("-10.", "-best.")))
    with pytest.raises(InputError, match=r"several checkpoints \(bert_model.ckpt, model.ckpt-best, model.ckpt-last\)"):
        chosen()


def test_missing_parts_of_the_weights_are_named(tmp_path: Path) -> None:
    index = tmp_path / "model[1].ckpt.index"
    index.write_bytes(b"")
    with pytest.raises(InputError, match=r"model\[1\]\.ckpt\.data-00000-of-00001 has to be beside it"):
        choose_checkpoint(tmp_path, [index])
    (tmp_path / "model[1].ckpt.data-00000-of-00002").write_bytes(b"")
    with pytest.raises(InputError, match=r"model\[1\]\.ckpt\.data-00001-of-00002 has to be beside it"):
        choose_checkpoint(tmp_path, [index])


def test_albert_release_has_its_own_name_for_the_sentencepiece_file(tmp_path: Path) -> None:
    folders = [write_folder(tmp_path / name, "albert", ALBERT) for name in ("google", "transformers")]
    for folder, name in zip(folders, ("30k-clean.model", "spiece.model"), strict=True):
        (folder / "vocab.txt").unlink()
        train_sentencepiece(folder / name, **ALBERT_PIECES)
    one, other = (load_tokenizer(folder, 80) for folder in folders)
    assert one.serialized() == other.serialized() and one.lower_case
    assert with_own_case(folders[0], one) == (one, ())


@pytest.mark.parametrize(("cased", "text"), [(False, "film good ."), (True, "Film good .")])
def test_cased_vocabulary_keeps_capital_letters(cased: bool, text: str, tmp_path: Path) -> None:
    """Nothing in a release says whether text is lower-cased, but its vocabulary has capital letters or none."""
    folder = write_folder(tmp_path / "release", "bert", BERT)
    words = [*WORDS, *"ABCDEFGHIJKLMNOPQRSTUVWXYZ", "Film"] if cased else [*WORDS, "NASA"]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")
    tokenizer, notes = with_own_case(folder, load_tokenizer(folder, 80))
    assert tokenizer.encode("Film good.").ids.tolist() == [words.index(w) for w in f"[CLS] {text} [SEP]".split()]
    assert tokenizer.max_length == 80 and bool(notes) == cased
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": true}')
    assert with_own_case(folder, load_tokenizer(folder, 80))[0].lower_case
