"""Clustered schemes from the model to checked files: the same records on every target, small when packed."""

from __future__ import annotations

from pathlib import Path

import pytest

from export.pipeline import ExportResult, export, recheck
from export.registry import CLUSTERED
from mobilekit.artifact import open_folder
from mobilekit.cli.main import main
from mobilekit.compression.compress import compress
from mobilekit.compression.folder import save_compressed
from mobilekit.compression.pack.pack import pack
from mobilekit.compression.records import Clustered
from mobilekit.errors import InputError
from mobilekit.models.load import load


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ExportResult]:
    out = tmp_path_factory.mktemp("out")
    return {r.target: r for r in export("tiny-classifier", scheme="pal4", lengths=(16,), out=out)}


def test_every_target_holds_the_records_of_one_compression(results: dict[str, ExportResult]) -> None:
    compressed = compress(load("tiny-classifier"), "pal4")
    assert set(results) == {"coreml", "executorch", "tflite"}
    for name, result in results.items():
        assert result.passed
        found = {t["name"]: t for t in result.manifest["tensors"]}
        for tensor, record in compressed.records.items():
            if not isinstance(record, Clustered):
                continue
            same = record if name == "coreml" else record.as_quantized()
            assert found[tensor]["sha256"] == {"record": same.fingerprint()}
            assert found[tensor]["bits"] == (4 if name == "coreml" else 8)


def test_inspect_says_how_they_were_written(
    results: dict[str, ExportResult], capsys: pytest.CaptureFixture[str]
) -> None:
    for name, said in (("coreml", "2 4-bit codes of a codebook"), ("tflite", "2 int8 codes of 16 levels")):
        with pytest.raises(SystemExit) as ended:
            main(["inspect", str(results[name].folder)])
            raise SystemExit(0)
        assert not ended.value.code
        assert said in capsys.readouterr().out


def test_few_levels_pack_to_their_bits(results: dict[str, ExportResult], tmp_path: Path) -> None:
    records = compress(load("tiny-classifier"), "pal4").records.values()
    codes = sum(r.codes.size for r in records if isinstance(r, Clustered))
    for name in ("executorch", "tflite"):
        folder = results[name].folder
        assert folder is not None
        size = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
        _, packed = pack(folder, tmp_path / f"{name}.mkpack")
        # Of a byte with 16 levels half says nothing.
        assert packed.size < size - 0.4 * codes


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [name for name in CLUSTERED if name != "pal4"])
def test_every_scheme_passes_on_every_target(scheme: str, tmp_path: Path) -> None:
    model = load("tiny-classifier")
    save_compressed(model, compress(model, scheme), tmp_path / "records")
    for result in export(tmp_path / "records", scheme=scheme, lengths=(16, 48), out=tmp_path / "out"):
        assert result.passed and result.folder is not None
        assert all(check.passed for check in recheck(result.folder)[1])


@pytest.mark.slow
@pytest.mark.parametrize("ios", [16, 17])
def test_old_systems_have_the_same_records(ios: int, results: dict[str, ExportResult], tmp_path: Path) -> None:
    (result,) = export("tiny-classifier", "coreml", "pal4", lengths=(16,), minimum_ios=ios, out=tmp_path)
    assert result.passed and result.folder is not None
    assert open_folder(result.folder).manifest.content["minimum_os"]["ios"] == str(ios)
    newer = {t["name"]: t["sha256"] for t in results["coreml"].manifest["tensors"]}
    assert {t["name"]: t["sha256"] for t in result.manifest["tensors"]} == newer


def test_three_bits_need_ios_18(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="scheme 'pal3' needs iOS 18 on Core ML"):
        export("tiny-classifier", "coreml", "pal3", minimum_ios=17, out=tmp_path)
