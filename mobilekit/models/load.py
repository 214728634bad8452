"""`load`: a built-in name, a folder or a hub id becomes a Model; `save_model` writes a folder."""

from __future__ import annotations

import json
from pathlib import Path

from mobilekit.errors import InputError, unknown
from mobilekit.models import builtin
from mobilekit.models.checkpoint import (
    Tensors,
    checkpoint_names,
    config_for,
    read_config,
    read_tensors,
    write_checkpoint,
)
from mobilekit.models.config import TASKS, EncoderConfig, HeadConfig, head_from_dict
from mobilekit.models.families.registry import Family, Json, families, get
from mobilekit.models.model import EncoderWithHead, Model, Source, meta_names
from mobilekit.models.sentence_transformers import (
    SentenceModules,
    is_sentence_transformer,
    read_sentence_modules,
    write_sentence_modules,
)
from mobilekit.text.tokenizer import TOKENIZER_FILE, VOCABULARY_FILE, TextTokenizer, load_tokenizer

# What transformers calls the special tokens of BERT and of RoBERTa.
_SPECIAL_ROLES = {
    "[PAD]": "pad_token",
    "[UNK]": "unk_token",
    "[CLS]": "cls_token",
    "[SEP]": "sep_token",
    "[MASK]": "mask_token",
    "<pad>": "pad_token",
    "<unk>": "unk_token",
    "<s>": "cls_token",
    "</s>": "sep_token",
    "<mask>": "mask_token",
}


def load(name: str | Path, task: str | None = None, revision: str | None = None) -> Model:
    """A model by built-in name, folder or hub id.

    task: `sentence-embedding` or `sequence-classification`; None: what the checkpoint says it is. revision: branch,
    tag or commit of a hub id. Raises InputError when it cannot be found, read, or has no such head.
    """
    if task is not None and task not in TASKS:
        raise unknown("task", task, TASKS)
    made = builtin.load_builtin(str(name), load_folder)
    if made is not None:
        if task is not None and task != made.head.task:
            raise InputError(f"model '{name}' is a {made.head.task} model; it has no {task} head.")
        return made
    path = Path(name)
    if path.is_dir():
        return load_folder(path, task)
    text = str(name)
    if path.exists():
        raise InputError(f"{path}: is a file; a model is a folder with config.json and model.safetensors.")
    if "/" in text and not text.startswith((".", "/", "~")) and text.count("/") == 1:
        from mobilekit.models.hub import download

        folder, commit = download(text, revision)
        return load_folder(folder, task, Source(text, commit))
    if "/" in text:
        raise InputError(f"{path}: no such folder.")
    raise unknown("model", text, builtin.names(), "no folder of that name, and ")


def load_folder(folder: Path, task: str | None = None, source: Source | None = None) -> Model:
    """A model out of a checkpoint folder (transformers, sentence-transformers or our own layout)."""
    modules = read_sentence_modules(folder) if is_sentence_transformer(folder) else None
    inner = modules.transformer if modules is not None else folder
    family, config, encoder = read_config(inner)
    head = _head(inner, family, config, modules, task)
    shapes = meta_names(encoder, head)
    wanted = {ours: theirs for ours, theirs in family.tensor_names(encoder, head).items() if ours in shapes}
    tensors = read_tensors(inner, wanted, shapes, family.prefix)
    tensors |= modules.dense if modules is not None else {}
    # transformers' max_length is a setting of text generation; ours says how long inputs may be.
    ours = config.get("max_length") if family.model_type == "mobilekit" else None
    limit = modules.max_length if modules is not None else ours
    tokenizer = _tokenizer(folder, inner, encoder, limit)
    module = EncoderWithHead(encoder, head).eval()
    # A link is called by its own name; only `.` and its like have to be resolved.
    own = folder.name if folder.name not in ("", "..") else folder.resolve().name
    name = own if source is None else source.id.rsplit("/", 1)[-1]
    model = Model(name, module, head, tokenizer, source or Source(own))
    model.load_tensors(tensors)
    model.folder, model.family = folder, family.model_type
    if modules is not None:
        model.prefix = modules.prefix
        model.notes += modules.notes
    elif family.model_type == "mobilekit":
        model.prefix = get(config, "prefix", str, "")
    return model


def save_model(model: Model, folder: Path) -> list[str]:
    """Write a checkpoint into an existing folder; returns notes, e.g. that `transformers` has no class for it."""
    notes: list[str] = []
    family = families()[model.family]
    config = config_for(model.config, model.head, family)
    if config is None:
        family = families()["mobilekit"]
        config = config_for(model.config, model.head, family)
        notes.append("transformers has no class for this encoder: it is saved in mobilekit's own layout.")
    assert config is not None
    tensors = model.tensors()
    dense: Tensors = {}
    if model.head.task == "sentence-embedding" and family.model_type != "mobilekit":
        dense = {n: t for n, t in tensors.items() if n.startswith("head.dense.")}
        tensors = {n: t for n, t in tensors.items() if n not in dense}
    names = checkpoint_names(model.config, model.head, family)
    if family.model_type == "mobilekit":
        config |= {"max_length": model.tokenizer.max_length, "prefix": model.prefix}
    write_checkpoint(folder, family, config, tensors, names)
    if model.head.task == "sentence-embedding" and family.model_type != "mobilekit":
        limit, width = model.tokenizer.max_length, model.config.hidden_size
        write_sentence_modules(folder, model.head, dense, width, limit, model.prefix)
    (folder / TOKENIZER_FILE).write_text(model.tokenizer.serialized(), encoding="utf-8")
    special = {_SPECIAL_ROLES[t]: t for t in model.tokenizer.special_ids() if t in _SPECIAL_ROLES}
    options = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": model.tokenizer.max_length, **special}
    (folder / "tokenizer_config.json").write_text(
        json.dumps(options, indent=2, sort_keys=True) + "\n", encoding="utf-8"
    )
    vocabulary = model.tokenizer.vocabulary()
    if vocabulary is not None:
        (folder / VOCABULARY_FILE).write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    return notes


def _head(folder: Path, family: Family, config: Json, modules: SentenceModules | None, task: str | None) -> HeadConfig:
    if family.model_type == "mobilekit":
        found = head_from_dict(get(config, "head", dict))
        if task is not None and task != found.task:
            raise InputError(f"{folder}: is a {found.task} model; it has no {task} head.")
        return found
    by_class = {cls: name for name, cls in family.architectures.items()}
    architectures = config.get("architectures") or []
    has = by_class.get(architectures[0]) if isinstance(architectures, list) and architectures else None
    if modules is not None:
        if task in (None, "sentence-embedding"):
            return modules.head
        raise InputError(f"{folder}: is a sentence-transformers model; it has no {task} head.")
    if task == "sentence-embedding":
        return HeadConfig("sentence-embedding")
    if has == "sequence-classification":
        return _classification_head(folder, config, family)
    if task == "sequence-classification":
        raise InputError(f"{folder}: architecture {architectures} has no classification head; fine-tune one first.")
    raise InputError(
        f"{folder}: architecture {architectures} says of no head what it is for; "
        "--task sentence-embedding exports it with mean pooling."
    )


def _classification_head(folder: Path, config: Json, family: Family) -> HeadConfig:
    labels = config.get("id2label")
    if not isinstance(labels, dict) or not labels:
        count = get(config, "num_labels", int, 2)
        labels = {str(i): f"LABEL_{i}" for i in range(count)}
    try:
        ordered = [str(labels[str(i)]) for i in range(len(labels))]
    except KeyError as error:
        raise InputError(
            f"{folder}/config.json: id2label has no entry {error}; expected 0 to {len(labels) - 1}."
        ) from error
    default = "regression" if len(ordered) == 1 else "single_label_classification"
    kind = config.get("problem_type") or default
    return HeadConfig("sequence-classification", tuple(ordered), kind, family.head_activation)


def _tokenizer(folder: Path, inner: Path, encoder: EncoderConfig, max_length: object) -> TextTokenizer:
    places = (inner, folder)
    has_one = [p for p in places if (p / TOKENIZER_FILE).is_file() or (p / VOCABULARY_FILE).is_file()]
    place = has_one[0] if has_one else folder
    limit = min(encoder.max_tokens, max_length) if isinstance(max_length, int) else encoder.max_tokens
    tokenizer = load_tokenizer(place, limit)
    if tokenizer.largest_id >= encoder.vocab_size:
        raise InputError(
            f"{place}: the tokenizer has ids up to {tokenizer.largest_id}, the embedding only "
            f"{encoder.vocab_size} rows; they do not belong together."
        )
    return tokenizer
