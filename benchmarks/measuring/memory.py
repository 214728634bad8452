"""What a process has in memory, and the most that it had since it was last asked to forget."""

from __future__ import annotations

import contextlib
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil

_STATUS, _FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_MAPPINGS = Path("/proc/self/smaps")
_LIBRARY = re.compile(r"\.so(\.[0-9.]+)?$")
_LINE = re.compile(r"^(RssAnon|RssFile|RssShmem|VmHWM):\s+(\d+) kB$", re.MULTILINE)
# proc(5): 5 sets the peak to what is resident now.
_RESET_PEAK = "5"


@dataclass(frozen=True)
class Memory:
    """Resident bytes: anonymous (heap, packed weights), of mapped files (a model file) and of libraries (an engine's
    code comes into memory as it is used first), and the peak of all.

    Where the system does not tell them apart, all of it is anonymous, and `peak_bytes` is None.
    """

    anonymous_bytes: int
    file_bytes: int
    peak_bytes: int | None
    library_bytes: int = 0

    @property
    def resident_bytes(self) -> int:
        """All of it."""
        return self.anonymous_bytes + self.file_bytes + self.library_bytes


def memory() -> Memory:
    """Of this process, now."""
    if not _STATUS.is_file():
        return Memory(int(psutil.Process().memory_info().rss), 0, None)
    found = {name: 1024 * int(kilobytes) for name, kilobytes in _LINE.findall(_STATUS.read_text())}
    library = min(_libraries(_MAPPINGS.read_text(errors="replace")), found["RssFile"])
    anonymous = found["RssAnon"] + found.get("RssShmem", 0)
    return Memory(anonymous, found["RssFile"] - library, found["VmHWM"], library)


def _libraries(mappings: str) -> int:
    """Resident bytes of libraries that are still those of their files, out of what /proc/PID/smaps says."""
    total, counted = 0, False
    for line in mappings.splitlines():
        name, _, value = line.partition(":")
        if " " in name or not value:
            # The head of a mapping: addresses, rights, offset, device, inode, path.
            counted = bool(_LIBRARY.search(line))
        elif counted and name == "Rss":
            total += _bytes(value)
        elif counted and name == "Anonymous":
            total -= _bytes(value)
    return total


def _bytes(value: str) -> int:
    return 1024 * int(value.split()[0])


def forget_peak() -> None:
    """Let the peak begin anew, where the system can."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            _FORGET.write_text(_RESET_PEAK)
