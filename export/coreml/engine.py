"""Import coremltools in half its time, without what this export has no use for."""

from __future__ import annotations

import sys

from mobilekit.errors import MissingExtraError

# coremltools looks for each of these, to convert from them, and importing them takes longer than the rest. Beside
# tensorflow it crashes the process.
_UNUSED = ("executorch", "sklearn", "tensorflow", "torchao")


def import_coremltools() -> None:
    """Import coremltools while the packages it would only look for seem absent; raises MissingExtraError."""
    hidden = [name for name in _UNUSED if name not in sys.modules]
    for name in hidden:
        sys.modules[name] = None  # type: ignore[assignment]
    try:
        import coremltools  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingExtraError("coremltools", "coreml", "exporting to Core ML") from error
    finally:
        for name in hidden:
            del sys.modules[name]
