"""`mobilekit pack`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mobilekit.cli.options import File, Folder, as_json, megabytes_done, print_json, print_table, progress_lines, quiet

if TYPE_CHECKING:
    from mobilekit.compression.pack.writer import Packed


@click.command()
@click.argument("artifact", type=Folder())
@click.option("--out", type=File(), help="The file to write.  [default: the folder's name with .mkpack]")
@click.option("--force", is_flag=True, help="Replace a pack that is there.")
@as_json
@quiet
def command(artifact: Path, out: Path | None, force: bool, as_json: bool, quiet: bool) -> None:
    """Make an artifact one small file for download; `unpack` gives it back byte for byte.

    \b
    Examples:
      mobilekit pack out/minilm-l6-int8/tflite                     writes out/minilm-l6-int8/tflite.mkpack
      mobilekit pack out/minilm-l6-int8/coreml --out minilm.mkpack

    Weights are coded by their values, the rest is deflated, every file has its sha256. An app can unpack it, too:
    docs/pack-format.md has every detail. The table has bytes before and after, and the entropy of what was coded: what
    its values need at least, each for itself (deflate also finds what repeats).
    """
    from mobilekit.compression.pack.pack import pack

    with progress_lines(not quiet and not as_json) as report:
        file, packed = pack(artifact, out, force, megabytes_done(lambda text: report("pack", text)))
        report("pack", "written")
    found = {"file": str(file), **figures(packed)}
    if as_json:
        print_json(found)
    else:
        show(found)


def figures(packed: Packed) -> dict[str, Any]:
    """Bytes before and after, in all and by stream."""
    return {
        "bytes": packed.directory.size,
        "packed_bytes": packed.size,
        "directory_bytes": packed.directory_size,
        "sha256": packed.directory.sha256().hex(),
        "files": {entry.name: entry.size for entry in packed.directory.files},
        "segments": [figure.to_dict() for figure in packed.figures],
    }


def show(found: dict[str, Any]) -> None:
    """The table by coding, and the sum."""
    sums: dict[str, list[float]] = {}
    for segment in found["segments"]:
        row = sums.setdefault(segment["coding"], [0, 0, 0, 0])
        for i, value in enumerate((1, segment["bytes"], segment["packed_bytes"], segment["entropy_bytes"])):
            row[i] += value
    rows = []
    for coding, (number, size, packed, entropy) in sorted(sums.items(), key=lambda item: -item[1][1]):
        against = f"{packed / max(entropy, 1):.3f}"
        rows.append([coding, f"{number:.0f}", _mb(size), _mb(packed), _mb(entropy), against])
    rows.append(["directory", "", "", _mb(found["directory_bytes"]), "", ""])
    print_table(["coding", "segments", "MB", "packed MB", "entropy MB", "packed / entropy"], rows)
    size, packed_size = found["bytes"], found["packed_bytes"]
    click.echo(f"{found['file']}: {_mb(packed_size)} MB of {_mb(size)} MB, {100 * packed_size / max(size, 1):.1f} %")


def _mb(size: float) -> str:
    return f"{size / 1e6:.3f}"
