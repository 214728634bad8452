from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from support import randomise
from transformers import BertConfig, BertForSequenceClassification, BertModel

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz", "##s", "film", "good", "."]


@pytest.fixture
def bert_folder(tmp_path: Path) -> Callable[..., tuple[Path, torch.nn.Module]]:
    """A folder as `transformers` saves it, and the model that was saved."""

    def make(head: str = "classification", **changes: Any) -> tuple[Path, torch.nn.Module]:
        values = {
            "vocab_size": 90,
            "hidden_size": 48,
            "num_hidden_layers": 3,
            "num_attention_heads": 4,
            "intermediate_size": 96,
            "max_position_embeddings": 80,
            "num_labels": 3,
            # Large enough that every part of the model is seen in the output.
            "initializer_range": 0.15,
            **changes,
        }
        torch.manual_seed(0)
        config = BertConfig(**values)
        made = BertForSequenceClassification(config) if head == "classification" else BertModel(config)
        randomise(made)
        folder = tmp_path / "bert"
        made.eval().save_pretrained(folder)
        (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
        return folder, made

    return make
