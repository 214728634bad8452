"""Which of a folder's TensorFlow checkpoints is read."""

from __future__ import annotations

import glob
import re
from collections.abc import Sequence
from pathlib import Path

from mobilekit.errors import InputError

# A checkpoint is NAME.index and NAME.data-00000-of-00001 (and more parts), and NAME.meta, its graph, which is not used.
INDEX_PATTERN = "*.ckpt*.index"
_STATE_FILE = "checkpoint"
_STATE = re.compile(r'^\s*model_checkpoint_path\s*:\s*"([^"\n]+)"', re.MULTILINE)
_STEP = re.compile(r"-(\d+)$")
_PART = re.compile(r"\.data-\d{5}-of-(\d{5})$")


def choose_checkpoint(folder: Path, indexes: Sequence[Path]) -> tuple[Path, tuple[str, ...]]:
    """A checkpoint's path without `.index`, and what to say of the choice.

    indexes: the folder's `.index` files, at least one. Of several checkpoints the one that the file `checkpoint` names
    is taken, else the one of the highest step. Raises InputError when neither says which, or when a part is missing.
    """
    found = {index.name.removesuffix(".index"): index.with_suffix("") for index in indexes}
    names = sorted(found)
    chosen, notes = names[0], tuple[str, ...]()
    if len(names) > 1:
        chosen, why = _chosen(folder, names)
        others = [name for name in names if name != chosen]
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        notes = (f"{chosen} was read, {why}; not read: {', '.join(others[:3])}{more}.",)
    _check_parts(found[chosen])
    return found[chosen], notes


def _chosen(folder: Path, names: list[str]) -> tuple[str, str]:
    named = _named(folder / _STATE_FILE)
    if named in names:
        return named, f"which the file {_STATE_FILE} names"
    steps = {name: int(match[1]) for name in names if (match := _STEP.search(name))}
    last = [name for name, step in steps.items() if step == max(steps.values())]
    if len(last) != 1:
        raise InputError(
            f"{folder}: several checkpoints ({', '.join(names[:4])}), and neither a file {_STATE_FILE} nor their steps "
            "say which; leave one."
        )
    return last[0], "the one of the highest step" + (f" (the {named} of {_STATE_FILE} is not here)" if named else "")


def _named(file: Path) -> str:
    """The checkpoint that TensorFlow's own file names, "" for none; the folder is that of the training machine."""
    try:
        found = _STATE.search(file.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return ""
    return re.split(r"[\\/]", found[1])[-1] if found else ""


def _check_parts(checkpoint: Path) -> None:
    files = checkpoint.parent.glob(f"{glob.escape(checkpoint.name)}.data-*")
    parts = {file.name: match for file in files if (match := _PART.search(file.name))}
    count = max((int(match[1]) for match in parts.values()), default=1)
    expected = (f"{checkpoint.name}.data-{i:05d}-of-{count:05d}" for i in range(count))
    missing = next((name for name in expected if name not in parts), None)
    if missing is not None:
        raise InputError(f"{checkpoint}.index: a part of the weights is missing: {missing} has to be beside it.")
