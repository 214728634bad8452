"""Reads TFLite Model Metadata by the rules of FlatBuffers alone, independently of what writes it."""

from __future__ import annotations

import struct
from pathlib import Path


class Table:
    """A FlatBuffers table, read by the format's own rules: vtable, slots, offsets."""

    def __init__(self, raw: bytes, at: int) -> None:
        self.raw, self.at = raw, at

    def field(self, slot: int) -> int:
        """Position of a field, 0 where it is left out."""
        vtable = self.at - struct.unpack_from("<i", self.raw, self.at)[0]
        (size,) = struct.unpack_from("<H", self.raw, vtable)
        offset = struct.unpack_from("<H", self.raw, vtable + 4 + 2 * slot)[0] if 4 + 2 * slot < size else 0
        return self.at + offset if offset else 0

    def follow(self, position: int) -> int:
        return position + struct.unpack_from("<I", self.raw, position)[0]

    def text(self, slot: int) -> str:
        start = self.follow(self.field(slot))
        return self.raw[start + 4 : start + 4 + struct.unpack_from("<I", self.raw, start)[0]].decode()

    def byte(self, slot: int) -> int:
        return self.raw[self.field(slot)]

    def table(self, slot: int) -> Table:
        return Table(self.raw, self.follow(self.field(slot)))

    def vector(self, slot: int) -> list[Table]:
        if not self.field(slot):
            return []
        start = self.follow(self.field(slot))
        count = struct.unpack_from("<I", self.raw, start)[0]
        return [Table(self.raw, self.follow(start + 4 + 4 * i)) for i in range(count)]


def task_metadata(path: Path) -> Table:
    """The root of the metadata, found with LiteRT's own schema."""
    from ai_edge_litert import schema_py_generated as schema

    model = schema.Model.GetRootAs(path.read_bytes(), 0)
    entries = [model.Metadata(i) for i in range(model.MetadataLength())]
    (entry,) = [entry for entry in entries if entry.Name() == b"TFLITE_METADATA"]
    raw = model.Buffers(entry.Buffer()).DataAsNumpy().tobytes()
    assert raw[4:8] == b"M001"
    return Table(raw, struct.unpack_from("<I", raw)[0])
