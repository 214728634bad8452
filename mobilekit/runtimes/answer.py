"""From text to an answer: tokenize, run, decode; what `mobilekit run` prints and an app does itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import ArtifactError, InputError
from mobilekit.runtimes.runner import Runner
from mobilekit.text.tokenizer import EncodedText, TextTokenizer


@dataclass(frozen=True)
class Answer:
    """One text's answer.

    scores: (label, value) pairs, best first; probabilities, or the plain value for regression; empty for embeddings.
    output: the graph's output, float32 [size]. tokens: how many ids the text became. truncated: whether it was cut.
    """

    text: str
    scores: tuple[tuple[str, float], ...]
    output: NDArray[np.float32]
    tokens: int
    truncated: bool


def artifact_tokenizer(runner: Runner) -> TextTokenizer:
    """The tokenizer that the artifact carries, limited to its longest exported length."""
    about = runner.artifact.manifest.content["tokenizer"]
    if about["file"] in runner.artifact.altered():
        raise ArtifactError(f"{runner.artifact.folder / about['file']}: missing or altered since export; export again.")
    text = (runner.artifact.folder / about["file"]).read_text(encoding="utf-8")
    return TextTokenizer(text, runner.artifact.manifest.max_length)


def answer(runner: Runner, tokenizer: TextTokenizer, text: str, pair: str | None = None) -> Answer:
    """Tokenize, run and decode one text or pair. Raises InputError for a pair where the artifact takes none."""
    manifest = runner.artifact.manifest
    if pair is not None and not manifest.content["tokenizer"]["pair_template"]:
        raise InputError(f"{runner.artifact.folder}: takes no token types, so it cannot tell a pair of texts apart.")
    encoded: EncodedText = tokenizer.encode(manifest.content["tokenizer"]["prefix"] + text, pair)
    output = runner(encoded.ids, None, encoded.type_ids)[manifest.output_name][0]
    scores = decode_scores(output, manifest.labels, manifest.content["problem_type"])
    return Answer(text, scores, output, len(encoded.ids), encoded.truncated)


def decode_scores(
    logits: NDArray[np.float32], labels: Sequence[str], problem_type: str | None
) -> tuple[tuple[str, float], ...]:
    """(label, score) pairs, best first: softmax, a sigmoid each, or plain values (regression); none without labels."""
    if not labels:
        return ()
    values = logits.astype(np.float64)
    if problem_type == "single_label_classification":
        exponents = np.exp(values - values.max())
        values = exponents / exponents.sum()
    elif problem_type == "multi_label_classification":
        values = 1 / (1 + np.exp(-values))
    return tuple(sorted(zip(labels, values.tolist(), strict=True), key=lambda pair: -pair[1]))


def cosines(outputs: Sequence[NDArray[np.float32]]) -> NDArray[np.float64]:
    """Cosine of every output with every other, [n, n]."""
    rows = np.stack(outputs).astype(np.float64)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return rows @ rows.T
