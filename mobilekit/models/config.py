"""The configuration of an encoder and of its head: frozen values, checked when they are made."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from mobilekit.errors import InputError, unknown

ACTIVATIONS = ("gelu", "gelu_new", "relu")
SHARINGS = ("none", "attention", "ffn", "all")
TASKS = ("sentence-embedding", "sequence-classification")
PROBLEM_TYPES = ("single_label_classification", "multi_label_classification", "regression")
POOLINGS = ("mean", "cls")
DENSE_ACTIVATIONS = ("identity", "tanh", "relu", "gelu")


def _check_types(value: object, where: str) -> None:
    kinds: dict[str, type | tuple[type, ...]] = {"int": int, "float": (int, float), "str": str, "bool": bool}
    for field in fields(value):  # type: ignore[arg-type]
        kind = kinds.get(str(field.type))
        got = getattr(value, field.name)
        wrong_bool = isinstance(got, bool) and field.type != "bool"
        if kind is not None and (wrong_bool or not isinstance(got, kind)):
            raise InputError(f"{where}: {field.name} is {got!r}; it has to be of type {field.type}.")


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
        for name in ("vocab_size", "hidden_size", "layers", "heads", "intermediate_size", "embedding_size"):
            if getattr(self, name) < 1:
                raise InputError(f"encoder configuration: {name} is {getattr(self, name)}; it has to be >= 1.")
        if self.position_offset < 0 or self.max_positions <= self.position_offset or self.token_types < 0:
            raise InputError(
                "encoder configuration: position_offset and token_types have to be >= 0, max_positions above that."
            )
        if self.groups < 1 or self.layers % self.groups:
            raise InputError(f"encoder configuration: {self.layers} layers do not make {self.groups} equal groups.")
        if self.hidden_size % self.heads:
            raise InputError(
                f"encoder configuration: hidden size {self.hidden_size} is not divisible by {self.heads} heads."
            )
        if self.activation not in ACTIVATIONS:
            raise unknown("activation", self.activation, ACTIVATIONS, "encoder configuration: ")
        if self.sharing not in SHARINGS:
            raise unknown("sharing", self.sharing, SHARINGS, "encoder configuration: ")
        if not 0 <= self.pad_id < self.vocab_size:
            raise InputError(f"encoder configuration: pad_id {self.pad_id} is outside the vocabulary.")

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


@dataclass(frozen=True)
class HeadConfig:
    """What stands on the encoder: its task and what the task needs.

    labels: names in the order of the logits (classification). activation: between the two linear maps of a
    classification head, in which families differ. pooling, normalize, dense: sentence embedding.
    """

    task: str
    labels: tuple[str, ...] = ()
    problem_type: str = "single_label_classification"
    activation: str = "tanh"
    pooling: str = "mean"
    normalize: bool = True
    dense: tuple[DenseConfig, ...] = ()

    def __post_init__(self) -> None:
        _check_types(self, "head configuration")
        if self.task not in TASKS:
            raise unknown("task", self.task, TASKS)
        if self.problem_type not in PROBLEM_TYPES:
            raise unknown("problem type", self.problem_type, PROBLEM_TYPES)
        if self.activation not in DENSE_ACTIVATIONS:
            raise unknown("activation", self.activation, DENSE_ACTIVATIONS)
        if self.pooling not in POOLINGS:
            raise unknown("pooling", self.pooling, POOLINGS)
        if self.task == "sequence-classification" and not self.labels:
            raise InputError("head configuration: sequence classification needs at least one label.")
        if len(set(self.labels)) != len(self.labels):
            raise InputError("head configuration: two labels have the same name.")

    @property
    def output_name(self) -> str:
        """Name of the one output of the exported graph."""
        return "embedding" if self.task == "sentence-embedding" else "logits"

    @property
    def reads_first_token(self) -> bool:
        """Whether only the first token's last hidden state is read."""
        return self.task == "sequence-classification" or self.pooling == "cls"


def encoder_from_dict(values: dict[str, Any]) -> EncoderConfig:
    """EncoderConfig from JSON values; raises InputError on unknown or missing names."""
    return EncoderConfig(**_known(EncoderConfig, values, "encoder configuration"))


def head_from_dict(values: dict[str, Any]) -> HeadConfig:
    """HeadConfig from JSON values; raises InputError on unknown or missing names."""
    known = dict(_known(HeadConfig, values, "head configuration"))
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
