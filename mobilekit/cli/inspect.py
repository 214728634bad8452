"""`mobilekit inspect`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mobilekit.artifact import MANIFEST_FILE, Json
from mobilekit.cli.options import as_json, print_json, print_table
from mobilekit.errors import ArtifactError
from mobilekit.reading import read_errors


@click.command()
@click.argument("what", metavar="ARTIFACT|MODEL")
@as_json
def command(what: str, as_json: bool) -> None:
    """Show what takes the bytes: by tensor group, what is compressed and what is not, each stored once or not.

    \b
    Examples:
      mobilekit inspect out/minilm-l6-int8/tflite
      mobilekit inspect minilm-l6
      mobilekit inspect ./my-bert
    """
    with read_errors(what):
        artifact = bool(what) and (Path(what) / MANIFEST_FILE).exists()
    found = _artifact(Path(what)) if artifact else _model(what)
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
    from mobilekit.artifact import open_folder

    artifact = open_folder(folder)
    content = artifact.manifest.content
    if content["file"] in artifact.altered():
        raise ArtifactError(f"{artifact.model_path}: missing or altered since it was exported; export again.")
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
        + (f"stored more than once: {', '.join(stored.repeated)}" if stored.repeated else "each matrix once"),
        f"scales, graph and metadata: {(content['bytes'] - weights) / 1e6:.2f} MB",
    ]
    floats = [t for t in content["tensors"] if t["kind"] == "dense" and len(t["shape"]) == 2]
    if floats and content["scheme"] not in ("fp32", "fp16"):
        names = ", ".join(t["name"].removesuffix(".weight") for t in floats)
        remarks.append(f"not compressed: {names} (small tables that are added to every token), norms and biases")
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


def _kind(entry: Json) -> str:
    """How a tensor of the manifest is kept."""
    if entry["kind"] != "quantized":
        return "float"
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
