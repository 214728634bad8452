"""`mobilekit compress`."""

from __future__ import annotations

from pathlib import Path

import click

from mobilekit.cli.calibration import calibration_option, calibration_texts
from mobilekit.cli.options import Folder, as_json, print_json, scheme_option


@click.command()
@click.option("--model", default="minilm-l6", show_default=True, help="A built-in name, a folder or a hub id.")
@scheme_option
@calibration_option
@click.option("--task", help="What the head is for, where the checkpoint does not say: sentence-embedding, ...")
@click.option("--out", type=Folder(), required=True, help="Output folder.")
@click.option("--force", is_flag=True, help="Replace what `compress` wrote there before.")
@as_json
def command(
    model: str, scheme: str, calibration: str | None, task: str | None, out: Path, force: bool, as_json: bool
) -> None:
    """Compress a model into records: once, before any target is thought of.

    \b
    Examples:
      mobilekit compress --model ./my-bert --scheme int8 --out my-bert-int8
      mobilekit export --model my-bert-int8 --scheme int8
      mobilekit compress --model ./my-bert --scheme int4 --calibration train.csv --out my-bert-int4
      mobilekit compress --model ./my-bert --scheme plan.toml --out my-bert-plan

    The folder is a checkpoint with the decoded weights, and records.safetensors with the codes and scales themselves.
    `export` takes records as they are, on another machine too. At int4 and pal8 to pal1 codes are made for the inputs
    that each matrix has on some text: the nearer that is to what the model will read, the less is lost.
    """
    from mobilekit.compression.compress import compress
    from mobilekit.compression.folder import refuse_output, refuse_records, save_compressed
    from mobilekit.compression.plan import plan_of
    from mobilekit.models.load import load

    # The cheap refusals come before a model is loaded.
    plan = plan_of(scheme)
    texts = calibration_texts(calibration, plan)
    refuse_output(out, force, None)
    loaded = load(model, task)
    refuse_output(out, force, loaded.folder)
    refuse_records(loaded)
    compressed = compress(loaded, plan, texts)
    notes = save_compressed(loaded, compressed, out, force)
    size = sum(p.stat().st_size for p in out.iterdir() if p.name == "records.safetensors")
    for note in (*loaded.notes, *notes):
        click.echo(f"note: {note}", err=True)
    if as_json:
        about = {"folder": str(out), "scheme": plan.name, "plan": plan.to_json()}
        print_json({**about, "parameters": compressed.parameters, "records_bytes": size})
    else:
        click.echo(f"{out}: {compressed.parameters:,} parameters as {plan.name}, records {size / 1e6:.2f} MB")
