"""A compressed model: configuration, head and one record for each unique tensor; saved and loaded verbatim."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.activations import Static, bias_scale, is_whole, static_from_json
from mobilekit.compression.records import Clustered, Dense, Outliers, Quantized, Record
from mobilekit.compression.smooth import unsmoothed
from mobilekit.errors import CompressionError, InputError, MobilekitError
from mobilekit.models.config import EncoderConfig, HeadConfig, encoder_from_dict, head_from_dict, to_dict

POSITIONS = "embeddings.position.weight"
RECORDS_FILE = "records.safetensors"
_FORMAT = "mobilekit-records-1"


@dataclass(frozen=True)
class CompressedModel:
    """Records by tensor name (`layers.0.attention.query.weight`), each unique tensor once.

    Schemes that smooth have a vector `layers.0.attention.smooth.weight` more for each input that is smoothed.
    A shared layer's tensors carry the index of the layer that owns them (`EncoderConfig.attention_of`). scheme: its
    name, or the plan's. plan: the plan's rules (`Plan.to_json`); none: the scheme holds for every tensor. activations:
    by the name of a linear map (`layers.0.ffn.up`), how its input and output are rounded where that is fixed.
    """

    encoder: EncoderConfig
    head: HeadConfig
    scheme: str
    records: Mapping[str, Record] = field(repr=False)
    plan: tuple[dict[str, Any], ...] = field(default=(), repr=False)
    activations: Mapping[str, Static] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for name, static in self.activations.items():
            weight, bias = (self.records.get(f"{name}.{part}") for part in ("weight", "bias"))
            if not isinstance(weight, Quantized) or (weight.bits, weight.groups) != (8, 1):
                raise CompressionError(f"{name} has activations with fixed scales, but no int8 weight.")
            unit = bias_scale(weight.scale, static.input)
            if bias is None or bias.shape != unit.shape or not is_whole(bias.decode(), unit):
                raise CompressionError(f"{name} has activations with fixed scales, but no bias in whole numbers.")

    @property
    def rules(self) -> list[dict[str, Any]]:
        """The rules of the plan: one where it is a scheme."""
        return list(self.plan) or [{"pattern": "*", "scheme": self.scheme}]

    @property
    def is_single(self) -> bool:
        """Whether every tensor is float32."""
        return all(isinstance(r, Dense) and r.values.dtype == np.float32 for r in self.records.values())

    def decoded(self) -> dict[str, NDArray[np.float32]]:
        """Every tensor of the plain float model, float32: decoded from its record, smoothing undone (both exact)."""
        return unsmoothed({name: record.decode() for name, record in self.records.items()})

    def position_rows(self, length: int) -> NDArray[np.floating]:
        """The rows of the position table that `length` tokens take, [length, E], in the record's own float type."""
        record, first = self.records[POSITIONS], self.encoder.position_offset
        values = record.values if isinstance(record, Dense) else record.decode()
        return values[first : first + length]

    def digest(self) -> str:
        """sha256 of all records and their names, and of fixed scales where there are any."""
        lines = [f"{record.fingerprint()}  {name}\n" for name, record in sorted(self.records.items())]
        lines += [f"{json.dumps(static.to_json())}  {name}\n" for name, static in sorted(self.activations.items())]
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    @property
    def parameters(self) -> int:
        """Number of unique parameters of the model; multipliers of smoothing are none of them."""
        own = (r for name, r in self.records.items() if not name.endswith(".smooth.weight"))
        return sum(int(np.prod(record.shape)) for record in own)


def save_records(model: CompressedModel, path: Path) -> None:
    """Write all records, the configuration and the plan to one safetensors file, the same bytes every time."""
    from safetensors.numpy import save

    tensors: dict[str, NDArray[np.generic]] = {}
    bits: dict[str, int] = {}
    clustered: list[str] = []
    outliers: list[str] = []
    for name in sorted(model.records):
        record = model.records[name]
        if isinstance(record, Quantized):
            tensors[f"{name}.codes"] = np.ascontiguousarray(record.codes)
            tensors[f"{name}.scale"] = np.ascontiguousarray(record.scale)
            bits[name] = record.bits
        elif isinstance(record, Clustered):
            tensors[f"{name}.codes"] = np.ascontiguousarray(record.codes)
            tensors[f"{name}.codebook"] = np.ascontiguousarray(record.codebook)
            tensors[f"{name}.scale"] = np.ascontiguousarray(record.scale)
            clustered.append(name)
            if record.outliers is not None:
                tensors[f"{name}.outliers"] = np.ascontiguousarray(record.outliers.positions)
                tensors[f"{name}.outlier_levels"] = np.ascontiguousarray(record.outliers.levels)
                outliers.append(name)
        else:
            tensors[name] = np.ascontiguousarray(record.values)
    static = {name: each.to_json() for name, each in model.activations.items()}
    about = {
        "format": _FORMAT,
        "encoder": to_dict(model.encoder),
        "head": to_dict(model.head),
        "scheme": model.scheme,
        "plan": model.rules,
        "bits": bits,
        "clustered": clustered,
        **({"outliers": outliers} if outliers else {}),
        **({"activations": static} if static else {}),
    }
    # One entry: safetensors writes several in an order of its own.
    path.write_bytes(save(tensors, metadata={"mobilekit": json.dumps(about, sort_keys=True)}))


def load_records(path: Path) -> CompressedModel:
    """Read what `save_records` wrote; raises InputError when the file is not that. The plan is as it stands there."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            about = json.loads((file.metadata() or {}).get("mobilekit", "{}"))
            if not isinstance(about, dict) or about.get("format") != _FORMAT:
                raise InputError(f"{path}: not a records file of this version of mobilekit; compress again.")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    except (SafetensorError, OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as records ({error}); compress again.") from error
    records: dict[str, Record] = {}
    try:
        for name, width in about["bits"].items():
            records[name] = Quantized(tensors.pop(f"{name}.codes"), tensors.pop(f"{name}.scale"), int(width))
        # Files from before there were clustered records have no list of them, and those from before plans no plan.
        for name in about.get("clustered", []):
            records[name] = Clustered(*(tensors.pop(f"{name}.{part}") for part in ("codes", "codebook", "scale")))
        for name in about.get("outliers", []):
            apart = Outliers(tensors.pop(f"{name}.outliers"), tensors.pop(f"{name}.outlier_levels"))
            records[name] = _with_outliers(records[name], apart)
        for name, values in tensors.items():
            records[name] = Dense(values)
        encoder, head = encoder_from_dict(about["encoder"]), head_from_dict(about["head"])
        plan = tuple(about.get("plan", []))
        static = {str(name): static_from_json(each) for name, each in sorted(about.get("activations", {}).items())}
        return CompressedModel(encoder, head, str(about["scheme"]), dict(sorted(records.items())), plan, static)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(f"{path}: incomplete records ({error}); compress again.") from error
    except MobilekitError as error:
        raise InputError(f"{path}: broken records: {str(error).rstrip('.')}; compress again.") from error


def _with_outliers(record: Record, outliers: Outliers) -> Clustered:
    if not isinstance(record, Clustered):
        raise TypeError("outliers of a matrix that is not clustered")
    return replace(record, outliers=outliers)
