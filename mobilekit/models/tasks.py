"""The tasks that a head can have: what its graph gives, and what `transformers` calls its class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """One task.

    output: name of the graph's one output. per_token: whether that has a row for each token ([1, length, size]) or one
    for the whole input ([1, size]). labelled: whether the checkpoint names the columns. suffix: of the class name in
    `transformers`. asks_token: whether the graph has the input `predict_mask`, which says which token is asked for.
    """

    name: str
    suffix: str
    about: str
    output: str = "logits"
    per_token: bool = False
    labelled: bool = False
    asks_token: bool = False


TASKS: Mapping[str, Task] = {
    task.name: task
    for task in (
        Task("sentence-embedding", "Model", "a vector for a text", output="embedding"),
        Task("sequence-classification", "ForSequenceClassification", "labels for a text or a pair", labelled=True),
        Task(
            "token-classification",
            "ForTokenClassification",
            "a label for every token: entities",
            per_token=True,
            labelled=True,
        ),
        Task("question-answering", "ForQuestionAnswering", "the span that answers a question", per_token=True),
        Task("fill-mask", "ForMaskedLM", "the word behind a mask token", asks_token=True),
    )
}

# What the two columns of question answering are.
SPAN_LABELS = ("start", "end")
