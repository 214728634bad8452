"""scripts/android_assets.py: what is copied into the Android app is whole, and nothing else is."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest
from support import fake_manifest

from mobilekit.artifact import open_folder
from mobilekit.compression.pack.pack import unpack

ROOT = Path(__file__).parents[2]


def loaded(path: Path) -> ModuleType:
    """A file that is in no package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return loaded(ROOT / "scripts" / "android_assets.py")


def artifact(folder: Path, **changes: object) -> Path:
    folder.mkdir(parents=True)
    (folder / "model.tflite").write_bytes(b"weights")
    (folder / "tokenizer.json").write_text("{}")
    (folder / "README.md").write_text("not named by the manifest")
    (folder / "manifest.json").write_text(json.dumps({**fake_manifest(folder), **changes}))
    return folder


def run(script: ModuleType, assets: Path, *words: object) -> int:
    result: int = script.main([*map(str, words), "--assets", str(assets)])
    return result


def test_copies_what_the_manifest_names(script: ModuleType, tmp_path: Path) -> None:
    source, assets = artifact(tmp_path / "a"), tmp_path / "assets"
    assert run(script, assets, source) == 0
    copied = assets / "artifacts" / "fake-int8-tflite"
    assert sorted(file.name for file in copied.iterdir()) == ["manifest.json", "model.tflite", "tokenizer.json"]
    assert open_folder(copied).altered() == []


def test_replaces_what_was_there(script: ModuleType, tmp_path: Path) -> None:
    assets = tmp_path / "assets"
    run(script, assets, artifact(tmp_path / "a"))
    run(script, assets, artifact(tmp_path / "b", name="other-int8"))
    assert [folder.name for folder in (assets / "artifacts").iterdir()] == ["other-int8-tflite"]


def test_packs_unpack_to_the_artifact(script: ModuleType, tmp_path: Path) -> None:
    source, assets = artifact(tmp_path / "a"), tmp_path / "assets"
    assert run(script, assets, source, "--pack") == 0
    (packed,) = (assets / "artifacts").iterdir()
    assert packed.name == "fake-int8-tflite.mkpack"
    unpack(packed, tmp_path / "back")
    assert (tmp_path / "back" / "model.tflite").read_bytes() == b"weights"


@pytest.mark.parametrize("packed", [[], ["--pack"]])
def test_refuses_what_was_altered_and_keeps_what_is_there(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], packed: list[str]
) -> None:
    good, bad, assets = artifact(tmp_path / "a"), artifact(tmp_path / "b", name="bad-int8"), tmp_path / "assets"
    run(script, assets, good)
    (bad / "model.tflite").write_bytes(b"weightz")
    assert run(script, assets, good, bad, *packed) == 2
    assert "altered" in capsys.readouterr().err
    assert [folder.name for folder in (assets / "artifacts").iterdir()] == ["fake-int8-tflite"]
    assert [folder.name for folder in assets.iterdir()] == ["artifacts"]


def test_refuses_targets_that_the_app_cannot_run(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(script, tmp_path / "assets", artifact(tmp_path / "a", target="coreml")) == 2
    assert "no engine for coreml" in capsys.readouterr().err


def test_refuses_one_name_twice(script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(script, tmp_path / "assets", artifact(tmp_path / "a"), artifact(tmp_path / "b")) == 2
    assert "are both called fake-int8-tflite in the app" in capsys.readouterr().err


def test_refuses_a_folder_without_manifest(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(script, tmp_path / "assets", tmp_path) == 2
    assert "manifest.json" in capsys.readouterr().err


def test_the_assets_of_the_app_under_test_are_what_their_script_writes(tmp_path: Path) -> None:
    app_assets = loaded(ROOT / "tests" / "android" / "app_assets.py")
    app_assets.write(tmp_path / "artifacts")
    written = {file.relative_to(tmp_path / "artifacts"): file for file in (tmp_path / "artifacts").rglob("*")}
    committed = {file.relative_to(app_assets.FOLDER): file for file in app_assets.FOLDER.rglob("*")}
    assert set(written) == set(committed)
    for name in written:
        if name.suffix == ".mkpack":
            # Deflated bytes depend on zlib's version; what they inflate to does not.
            unpack(committed[name], tmp_path / "committed")
            unpack(written[name], tmp_path / "written")
            assert unpacked(tmp_path / "committed") == unpacked(tmp_path / "written")
        elif written[name].is_file():
            assert written[name].read_bytes() == committed[name].read_bytes()


def unpacked(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}
