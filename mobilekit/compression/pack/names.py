"""Names of files in a pack: none can leave the folder, nor mean the same file as another one anywhere."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from mobilekit.errors import short
from mobilekit.manifest_rules import CONTROL

_LONGEST_PART, _LONGEST = 255, 1024


def first_fault(names: Iterable[str]) -> str | None:
    """What is wrong with names of files, or None."""
    before = b""
    seen: dict[str, str] = {}
    files: set[str] = set()
    for name in names:
        fault = _fault(name)
        if fault is not None:
            return f"the name '{_shown(name)}' {fault}"
        encoded = name.encode()
        if encoded <= before:
            return f"the name '{_shown(name)}' is not after the one before it"
        before = encoded
        # Where case or the way of writing an accent does not matter, two names may be one file, or a file a folder.
        parts = name.split("/")
        for i in range(1, len(parts) + 1):
            whole = "/".join(parts[:i])
            key = unicodedata.normalize("NFC", unicodedata.normalize("NFC", whole).casefold())
            if seen.setdefault(key, whole) != whole or key in files:
                return f"the names '{_shown(seen[key])}' and '{_shown(name)}' clash"
        files.add(key)
    return None


def _shown(name: str) -> str:
    return CONTROL.sub("?", short(name))


def _fault(name: str) -> str | None:
    if CONTROL.search(name):
        return "has a control character"
    # A colon is a drive's or a stream's in Windows.
    if "\\" in name or ":" in name:
        return "has a backslash or a colon"
    parts = name.split("/")
    if not name or any(part in ("", ".", "..") for part in parts):
        return "is no path inside a folder"
    if len(name.encode()) > _LONGEST or any(len(part.encode()) > _LONGEST_PART for part in parts):
        return "is too long"
    return None
