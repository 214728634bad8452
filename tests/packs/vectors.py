"""The committed packs in tests/vectors/pack/, made anew by `PYTHONPATH=tests python -m packs.vectors`."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from packs.building import Pack
from packs.good import GOOD
from packs.plain import unpack
from packs.refused import REFUSED

FOLDER = Path(__file__).parents[1] / "vectors" / "pack"
# Of longer files vectors.json has no bytes.
_SHOWN = 2048


def described(name: str, about: str, pack: Pack) -> dict[str, Any]:
    """An entry of vectors.json."""
    files = unpack(pack.to_bytes())
    return {
        "pack": f"{name}.mkpack",
        "about": about,
        "files": [
            {
                "name": file,
                "bytes": len(data),
                "sha256": hashlib.sha256(data).hexdigest(),
                "hex": data.hex() if len(data) <= _SHOWN else None,
            }
            for file, data in files.items()
        ],
    }


def vectors() -> dict[str, bytes]:
    """Every file of the folder, by name."""
    made = {f"{name}.mkpack": pack().to_bytes() for name, (_, pack) in GOOD.items()}
    made |= {f"refused-{name}.mkpack": pack() for name, (_, pack) in REFUSED.items()}
    about = {
        "packs": [described(name, about, pack()) for name, (about, pack) in GOOD.items()],
        "refused": [{"pack": f"refused-{name}.mkpack", "why": why} for name, (why, _) in REFUSED.items()],
    }
    return made | {"vectors.json": json.dumps(about, indent=1, ensure_ascii=False).encode() + b"\n"}


if __name__ == "__main__":
    made = vectors()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.iterdir():
        old.unlink()
    for name, data in made.items():
        (FOLDER / name).write_bytes(data)
