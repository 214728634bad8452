"""The machine and the versions that a result was measured with; nothing in it names the machine or a path."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

from mobilekit.host import describe, versions


def environment() -> dict[str, Any]:
    """JSON values: system, processor, cpus and their features, memory, load average of the last minute, versions."""
    host = {key: list(v) if isinstance(v, tuple) else v for key, v in asdict(describe()).items()}
    # Other processes' memory says nothing about a result.
    del host["memory_available_bytes"]
    return {**host, "load_average_1_min": round(os.getloadavg()[0], 2), "versions": versions()}
