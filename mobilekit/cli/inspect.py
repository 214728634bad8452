"""`mobilekit inspect`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mobilekit.artifact import MANIFEST_FILE, Json
from mobilekit.cli.calibration import calibration_option, calibration_texts
from mobilekit.cli.inspect_sensitivity import SensitivityRequest, sensitivity_options, show_sensitivity
from mobilekit.cli.options import as_json, print_json, print_table, progress_lines, quiet
from mobilekit.errors import InputError
from mobilekit.reading import read_errors


@click.command()
@click.argument("what", metavar="ARTIFACT|MODEL")
@click.option("--plan", metavar="SCHEME|TOML", help="Show what a scheme or a plan.toml would do to the model.")
@sensitivity_options
@calibration_option
@as_json
@quiet
def command(
    what: str,
    plan: str | None,
    sensitivity: bool,
    request: SensitivityRequest,
    calibration: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Show what takes the bytes: by tensor group, what is compressed and what is not, each stored once or not.

    \b
    Examples:
      mobilekit inspect out/minilm-l6-int8/tflite
      mobilekit inspect minilm-l6
      mobilekit inspect ./my-bert
      mobilekit inspect ./my-bert --plan int4
      mobilekit inspect ./my-bert --plan plan.toml --json
      mobilekit inspect ./my-bert --sensitivity --data dev.csv --out sensitivity
      mobilekit inspect ./my-bert --sensitivity --data dev.csv --scheme int4 --limit 500

    --plan compresses and writes nothing: for every tensor the rule that wins, its scheme, bytes, bits a parameter
    with all that is stored for it, and the error of the decoded weights, relative to the float ones.

    --sensitivity compresses one part at a time (the token table, each layer's attention and feed-forward, the head)
    by each scheme, and measures on data what that alone loses: by it a plan is chosen.
    """
    with read_errors(what):
        artifact = bool(what) and (Path(what) / MANIFEST_FILE).exists()
    if artifact and (plan is not None or sensitivity):
        raise InputError(f"{what}: is an artifact; --plan and --sensitivity are for models.")
    if plan is not None and sensitivity:
        raise InputError("--plan shows one plan, --sensitivity tries schemes; give one of them.")
    if not sensitivity:
        request.refuse_any()
    if plan is not None:
        _plan(what, plan, calibration, as_json, quiet)
        return
    if sensitivity:
        _sensitivity(what, request, calibration, as_json, quiet)
        return
    if calibration is not None:
        raise InputError("--calibration is for --plan and --sensitivity; leave it out.")
    _overview(_artifact(Path(what)) if artifact else _model(what), as_json)


def _plan(what: str, given: str, calibration: str | None, as_json: bool, quiet: bool) -> None:
    from mobilekit.cli.inspect_plan import planned, show_plan
    from mobilekit.compression.plan import plan_of

    with progress_lines(not quiet and not as_json) as report:
        # The cheap refusals come before a model is loaded.
        plan = plan_of(given)
        texts = calibration_texts(calibration, plan)
        found = planned(what, plan, texts, lambda text: report("plan", text))
    print_json(found) if as_json else show_plan(found)


def _sensitivity(what: str, request: SensitivityRequest, calibration: str | None, as_json: bool, quiet: bool) -> None:
    with progress_lines(not quiet and not as_json) as report:
        found = request.run(what, calibration, lambda text: report("sensitivity", text))
    print_json(found.to_json()) if as_json else show_sensitivity(found, request.out)


def _overview(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    for name, value in found["about"].items():
        click.echo(f"{name:<12} {value}")
    # A manifest may list groups without a byte.
    total = sum(row["bytes"] for row in found["groups"]) or 1
    rows = [
        [
            row["group"],
            row.get("kept", "float"),
            f"{row['parameters']:,}",
            f"{row['bytes'] / 1e6:.2f}",
            f"{100 * row['bytes'] / total:.1f} %",
        ]
        for row in found["groups"]
    ]
    print_table(["group", "kept as", "parameters", "MB", "share"], rows, left=2)
    for line in found.get("remarks", ()):
        click.echo(line)


def _artifact(folder: Path) -> dict[str, Any]:
    from export.budget import group_of
    from export.registry import target_of
    from export.stored import compare, stored_weights
    from export.thresholds import precision
    from mobilekit.artifact import open_folder
    from mobilekit.cli.inspect_plan import static_line

    artifact = open_folder(folder)
    content = artifact.manifest.content
    artifact.refuse_altered(content["file"])
    stored = compare(stored_weights(target_of(artifact), artifact.model_path), content["tensors"])
    rows = []
    for group, sums in content["groups"].items():
        kinds: dict[str, int] = {}
        for entry in content["tensors"]:
            if group_of(entry["name"]) == group:
                kind = _kind(entry)
                kinds[kind] = kinds.get(kind, 0) + 1
        rows.append({"group": group, **sums, "kept": ", ".join(f"{n} {kind}" for kind, n in kinds.items())})
    weights = sum(sums["bytes"] for sums in content["groups"].values())
    remarks = [
        f"in the file: {stored.equal} of {len(content['tensors'])} tensors equal their records; "
        + (stored.faults or "each matrix once"),
        f"scales, graph and metadata: {(content['bytes'] - weights) / 1e6:.2f} MB",
    ]
    if precision(content["tensors"]) == "int8":
        remarks.append(_not_compressed(content["tensors"]))
    if static := [entry["name"] for entry in content["tensors"] if "activations" in entry]:
        remarks.append(static_line(static))
    about = {
        "name": content["name"],
        "target": content["target"],
        "file": content["file"],
        "bytes": f"{content['bytes']:,}",
        "scheme": content["scheme"],
        "task": content["task"],
        "parameters": f"{content['parameters']:,}",
        "lengths": ", ".join(str(n) for n in artifact.manifest.lengths),
        "status": content["status"],
    }
    return {"about": about, "groups": rows, "remarks": remarks}


def _not_compressed(tensors: list[Json]) -> str:
    """Which matrices are floats although others have codes, and why."""
    from mobilekit.compression.plan import is_weight, part_of

    floats = [t["name"] for t in tensors if t["kind"] == "dense" and len(t["shape"]) == 2]
    skipped = [part_of(name) for name in floats if is_weight(name, 2)]
    small = [part_of(name) for name in floats if not is_weight(name, 2)]
    said = [f"{', '.join(skipped)} (by the plan)"] if skipped else []
    said += [f"{', '.join(small)} (small tables that are added to every token)"] if small else []
    return f"not compressed: {', '.join([*said, 'norms and biases'])}"


def _kind(entry: Json) -> str:
    """How a tensor of the manifest is kept."""
    if entry["kind"] == "dense":
        return "float"
    if entry["kind"] == "clustered":
        several = entry["codebooks"] > 1
        return f"{entry['bits']}-bit codes" + (f" of {entry['codebooks']} codebooks" if several else " of a codebook")
    if "levels" in entry:
        return f"int{entry['bits']} codes of {entry['levels']} levels"
    groups = entry.get("groups", 1)
    return f"int{entry['bits']} codes" + (f" in groups of {entry['shape'][1] // groups}" if groups > 1 else "")


def _model(name: str) -> dict[str, Any]:
    from export.budget import groups
    from export.stored import tensor_entries
    from mobilekit.compression.compress import compress
    from mobilekit.models.load import load

    model = load(name)
    entries = tensor_entries(compress(model, "fp32"), model.config.max_tokens)
    config = model.config
    about = {
        "name": model.name,
        "source": model.source.id,
        "task": model.head.task,
        "parameters": f"{sum(g['parameters'] for g in groups(entries).values()):,}",
        "shape": f"{config.layers} layers, hidden {config.hidden_size}, embedding {config.embedding_size}, "
        f"{config.heads} heads, feed-forward {config.intermediate_size}, vocabulary {config.vocab_size}",
        "sharing": config.sharing,
        "tokenizer": f"{model.tokenizer.type}, {model.tokenizer.vocab_size} ids, at most {model.tokenizer.max_length}",
    }
    return {"about": about, "groups": [{"group": name, **sums} for name, sums in groups(entries).items()]}
