"""Artifacts packed, against the usual compressors, and how fast they unpack against zlib in the same run.

    python -m benchmarks.packs out/minilm-l6-int8/tflite out/minilm-l6-fp16/coreml --out benchmarks/results/packs.json

Rows of other artifacts that are in the file already stay. Last comes the way to a small file without all this.
"""

from __future__ import annotations

import io
import json
import lzma
import shutil
import statistics
import subprocess
import tarfile
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from benchmarks.clustering_routes import ours_one_scale
from benchmarks.codes import held_out_texts, losses
from benchmarks.environment import environment
from benchmarks.writing import write_results
from mobilekit.artifact import open_folder
from mobilekit.compression.pack.codings import HUFFMAN
from mobilekit.compression.pack.pack import pack, unpack
from mobilekit.compression.pack.writer import Figure, Packed
from mobilekit.compression.records import Dense
from mobilekit.compression.schemes.registry import schemes

_ROUNDS = 7


@click.command()
@click.argument("artifacts", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--out", type=click.Path(path_type=Path), required=True)
def main(artifacts: tuple[Path, ...], out: Path) -> None:
    """Pack artifacts, and measure size and speed against other compressors."""
    known = json.loads(out.read_text(encoding="utf-8"))["rows"] if out.is_file() else []
    rows = {(row["name"], row["target"]): row for row in known}
    for folder in artifacts:
        with tempfile.TemporaryDirectory() as work:
            row = _row(folder, Path(work))
        rows[row["name"], row["target"]] = row
        click.echo(json.dumps(row, sort_keys=True))
    order = {name: i for i, name in enumerate(schemes())}
    content = {
        "environment": environment(),
        "rounds": _ROUNDS,
        "rows": sorted(rows.values(), key=lambda row: order[row["scheme"]]),
        "ordinary": ordinary("minilm-l6", 4),
    }
    write_results(out, content)


def ordinary(model: str, bits: int) -> dict[str, Any]:
    """The way to a small file without records or packs: every matrix to 2**bits levels by k-means, float16 values in a
    safetensors file, and a compressor of files; with what is lost of the output (`benchmarks.codes.losses`)."""
    from safetensors.numpy import save

    from mobilekit.compression.plan import is_weight
    from mobilekit.models.load import load

    def kept(name: str, values: NDArray[np.float32]) -> NDArray[np.float16]:
        wanted = is_weight(name, values.ndim)
        return (ours_one_scale(values, bits)()() if wanted else values).astype(np.float16)

    loaded = load(model)
    tensors = {name: kept(name, values) for name, values in loaded.tensors().items()}
    file = save(tensors)
    packed = {name: size for name, size in _others(file).items() if size is not None}
    lost = losses(loaded, {name: Dense(values) for name, values in tensors.items()}, held_out_texts())
    return {"model": model, "bits": bits, "bytes": len(file), "others": packed, "loss": lost}


def _row(folder: Path, work: Path) -> dict[str, Any]:
    manifest, file = open_folder(folder).manifest.content, work / "p.mkpack"
    started = time.process_time()
    _, packed = pack(folder, file)
    seconds = time.process_time() - started
    archive = _tar(folder, [entry.name for entry in packed.directory.files])
    return {
        "name": manifest["name"],
        "target": manifest["target"],
        "scheme": manifest["scheme"],
        "bytes": packed.directory.size,
        "packed_bytes": packed.size,
        "huffman": _coded(packed, HUFFMAN),
        "all": _coded(packed),
        "others": {name: size for name, size in _others(archive).items() if size is not None},
        "pack_s": round(seconds, 2),
        "unpack": _unpack(file, archive, work / "back"),
    }


def _tar(folder: Path, names: list[str]) -> bytes:
    """The same files as one archive, for compressors of one file."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        for name in names:
            tar.add(folder / name, name)
    return data.getvalue()


def _coded(packed: Packed, coding: int | None = None) -> dict[str, float]:
    """Of all values in a coding (None: in any): bytes, bytes coded with the directory, and the entropy's."""
    own: list[Figure] = [figure for figure in packed.figures if coding in (None, figure.encoded.coding)]
    coded = sum(figure.packed for figure in own) + packed.directory_size
    entropy = sum(figure.encoded.entropy for figure in own) / 8
    return {
        "bytes": sum(figure.length for figure in own),
        "packed_bytes": coded,
        "entropy_bytes": round(entropy),
        "ratio": round(coded / max(entropy, 1), 4),
    }


def _others(archive: bytes) -> dict[str, int | None]:
    def program(*command: str) -> int | None:
        if shutil.which(command[0]) is None:
            return None
        return len(subprocess.run(command, input=archive, capture_output=True, check=True).stdout)

    return {
        "xz -9": program("xz", "-9", "-c") or len(lzma.compress(archive, preset=9)),
        "zstd -19": program("zstd", "-19", "-q", "-c"),
        "zlib -9": len(zlib.compress(archive, 9)),
    }


def _unpack(file: Path, archive: bytes, folder: Path) -> dict[str, float]:
    """Seconds of a processor, the least of some rounds: unpacking to a folder against inflating in memory, in turn."""
    deflated = zlib.compress(archive, 9)
    ours, theirs = [], []
    for _ in range(_ROUNDS):
        ours.append(_seconds(lambda: unpack(file, folder)))
        shutil.rmtree(folder)
        theirs.append(_seconds(lambda: zlib.decompress(deflated)))
    ratios = [their / our for our, their in zip(ours, theirs, strict=True)]
    return {
        "s": round(min(ours), 4),
        "zlib_s": round(min(theirs), 4),
        "zlib_over_ours": round(statistics.median(ratios), 3),
    }


def _seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


if __name__ == "__main__":
    main()
