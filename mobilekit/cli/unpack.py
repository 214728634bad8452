"""`mobilekit unpack`."""

from __future__ import annotations

from pathlib import Path

import click

from mobilekit.cli.options import File, Folder, as_json, megabytes_done, print_json, progress_lines, quiet


@click.command()
@click.argument("pack", type=File())
@click.option("--out", type=Folder(), help="The folder to write.  [default: the pack's name without .mkpack]")
@click.option("--force", is_flag=True, help="Replace an artifact that is there.")
@as_json
@quiet
def command(pack: Path, out: Path | None, force: bool, as_json: bool, quiet: bool) -> None:
    """Give back the artifact that `pack` made small, byte for byte.

    \b
    Examples:
      mobilekit unpack minilm.mkpack                               writes the folder minilm
      mobilekit unpack minilm.mkpack --out models/minilm --force

    Every part is held against its checksum and every file against its sha256; a pack that is cut off or altered is
    refused, and nothing is left of it.
    """
    from mobilekit.compression.pack.pack import unpack

    with progress_lines(not quiet and not as_json) as report:
        folder, directory = unpack(pack, out, force, megabytes_done(lambda text: report("unpack", text)))
        report("unpack", "written")
    files = {entry.name: entry.size for entry in directory.files}
    if as_json:
        print_json({"folder": str(folder), "bytes": directory.size, "sha256": directory.sha256().hex(), "files": files})
    else:
        click.echo(f"{folder}: {len(files)} files, {directory.size / 1e6:.3f} MB")
