"""`answer`: one text or pair through an artifact, decoded as its task says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mobilekit.artifact import Artifact, Manifest
from mobilekit.decoding.entities import decode_entities
from mobilekit.decoding.item import Item
from mobilekit.decoding.labels import decode_labels
from mobilekit.decoding.spans import decode_spans
from mobilekit.decoding.words import decode_words
from mobilekit.errors import ArtifactError, InputError
from mobilekit.runtimes.runner import Runner
from mobilekit.text.tokenizer import EncodedText, TextTokenizer

THRESHOLD, COUNT = 0.5, 5


@dataclass(frozen=True)
class Answer:
    """One text's answer.

    items: labels (best first), entities (in the order of the text), spans or words (best first); empty for embeddings.
    output: the graph's output for it, float32 ([size], [tokens, size], or [masks, vocabulary]). tokens: how many ids
    the text became. truncated: whether it was cut.
    """

    text: str
    items: tuple[Item, ...]
    output: NDArray[np.float32]
    tokens: int
    truncated: bool


def artifact_tokenizer(artifact: Artifact) -> TextTokenizer:
    """The tokenizer that the artifact carries, limited to its longest exported length."""
    about = artifact.manifest.content["tokenizer"]
    artifact.refuse_altered(about["file"])
    file = artifact.folder / about["file"]
    try:
        return TextTokenizer(file.read_text(encoding="utf-8"), artifact.manifest.max_length)
    except (InputError, OSError, UnicodeDecodeError) as error:
        raise ArtifactError(f"{file}: cannot be read as a tokenizer ({error}); export again.") from error


def answer(
    runner: Runner,
    tokenizer: TextTokenizer,
    text: str,
    pair: str | None = None,
    threshold: float = THRESHOLD,
    count: int = COUNT,
) -> Answer:
    """Tokenize, run and decode one text or pair.

    pair: a second text; for question answering the context, `text` being the question. threshold: least probability
    of a label where several may hold. count: how many spans or words. Raises InputError for a pair where the artifact
    takes none, and for a missing context or mask token.
    """
    manifest = runner.artifact.manifest
    _check(manifest, tokenizer, text, pair)
    prefix = manifest.content["tokenizer"]["prefix"]
    cut = "only_second" if manifest.task == "question-answering" else "longest_first"
    encoded = tokenizer.encode(prefix + text, pair, truncation=cut)
    if manifest.asks_token:
        items, output = _filled(runner, tokenizer, text, encoded, len(prefix), count)
        return Answer(text, items, output, len(encoded.ids), encoded.truncated)
    output = runner(encoded.ids, None, encoded.type_ids)[manifest.output_name][0]
    items = ()
    if manifest.task == "sequence-classification":
        items = decode_labels(output, manifest.labels, manifest.content["problem_type"], threshold)
    elif manifest.task == "token-classification":
        items = decode_entities(output, manifest.labels, encoded, text, len(prefix))
    elif manifest.task == "question-answering":
        items = decode_spans(output, encoded, pair or "", count)
    return Answer(text, items, output, len(encoded.ids), encoded.truncated)


def cosines(outputs: Sequence[NDArray[np.float32]]) -> NDArray[np.float64]:
    """Cosine of every output with every other, [n, n]."""
    rows = np.stack(outputs).astype(np.float64)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return rows @ rows.T


def _check(manifest: Manifest, tokenizer: TextTokenizer, text: str, pair: str | None) -> None:
    name = manifest.content["name"]
    if pair is not None and not manifest.content["tokenizer"]["pair_template"]:
        raise InputError(f"{name}: takes no token types, so it cannot tell a pair of texts apart.")
    if pair is not None and manifest.task == "sentence-embedding":
        raise InputError(f"{name}: embeds one text at a time; to compare texts, give each as a text of its own.")
    if pair is not None and manifest.task in ("token-classification", "fill-mask"):
        raise InputError(f"{name}: a {manifest.task} model takes one text, not a pair.")
    if pair is None and manifest.task == "question-answering":
        raise InputError(f"{name}: answers a question about a text; give the text as the pair (--pair).")
    if manifest.asks_token and (tokenizer.mask_token is None or tokenizer.mask_token not in text):
        raise InputError(f"{name}: no mask token in the text; put {tokenizer.mask_token} where the word is missing.")


def _filled(
    runner: Runner, tokenizer: TextTokenizer, text: str, encoded: EncodedText, shift: int, count: int
) -> tuple[tuple[Item, ...], NDArray[np.float32]]:
    """Each mask token of the text in turn, the others left as they are."""
    places = [int(i) for i in np.flatnonzero(encoded.ids == tokenizer.mask_id)]
    if not places:
        raise InputError("the text was cut before its mask token; give a shorter text, or export a longer --lengths.")
    items: list[Item] = []
    outputs, mask = [], tokenizer.mask_token or ""
    for index in places:
        logits = runner(encoded.ids, None, encoded.type_ids, predict=index)[runner.artifact.manifest.output_name][0]
        # Some mask tokens swallow the space before them, and their offsets with it.
        start = text.index(mask, encoded.offsets[index][0] - shift)
        items += decode_words(logits, tokenizer, text, (start, start + len(mask)), count)
        outputs.append(logits)
    return tuple(items), np.stack(outputs)
