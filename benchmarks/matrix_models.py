"""Folders as `transformers` writes them, of every family and head: tiny random weights, the family's tokenizer type.

Not for speed or accuracy: a model that any step mixes up, folds or forgets gives other outputs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mobilekit.models.families.registry import families
from mobilekit.models.tasks import TASKS
from mobilekit.text.calibration import TEXTS

LENGTHS = (16, 48)
_SIZES = {
    "hidden_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 96,
    "max_position_embeddings": 66,
}
_OWN: Mapping[str, Mapping[str, Any]] = {
    "albert": {**_SIZES, "embedding_size": 24, "num_hidden_layers": 4, "num_hidden_groups": 2},
    "electra": {**_SIZES, "embedding_size": 24},
    "distilbert": {"dim": 48, "n_layers": 2, "n_heads": 4, "hidden_dim": 96, "max_position_embeddings": 66},
    "camembert": {**_SIZES, "type_vocab_size": 1},
}
_BYTE_LEVEL, _PIECES = ("roberta",), ("albert", "camembert", "xlm-roberta")
_LABELS = {
    "sequence-classification": ("negative", "neutral", "positive"),
    "token-classification": ("O", "B-PER", "I-PER", "B-LOC", "I-LOC"),
}
_BERT_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
_ROBERTA_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def family_names() -> list[str]:
    """Every family that `transformers` has."""
    return [name for name, family in families().items() if family.modules is not None]


def write_folder(family: str, task: str, folder: Path, **changes: Any) -> None:
    """A checkpoint folder of that family and head, saved by `transformers` itself. changes: of its configuration."""
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()
    size = _write_tokenizer(family, folder)
    registered = families()[family]
    names = _LABELS.get(task, ("start", "end"))
    values: dict[str, Any] = {
        **_OWN.get(family, _SIZES),
        "vocab_size": size,
        # Large enough that every part of the model is seen in the output.
        "initializer_range": 0.15,
        "id2label": dict(enumerate(names)),
        "label2id": {name: i for i, name in enumerate(names)},
        **changes,
    }
    torch.manual_seed(0)
    config = getattr(transformers, f"{registered.class_name}Config")(**values)
    model = getattr(transformers, registered.class_for(task))(config)
    # Norms of 1 and 0 and biases of 0, as fresh models have them, would hide a mixed-up name.
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" in name.lower() or name.endswith("bias"):
                parameter.add_(torch.randn(parameter.shape) * 0.2)
    model.eval().save_pretrained(folder)


def tasks() -> list[str]:
    """Every head."""
    return list(TASKS)


def _write_tokenizer(family: str, folder: Path) -> int:
    """The tokenizer's files; returns how many ids there are."""
    folder.mkdir(parents=True, exist_ok=True)
    if family in _BYTE_LEVEL:
        return _byte_level(folder)
    if family in _PIECES:
        return _pieces(family, folder)
    letters = [chr(c) for c in range(33, 127) if not chr(c).isupper()]
    words = sorted({word for text in TEXTS for word in text.lower().split() if word.isalpha()})
    tokens = [*_BERT_SPECIAL, *letters, *(f"##{c}" for c in letters if c.isalnum()), *(w for w in words if len(w) > 1)]
    (folder / "vocab.txt").write_text("\n".join(dict.fromkeys(tokens)) + "\n", encoding="utf-8")
    return len(dict.fromkeys(tokens))


def _byte_level(folder: Path) -> int:
    from tokenizers import ByteLevelBPETokenizer

    made = ByteLevelBPETokenizer()
    made.train_from_iterator(TEXTS, vocab_size=500, special_tokens=_ROBERTA_SPECIAL, show_progress=False)
    made.save_model(str(folder))
    return int(made.get_vocab_size())


def _pieces(family: str, folder: Path) -> int:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

    special = _BERT_SPECIAL if family == "albert" else _ROBERTA_SPECIAL
    first, last, unknown = ("[CLS]", "[SEP]", "[UNK]") if family == "albert" else ("<s>", "</s>", "<unk>")
    made = Tokenizer(models.Unigram())
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=500, special_tokens=special, unk_token=unknown, show_progress=False, max_piece_length=8
    )
    made.train_from_iterator(TEXTS, trainer)
    pair = f"{first}:0 $A:0 {last}:0 $B:1 {last}:1" if family == "albert" else f"{first} $A {last} {last} $B {last}"
    made.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}",
        pair=pair,
        special_tokens=[(token, made.token_to_id(token)) for token in (first, last)],
    )
    made.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 64}), encoding="utf-8")
    return int(made.get_vocab_size())
