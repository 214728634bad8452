"""`mobilekit check`."""

from __future__ import annotations

from pathlib import Path

import click

from mobilekit.cli.gate_options import GateRequest, gate_options, show_accuracy
from mobilekit.cli.options import Folder, as_json, print_json, print_table, progress_lines, quiet
from mobilekit.errors import CheckFailedError


@click.command()
@click.argument("artifact", type=Folder())
@gate_options
@click.option("--arm64", is_flag=True, help="Run a .tflite on a phone's instruction set too, under emulation.")
@as_json
@quiet
def command(artifact: Path, request: GateRequest, arm64: bool, as_json: bool, quiet: bool) -> None:
    """Prove an artifact again, from its files alone, without the source model.

    \b
    Examples:
      mobilekit check out/minilm-l6-int8/tflite
      mobilekit check out/minilm-l6-int8/tflite --arm64
      mobilekit check out/my-classifier-int8/tflite --data test.csv
      mobilekit check out/my-classifier-int8/coreml --data test.csv --against ./my-classifier --max-drop 0.5 --limit 200

    Files against their hashes; int32 inputs; weights in the file against the records, each stored once; bytes against
    the budget; tokenizer; output against torch; padding; every length. Exit code 3: a check failed.

    With --data it answers the rows, and --against MODEL says what it loses to its float model, which is not in it.
    --arm64 needs what `make arm64` fetches; it is slow, and its time says nothing of a phone's.
    """
    from export.gate import head_in
    from export.judge import data_result
    from export.pipeline import recheck
    from mobilekit.artifact import open_folder

    with progress_lines(not quiet and not as_json) as report:
        gate = None
        if request.data is not None:
            gate = request.gate(head_in(open_folder(artifact).manifest), lambda text: report("check", text))
        _, checks = recheck(artifact, lambda text: report("check", text), gate, arm64)
    measured = data_result(checks)
    if as_json:
        rows = [c.to_dict() for c in checks]
        print_json(rows if gate is None else {"checks": rows, "accuracy": measured and measured.accuracy})
    else:
        cells = [[c.name, "ok" if c.passed else "FAILED", c.measured, c.limit] for c in checks]
        print_table(["check", "", "measured", "limit"], cells, left=4)
        show_accuracy({} if measured is None else {artifact.name: measured})
    failed = [c.name for c in checks if not c.passed]
    if failed:
        raise CheckFailedError(f"{artifact}: check failed: {', '.join(failed)}.")
