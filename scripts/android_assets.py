"""Copy artifacts into the Android demo, whose next build then has them; `make android-assets` runs it.

    PYTHONPATH=. .venv/bin/python scripts/android_assets.py out/minilm-l6-int8/tflite out/minilm-l6-int8/executorch

Each is verified: its manifest is valid, every file has the hash that the manifest says, and its target is one that the
app has an engine for. What is there already is replaced; what is not named goes. With --pack each is one small file,
which the app unpacks on first use.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.device.android import names_in_app
from mobilekit.artifact import Artifact, open_folder
from mobilekit.compression.pack.pack import pack
from mobilekit.errors import ArtifactError, MobilekitError

ASSETS = Path(__file__).resolve().parent.parent / "android_demo" / "app" / "src" / "main" / "assets"
TARGETS = ("tflite", "executorch")


def add(folders: Sequence[Path], assets: Path, packed: bool) -> list[str]:
    """Put the artifacts of `folders` into `assets`/artifacts, in place of what is there; their names there.

    Raises ArtifactError for a folder that is no artifact, is altered, or has no engine in the app, and InputError for
    two of the same name. Then nothing is changed.
    """
    artifacts = [_verified(folder) for folder in folders]
    names = names_in_app(artifacts)
    assets.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=assets, prefix=".artifacts-") as scratch:
        new = Path(scratch) / "artifacts"
        new.mkdir()
        for name, artifact in zip(names, artifacts, strict=True):
            if packed:
                pack(artifact.folder, new / f"{name}.mkpack")
            else:
                _copy(artifact, new / name)
        shutil.rmtree(assets / "artifacts", ignore_errors=True)
        os.replace(new, assets / "artifacts")
    return names


def _verified(folder: Path) -> Artifact:
    artifact = open_folder(folder)
    target = artifact.manifest.target
    if target not in TARGETS:
        raise ArtifactError(f"{folder}: the app has no engine for {target}; export for {' or '.join(TARGETS)}.")
    artifact.refuse_altered()
    return artifact


def _copy(artifact: Artifact, into: Path) -> None:
    """The files that the manifest names, and it; not what else lies there."""
    content = artifact.manifest.content
    into.mkdir()
    for name in ("manifest.json", content["file"], *content["files"]):
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(artifact.folder / name, into / name)


def main(words: Sequence[str] | None = None) -> int:
    """The script."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("artifacts", type=Path, nargs="+", metavar="ARTIFACT", help="a folder that export wrote")
    parser.add_argument("--pack", action="store_true", help="as packs, unpacked by the app on first use")
    parser.add_argument("--assets", type=Path, default=ASSETS, help=argparse.SUPPRESS)
    arguments = parser.parse_args(words)
    try:
        names = add(arguments.artifacts, arguments.assets, arguments.pack)
    except MobilekitError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for name in names:
        print(f"{arguments.assets / 'artifacts'}: {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
