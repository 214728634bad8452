"""What a process has in memory, and the most that it had since it was last asked to forget."""

from __future__ import annotations

import contextlib
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil

_STATUS, _FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_LINE = re.compile(r"^(RssAnon|RssFile|RssShmem|VmHWM):\s+(\d+) kB$", re.MULTILINE)
# proc(5): 5 sets the peak to what is resident now.
_RESET_PEAK = "5"


@dataclass(frozen=True)
class Memory:
    """Resident bytes: anonymous (heap, packed weights) and of mapped files (a model file, libraries), and the peak.

    Where the system does not tell them apart, all of it is anonymous, and `peak_bytes` is None.
    """

    anonymous_bytes: int
    file_bytes: int
    peak_bytes: int | None

    @property
    def resident_bytes(self) -> int:
        """All of it."""
        return self.anonymous_bytes + self.file_bytes


def memory() -> Memory:
    """Of this process, now."""
    if not _STATUS.is_file():
        return Memory(int(psutil.Process().memory_info().rss), 0, None)
    found = {name: 1024 * int(kilobytes) for name, kilobytes in _LINE.findall(_STATUS.read_text())}
    return Memory(found["RssAnon"] + found.get("RssShmem", 0), found["RssFile"], found["VmHWM"])


def forget_peak() -> None:
    """Let the peak begin anew, where the system can."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            _FORGET.write_text(_RESET_PEAK)
