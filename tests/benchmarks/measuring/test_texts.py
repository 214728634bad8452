"""Texts as they come: what each task reads."""

from __future__ import annotations

from benchmarks.measuring.texts import reading, texts_for
from mobilekit.text.data.rows import TextData, TextRow

LONG = "word " * 500


def test_a_mask_is_never_where_a_text_is_cut() -> None:
    data = TextData("plain", "", (), None, [TextRow(f"{LONG}[MASK]"), TextRow("a [MASK] and a [MASK]"), TextRow("a")])
    texts = [text for text, _ in texts_for("fill-mask", data, "[MASK]").items]
    assert all(text.startswith("[MASK] ") and text.count("[MASK]") == 1 for text in texts)


def test_built_in_texts_are_what_a_task_reads() -> None:
    assert all(pair is None for _, pair in texts_for("token-classification", None, "[MASK]").items)
    assert all(pair is not None for _, pair in texts_for("question-answering", None, "[MASK]").items)
    assert all(text.startswith("<mask> ") for text, _ in texts_for("fill-mask", None, "<mask>").items)


def test_which_artifacts_read_the_same_texts() -> None:
    assert reading("sequence-classification", "[MASK]") == reading("token-classification", "<mask>")
    assert reading("fill-mask", "[MASK]") != reading("fill-mask", "<mask>")
    assert reading("question-answering", None) != reading("sentence-embedding", None)
