"""What all registries do: import the modules that register something, and look a name up."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from types import ModuleType
from typing import TypeVar

from mobilekit.errors import unknown

Registered = TypeVar("Registered")


def import_modules(package: ModuleType, only_packages: bool = False) -> None:
    """Import every module of a package, so that what they register is registered."""
    for module in pkgutil.iter_modules(package.__path__):
        if module.ispkg or not only_packages:
            importlib.import_module(f"{package.__name__}.{module.name}")


def named(kind: str, name: str, known: Mapping[str, Registered]) -> Registered:
    """The one of that name; raises InputError with a did-you-mean."""
    if name not in known:
        raise unknown(kind, name, known)
    return known[name]
