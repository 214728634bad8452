"""Checkpoint folders: configuration and tokenizer."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bad_input.case import Case, Place, Spoil, edit, inspect

CONFIG, TOKENIZER, VOCABULARY = "config.json", "tokenizer.json", "vocab.txt"


def spoiled(change: Callable[[Path], object], good: str = "tiny-classifier") -> Spoil:
    """A checkpoint that `change` has been at."""

    def spoil(place: Place) -> list[str]:
        folder = place.model(good)
        change(folder)
        return inspect(folder)

    return spoil


def config(*without: str, **changes: Any) -> Spoil:
    """A checkpoint with other values in config.json."""
    return spoiled(lambda folder: edit(folder / CONFIG, *without, **changes))


def content(name: str, data: bytes | str, good: str = "tiny-classifier") -> Spoil:
    """A checkpoint in which a file has other content."""
    return spoiled(lambda folder: (folder / name).write_bytes(data.encode() if isinstance(data, str) else data), good)


def instead(name: str, make: Callable[[Path], object]) -> Spoil:
    """A checkpoint in which something else stands at a file's place."""

    def change(folder: Path) -> None:
        (folder / name).unlink()
        make(folder / name)

    return spoiled(change)


def in_text(old: str, new: str) -> Spoil:
    """A checkpoint whose config.json has something that Python's own JSON would not write."""
    return spoiled(lambda folder: (folder / CONFIG).write_text((folder / CONFIG).read_text().replace(old, new)))


def tokenizer(change: Callable[[dict[str, Any]], object]) -> Spoil:
    """A checkpoint with a changed tokenizer.json."""

    def spoil(folder: Path) -> None:
        values = json.loads((folder / TOKENIZER).read_text())
        change(values)
        (folder / TOKENIZER).write_text(json.dumps(values))

    return spoiled(spoil)


def vocabulary(data: bytes) -> Spoil:
    """A checkpoint that has only a vocabulary, and this one."""

    def change(folder: Path) -> None:
        (folder / TOKENIZER).unlink()
        (folder / VOCABULARY).write_bytes(data)

    return spoiled(change)


def _empty(place: Place) -> list[str]:
    (place.root / "m").mkdir()
    return inspect(Path("m"))


def _no_tokenizer(folder: Path) -> None:
    (folder / TOKENIZER).unlink()
    (folder / VOCABULARY).unlink()


def _special_id(values: dict[str, Any]) -> None:
    values["post_processor"]["special_tokens"]["[CLS]"]["ids"] = [99_999]


def _no_unknown(values: dict[str, Any]) -> None:
    values["model"] = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "?"}
    values["added_tokens"] = []


def _no_entry(values: dict[str, Any]) -> None:
    del values["post_processor"]["special_tokens"]["[CLS]"]


def _no_text(values: dict[str, Any]) -> None:
    values["post_processor"]["single"].pop(1)


def modules(*entries: dict[str, Any]) -> Spoil:
    """A sentence-transformers folder with other modules."""
    return content("modules.json", json.dumps(entries), "tiny-embedding")


def labels(*names: object) -> Spoil:
    """A checkpoint with other labels."""
    return config(id2label={str(i): name for i, name in enumerate(names)})


_POOLING = {"type": "models.Pooling", "path": "1_Pooling"}
_LABELS = "let id2label name each row of the head, or take the weights that were trained with it"

CASES = (
    Case(
        "empty folder", _empty, "m: no config.json in it; a model is a folder with config.json, model.safetensors and a"
    ),
    Case(
        "folder without config", spoiled(lambda f: (f / CONFIG).unlink()), "m: no config.json in it; a model is a fold"
    ),
    Case("config that is a folder", instead(CONFIG, lambda p: p.mkdir()), "m/config.json: is not a file"),
    Case("config that is a pipe", instead(CONFIG, os.mkfifo), "m/config.json: is not a file"),
    Case("config that is a device", instead(CONFIG, lambda p: p.symlink_to("/dev/zero")), "config.json: is not a file"),
    Case("config that links to itself", instead(CONFIG, lambda p: p.symlink_to(p.name)), "m: no config.json in it"),
    Case("config that is empty", content(CONFIG, ""), r"m/config.json: not readable as JSON \(Expecting value"),
    Case("config not JSON", content(CONFIG, "{'a': 1}"), "m/config.json: not readable as JSON"),
    Case("config with a byte order mark", content(CONFIG, b"\xef\xbb\xbf{}"), "m/config.json: not readable .* BOM"),
    Case("config in UTF-16", content(CONFIG, "{}".encode("utf-16")), "m/config.json: not readable as JSON .*utf-8"),
    Case("config that is a list", content(CONFIG, "[]"), "m/config.json: expected a JSON object, got list"),
    Case("config nested deeply", content(CONFIG, '{"a":' * 100_000), "m/config.json: not readable as JSON .*recursion"),
    Case("config of 20 MB", content(CONFIG, " " * 20_000_000), "m/config.json: 20,000,000 bytes are too many"),
    Case(
        "unsupported model_type", config(model_type="deberta-v2"), "model_type 'deberta-v2' is not supported; supported"
    ),
    Case(
        "model_type of another type", config(model_type=["bert"]), "model_type .*bert.* is not supported; supported: a"
    ),
    Case("no model_type", config("model_type"), "config.json: model_type is missing; add it, one of albert"),
    Case("hidden size against heads", config(hidden_size=50), "m/config.json: .* 50 is not divisible by 4 heads"),
    Case("size that is a text", config(hidden_size="64"), "config.json: hidden_size is '64'; it has to be of type int"),
    Case("size that is true", config(num_hidden_layers=True), "num_hidden_layers is True; it has to be of type int"),
    Case("size that is a fraction", config(vocab_size=600.5), "vocab_size is 600.5; it has to be of type int"),
    Case("size missing", config("vocab_size"), "m/config.json: vocab_size is missing"),
    Case("size 0", config(num_hidden_layers=0), "m/config.json: .*layers is 0; it has to be 1 to 512"),
    Case(
        "size of gigabytes",
        config(vocab_size=4_000_000, hidden_size=65_536),
        r"configuration asks for \[4000000, 65536",
    ),
    Case(
        "size of 4,000 digits", in_text('"hidden_size": 64', f'"hidden_size": {"9" * 4000}'), "it has to be 1 to 65,536"
    ),
    Case(
        "size of 5,000 digits",
        in_text('"hidden_size": 64', f'"hidden_size": {"9" * 5000}'),
        "config.json: not readable",
    ),
    Case(
        "size without end", in_text('"hidden_size": 64', '"hidden_size": Infinity'), "hidden_size is inf; it has to be"
    ),
    Case(
        "epsilon that is no number", in_text("1e-12", "NaN"), "m/config.json: .*norm_eps is nan; it has to be between"
    ),
    Case(
        "epsilon of 400 digits",
        in_text("1e-12", "9" * 400),
        r"layer_norm_eps is 9+\.\.\.9+; it has to be of type float",
    ),
    Case(
        "dropout below 0", config(hidden_dropout_prob=-1), "m/config.json: .*dropout is -1.0; it has to be at least 0"
    ),
    Case("unknown activation", config(hidden_act="silu"), "hidden_act 'silu' is not supported; supported: gelu"),
    Case("decoder", config(is_decoder=True), "m/config.json: is_decoder .* mobilekit exports encoders"),
    Case("padding id outside", config(pad_token_id=600), "m/config.json: .*pad_id 600 is outside the vocabulary"),
    # The head.
    Case(
        "head of an unknown class", config(architectures=["BertForNextSentencePrediction"]), "--task sentence-embedding"
    ),
    Case(
        "class that is a text",
        config(architectures="BertModel"),
        "config.json: architectures is 'BertModel'; it has to",
    ),
    Case("class that is a number", config(architectures=[3]), r"architecture \[3\] .*; --task sentence-embedding"),
    Case("more labels than rows", labels("a", "b", "c"), f"for 2 labels, id2label in config.json names 3; {_LABELS}"),
    Case("fewer labels than rows", labels("a"), f"for 2 labels, id2label in config.json names 1; {_LABELS}"),
    Case(
        "num_labels against rows", config("id2label", num_labels=5), "for 2 labels, num_labels in config.json is 5; let"
    ),
    Case("labels with a gap", config(id2label={"0": "a", "5": "b"}), "id2label has no entry '1'; expected 0 to 1"),
    Case("labels the other way round", config(id2label={"a": 0, "b": 1}), "id2label has no entry '0'; expected 0 to 1"),
    Case(
        "labels in a list", config(id2label=["a", "b"]), "config.json: id2label is .*; it has to map numbers to names"
    ),
    Case("label that is null", labels("a", None), "config.json: id2label has None; it has to map numbers to names"),
    Case("label twice", labels("a", "a"), "config.json: .*two labels have the same name"),
    Case("label with a line break", labels("a\nb", "c"), r"label 0, 'a\\nb', has a line break or a control character"),
    Case("label that steers a terminal", labels("\x1b[31mred", "c"), "label 0, .*red', has a line break or a control"),
    Case("label that is empty", labels(" ", "c"), "config.json: .*label 0, ' ', is empty; name it"),
    Case("label of 10 MB", labels("x" * 10_000_000, "c"), "label 0, .* has 10,000,000 characters; at most 1,000"),
    Case("label that is no Unicode", labels("\ud800", "c"), "m/config.json: a text in it is not valid Unicode"),
    Case(
        "num_labels without end",
        config("id2label", num_labels=10**9),
        "num_labels is 1000000000; it has to be 1 to 65,",
    ),
    Case(
        "num_labels that is a text",
        config("id2label", num_labels="2"),
        "m/config.json: num_labels is '2'; it has to be",
    ),
    Case("unknown problem type", config(problem_type="guessing"), "m/config.json: problem type 'guessing' is unknown"),
    Case(
        "problem type that is a list",
        config(problem_type=["x"]),
        "m/config.json: .*problem_type is .'x'.; it has to be",
    ),
    # The tokenizer.
    Case("tokenizer missing", spoiled(_no_tokenizer), "m: no tokenizer; expected one of tokenizer.json, vocab.txt"),
    Case("tokenizer broken", content(TOKENIZER, "{"), "m/tokenizer.json: not a tokenizer"),
    Case("tokenizer empty", content(TOKENIZER, ""), "m/tokenizer.json: not a tokenizer"),
    Case("tokenizer not UTF-8", content(TOKENIZER, b"\xff\xfe"), "m/tokenizer.json: not UTF-8"),
    Case(
        "tokenizer of unknown type",
        tokenizer(lambda t: t["model"].update(type="Magic")),
        "tokenizer.json: not a tokeni",
    ),
    Case(
        "tokenizer without special tokens",
        tokenizer(lambda t: t.update(post_processor=None)),
        "m: the tokenizer puts no",
    ),
    Case(
        "tokenizer with a foreign id",
        tokenizer(_special_id),
        "m: the tokenizer gives id 99999, the embedding has only 6",
    ),
    Case(
        "tokenizer that panics", tokenizer(_no_entry), "m: tokenizer: its file is damaged and cannot encode this text"
    ),
    Case(
        "tokenizer that drops the text", tokenizer(_no_text), "m: the tokenizer gives no ids for a text; .* is damaged"
    ),
    Case("tokenizer without unknown token", tokenizer(_no_unknown), "m: the tokenizer cannot encode text"),
    Case(
        "tokenizer options that are a list", content("tokenizer_config.json", "[]"), "tokenizer_config.json: expected a"
    ),
    Case("tokenizer options not JSON", content("tokenizer_config.json", ""), "m/tokenizer_config.json: not JSON"),
    Case(
        "tokenizer for three ids",
        content("tokenizer_config.json", '{"model_max_length": 3}'),
        "inputs of at most 3 ids",
    ),
    Case("vocabulary empty", vocabulary(b""), "m/vocab.txt: not a BERT vocabulary: .*missing"),
    Case("vocabulary in Latin-1", vocabulary(b"[PAD]\n\xe9\n"), "m/vocab.txt: not UTF-8 text"),
    Case(
        "vocabulary larger than the embedding",
        vocabulary("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *(f"w{i}" for i in range(900))]).encode()),
        "m: the tokenizer has ids up to 903, the embedding only 600 rows; they do not belong together",
    ),
    # sentence-transformers.
    Case(
        "modules that are none",
        content("modules.json", "{}", "tiny-embedding"),
        "m/modules.json: expected a list of mod",
    ),
    Case(
        "modules nested deeply",
        content("modules.json", "[" * 100_000, "tiny-embedding"),
        "m/modules.json: not readable",
    ),
    Case(
        "unknown module",
        modules({"type": "models.CNN", "path": ""}),
        "modules.json: modules .*CNN.* are not supported; s",
    ),
    Case(
        "thousand modules",
        modules({"type": "Transformer"}, *[_POOLING] * 1000),
        r"modules .*\.\.\..* are not supported",
    ),
    Case("module outside", modules({"type": "Transformer", "path": "../x"}, _POOLING), "path '../x' leaves the folder"),
    Case(
        "module with a NUL",
        modules({"type": "Transformer", "path": "a\0"}, _POOLING),
        "modules.json: path .* leaves the",
    ),
    Case(
        "pooling that is a number",
        content("1_Pooling/config.json", '{"pooling_mode": 3}', "tiny-embedding"),
        "pooling 3",
    ),
    Case(
        "default prompt that is a list",
        content("config_sentence_transformers.json", '{"default_prompt_name": [1]}', "tiny-embedding"),
        "config_sentence_transformers.json: default_prompt_name .* is not among the prompts",
    ),
)
