"""Real artifacts of every target: unpacked they pass the checks again, and packed they are near their entropy."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest

from export.pipeline import export, recheck
from export.registry import target_of
from export.stored import stored_weights
from mobilekit.artifact import Artifact, open_folder
from mobilekit.compression.cluster import cluster_rows
from mobilekit.compression.entropy import entropy_bits
from mobilekit.compression.pack.pack import pack, unpack
from mobilekit.compression.pack.writer import write_pack

pytestmark = pytest.mark.slow
# What a budget allows a pack over the entropy of its codes (codes of whole bits, lanes, books).
_MOST = 1.03


def exported(out: Path, model: str, target: str, scheme: str, lengths: tuple[int, ...] = (16,)) -> Path:
    (result,) = export(model, target, scheme, lengths=lengths, out=out)
    assert result.folder is not None
    return result.folder


def tree(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize(
    ("target", "scheme"),
    [
        ("coreml", "int8"),
        ("coreml", "fp16"),
        ("coreml", "int4"),
        ("coreml", "pal3"),
        ("executorch", "int8"),
        ("tflite", "int4"),
    ],
)
def test_unpacked_artifacts_pass_their_checks(target: str, scheme: str, tmp_path: Path) -> None:
    folder = exported(tmp_path, "tiny-classifier", target, scheme)
    file, packed = pack(folder)
    back, _ = unpack(file, tmp_path / "back")
    assert tree(back) == tree(folder)
    assert open_folder(back).altered() == []
    assert all(check.passed for check in recheck(back)[1])
    assert packed.size < 0.75 * packed.directory.size


def code_bytes(artifact: Artifact) -> tuple[float, int, bytes]:
    """Bytes that the codes of a file need at least, each tensor for itself; their bytes; and the rest of the file."""
    path = artifact.model_path
    rest, least, size = path.read_bytes(), 0.0, 0
    for weight in stored_weights(target_of(artifact), path):
        if weight.codes is not None:
            codes = weight.codes.tobytes()
            assert codes in rest
            rest = rest.replace(codes, b"", 1)
            least += entropy_bits(np.bincount(weight.codes.view(np.uint8).ravel())) / 8
            size += len(codes)
    return least, size, rest


@pytest.fixture(scope="module")
def builtin(tmp_path_factory: pytest.TempPathFactory) -> Artifact:
    return open_folder(exported(tmp_path_factory.mktemp("builtin"), "minilm-l6", "tflite", "int8", (32,)))


def test_built_in_model_keeps_the_budget(builtin: Artifact, tmp_path: Path) -> None:
    least, size, rest = code_bytes(builtin)
    assert size > 22 * 10**6
    others = sum(
        len(zlib.compress(data, 9)) for name, data in tree(builtin.folder).items() if name != builtin.model_path.name
    )
    _, packed = pack(builtin.folder, tmp_path / "p.mkpack")
    assert packed.size <= _MOST * least + len(zlib.compress(rest, 9)) + others


@pytest.mark.parametrize("bits", [4, 2])
def test_clustered_weights_profit_without_a_word_of_them(bits: int, builtin: Artifact, tmp_path: Path) -> None:
    """An int8 weight of 2**bits levels, as the other engines keep clustered ones: the file is as large as before."""
    data, least, done = bytearray(builtin.model_path.read_bytes()), 0.0, 0
    for weight in stored_weights(target_of(builtin), builtin.model_path):
        if weight.codes is None:
            continue
        codes = weight.codes.tobytes()
        assert weight.scale is not None
        clustered = cluster_rows(weight.codes * weight.scale, bits)
        at = data.find(codes)
        data[at : at + len(codes)] = clustered.as_quantized().codes.tobytes()
        least += entropy_bits(np.bincount(clustered.codes.ravel())) / 8
        done += len(codes)
    assert done > 22 * 10**6
    (tmp_path / "model").write_bytes(data)
    packed = write_pack([("model", tmp_path / "model")], tmp_path / "p")
    rest = len(zlib.compress(code_bytes(builtin)[2], 9))
    assert packed.size <= _MOST * least + rest
