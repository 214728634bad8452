"""Damaged files: an error in one line, whatever the damage; the readers are fed truncations and flipped bytes."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest

from export.pipeline import ExportResult, export
from export.registry import target
from export.stored import stored_inputs, stored_weights
from mobilekit.artifact import open_folder
from mobilekit.errors import ArtifactError
from mobilekit.runtimes.mil.package import open_package

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=["int8", "int4", "pal4"])
def results(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[ExportResult]:
    return export("tiny-classifier", scheme=request.param, lengths=(16,), out=tmp_path_factory.mktemp("damaged"))


def test_readers_of_damaged_files_say_so_or_read_on(results: list[ExportResult], tmp_path: Path) -> None:
    rng = random.Random(7)
    for result in results:
        assert result.folder is not None
        source = open_folder(result.folder).model_path
        copy = tmp_path / source.name
        shutil.copytree(source, copy) if source.is_dir() else shutil.copy(source, copy)
        files = [p for p in copy.rglob("*") if p.is_file()] if copy.is_dir() else [copy]
        for _ in range(60):
            file = rng.choice(files)
            good = file.read_bytes()
            if rng.random() < 0.3:
                bad = good[: rng.randrange(len(good))]
            else:
                place = rng.randrange(len(good))
                bad = good[:place] + bytes([good[place] ^ (1 << rng.randrange(8))]) + good[place + 1 :]
            file.unlink()
            file.write_bytes(bad)
            for read in (stored_weights, stored_inputs):
                try:
                    read(target(result.target), copy)
                except ArtifactError as error:
                    assert "\n" not in str(error)
            file.unlink()
            file.write_bytes(good)


def test_package_cannot_name_files_outside_itself(results: list[ExportResult], tmp_path: Path) -> None:
    folder = next(r.folder for r in results if r.target == "coreml")
    assert folder is not None
    copy = Path(shutil.copytree(open_folder(folder).model_path, tmp_path / "copy.mlpackage"))
    shutil.copy(next(copy.rglob("*.mlmodel")), tmp_path / "outside.mlmodel")
    manifest = copy / "Manifest.json"
    content = json.loads(manifest.read_text())
    for path in (str(tmp_path / "outside.mlmodel"), "../../outside.mlmodel", "../../../etc/hostname"):
        content["itemInfoEntries"][content["rootModelIdentifier"]]["path"] = path
        manifest.write_text(json.dumps(content))
        with pytest.raises(ArtifactError, match="lies outside the package"):
            open_package(copy)
