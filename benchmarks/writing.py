"""How results are written, so that the same results are the same bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write_results(file: Path, content: Mapping[str, Any]) -> None:
    """Write JSON values to a file, whose folder is made where there is none."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")
