"""Files that promise more than they hold: refused before memory is taken for it, measured in a process of its own."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from mobilekit.models.load import load
from mobilekit.models.save import save_model

ROOT = Path(__file__).parents[2]
WEIGHTS = "model.safetensors"
# What the allocators of Python, numpy and torch take ahead.
_BASE = 48_000_000
# Loads a good model, so that every library is there; then the bad one, with the address space limited as well.
_CHILD = """
import resource, sys
from mobilekit.errors import MobilekitError
from mobilekit.models.load import load
good, bad, room = sys.argv[1], sys.argv[2], int(sys.argv[3])

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

load(good)
before = peak()
with open("/proc/self/statm") as file:
    now = int(file.read().split()[0]) * resource.getpagesize()
# The file itself is mapped.
resource.setrlimit(resource.RLIMIT_AS, (now + room, now + room))
try:
    load(bad)
    print(peak() - before, "loaded")
except MobilekitError as error:
    print(peak() - before, error)
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good")
    save_model(load("tiny-classifier"), folder)
    return folder


@pytest.fixture
def bad(good: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(good, tmp_path / "m"))


def loaded(good: Path, bad: Path) -> tuple[int, str]:
    """Bytes that the process grew by, and what it said."""
    size = sum(file.stat().st_size for file in bad.iterdir())
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(good), str(bad), str(4 * size + _BASE)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    grown, said = done.stdout.split(" ", 1)
    assert int(grown) <= 3 * size + _BASE, said
    return int(grown), said


def edit(folder: Path, **changes: object) -> None:
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"vocab_size": 4_000_000, "hidden_size": 65_536},
        {"num_hidden_layers": 512, "hidden_size": 65_536, "intermediate_size": 262_144},
        {"max_position_embeddings": 1_000_000, "hidden_size": 65_536},
        {"id2label": {str(i): f"label {i}" for i in range(65_000)}},
    ],
    ids=["vocabulary", "layers", "positions", "labels"],
)
def test_configuration_of_gigabytes(changes: dict[str, object], good: Path, bad: Path) -> None:
    edit(bad, **changes)
    _, said = loaded(good, bad)
    assert "configuration asks for" in said or "missing from the weights" in said or "id2label" in said


def test_header_of_gigabytes(good: Path, bad: Path) -> None:
    file = bad / WEIGHTS
    data = file.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    header["bert.embeddings.word_embeddings.weight"] |= {"shape": [4_000_000, 65_536], "data_offsets": [0, 2**40]}
    edit(bad, vocab_size=4_000_000, hidden_size=65_536)
    head = json.dumps(header).encode()
    for claimed in (len(head), 2**30, 2**62):
        file.write_bytes(struct.pack("<Q", claimed) + head + data[8 + size :])
        assert "not a whole safetensors file" in loaded(good, bad)[1]


def test_header_of_many_entries(good: Path, bad: Path) -> None:
    entry = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
    head = json.dumps({str(i): entry for i in range(30_000)}).encode()
    (bad / WEIGHTS).write_bytes(struct.pack("<Q", len(head)) + head)
    assert loaded(good, bad)[1]


@pytest.mark.parametrize("fault", ["nan in the last tensor", "another shape", "cut", "other labels", "half precision"])
def test_large_file_with_one_fault(fault: str, good: Path, bad: Path) -> None:
    file = bad / WEIGHTS
    tensors = {name: np.array(values) for name, values in load_file(file).items()}
    tensors["bert.embeddings.word_embeddings.weight"] = np.zeros((200_000, 64), np.float32)
    edit(bad, vocab_size=200_000)
    if fault == "nan in the last tensor":
        tensors["classifier.weight"][0, 0] = np.nan
    if fault == "another shape":
        edit(bad, vocab_size=200_001)
    if fault == "other labels":
        edit(bad, id2label={"0": "a"})
    if fault == "half precision":
        tensors = {name: values.astype(np.float16) for name, values in tensors.items()}
        tensors["classifier.weight"][0, 0] = np.inf
    save_file(tensors, file)
    if fault == "cut":
        file.write_bytes(file.read_bytes()[:-100])
    expected = {"another shape": "asks for [200001, 64]", "cut": "not a whole", "other labels": "names 1"}
    assert expected.get(fault, "not finite") in loaded(good, bad)[1]
