"""Manifests damaged at random: whatever reads them goes on, or one error says what is wrong."""

from __future__ import annotations

import json
import shutil
import tracemalloc
from datetime import timedelta
from pathlib import Path

import pytest
from fuzz_support import damaged
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import fake_manifest

from export.pipeline import export
from mobilekit.artifact import open_folder, validated
from mobilekit.cli.main import main
from mobilekit.errors import MobilekitError

_BASE = 8_000_000


@settings(max_examples=200, deadline=timedelta(seconds=2))
@given(content=damaged(fake_manifest(None)))
def test_damaged_manifest_is_taken_or_one_line_says_why(content: object) -> None:
    try:
        found = validated(content, "m")
    except MobilekitError as error:
        assert str(error).startswith("m: ") and "\n" not in str(error) and len(str(error)) < 400
    else:
        # What the rest of the code takes for granted.
        assert found.lengths and found.input_names and found.output_size and found.max_length
        assert found.output_name in ("logits", "embedding") and found.task and found.target


@settings(max_examples=100, deadline=timedelta(seconds=2))
@given(data=st.binary(max_size=300) | st.text(max_size=300).map(str.encode), repeats=st.sampled_from([1, 1, 2000]))
def test_files_of_anything(data: bytes, repeats: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp()
    file = folder / "manifest.json"
    file.write_bytes(data * repeats)
    tracemalloc.start()
    try:
        with pytest.raises(MobilekitError):
            open_folder(folder)
        assert tracemalloc.get_traced_memory()[1] <= 3 * len(data) * repeats + _BASE
    finally:
        tracemalloc.stop()
        file.unlink()


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    (result,) = export("tiny-classifier", "tflite", lengths=(16,), out=tmp_path_factory.mktemp("good"))
    assert result.folder is not None
    return result.folder


@pytest.mark.slow
@pytest.mark.parametrize(("verb", "codes"), [("inspect", {0, 2}), ("check", {0, 2, 3}), ("run", {0, 2})], ids=str)
def test_verbs_on_damaged_manifests(
    verb: str, codes: set[int], artifact: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(shutil.copytree(artifact, tmp_path / "a"))
    good = json.loads((folder / "manifest.json").read_text())
    arguments = [verb, str(folder), *(["a good film"] if verb == "run" else [])]

    @settings(
        max_examples=40, deadline=timedelta(seconds=30), suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    @given(content=damaged(good))
    def try_one(content: object) -> None:
        (folder / "manifest.json").write_text(json.dumps(content))
        with pytest.raises(SystemExit) as ended:
            main(arguments)
            raise SystemExit(0)
        code, said = ended.value.code or 0, capsys.readouterr().err
        assert code in codes, said
        assert "Traceback" not in said and said.count("error: ") == bool(code)

    try_one()
