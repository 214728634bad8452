"""The artifacts among the assets of the Android app under test: one as a folder, one as a pack.

python tests/android/app_assets.py     writes them anew
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from support import fake_manifest

from mobilekit.compression.pack.pack import pack

FOLDER = Path(__file__).resolve().parents[2] / "android_demo/app/src/test/assets/artifacts"


def write(folder: Path) -> None:
    """`in-folder` and `in-pack.mkpack`, into the new folder."""
    folder.mkdir(parents=True)
    _artifact(folder / "in-folder", "in-folder")
    with tempfile.TemporaryDirectory() as scratch:
        _artifact(Path(scratch) / "artifact", "in-pack")
        pack(Path(scratch) / "artifact", folder / "in-pack.mkpack")


def _artifact(folder: Path, name: str) -> None:
    folder.mkdir()
    (folder / "model.tflite").write_bytes(b"weights")
    (folder / "tokenizer.json").write_text("{}\n")
    manifest = {**fake_manifest(folder), "model": name, "name": f"{name}-int8"}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    shutil.rmtree(FOLDER, ignore_errors=True)
    write(FOLDER)
