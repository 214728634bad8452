"""`load`: a built-in name, a folder or a hub id becomes a Model."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from mobilekit.errors import InputError, short, unknown
from mobilekit.models import builtin
from mobilekit.models.checkpoint import read_config
from mobilekit.models.config import EncoderConfig, HeadConfig
from mobilekit.models.families.registry import Family, Json, get
from mobilekit.models.google.casing import with_own_case
from mobilekit.models.google.release import Release, find_release
from mobilekit.models.head_of import head_of, label_rows
from mobilekit.models.model import EncoderWithHead, Model, Source, meta_names
from mobilekit.models.sentence_transformers import is_sentence_transformer, read_sentence_modules
from mobilekit.models.tasks import TASKS
from mobilekit.models.weights import SafetensorsSource, Tensors, read_tensors
from mobilekit.reading import read_errors
from mobilekit.text.tokenizer import TextTokenizer, has_tokenizer, load_tokenizer


@read_errors("the model")
def load(name: str | Path, task: str | None = None, revision: str | None = None) -> Model:
    """A model by built-in name, folder or hub id.

    task: a name of `TASKS`; None: what the checkpoint says it is. revision: branch, tag or commit of a hub id.
    Raises InputError when it cannot be found, read, or has no such head.
    """
    if task is not None and task not in TASKS:
        raise unknown("task", task, TASKS)
    text = _checked(str(name))
    if text in builtin.names():
        _refuse_revision(text, "a built-in model", revision)
    made = builtin.load_builtin(text, load_folder)
    if made is not None:
        if task is not None and task != made.head.task:
            raise InputError(f"model '{name}' is a {made.head.task} model; it has no {task} head.")
        return made
    path = Path(name)
    if path.is_dir():
        _refuse_revision(text, "a folder", revision)
        return load_folder(path, task)
    if path.exists():
        raise InputError(f"{path}: is a file; a model is a folder with config.json and model.safetensors.")
    if "/" in text and not text.startswith((".", "/", "~")) and text.count("/") == 1:
        from mobilekit.models.hub import download, license_of

        folder, commit = download(text, revision)
        return load_folder(folder, task, Source(text, commit, license_of(folder)))
    if "/" in text:
        raise InputError(f"{short(path)}: no such folder.")
    raise unknown("model", text, builtin.names(), "no folder of that name, and ")


def load_backbone(name: str | Path, revision: str | None = None) -> Model:
    """A model to fine-tune, whatever head it has, and also one whose head is not known here. Raises as `load` does."""
    try:
        return load(name, None, revision)
    except InputError as error:
        try:
            return load(name, "sentence-embedding", revision)
        except InputError:
            raise error from None


def _checked(name: str) -> str:
    if not name.strip():
        raise InputError("no model given: its name is empty; give a built-in name, a folder or a hub id.")
    if "://" in name:
        raise InputError(f"model '{short(name)}' is an address; give the hub id alone, such as owner/name.")
    return name


def _refuse_revision(name: str, kind: str, revision: str | None) -> None:
    if revision is not None:
        raise InputError(f"revision '{short(revision)}' is for hub ids; '{name}' is {kind}: leave --revision out.")


def load_folder(folder: Path, task: str | None = None, source: Source | None = None) -> Model:
    """A model out of a checkpoint folder (transformers, sentence-transformers, Google's release or our own layout)."""
    modules = read_sentence_modules(folder) if is_sentence_transformer(folder) else None
    release = find_release(folder) if modules is None else None
    if release is not None:
        return _load_release(release, task, source)
    inner = modules.transformer if modules is not None else folder
    family, config, encoder = read_config(inner)
    head = head_of(inner, family, config, modules, task)
    _check_dense(inner, encoder, head)
    source_of, notes = SafetensorsSource(inner), []
    tensors = _read(source_of, family, encoder, head, config)
    if _has_own_decoder(source_of, family, encoder, head, tensors):
        head = replace(head, tied=False)
        tensors = _read(source_of, family, encoder, head, config)
        notes.append("the decoder in the file is not the token table, though config.json ties them: both are kept.")
    tensors |= modules.dense if modules is not None else {}
    # transformers' max_length is a setting of text generation; ours says how long inputs may be.
    ours = config.get("max_length") if family.model_type == "mobilekit" else None
    limit = modules.max_length if modules is not None else ours
    tokenizer = _tokenizer(folder, inner, encoder, limit)
    if modules is not None and modules.lower_case and not tokenizer.lower_case:
        tokenizer = tokenizer.lowered()
    model = _assembled(folder, family, _padded_as(encoder, tokenizer), head, tensors, tokenizer, source)
    model.notes += notes
    if modules is None and task is None and head.task == "sentence-embedding" and family.modules is not None:
        model.notes.append("the checkpoint has no head: it embeds sentences, by the mean of all tokens, unit length.")
    if modules is not None:
        model.prefix = modules.prefix
        model.notes += modules.notes
    else:
        model.prefix = get(config, "prefix", str, "")
    return model


def _read(source: SafetensorsSource, family: Family, encoder: EncoderConfig, head: HeadConfig, config: Json) -> Tensors:
    wanted, shapes = family.tensor_names(encoder, head), meta_names(encoder, head)
    return read_tensors(source, wanted, shapes, family.prefix, label_rows(config, head))


def _has_own_decoder(
    source: SafetensorsSource, family: Family, encoder: EncoderConfig, head: HeadConfig, tensors: Tensors
) -> bool:
    """Whether a file has a decoder that differs from the table it is said to be tied to: `transformers` keeps both."""
    if head.task != "fill-mask" or not head.tied or family.modules is None:
        return False
    name = family.tensor_names(encoder, replace(head, tied=False))["head.decoder.weight"]
    table = tensors["embeddings.token.weight"]
    return name in source.names() and source.shape(name) == table.shape and not (source.read(name) == table).all()


def _padded_as(encoder: EncoderConfig, tokenizer: TextTokenizer) -> EncoderConfig:
    """The padding id is the tokenizer's: some checkpoints' config.json has another one's, left over from BERT."""
    special = tokenizer.special_ids()
    own = special.get("[PAD]", special.get("<pad>"))
    # Where positions begin behind the padding id, config.json has to be right for the model to work at all.
    return encoder if own is None or encoder.position_offset else replace(encoder, pad_id=own)


def _check_dense(folder: Path, encoder: EncoderConfig, head: HeadConfig) -> None:
    width = encoder.hidden_size
    for dense in head.dense:
        if dense.in_size != width:
            raise InputError(f"{folder}: a dense layer takes {dense.in_size} values; what is before it gives {width}.")
        width = dense.out_size


def _load_release(release: Release, task: str | None, source: Source | None) -> Model:
    # The tokenizer first: what is wrong with it is found at once, and weights take long.
    tokenizer, notes = with_own_case(release.folder, _tokenizer(release.folder, release.folder, release.encoder, None))
    encoder, head, tensors = release.read(task)
    model = _assembled(release.folder, release.family, encoder, head, tensors, tokenizer, source)
    model.notes += (*release.notes, *notes)
    return model


def _assembled(
    folder: Path,
    family: Family,
    encoder: EncoderConfig,
    head: HeadConfig,
    tensors: Tensors,
    tokenizer: TextTokenizer,
    source: Source | None,
) -> Model:
    # A link is called by its own name; only `.` and its like have to be resolved.
    own = folder.name if folder.name not in ("", "..") else folder.resolve().name
    name = own if source is None else source.id.rsplit("/", 1)[-1]
    if TASKS[head.task].asks_token and tokenizer.mask_id is None:
        raise InputError(f"{folder}: the tokenizer has no mask token, which a {head.task} model needs.")
    module = EncoderWithHead(encoder, head).eval()
    model = Model(name, module, head, tokenizer, source or Source(own), family=family.model_type, folder=folder)
    model.load_tensors(tensors)
    return model


def _tokenizer(folder: Path, inner: Path, encoder: EncoderConfig, max_length: object) -> TextTokenizer:
    place = next((p for p in (inner, folder) if has_tokenizer(p)), folder)
    limit = min(encoder.max_tokens, max_length) if isinstance(max_length, int) else encoder.max_tokens
    with _nothing_printed():
        tokenizer = load_tokenizer(place, limit)
        _try_out(tokenizer, place, encoder)
    if tokenizer.largest_id >= encoder.vocab_size:
        raise InputError(
            f"{place}: the tokenizer has ids up to {tokenizer.largest_id}, the embedding only "
            f"{encoder.vocab_size} rows; they do not belong together."
        )
    return tokenizer


@contextlib.contextmanager
def _nothing_printed() -> Iterator[None]:
    """Keep standard error to ourselves: the tokenizers' own assertions print a page there before they are caught."""
    try:
        kept = os.dup(2)
    except OSError:  # nobody listens
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _try_out(tokenizer: TextTokenizer, place: Path, encoder: EncoderConfig) -> None:
    """Raise InputError for a tokenizer that loads and then gives what no model can take."""
    try:
        # Nothing, something known, something that hardly any vocabulary has, and a pair.
        tried = [tokenizer.encode(*texts) for texts in (("",), ("a",), ("☃ qzxjv ᚠᚢ",), ("a", "a"))]
    except InputError as error:
        raise InputError(f"{place}: {error}") from error
    except Exception as error:
        raise InputError(f"{place}: the tokenizer cannot encode text ({short(error, 200)}).") from error
    if tried[0].ids.size >= tried[1].ids.size:
        raise InputError(f"{place}: the tokenizer gives no ids for a text; its tokenizer.json is damaged.")
    if not all(encoded.ids.size for encoded in tried):
        raise InputError(
            f"{place}: the tokenizer puts no special tokens around a text; its tokenizer.json has no fitting "
            "post_processor. Save it again with transformers (save_pretrained)."
        )
    largest = max(int(encoded.ids.max()) for encoded in tried)
    if largest >= encoder.vocab_size:
        raise InputError(
            f"{place}: the tokenizer gives id {largest}, the embedding has only {encoder.vocab_size} rows; they do not "
            "belong together."
        )
