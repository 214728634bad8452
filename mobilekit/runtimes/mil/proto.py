"""Core ML's protobuf classes, without the rest of coremltools.

`import coremltools` takes 16 s and crashes beside tensorflow. Its generated protobuf modules need only
google.protobuf and import each other relatively, so they load under a package name of our own.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from mobilekit.errors import MissingExtraError

_PACKAGE = "_mobilekit_coreml_proto"


def _folder() -> Path:
    purpose = "reading a Core ML package"
    if importlib.util.find_spec("google.protobuf") is None:
        raise MissingExtraError("protobuf", "coreml", purpose)
    # For a top-level name find_spec looks the package up and does not run it.
    found = importlib.util.find_spec("coremltools")
    if found is None or not found.submodule_search_locations:
        raise MissingExtraError("coremltools", "coreml", purpose)
    return Path(next(iter(found.submodule_search_locations))) / "proto"


@functools.cache
def _module(name: str) -> ModuleType:
    if _PACKAGE not in sys.modules:
        spec = ModuleSpec(_PACKAGE, None, is_package=True)
        spec.submodule_search_locations = [str(_folder())]
        sys.modules[_PACKAGE] = importlib.util.module_from_spec(spec)
    return importlib.import_module(f"{_PACKAGE}.{name}")


def model_pb2() -> ModuleType:
    """The generated module of Model.proto."""
    return _module("Model_pb2")


def mil_pb2() -> ModuleType:
    """The generated module of MIL.proto."""
    return _module("MIL_pb2")


def feature_types_pb2() -> ModuleType:
    """The generated module of FeatureTypes.proto."""
    return _module("FeatureTypes_pb2")
