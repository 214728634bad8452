"""The folder that an `.mlpackage` is: a manifest, the model's protobuf and its weight file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mobilekit.errors import ArtifactError
from mobilekit.runtimes.mil.proto import model_pb2
from mobilekit.runtimes.mil.weights import WeightFile


@dataclass(frozen=True)
class Package:
    """An opened package. model: the message of Model.proto; folder: what `@model_path` in it means."""

    path: Path
    model: Any
    folder: Path

    def weights(self, file_name: str) -> WeightFile:
        """The weight file that the model calls `file_name`."""
        prefix = "@model_path/"
        file = self.folder / file_name.removeprefix(prefix)
        if not file_name.startswith(prefix) or not _inside(self.path, file):
            raise ArtifactError(f"{self.path}: the weight file '{file_name}' lies outside the package.")
        return WeightFile(file)

    @property
    def functions(self) -> dict[str, Any]:
        """What a caller sees of each function (inputs and outputs) by its name; a plain model has "main"."""
        description = self.model.description
        if description.functions:
            return {function.name: function for function in description.functions}
        return {"main": description}


def open_package(path: Path) -> Package:
    """Read a package; raises ArtifactError when it is missing, incomplete or not an ML program."""
    try:
        manifest = json.loads((path / "Manifest.json").read_text(encoding="utf-8"))
        item = manifest["itemInfoEntries"][manifest["rootModelIdentifier"]]
        model_file = path / "Data" / item["path"]
        if not _inside(path, model_file):
            raise ArtifactError(f"{path}: its model '{item['path']}' lies outside the package.")
        content = model_file.read_bytes()
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ArtifactError(f"{path}: not a Core ML package ({error!r}); export again.") from error
    messages = model_pb2()
    from google.protobuf.message import DecodeError

    try:
        model = messages.Model.FromString(content)
    except DecodeError as error:
        raise ArtifactError(f"{model_file}: not a Core ML model ({error}); export again.") from error
    if model.WhichOneof("Type") != "mlProgram":
        raise ArtifactError(f"{path}: holds a {model.WhichOneof('Type')}, not an ML program.")
    return Package(path, model, model_file.parent)


def _inside(package: Path, file: Path) -> bool:
    """Whether a path that the package names is a regular file of its own: what no hash covers must not be read."""
    return file.resolve().is_relative_to(package.resolve()) and file.is_file()


def input_shapes(feature: Any) -> list[tuple[int, ...]]:
    """Every shape that an input (a FeatureDescription) takes, ascending."""
    array = feature.type.multiArrayType
    if array.WhichOneof("ShapeFlexibility") == "enumeratedShapes":
        return sorted(tuple(item.shape) for item in array.enumeratedShapes.shapes)
    return [tuple(array.shape)]
