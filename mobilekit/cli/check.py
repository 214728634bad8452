"""`mobilekit check`."""

from __future__ import annotations

from pathlib import Path

import click

from mobilekit.cli.options import Folder, as_json, print_json, print_table, progress_lines, quiet
from mobilekit.errors import CheckFailedError


@click.command()
@click.argument("artifact", type=Folder())
@as_json
@quiet
def command(artifact: Path, as_json: bool, quiet: bool) -> None:
    """Prove an artifact again, from its files alone, without the source model.

    \b
    Example:
      mobilekit check out/minilm-l6-int8/tflite

    Files against their hashes; int32 inputs; weights in the file against the records, each stored once; bytes against
    the budget; tokenizer; output against torch; padding; every length. Exit code 3: a check failed.
    """
    from export.pipeline import recheck

    with progress_lines(not quiet and not as_json) as report:
        _, checks = recheck(artifact, lambda text: report("check", text))
    if as_json:
        print_json([c.to_dict() for c in checks])
    else:
        rows = [[c.name, "ok" if c.passed else "FAILED", c.measured, c.limit] for c in checks]
        print_table(["check", "", "measured", "limit"], rows, left=4)
    failed = [c.name for c in checks if not c.passed]
    if failed:
        raise CheckFailedError(f"{artifact}: check failed: {', '.join(failed)}.")
