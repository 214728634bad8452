"""Write an `.mlpackage`: functions of several conversions in one model, every weight once, the same bytes each time."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mobilekit.runtimes.mil.weights import HEADER, RECORD, SENTINEL, VERSION, Blob, WeightFile, aligned

_AUTHOR = "com.apple.CoreML"
_MODEL, _WEIGHTS = f"{_AUTHOR}/model.mlmodel", f"{_AUTHOR}/weights"
_WEIGHT_FILE = "@model_path/weights/weight.bin"


class WeightStore:
    """Collects blobs for one weight file; equal bytes of equal type are kept once."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._offsets: dict[str, int] = {}
        self._end = HEADER.size

    def add(self, blob: Blob) -> int:
        """Offset of the blob's record in the file to be."""
        key = blob.digest()
        if key not in self._offsets:
            size, start = blob.data.size, self._end + RECORD.size
            record = RECORD.pack(SENTINEL, blob.kind, size, start, blob.padding)
            self._parts.append(record + blob.data.tobytes() + bytes(aligned(size) - size))
            self._offsets[key] = self._end
            self._end = start + aligned(size)
        return self._offsets[key]

    def write(self, path: Path) -> None:
        """Write the file."""
        with path.open("wb") as file:
            file.write(HEADER.pack(len(self._parts), VERSION))
            for part in self._parts:
                file.write(part)


class PackageWriter:
    """Gathers functions and writes them as one package."""

    def __init__(self) -> None:
        self._store = WeightStore()
        self._model: Any = None

    def add_only(self, model: Any, folder: Path) -> None:
        """Take a converted model (a message of Model.proto, its weights under `folder`) as it is: function "main"."""
        self._take(model, folder)
        self._model = model

    def add_function(self, name: str, model: Any, folder: Path) -> None:
        """Take the one function of a converted model as function `name`; needs iOS 18 (specification 9).

        The last one added becomes the default: the one that runs when an app asks for none.
        """
        self._take(model, folder)
        if self._model is None:
            self._model = type(model)(specificationVersion=model.specificationVersion)
            self._model.mlProgram.version = model.mlProgram.version
        self._model.mlProgram.functions[name].CopyFrom(model.mlProgram.functions["main"])
        description = self._model.description
        description.functions.add(name=name, input=model.description.input, output=model.description.output)
        description.defaultFunctionName = name

    def write(self, path: Path, description: str, metadata: dict[str, str]) -> None:
        """Write the package to `path`, a new folder."""
        about = self._model.description.metadata
        about.Clear()
        about.shortDescription = description
        about.userDefined.update(metadata)
        # Build details of the machine that converted; the versions that matter are in the metadata.
        self._model.mlProgram.attributes.clear()
        content = self._model.SerializeToString(deterministic=True)
        data = path / "Data"
        (data / _WEIGHTS).mkdir(parents=True)
        (data / _MODEL).write_bytes(content)
        self._store.write(data / _WEIGHTS / "weight.bin")
        (path / "Manifest.json").write_text(_manifest(content), encoding="utf-8")

    def _take(self, model: Any, folder: Path) -> None:
        """Move the blobs of a model into the store and let the model name their new places."""
        files: dict[str, WeightFile] = {}
        for value in _blob_values(model.mlProgram):
            place = value.blobFileValue
            if place.fileName not in files:
                files[place.fileName] = WeightFile(folder / place.fileName.removeprefix("@model_path/"))
            place.offset = self._store.add(files[place.fileName].blob(place.offset))
            place.fileName = _WEIGHT_FILE


def _blob_values(program: Any) -> Iterator[Any]:
    """Every value of a program that lies in a weight file, in the program's order."""
    for _, function in sorted(program.functions.items()):
        for operation in function.block_specializations[function.opset].operations:
            values = [value for _, value in sorted(operation.attributes.items())]
            for _, argument in sorted(operation.inputs.items()):
                values += [b.value for b in argument.arguments if b.WhichOneof("binding") == "value"]
            yield from (value for value in values if value.WhichOneof("value") == "blobFileValue")


def _manifest(content: bytes) -> str:
    """The package's manifest. Its identifiers only have to differ, so they come from the content and not by chance."""
    digest = hashlib.sha256(content).hexdigest()
    items = {_MODEL: "CoreML Model Specification", _WEIGHTS: "CoreML Model Weights"}
    identifiers = {path: str(uuid.uuid5(uuid.NAMESPACE_OID, f"{path} {digest}")).upper() for path in items}
    entries = {
        identifiers[path]: {"author": _AUTHOR, "description": text, "name": Path(path).name, "path": path}
        for path, text in items.items()
    }
    manifest = {
        "fileFormatVersion": "1.0.0",
        "itemInfoEntries": entries,
        "rootModelIdentifier": identifiers[_MODEL],
    }
    return json.dumps(manifest, indent=4, sort_keys=True) + "\n"
