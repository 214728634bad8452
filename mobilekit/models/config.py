"""The configuration of an encoder and of its head: frozen values, checked when they are made."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from mobilekit.errors import InputError, short, unknown
from mobilekit.manifest_rules import CONTROL
from mobilekit.models.tasks import SPAN_LABELS, TASKS

ACTIVATIONS = ("gelu", "gelu_new", "relu")
SHARINGS = ("none", "attention", "ffn", "all")
PROBLEM_TYPES = ("single_label_classification", "multi_label_classification", "regression")
POOLINGS = ("mean", "cls")
DENSE_ACTIVATIONS = ("identity", "tanh", "relu", "gelu")
HEAD_ACTIVATIONS = (*DENSE_ACTIVATIONS, "gelu_new")
# Far above any encoder that a phone could run: what is larger is a broken file, and would only be slow to refuse later.
_LARGEST = {
    "vocab_size": 4_000_000,
    "hidden_size": 65_536,
    "layers": 512,
    "heads": 4_096,
    "intermediate_size": 262_144,
    "embedding_size": 65_536,
    "max_positions": 1_000_000,
    "token_types": 65_536,
}
# A manifest lists one value a label for each golden input.
MOST_LABELS = 65_536
_LONGEST_LABEL = 1_000


def _check_types(value: object, where: str) -> None:
    kinds: dict[str, type | tuple[type, ...]] = {"int": int, "float": (int, float), "str": str, "bool": bool}
    for field in fields(value):  # type: ignore[arg-type]
        kind = kinds.get(str(field.type))
        got = getattr(value, field.name)
        wrong_bool = isinstance(got, bool) and field.type != "bool"
        if kind is not None and (wrong_bool or not isinstance(got, kind)):
            raise InputError(f"{where}: {field.name} is {short(repr(got))}; it has to be of type {field.type}.")


@dataclass(frozen=True)
class EncoderConfig:
    """The shape of an encoder.

    embedding_size is E, hidden_size is H: where they differ a projection joins them (Lan et al. 2020, section 3.1);
    projection: also where they are equal. sharing says which parts the layers of a group have in common (section 4.6
    there), groups how many equal groups of layers there are. position_offset: row of the position table that the first
    token takes (RoBERTa: pad_id + 1).
    """

    vocab_size: int
    hidden_size: int
    layers: int
    heads: int
    intermediate_size: int
    embedding_size: int
    projection: bool = False
    max_positions: int = 512
    position_offset: int = 0
    token_types: int = 2
    norm_eps: float = 1e-12
    activation: str = "gelu"
    sharing: str = "none"
    groups: int = 1
    pad_id: int = 0
    dropout: float = 0.1
    initializer_range: float = 0.02

    def __post_init__(self) -> None:
        _check_types(self, "encoder configuration")
        self._check_sizes()
        if self.groups < 1 or self.layers % self.groups:
            groups = short(self.groups)
            raise InputError(f"encoder configuration: {self.layers} layers do not make {groups} equal groups.")
        if self.hidden_size % self.heads:
            raise InputError(
                f"encoder configuration: hidden size {self.hidden_size} is not divisible by {self.heads} heads."
            )
        if self.activation not in ACTIVATIONS:
            raise unknown("activation", self.activation, ACTIVATIONS, "encoder configuration: ")
        if self.sharing not in SHARINGS:
            raise unknown("sharing", self.sharing, SHARINGS, "encoder configuration: ")
        if not 0 <= self.pad_id < self.vocab_size:
            raise InputError(f"encoder configuration: pad_id {short(self.pad_id)} is outside the vocabulary.")

    def _check_sizes(self) -> None:
        for name, most in _LARGEST.items():
            size, least = getattr(self, name), 0 if name == "token_types" else 1
            if not least <= size <= most:
                raise InputError(f"encoder configuration: {name} is {short(size)}; it has to be {least} to {most:,}.")
        if not 0 <= self.position_offset < self.max_positions:
            raise InputError(
                f"encoder configuration: position_offset is {short(self.position_offset)}; it has to be at least 0 "
                f"and below max_positions, {self.max_positions}."
            )
        if not 0 < self.norm_eps < 1:
            raise InputError(
                f"encoder configuration: norm_eps is {short(self.norm_eps)}; it has to be between 0 and 1."
            )
        for name in ("dropout", "initializer_range"):
            value = getattr(self, name)
            if not 0 <= value < 1:
                raise InputError(f"encoder configuration: {name} is {short(value)}; it has to be at least 0, below 1.")

    @property
    def projected(self) -> bool:
        """Whether a linear map takes embeddings to the layers' width."""
        return self.projection or self.embedding_size != self.hidden_size

    @property
    def max_tokens(self) -> int:
        """The longest input, special tokens included."""
        return self.max_positions - self.position_offset

    @property
    def reads_token_types(self) -> bool:
        """Whether token types are an input: with one type there is nothing to choose."""
        return self.token_types > 1

    def attention_of(self, layer: int) -> int:
        """Index of the layer that owns the attention weights which `layer` uses."""
        return self._first_of_group(layer) if self.sharing in ("attention", "all") else layer

    def ffn_of(self, layer: int) -> int:
        """Index of the layer that owns the feed-forward weights which `layer` uses."""
        return self._first_of_group(layer) if self.sharing in ("ffn", "all") else layer

    def _first_of_group(self, layer: int) -> int:
        size = self.layers // self.groups
        return layer // size * size


@dataclass(frozen=True)
class DenseConfig:
    """A dense layer after pooling, as sentence-transformers has it."""

    in_size: int
    out_size: int
    bias: bool = True
    activation: str = "identity"

    def __post_init__(self) -> None:
        _check_types(self, "dense layer")
        if self.activation not in DENSE_ACTIVATIONS:
            raise unknown("dense activation", self.activation, DENSE_ACTIVATIONS)
        most = _LARGEST["hidden_size"]
        if not (1 <= self.in_size <= most and 1 <= self.out_size <= most):
            sizes = f"{short(self.in_size)} to {short(self.out_size)}"
            raise InputError(f"dense layer: sizes {sizes}; they have to be 1 to {most:,}.")


@dataclass(frozen=True)
class HeadConfig:
    """What stands on the encoder: its task and what the task needs.

    labels: names of the columns of the logits (classification of texts or tokens; `SPAN_LABELS` for question
    answering). activation: between the two linear maps of a head that has two, in which families differ. pooling,
    normalize, dense: sentence embedding. tied: whether fill-mask's decoder is the token table. mean: whether sequence
    classification is one linear map of the mean of all tokens, instead of two maps of the first (which is what the
    classes of `transformers` do).
    """

    task: str
    labels: tuple[str, ...] = ()
    problem_type: str = "single_label_classification"
    activation: str = "tanh"
    pooling: str = "mean"
    normalize: bool = True
    dense: tuple[DenseConfig, ...] = ()
    tied: bool = True
    mean: bool = False

    def __post_init__(self) -> None:
        _check_types(self, "head configuration")
        if self.task not in TASKS:
            raise unknown("task", self.task, TASKS)
        if not isinstance(self.labels, tuple) or not all(isinstance(label, str) for label in self.labels):
            raise InputError("head configuration: labels have to be names.")
        if not isinstance(self.dense, tuple) or not all(isinstance(each, DenseConfig) for each in self.dense):
            raise InputError("head configuration: dense has to be a list of layers.")
        if self.problem_type not in PROBLEM_TYPES:
            raise unknown("problem type", self.problem_type, PROBLEM_TYPES)
        if self.activation not in HEAD_ACTIVATIONS:
            raise unknown("activation", self.activation, HEAD_ACTIVATIONS)
        if self.pooling not in POOLINGS:
            raise unknown("pooling", self.pooling, POOLINGS)
        if TASKS[self.task].labelled and not self.labels:
            raise InputError(f"head configuration: {self.task} needs at least one label.")
        if self.task == "question-answering" and self.labels != SPAN_LABELS:
            raise InputError(f"head configuration: question answering has the labels {', '.join(SPAN_LABELS)}.")
        self._check_labels()

    def _check_labels(self) -> None:
        if len(self.labels) > MOST_LABELS:
            raise InputError(f"head configuration: {len(self.labels):,} labels are too many; at most {MOST_LABELS:,}.")
        if len(set(self.labels)) != len(self.labels):
            raise InputError("head configuration: two labels have the same name.")
        for i, label in enumerate(self.labels):
            said = f"head configuration: label {i}, {short(label, 40)!r},"
            if not label.strip():
                raise InputError(f"{said} is empty; name it.")
            if len(label) > _LONGEST_LABEL:
                raise InputError(f"{said} has {len(label):,} characters; at most {_LONGEST_LABEL:,}.")
            if CONTROL.search(label):
                raise InputError(f"{said} has a line break or a control character.")

    @property
    def output_name(self) -> str:
        """Name of the one output of the exported graph."""
        return TASKS[self.task].output

    @property
    def per_token(self) -> bool:
        """Whether the output has a row for each token."""
        return TASKS[self.task].per_token

    @property
    def reads_first_token(self) -> bool:
        """Whether only the first token's last hidden state is read."""
        embeds_first = self.task == "sentence-embedding" and self.pooling == "cls"
        return (self.task == "sequence-classification" and not self.mean) or embeds_first


def encoder_from_dict(values: dict[str, Any]) -> EncoderConfig:
    """EncoderConfig from JSON values; raises InputError on unknown or missing names."""
    return EncoderConfig(**_known(EncoderConfig, values, "encoder configuration"))


def head_from_dict(values: dict[str, Any]) -> HeadConfig:
    """HeadConfig from JSON values; raises InputError on unknown or missing names."""
    known = dict(_known(HeadConfig, values, "head configuration"))
    for name in ("labels", "dense"):
        if not isinstance(known.get(name, []), list | tuple):
            raise InputError(f"head configuration: {name} is {known[name]!r}; it has to be a list.")
    known["labels"] = tuple(known.get("labels", ()))
    known["dense"] = tuple(DenseConfig(**_known(DenseConfig, d, "dense layer")) for d in known.get("dense", ()))
    return HeadConfig(**known)


def to_dict(config: EncoderConfig | HeadConfig) -> dict[str, Any]:
    """JSON values of a configuration."""
    return asdict(config)


def _known(kind: type, values: dict[str, Any], where: str) -> dict[str, Any]:
    from dataclasses import MISSING

    if not isinstance(values, dict):
        raise InputError(f"{where}: expected an object, got {type(values).__name__}.")
    names = {f.name: f for f in fields(kind)}
    for name in values:
        if name not in names:
            raise unknown("field", name, names, f"{where}: ")
    for name, field in names.items():
        if name not in values and field.default is MISSING:
            raise InputError(f"{where}: {name} is missing.")
    return values
