"""Do the weights in a file equal the records, bit for bit, each stored once?"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from export.registry import StoredInput, StoredWeight, Target
from mobilekit.artifact import MANIFEST_FILE, Json
from mobilekit.compression.activations import Static, bias_scale, static_from_json
from mobilekit.compression.compressed import POSITIONS, CompressedModel
from mobilekit.compression.records import Clustered, Dense, Quantized, Record
from mobilekit.errors import ArtifactError, CompressionError, MobilekitError, short

_Read = TypeVar("_Read")
# Of int8 without -128, which is none.
_MOST_LEVELS = 255


@dataclass(frozen=True)
class Comparison:
    """missing: names of tensors whose record is not in the file. repeated: those whose bytes are there more than once.
    equal: how many are there, bit for bit. misrounded: those around which activations have other fixed scales than
    their record says, or have some where it says none."""

    equal: int
    missing: tuple[str, ...]
    repeated: tuple[str, ...]
    misrounded: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether the file holds the records, and nothing twice."""
        return not (self.missing or self.repeated or self.misrounded)

    @property
    def faults(self) -> str:
        """For messages: what is wrong, tensor by tensor; empty where nothing is."""
        kinds = {
            "not in the file": self.missing,
            "stored more than once": self.repeated,
            "with other scales of activations": self.misrounded,
        }
        return "; ".join(f"{kind}: {some(names)}" for kind, names in kinds.items() if names)


def tensor_entries(model: CompressedModel, length: int, codebooks: bool = False) -> list[Json]:
    """The manifest's `tensors`: name, shape, kind, bits, bytes, and the hashes that the file is held against; of codes
    the number of scales a row too, of clustered ones that of codebooks or of levels; and fixed scales of activations.

    length: the longest exported, which says what rows of the position table there are. codebooks: whether the file
    holds those (`Target.codebooks`). A dense tensor has a hash for each float type, since the targets differ in which
    they write.
    """
    entries = []
    for name, record in sorted(model.records.items()):
        entry: Json
        if isinstance(record, Clustered) and codebooks:
            entry = _entry("clustered", record, record.bits, {"record": record.fingerprint()})
            entry["codebooks"] = record.groups
        elif isinstance(record, Clustered):
            same = record.as_quantized()
            entry = _entry("quantized", same, same.bits, {"record": same.fingerprint()})
            entry |= {"groups": same.groups, "levels": _levels(record)}
        elif isinstance(record, Quantized):
            entry = _entry("quantized", record, record.bits, {"record": record.fingerprint()})
            entry["groups"] = record.groups
        else:
            values = Dense(model.position_rows(length) if name == POSITIONS else record.values)
            with np.errstate(over="ignore"):
                hashes = {t.__name__: value_hash(values.values.astype(t)) for t in (np.float32, np.float16)}
            hashes |= _integer_bias(model, name)
            entry = _entry("dense", values, values.values.dtype.itemsize * 8, hashes)
        static = model.activations.get(name.removesuffix(".weight"))
        entries.append({"name": name, **entry} | ({} if static is None else {"activations": static.to_json()}))
    return entries


def _levels(record: Clustered) -> int:
    """How many different codes there are in a matrix at most: those of its codebooks, and those of outliers."""
    apart = 0 if record.outliers is None else len(np.unique(record.outliers.levels))
    return min(record.groups * 2**record.bits + apart, _MOST_LEVELS)


def _entry(kind: str, record: Record, bits: int, hashes: dict[str, str]) -> Json:
    size = record.payload_bytes
    return {"shape": list(record.shape), "kind": kind, "bits": bits, "bytes": size, "sha256": hashes}


def _integer_bias(model: CompressedModel, name: str) -> dict[str, str]:
    """The hash of a bias in whole numbers, as engines want it where the scale of the map's input is fixed."""
    part = name.removesuffix(".bias")
    static, weight = model.activations.get(part), model.records.get(f"{part}.weight")
    if static is None or part == name or not isinstance(weight, Quantized):
        return {}
    unit = bias_scale(weight.scale, static.input)
    return {"int32": integer_hash(np.rint(model.records[name].decode() / unit).astype(np.int32), unit)}


def value_hash(values: NDArray[np.floating]) -> str:
    """sha256 of float values: their bytes without the shape, since formats keep vectors in shapes of their own."""
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()


def integer_hash(codes: NDArray[np.int32], scale: NDArray[np.float32]) -> str:
    """sha256 of a bias in whole numbers and of what each of them is worth."""
    content = codes.astype("<i4").tobytes() + scale.reshape(-1).astype("<f4").tobytes()
    return hashlib.sha256(b"int32 " + content).hexdigest()


def compare(stored: Iterable[StoredWeight], entries: Iterable[Json]) -> Comparison:
    """Hold what a file stores against the manifest's entries."""
    copies: Counter[str] = Counter()
    found: defaultdict[str, set[Static]] = defaultdict(set)
    for weight in stored:
        key = weight_key(weight)
        copies[key] += weight.copies
        found[key] |= weight.activations
    missing, matrices, equal = [], [], 0
    entries = list(entries)
    wanted = _wanted(entries)
    owners: Counter[str] = Counter()
    for entry in entries:
        keys = set(entry["sha256"].values())
        present = [key for key in keys if copies[key]]
        if not present:
            missing.append(entry["name"])
            continue
        equal += 1
        owners[present[0]] += 1
        # Small vectors may well be equal (norms of ones); only matrices are worth storing once.
        if len(entry["shape"]) == 2:
            matrices.append((entry["name"], present))
    # Not before all owners are known: a table of zeros may be the same bytes as a bias.
    repeated = [name for name, present in matrices if sum(copies[key] for key in present) > owners[present[0]]]
    misrounded = (e["name"] for e in entries if any(found[key] != wanted[key] for key in e["sha256"].values()))
    return Comparison(equal, tuple(missing), tuple(repeated), tuple(misrounded))


def _wanted(entries: Iterable[Json]) -> dict[str, set[Static]]:
    """The fixed scales around each record by its hash; maps with the same weight may differ in them."""
    wanted: dict[str, set[Static]] = {}
    for entry in entries:
        for key in entry["sha256"].values():
            wanted.setdefault(key, set())
            if "activations" in entry:
                wanted[key].add(_activations(entry))
    return wanted


def _activations(entry: Json) -> Static:
    try:
        return static_from_json(entry["activations"])
    except CompressionError as error:
        raise ArtifactError(f"{MANIFEST_FILE}: {short(entry['name'])}: {error}") from error


def some(names: Iterable[str]) -> str:
    """For messages: the first three, and how many more there are."""
    listed = list(names)
    return ", ".join(listed[:3]) + (f" and {len(listed) - 3} more" if len(listed) > 3 else "")


def stored_weights(target: Target, path: Path) -> list[StoredWeight]:
    """What `target.read_weights` gives; raises ArtifactError for whatever a damaged file makes of it."""
    return _reading(target, target.read_weights, path)


def stored_inputs(target: Target, path: Path) -> list[StoredInput]:
    """What `target.read_inputs` gives; raises ArtifactError for whatever a damaged file makes of it."""
    return _reading(target, target.read_inputs, path)


def _reading(target: Target, read: Callable[[Path], _Read], path: Path) -> _Read:
    try:
        return read(path)
    except MobilekitError:
        raise
    except Exception as error:  # parsers of foreign bytes may raise anything
        said = f"{type(error).__name__}: {error}"[:200]
        raise ArtifactError(f"{path}: cannot be read as a {target.name} file ({said}); export again.") from error


def stored_record(weight: StoredWeight) -> Quantized | Clustered:
    """The record that stored codes are; raises CompressionError where they are none."""
    codes, scale = weight.codes, weight.scale
    assert codes is not None and scale is not None
    if weight.codebook is not None:
        return Clustered(codes, weight.codebook, scale)  # type: ignore[arg-type]
    return Quantized(codes, scale, weight.bits)  # type: ignore[arg-type]


def weight_key(weight: StoredWeight) -> str:
    """The hash by which a manifest's entry knows this weight."""
    if weight.codes is None:
        assert weight.values is not None
        return value_hash(weight.values)
    if weight.codes.dtype == np.int32:
        assert weight.scale is not None
        return integer_hash(weight.codes.astype(np.int32), weight.scale)
    try:
        return stored_record(weight).fingerprint()
    except CompressionError:
        return "not a record"
