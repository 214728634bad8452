"""What MediaPipe's text tasks need in a file, and which files they can open at all.

TextClassifier and TextEmbedder take one graph with three inputs of one fixed length, and make these with BERT's
tokenizer from a vocabulary in the file. Theirs lowers only the letters A to Z and keeps accents; so a vocabulary is
attached only where that tokenizer gives the model's own ids for texts that went through `plain`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from export.registry import GraphSpec
from export.tflite.metadata import LABELS, VOCABULARY, TaskMetadata
from mobilekit.compression.compressed import CompressedModel
from mobilekit.models.config import HeadConfig
from mobilekit.text.tokenizer import TextTokenizer

PROBABILITIES = "probabilities"
# MediaPipe's name of each of our inputs.
_INPUTS = {"input_ids": "ids", "attention_mask": "mask", "token_type_ids": "segment_ids"}
# What turns logits into scores: tasks on iOS leave out whatever is below 0, which logits may well be.
_SCORES = {"single_label_classification": "SOFTMAX", "multi_label_classification": "LOGISTIC"}
_LONGEST_WORD = 100
_PUNCTUATION = r"!-/:-@\[-`{-~"
# Capitals, accents, punctuation, numbers, white space, unknown words, and words around the longest that is split.
_PROBES = (
    "",
    "The film wasn't GOOD; it was great!",
    "Unbelievably long-winded\tsentences,\r\nTOKENIZATION and  spaces ",
    "Na\u00efve Caf\u00e9 \u00c9TUDE, \u00dcber cr\u00e8me\u00a0br\u00fbl\u00e9e",
    "e-mail: someone@example.com, 3/4 of $1,234.56 (50%) in 2024",
    "".join(map(chr, range(0x20, 0x7F))),
    "qzxqzjxkvw zzzzqqqq",
    f"{'ab' * (_LONGEST_WORD // 2)} {'a' * (_LONGEST_WORD + 1)} b",
)


@dataclass(frozen=True)
class Attachment:
    """What makes a file one that MediaPipe opens.

    task: the class that does. scores: the operator that makes the output PROBABILITIES, None for no such output.
    files: what stands behind the model, by name.
    """

    task: str
    scores: str | None
    about: TaskMetadata
    files: Mapping[str, bytes]


def attachment(model: CompressedModel, spec: GraphSpec, inputs: Sequence[str]) -> Attachment | None:
    """What to attach to a file with these inputs; None where MediaPipe cannot open it or would give other ids.

    Raises InputError when the tokenizer that `spec` names cannot be read.
    """
    task = _task(model.head)
    if task is None or len(spec.lengths) != 1 or set(inputs) != set(_INPUTS) or spec.tokenizer is None:
        return None
    vocabulary = shared_vocabulary(TextTokenizer(spec.tokenizer.read_text(encoding="utf-8"), spec.lengths[0]))
    if vocabulary is None:
        return None
    files = {VOCABULARY: _lines(vocabulary)}
    if model.head.labels:
        files[LABELS] = _lines(model.head.labels)
    scores = _SCORES[model.head.problem_type] if task == "TextClassifier" else None
    about = TaskMetadata(
        spec.metadata.get("model", spec.name),
        tuple(_INPUTS[name] for name in inputs),
        (*([PROBABILITIES] if scores else []), model.head.output_name),
        LABELS in files,
        spec.metadata.get("license", ""),
    )
    return Attachment(task, scores, about, files)


def shared_vocabulary(tokenizer: TextTokenizer) -> list[str] | None:
    """The vocabulary with which MediaPipe gives this tokenizer's ids for texts in `plain` form; None: there is none."""
    vocabulary = tokenizer.vocabulary()
    # A blank line is skipped there, which would move all ids behind it.
    if vocabulary is None or not all(vocabulary):
        return None
    # Whole words that were added are found before anything is split here, and not at all there.
    added = json.loads(tokenizer.serialized()).get("added_tokens", [])
    if not all(token["special"] for token in added):
        return None
    ids = {token: i for i, token in enumerate(vocabulary)}
    for text in _PROBES:
        encoded = tokenizer.encode(text, max_length=4 * len(text) + 2)
        if encoded.ids.tolist() != mediapipe_ids(plain(text), ids) or encoded.type_ids.any():
            return None
    return vocabulary


def plain(text: str) -> str:
    """What BERT's tokenizer does to a text before it splits it: what an app has to do for MediaPipe's, which does not.

    White space becomes blanks, control characters go, letters lose their accents and capitals. The artifact's README
    has the same in Kotlin.
    """
    blank = "".join(" " if c in "\t\n\r" or unicodedata.category(c)[0] == "Z" else c for c in text)
    kept = "".join(c for c in blank if c != "\ufffd" and unicodedata.category(c) not in ("Cc", "Cf", "Co"))
    bare = "".join(c for c in unicodedata.normalize("NFD", kept) if unicodedata.category(c) != "Mn")
    return bare.lower()


def mediapipe_ids(text: str, ids: Mapping[str, int]) -> list[int]:
    """Ids that MediaPipe's tokenizer gives for ASCII text, however many; a token that is not there has id 0."""
    words = re.findall(f"[{_PUNCTUATION}]|[^\\s{_PUNCTUATION}]+", text.lower())
    tokens = ["[CLS]", *(piece for word in words for piece in _pieces(word, ids)), "[SEP]"]
    return [ids.get(token, 0) for token in tokens]


def _pieces(word: str, ids: Mapping[str, int]) -> list[str]:
    """The longest piece first, all after the first marked with ##; a word that cannot be split so is unknown."""
    pieces: list[str] = []
    start = 0
    while start < len(word):
        mark = "##" if start else ""
        end = next((e for e in range(len(word), start, -1) if mark + word[start:e] in ids), None)
        if end is None or len(word) > _LONGEST_WORD:
            return ["[UNK]"]
        pieces.append(mark + word[start:end])
        start = end
    return pieces


def _task(head: HeadConfig) -> str | None:
    if head.task == "sentence-embedding":
        return "TextEmbedder"
    # A regression's values are no scores: those below 0 would be lost.
    return "TextClassifier" if head.task == "sequence-classification" and head.problem_type in _SCORES else None


def _lines(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
