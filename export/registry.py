"""The targets: each is a folder of this package that registers itself; nothing heavy is imported here."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mobilekit.artifact import MANIFEST_FILE, Artifact
from mobilekit.compression.activations import Static
from mobilekit.errors import ArtifactError, InputError
from mobilekit.registry import import_modules, named

if TYPE_CHECKING:
    from mobilekit.compression.compressed import CompressedModel

Progress = Callable[[str], None]
# The schemes of clustered weights, which every target holds in one form or another.
CLUSTERED = ("pal8", "pal6", "pal4", "pal3", "pal2", "pal1")


@dataclass(frozen=True)
class GraphSpec:
    """What an exporter is asked to write.

    lengths: sequence lengths, ascending, weights stored once for all. name: a base name valid as a Swift class.
    metadata: strings to put into the file where its format has a place. minimum_ios: 16, 17 or 18. tokenizer: the
    model's tokenizer.json, for formats that carry a vocabulary; None: carry none.
    """

    lengths: tuple[int, ...]
    name: str
    minimum_ios: int = 18
    metadata: Mapping[str, str] = field(default_factory=dict)
    tokenizer: Path | None = None


@dataclass(frozen=True)
class Emission:
    """What an exporter has written: how the file is entered and what it needs to run.

    entry_points: for each length the method, signature or function that takes it. engine and engine_version:
    the runtime and the least version that reads the file. input_names: what the graph takes, in order. opened_by: the
    class of a task library that opens the file as it is, vocabulary included; empty where there is none. more_outputs:
    names of outputs beside the head's own, of its shape.
    """

    entry_points: Mapping[int, str]
    input_names: tuple[str, ...]
    engine: str
    engine_version: str
    minimum_os: Mapping[str, str] = field(default_factory=dict)
    opened_by: str = ""
    more_outputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class StoredWeight:
    """A weight as it stands in an artifact: codes (int8 [rows, columns]) and scale (float32 [rows, groups]), or values.

    codebook: int8 [codebooks, levels] where the codes (then uint8) are of levels. A bias in whole numbers has int32
    codes [rows] and a scale each. bits: of each code. copies: how many times its bytes are in the file (1 unless
    something went wrong). activations: with which fixed scales activations are rounded before and after it, wherever it
    is used so.
    """

    codes: NDArray[np.int8] | NDArray[np.uint8] | NDArray[np.int32] | None = None
    scale: NDArray[np.float32] | None = None
    values: NDArray[np.floating] | None = None
    copies: int = 1
    bits: int = 8
    codebook: NDArray[np.int8] | None = None
    activations: frozenset[Static] = frozenset()


@dataclass(frozen=True)
class StoredInput:
    """An input as the artifact declares it."""

    entry: str
    name: str
    dtype: str
    shape: tuple[int, ...]


class Emit(Protocol):
    """Write the model to `path` (a new file or folder); runs in the target's worker process."""

    def __call__(self, model: CompressedModel, spec: GraphSpec, path: Path, progress: Progress) -> Emission:
        """Write the file and say how it is entered."""
        ...


@dataclass(frozen=True)
class Overhead:
    """Bytes that a target's files take over their weights, measured (`python -m benchmarks.overhead`), rounded up.

    once: whatever is exported. per_length: for each exported length. per_layer: for each layer and exported length.
    More where clustered weights have codebooks, for each exported length: per_table for each of them, per_product for
    each use, whose scale is an operation of its own. per_static: more for each use of a linear map whose activations
    have fixed scales, and exported length.
    """

    once: int
    per_length: int
    per_layer: int
    per_table: int = 0
    per_product: int = 0
    per_static: int = 0


@dataclass(frozen=True)
class Target:
    """One export target.

    extra: the pip extra. schemes: what it can hold. refused: by scheme, why it is not among them. refused_options: by
    the name of a scheme's option, why no scheme can have it. scale_bytes: bytes a scale takes in the file, with its
    zero point; group_scale_bytes: the same where a row has several; bias_scale_bytes: the same of a bias in whole
    numbers. rest_bytes: by scheme, bytes of a value that is not quantized, where they are less than its record's own.
    codebooks: whether the file holds clustered weights as codes with their codebooks, else as int8 of few levels.
    usage: Markdown for the artifact's README, with {file}, {class}, {entry}, {length}, {output} and {size} to fill in.
    read_weights, read_inputs and attached_bytes (of what the file carries for task libraries, vocabulary and all) work
    on the file alone, in any process, without the engine.
    """

    name: str
    suffix: str
    extra: str
    schemes: tuple[str, ...]
    packages: tuple[str, ...]
    scale_bytes: int
    emit: Emit
    read_weights: Callable[[Path], list[StoredWeight]]
    read_inputs: Callable[[Path], list[StoredInput]]
    rest_bytes: Mapping[str, int] = field(default_factory=dict)
    overhead: Overhead = Overhead(0, 0, 0)
    attached_bytes: Callable[[Path], int] = lambda path: 0
    usage: Callable[[Emission], str] = lambda emission: ""
    refused: Mapping[str, str] = field(default_factory=dict)
    refused_options: Mapping[str, str] = field(default_factory=dict)
    group_scale_bytes: int = 0
    codebooks: bool = False
    bias_scale_bytes: int = 0


def lazily(module: str, function: str) -> Callable[..., Any]:
    """`function` of `module`, imported when it is first called: registering a target must load no engine."""

    def call(*arguments: Any) -> Any:
        return getattr(importlib.import_module(module), function)(*arguments)

    return call


_targets: dict[str, Target] = {}


def register(target: Target) -> Target:
    """Add a target to the registry."""
    _targets[target.name] = target
    return target


@functools.cache
def targets() -> Mapping[str, Target]:
    """All targets by name: every sub-package of `export` registers one."""
    import export

    import_modules(export, only_packages=True)
    return dict(sorted(_targets.items()))


def target(name: str) -> Target:
    """The target called `name`; raises InputError with a did-you-mean."""
    return named("target", name, targets())


def target_of(artifact: Artifact) -> Target:
    """The target of an artifact; raises ArtifactError, naming its manifest, when there is none of that name."""
    try:
        return target(artifact.manifest.target)
    except InputError as error:
        raise ArtifactError(f"{artifact.folder / MANIFEST_FILE}: {error}") from error
