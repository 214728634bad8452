"""The one family of exceptions, and the exit code that each becomes on the command line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class MobilekitError(Exception):
    """Base of all errors that a user can act on; the message is one line: what, where, what to do."""

    exit_code = 2


class InputError(MobilekitError):
    """What the user gave is wrong: a name, a path, a file's content, a combination of options."""


class CompressionError(MobilekitError):
    """A weight or a plan cannot be compressed as asked."""


class ArtifactError(MobilekitError):
    """An artifact is missing, incomplete, altered, or of another schema."""


class MissingExtraError(MobilekitError):
    """A package that this work needs is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {package}, which is not installed: pip install 'mobilekit[{extra}]'")


class EngineError(MobilekitError):
    """A conversion or inference engine failed or died; the message names its log file."""

    exit_code = 1


class FellowError(MobilekitError):
    """Another process of the same run failed and said why; this one ends with it, and says nothing."""

    exit_code = 1


class CheckFailedError(MobilekitError):
    """An artifact did not pass a check."""

    exit_code = 3


def short(value: object, most: int = 80) -> str:
    """A value as text for a message, cut in its middle where it is too long to be read there."""
    if isinstance(value, int) and value.bit_length() > 4 * most:
        # Python does not even write out a number of some thousand digits.
        return f"a number of {value.bit_length()} bits"
    text = str(value)
    return text if len(text) <= most else f"{text[: most // 2]}...{text[-most // 4 :]}"


def unknown(kind: str, name: str, known: Iterable[str], where: str = "") -> InputError:
    """An InputError for a name that is not known, with a did-you-mean and the valid list."""
    names = list(known)
    text = short(name)
    # `INT8` means `int8`, too.
    near = difflib.get_close_matches(text, names, n=1) or difflib.get_close_matches(text.casefold(), names, n=1)
    hint = f"; did you mean '{near[0]}'?" if near else ";"
    choose = "Choose" if near else "choose"
    return InputError(f"{where}{kind} '{text}' is unknown{hint} {choose} from {', '.join(names)}.")
