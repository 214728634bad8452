"""Reading what others wrote: whatever the disk or the content does, one error that names the file."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

from mobilekit.errors import InputError, short

# Configurations take kilobytes; 65,536 labels, twice each, take 8 MB. JSON takes many times its size in memory.
_LARGEST = 16 * 2**20


@contextlib.contextmanager
def read_errors(place: object) -> Iterator[None]:
    """Turn what the disk refuses (no permission, a name too long, links in a circle) into an InputError."""
    try:
        yield
    except OSError as error:
        where = short(error.filename or place, 300)
        raise InputError(f"{where}: cannot be read: {error.strerror or error}.") from error


def read_values(file: Path, most: int = _LARGEST) -> object:
    """The values in a JSON file of reasonable size, `most` bytes.

    Raises InputError, naming the file, when it is missing, no plain file, too large, not UTF-8 or not JSON, or when a
    text in it has characters that are not valid Unicode (which nothing could print or write again).
    """
    with read_errors(file):
        if not file.exists():
            raise InputError(f"{file}: not found.")
        # Opening a pipe would wait for ever, and a device never ends.
        if not file.is_file():
            raise InputError(f"{file}: is not a file.")
        size = file.stat().st_size
        if size > most:
            raise InputError(f"{file}: {size:,} bytes are too many; it has to have at most {most:,}.")
        data = file.read_bytes()
    try:
        content: object = json.loads(data.decode("utf-8"))
        if b"\\ud" in data.lower():
            json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{file}: a text in it is not valid Unicode (half a surrogate pair).") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}: not readable as JSON ({error}).") from error
    return content
