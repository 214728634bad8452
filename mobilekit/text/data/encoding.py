"""Bytes of a data file as text: UTF-8 only, and what is not is named by its place."""

from __future__ import annotations

from pathlib import Path

from mobilekit.errors import InputError
from mobilekit.reading import read_errors

BOM = b"\xef\xbb\xbf"


def read_text(path: Path) -> str:
    """The whole file as text, without a byte-order mark; line breaks stay as they are.

    Raises InputError when the file is missing, empty, or not UTF-8 (naming line and byte).
    """
    require_file(path)
    with read_errors(path):
        data = path.read_bytes()
    try:
        return data.removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        offset = error.start + (len(BOM) if data.startswith(BOM) else 0)
        raise not_utf8(path, data[:4], data.count(b"\n", 0, offset) + 1, offset, data[offset]) from error


def require_file(path: Path) -> None:
    """Raise InputError when `path` is not a file, or an empty one."""
    with read_errors(path):
        if not path.exists():
            raise InputError(f"{path}: not found.")
        # Opening a pipe would wait for ever.
        if not path.is_file():
            raise InputError(f"{path}: is not a file; give one file with data.")
        if path.stat().st_size == 0:
            raise InputError(f"{path}: is empty.")


def not_utf8(path: Path, head: bytes, line: int, offset: int, byte: int) -> InputError:
    """The error for the byte at `offset` (from 0) of a file that begins with `head`."""
    utf16 = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    guess = "the file looks like UTF-16" if utf16 else "the file may be Latin-1 or Windows-1252"
    return InputError(f"{path}:{line}: byte 0x{byte:02X} at offset {offset} is not UTF-8; {guess}: save it as UTF-8.")
