"""A folder as Google published BERT (Devlin et al. 2019) or ALBERT (Lan et al. 2020), or as its code fine-tuned one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import InputError, MissingExtraError
from mobilekit.host import is_installed
from mobilekit.models.checkpoint import CONFIG_FILE
from mobilekit.models.config import EncoderConfig, HeadConfig
from mobilekit.models.families.registry import Family, Json, families
from mobilekit.models.google.checkpoints import INDEX_PATTERN, choose_checkpoint
from mobilekit.models.google.names import HEADS, OBJECT_GRAPH, PROJECTION, variable_of
from mobilekit.models.head_of import head_of
from mobilekit.models.model import meta_names
from mobilekit.models.weights import INDEX_FILE, WEIGHTS_FILE, Tensors, read_json, read_tensors
from mobilekit.process import EngineProcess

_SERVICE = "mobilekit.models.google.service:service"
_CONFIG_FILES = {"bert": "bert_config.json", "albert": "albert_config.json"}
Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class Release:
    """A folder with a TensorFlow checkpoint and its configuration; the weights are not read yet.

    config: in the field names of `transformers`. checkpoint: path of the checkpoint without `.index`. notes: what was
    chosen, and should be said.
    """

    folder: Path
    family: Family
    config: Json
    encoder: EncoderConfig
    checkpoint: Path
    notes: tuple[str, ...] = ()

    def read(self, task: str | None = None) -> tuple[EncoderConfig, HeadConfig, Tensors]:
        """The encoder's and the head's configuration and all tensors by our names, float32, as torch has them.

        task: as `load` has it; None: what the variables say the checkpoint is for. Takes the ten seconds that
        tensorflow takes to start, in a process of its own. Raises InputError when a variable is missing, of another
        shape or not finite, when the files are damaged, or when there is no such head; MissingExtraError without
        tensorflow.
        """
        if not is_installed("tensorflow"):
            raise MissingExtraError("tensorflow", "tensorflow", f"reading {self.checkpoint.name} of {self.folder}")
        with EngineProcess(_SERVICE) as process:
            answer, _ = process.call("open", {"path": str(self.checkpoint.resolve())})
            shapes = {str(name): tuple(int(size) for size in shape) for name, shape in answer.items()}
            encoder, head = self._configurations(shapes, task)
            wanted = self.family.tensor_names(encoder, head)
            source = _Source(process, self, shapes, wanted.values())
            return encoder, head, read_tensors(source, wanted, meta_names(encoder, head), "")

    def _configurations(self, shapes: Shapes, task: str | None) -> tuple[EncoderConfig, HeadConfig]:
        if OBJECT_GRAPH in shapes:
            raise InputError(
                f"{self.checkpoint}: a checkpoint of TensorFlow 2, which names objects; those of google-research/bert "
                "and google-research/albert are read, which name variables."
            )
        encoder = self.encoder
        if encoder.embedding_size == encoder.hidden_size and PROJECTION not in shapes:
            # Google's ALBERT projects only where it has to, that of transformers always.
            encoder = replace(encoder, projection=False)
        has = next((HEADS[name] for name in HEADS if name in shapes), "sentence-embedding")
        config = {**self.config, "architectures": [self.family.class_for(has)]}
        if has == "sequence-classification":
            config["num_labels"] = (shapes["output_weights"] or (0,))[0]
        return encoder, head_of(self.folder, self.family, config, None, task)


def find_release(folder: Path) -> Release | None:
    """The release in a folder, None where there is none; safetensors beside it come first.

    Raises InputError when the configuration or a part of the checkpoint is missing, or when its values are wrong.
    Imports no tensorflow.
    """
    if any((folder / name).is_file() for name in (WEIGHTS_FILE, INDEX_FILE)):
        return None
    indexes = sorted(folder.glob(INDEX_PATTERN))
    kinds = [kind for kind, name in _CONFIG_FILES.items() if (folder / name).is_file()]
    if not indexes:
        if kinds and not (folder / CONFIG_FILE).is_file():
            raise InputError(
                f"{folder}: has {_CONFIG_FILES[kinds[0]]} but no checkpoint; expected NAME.ckpt.index and "
                "NAME.ckpt.data-00000-of-00001 beside it."
            )
        return None
    if len(kinds) != 1:
        found = "both" if kinds else "neither"
        raise InputError(
            f"{folder}: has the TensorFlow checkpoint {indexes[0].name} and {found} of "
            f"{' and '.join(_CONFIG_FILES.values())}; the one it was published with says what it is."
        )
    family = families()[kinds[0]]
    file = folder / _CONFIG_FILES[family.model_type]
    config = _translated(read_json(file), family.model_type)
    try:
        encoder = family.read(config)
    except InputError as error:
        raise InputError(f"{file}: {error}") from error
    checkpoint, notes = choose_checkpoint(folder, indexes)
    return Release(folder, family, config, encoder, checkpoint, notes)


def _translated(config: Json, model_type: str) -> Json:
    """Google's configuration in the terms of `transformers`: the same field names, but other activations for ALBERT."""
    translated = {**config, "model_type": model_type}
    # Both code bases say "gelu". ALBERT's always computed the tanh form (its modeling.py, `gelu`). BERT's computed the
    # exact form, by erf, when the first models were trained (October 2018) and the tanh form later (February 2019);
    # transformers reads every BERT with erf, and so does whoever fine-tuned one there.
    if model_type == "albert" and translated.get("hidden_act", "gelu") == "gelu":
        translated["hidden_act"] = "gelu_new"
    return translated


class _Source:
    """The variables of an opened checkpoint as a `TensorSource`, by the names that `transformers` gives them."""

    def __init__(self, process: EngineProcess, release: Release, shapes: Shapes, wanted: Collection[str]) -> None:
        self.place = str(release.checkpoint)
        self._process, self._shapes = process, shapes
        self._variables = {name: variable_of(name, release.family.model_type) for name in wanted}
        # Said here, in the checkpoint's own names.
        missing = sorted(variable for variable, _ in self._variables.values() if variable not in shapes)
        if missing:
            more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
            raise InputError(
                f"{self.place}: variables missing from the checkpoint: {', '.join(missing[:3])}{more}; "
                f"{_CONFIG_FILES[release.family.model_type]} asks for them."
            )

    def names(self) -> Collection[str]:
        """Names of those that are wanted: all others, such as an optimizer's, are of no use."""
        return self._variables.keys()

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape as torch has it."""
        variable, transposed = self._variables[name]
        return self._shapes[variable][::-1] if transposed else self._shapes[variable]

    def read(self, name: str) -> NDArray[np.float32]:
        """Values as torch has them; a transposed one is a view."""
        variable, transposed = self._variables[name]
        _, arrays = self._process.call("read", {"name": variable})
        values = np.asarray(arrays["values"], np.float32)
        return values.T if transposed else values
