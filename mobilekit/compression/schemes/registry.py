"""What a scheme is, and the list of those there are."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.compensate import Inputs
from mobilekit.compression.records import Record
from mobilekit.registry import import_modules, named

Compress = Callable[[NDArray[np.float32]], Record]
Calibrated = Callable[[NDArray[np.float32], Inputs], Record]


@dataclass(frozen=True)
class Scheme:
    """How weights are kept.

    weights: makes the record of a matrix (linear map or token table). rest: makes that of every other tensor (norms,
    biases, positions). calibrated: makes the record of a linear map for the inputs that it has on text (None: as
    `weights`, and text is not looked at for it). smooth: how much of activations' outliers is moved into the weights
    first, 0 to 1. about: one line for tables. minimum_ios: least iOS whose Core ML holds it. options: numbers that a
    plan's rules may give, by name, and which; configure: makes the scheme for some of them. check: raises
    CompressionError for the shape of a matrix that it cannot hold. static: whether activations around linear maps of
    the layers are rounded with scales that are fixed on text.
    """

    name: str
    about: str
    weights: Compress
    rest: Compress
    minimum_ios: int = 16
    smooth: float = 0.0
    calibrated: Calibrated | None = None
    options: Mapping[str, range] = field(default_factory=dict)
    configure: Callable[..., Scheme] | None = None
    check: Callable[[tuple[int, ...]], None] = lambda shape: None
    static: bool = False

    @property
    def is_float(self) -> bool:
        """Whether weights are kept as everything else is: as floats."""
        return self.weights is self.rest

    @property
    def looks_at_text(self) -> bool:
        """Whether what comes out depends on the text that activations are looked at with."""
        return bool(self.smooth) or self.static or self.calibrated is not None

    def configured(self, **options: int) -> Scheme:
        """The scheme with some of its options."""
        assert self.configure is not None
        return self.configure(**options)


_schemes: dict[str, Scheme] = {}


def register(scheme: Scheme) -> Scheme:
    """Add a scheme to the registry."""
    _schemes[scheme.name] = scheme
    return scheme


@functools.cache
def schemes() -> Mapping[str, Scheme]:
    """All schemes by name, those of more bits first: every module of this package may register some."""
    import mobilekit.compression.schemes as package

    import_modules(package)
    return dict(sorted(_schemes.items(), key=lambda item: _order(item[0])))


def _order(name: str) -> tuple[str, int, str]:
    """Kind, bits and the rest of a name such as `int4-g32`: what schemes are sorted by."""
    kind, bits, rest = re.fullmatch(r"(\D*)(\d*)(.*)", name).groups()  # type: ignore[union-attr]
    return kind, -int(bits or 0), rest


def scheme(name: str) -> Scheme:
    """The scheme called `name`; raises InputError with a did-you-mean."""
    return named("scheme", name, schemes())
