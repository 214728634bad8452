"""Folders of compressed models: a checkpoint with the decoded weights, and the records beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mobilekit.compression.compress import compress
from mobilekit.compression.compressed import RECORDS_FILE, CompressedModel, load_records, save_records
from mobilekit.compression.plan import Plan, plan_of
from mobilekit.compression.plan_file import plan_from_json, plan_text
from mobilekit.compression.schemes.registry import schemes
from mobilekit.errors import InputError
from mobilekit.models.model import Model
from mobilekit.models.save import save_model
from mobilekit.staging import refuse_existing, refuse_unwritable, staged


def save_compressed(model: Model, compressed: CompressedModel, folder: Path, force: bool = False) -> list[str]:
    """Write checkpoint, records and the plan, if there is one, to `folder`; returns notes of `save_model`.

    The checkpoint holds the decoded weights: what `transformers` loads from it is what the artifacts compute with.
    `model` gets those weights too.
    """
    refuse_output(folder, force, model.folder)
    model.load_tensors(compressed.decoded())
    with staged(folder, force, RECORDS_FILE) as beside:
        return write_compressed(model, compressed, beside)


def write_compressed(model: Model, compressed: CompressedModel, folder: Path) -> list[str]:
    """Put all of it into `folder`, which is there; `model` has the decoded weights. Returns notes of `save_model`."""
    notes = save_model(model, folder)
    save_records(compressed, folder / RECORDS_FILE)
    plan = plan_from_json(compressed.scheme, compressed.rules, "")
    if not plan.is_ready:
        # `export` is to be given what the records are of, on another machine too.
        (folder / f"{plan.name}.toml").write_text(plan_text(plan), encoding="utf-8")
    return notes


def refuse_output(folder: Path, force: bool, source: Path | None) -> None:
    """Raise InputError when a compressed model cannot be written to `folder`, or would replace what it is made from.

    source: the folder of the model, if it has one.
    """
    refuse_existing(folder, force, RECORDS_FILE)
    refuse_unwritable(folder.parent)
    if source is not None and source.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{folder}: holds the model itself, which would be lost; choose another output folder.")


def refuse_records(model: Model) -> None:
    """Raise InputError for a model whose weights are compressed ones: compressing them again would lose twice."""
    if model.folder is not None and (model.folder / RECORDS_FILE).exists():
        raise InputError(
            f"{model.folder}: holds records, and its weights are the compressed ones; give the model that they were "
            "made from."
        )


def compressed_of(model: Model, scheme: str | Plan, texts: Sequence[str] | None = None) -> CompressedModel:
    """The records that the folder of `model` carries, or else those that `compress` makes of it.

    Raises what `records_of` and `compress` raise, and InputError for texts where there are records already.
    """
    plan = plan_of(scheme)
    found = records_of(model, model.folder, plan) if model.folder else None
    if found is not None and texts is not None:
        raise InputError(f"{model.folder}: its records are taken as they are; leave out the calibration text.")
    return found or compress(model, plan, texts)


def records_of(model: Model, folder: Path, scheme: str | Plan) -> CompressedModel | None:
    """The records that a folder carries, or None if it has none.

    Raises InputError when they are of another scheme or plan, or do not decode to the weights of `model`, loaded from
    there.
    """
    file = folder / RECORDS_FILE
    if not file.exists():
        return None
    if not file.is_file():
        raise InputError(f"{file}: is not a file; compress again.")
    compressed = load_records(file)
    _require_plan(compressed, plan_of(scheme), folder)
    if compressed.encoder != model.config or compressed.head != model.head:
        raise InputError(f"{file}: was made for another configuration than config.json beside it; compress again.")
    decoded, tensors = compressed.decoded(), model.tensors()
    if set(decoded) != set(tensors) or not all(np.array_equal(decoded[n], tensors[n]) for n in tensors):
        raise InputError(f"{file}: does not belong to the weights beside it; compress again.")
    return compressed


def _require_plan(compressed: CompressedModel, plan: Plan, folder: Path) -> None:
    try:
        made = plan_from_json(compressed.scheme, compressed.rules, f"{folder / RECORDS_FILE}: its plan: ")
    except InputError as error:
        raise InputError(f"{str(error).rstrip('.')}; compress again.") from error
    if made.name == plan.name and made.to_json() == plan.to_json():
        return
    if made.name in schemes():
        if made.name == plan.name:
            raise InputError(f"{folder / RECORDS_FILE}: its scheme and its plan contradict each other; compress again.")
        raise InputError(f"{folder}: holds records of scheme '{made.name}'; export it with that --scheme.")
    other = "another plan of that name" if made.name == plan.name else f"{plan.kind} '{plan.name}'"
    raise InputError(
        f"{folder}: holds records of plan '{made.name}', not of {other}; export it with --scheme "
        f"{folder / f'{made.name}.toml'}."
    )
