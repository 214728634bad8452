"""A stand-in for what `make arm64` fetches: an emulator that is a Python program of the test's own."""

from __future__ import annotations

import sys
from pathlib import Path

from mobilekit.runtimes.arm64.emulation import Emulation

# What a stand-in has at hand: its arguments, as the emulated Python would get them.
_HEAD = """#!{python}
import json, os, sys, time
import numpy as np
cpu, root, python, program, parent, model, inputs, outputs, library = sys.argv[2], *sys.argv[4:]
given = np.load(inputs)
"""


def fetched(cache: Path, body: str) -> Emulation:
    """All that the real folder has, in `cache`; the emulator runs `body`."""
    made = Emulation(cache / "arm64")
    folder = made.folder
    for name in ("root/usr/bin/python3.11", "packages/executorch/lib/libmobilekit_pte.so"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).touch()
    for name in ("numpy", "ai_edge_litert"):
        (folder / "packages" / name).mkdir()
    emulator = folder / "qemu-aarch64"
    emulator.write_text(_HEAD.format(python=sys.executable) + body)
    emulator.chmod(0o755)
    return made
