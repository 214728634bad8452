"""TFLite Model Metadata: a flatbuffer that says what a file's tensors are, and files in a zip behind the model.

Task libraries read it (MediaPipe, TFLite Support). Format: metadata_schema.fbs, identifier M001; the zip's entries are
stored, not deflated, since they are used in place, and their offsets count from the start of the whole file.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import flatbuffers

from export.flatbuffer import root
from export.tflite.read import read_buffer

BUFFER_NAME = "TFLITE_METADATA"
VOCABULARY, LABELS = "vocab.txt", "labels.txt"
_IDENTIFIER = b"M001"
# The version of the schema that brought the tokenizer.
_LEAST_PARSER = "1.1.0"
# AssociatedFileType: what a file is for. ProcessUnitOptions: what is done to make the inputs.
_FILE_TYPES = {LABELS: 2, VOCABULARY: 5}
_BERT_TOKENIZER = 4
# A zip's records about a file, its two names left out, and the one at the end.
_ZIP_ENTRY, _ZIP_END = 30 + 46, 22


@dataclass(frozen=True)
class TaskMetadata:
    """What the metadata says of a model with one graph whose inputs BERT's tokenizer makes from the file VOCABULARY.

    inputs, outputs: names that task libraries know the tensors by, in the graph's order. labelled: whether the file
    LABELS names the columns of every output.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    labelled: bool = False
    license: str = ""


def write_metadata(about: TaskMetadata) -> bytes:
    """The metadata as a flatbuffer."""
    writer = _Writer()
    # TensorMetadata: name 0, files 6.
    inputs = [writer.table({0: writer.text(name)}) for name in about.inputs]
    outputs = []
    for name in about.outputs:
        labels = {6: writer.tables([writer.file(LABELS)])} if about.labelled else {}
        outputs.append(writer.table({0: writer.text(name), **labels}))
    # BertTokenizerOptions: vocabulary files 0. ProcessUnit: the union's type 0, its value 1.
    tokenizer = writer.table({0: writer.tables([writer.file(VOCABULARY)])})
    unit = writer.table({1: tokenizer}, {0: _BERT_TOKENIZER})
    # SubGraphMetadata: inputs 2, outputs 3, units that make the inputs 5.
    graph = writer.table({2: writer.tables(inputs), 3: writer.tables(outputs), 5: writer.tables([unit])})
    # ModelMetadata: name 0, graphs 3, licence 5, least parser version 7.
    model = {0: writer.text(about.name), 3: writer.tables([graph]), 7: writer.text(_LEAST_PARSER)}
    if about.license:
        model[5] = writer.text(about.license)
    return writer.finish(writer.table(model))


def append_files(path: Path, files: Mapping[str, bytes]) -> None:
    """Append a zip with `files`, in their order, to the file at `path`; the same bytes every time."""
    with path.open("r+b") as whole:
        whole.seek(0, 2)
        with zipfile.ZipFile(whole, "w", zipfile.ZIP_STORED) as archive:
            for name, content in files.items():
                # Without a time of its own an entry is dated 1980.
                archive.writestr(zipfile.ZipInfo(name), content)


def read_task_metadata(path: Path) -> TaskMetadata | None:
    """The metadata of a LiteRT file, None where it has none.

    Raises ArtifactError when it is no LiteRT file; struct.error, ValueError or IndexError when the metadata is broken.
    """
    raw = read_buffer(path, BUFFER_NAME)
    if raw is None:
        return None
    model = root(memoryview(raw), _IDENTIFIER)
    (graph,) = model.tables(3)
    outputs = list(graph.tables(3))
    labelled = all(LABELS in [file.string(0) for file in output.tables(6)] for output in outputs)
    inputs = tuple(tensor.string(0) for tensor in graph.tables(2))
    return TaskMetadata(model.string(0), inputs, tuple(o.string(0) for o in outputs), labelled, model.string(5))


def read_files(path: Path) -> dict[str, bytes]:
    """The files behind the model by name; empty where there are none."""
    if not zipfile.is_zipfile(path):
        return {}
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def attached_bytes(path: Path) -> int:
    """Bytes that the metadata, the vocabulary and the labels take, for the byte budget; 0 where there is no metadata.

    Raises what `read_task_metadata` does.
    """
    about = read_task_metadata(path)
    if about is None:
        return 0
    files = read_files(path)
    known = [name for name in (VOCABULARY, LABELS) if name in files]
    zipped = sum(len(files[name]) + 2 * len(name) + _ZIP_ENTRY for name in known)
    return len(write_metadata(about)) + zipped + _ZIP_END


class _Writer:
    """Writes tables bottom up; a field is given by its slot in the schema."""

    def __init__(self) -> None:
        self._builder = flatbuffers.Builder(1024)

    def table(self, offsets: Mapping[int, int], numbers: Mapping[int, int] | None = None) -> int:
        """A table with offsets and unsigned bytes, both by slot."""
        small = numbers or {}
        self._builder.StartObject(1 + max([*offsets, *small]))
        for slot, offset in offsets.items():
            self._builder.PrependUOffsetTRelativeSlot(slot, offset, 0)
        for slot, number in small.items():
            self._builder.PrependUint8Slot(slot, number, 0)
        return int(self._builder.EndObject())

    def text(self, value: str) -> int:
        """A string."""
        return int(self._builder.CreateString(value))

    def tables(self, offsets: Sequence[int]) -> int:
        """A vector of tables."""
        self._builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self._builder.PrependUOffsetTRelative(offset)
        return int(self._builder.EndVector())

    def file(self, name: str) -> int:
        """AssociatedFile: name 0, type 2."""
        return self.table({0: self.text(name)}, {2: _FILE_TYPES[name]})

    def finish(self, root_table: int) -> bytes:
        """The whole buffer."""
        self._builder.Finish(root_table, file_identifier=_IDENTIFIER)
        return bytes(self._builder.Output())
