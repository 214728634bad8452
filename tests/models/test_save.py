"""What a saved checkpoint keeps beside weights."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mobilekit.errors import InputError
from mobilekit.models.load import load
from mobilekit.models.save import save_model


@pytest.mark.parametrize("name", ["tiny-embedding", "tiny-classifier", "tiny-words", "tiny-reader"])
def test_prefix_is_kept_with_every_head(name: str, tmp_path: Path) -> None:
    model = load(name)
    model.prefix = "query: "
    assert save_model(model, tmp_path) == []
    again = load(tmp_path)
    assert again.prefix == "query: " and again.family == "bert" and again.head == model.head


def test_no_prefix_is_not_written_and_null_is_none(tmp_path: Path) -> None:
    save_model(load("tiny-classifier"), tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    assert "prefix" not in config
    (tmp_path / "config.json").write_text(json.dumps({**config, "prefix": None}))
    assert load(tmp_path).prefix == ""
    (tmp_path / "config.json").write_text(json.dumps({**config, "prefix": 3}))
    with pytest.raises(InputError, match="prefix is 3; it has to be of type str"):
        load(tmp_path)


def test_transformers_reads_a_folder_with_a_prefix(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    model = load("tiny-classifier")
    model.prefix = "query: "
    save_model(model, tmp_path)
    assert transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path).config.num_labels == 2
