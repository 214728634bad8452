"""Bad input: one line that names what is wrong and what to do, exit code 2, and nothing half written."""

from __future__ import annotations

import re
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from bad_input import (
    arguments,
    artifacts,
    benching,
    distilling,
    folders,
    gating,
    packs,
    plans,
    pretraining,
    reports,
    surroundings,
    training,
    weights,
)
from bad_input.case import Case, Place
from cli_support import run

from export.pipeline import export
from mobilekit.compression.compress import compress
from mobilekit.compression.folder import save_compressed
from mobilekit.models.load import load
from mobilekit.models.save import save_model

_FILES = (
    *(arguments, folders, weights, artifacts, surroundings, training, distilling, pretraining, packs, plans),
    gating,
    benching,
    reports,
)
CASES = tuple(case for file in _FILES for case in file.CASES)
# What may come before the error: an export's progress, and notes.
_BEFORE = re.compile(r" *[0-9.]+ s  |note: ")


@pytest.fixture(scope="module")
def goods(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Folders of good things by name, each made once, when it is first asked for."""
    root = tmp_path_factory.mktemp("goods")
    made: dict[str, Path] = {}

    def make(name: str) -> Path:
        exported = {"artifact": "tiny-classifier", "embedder": "tiny-embedding"}
        if name in exported:
            (result,) = export(exported[name], "tflite", lengths=(16,), out=root)
            assert result.folder is not None
            return result.folder
        if name == "records":
            model = load("tiny-classifier")
            save_compressed(model, compress(model, "int8"), root / name)
        else:
            (root / name).mkdir()
            save_model(load(name), root / name)
        return root / name

    def good(name: str) -> Path:
        if name not in made:
            made[name] = make(name)
        return made[name]

    return good


@pytest.fixture
def place(
    goods: Callable[[str], Path],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Place:
    monkeypatch.chdir(tmp_path)
    # Engines' logs and whatever else is put aside has to be gone too.
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return Place(tmp_path, goods, monkeypatch)


def tree(root: Path) -> dict[str, int]:
    """Every file, folder, link and pipe below a folder, with a sum of what is in files."""

    def content(file: Path) -> int:
        with file.open("rb") as opened:
            return zlib.crc32(opened.read())

    return {
        str(path.relative_to(root)): content(path) if path.is_file() else path.lstat().st_mode
        for path in sorted(root.rglob("*"))
        if not path.is_char_device()
    }


def marked(case: Case) -> object:
    return pytest.param(case, id=case.name, marks=[pytest.mark.slow] if case.artifact else [])


def test_names_of_cases_differ() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 60


@pytest.mark.parametrize("case", [marked(case) for case in CASES])
def test_bad_input_is_one_line_and_writes_nothing(case: Case, place: Place, capfd: pytest.CaptureFixture[str]) -> None:
    given = case.spoil(place)
    capfd.readouterr()
    before = tree(place.root)
    code, out, err = run(capfd, *given)
    *more, last = err.splitlines()
    assert code == case.code, err
    assert last.startswith("error: ") and re.search(case.message, last), last
    assert len(last) <= 2100 and last.isprintable()
    assert not [line for line in more if not _BEFORE.match(line)]
    # A check that failed is shown in its table.
    assert not out or code == 3
    place.patch.undo()
    assert tree(place.root) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("texts", "note"),
    [
        ([""], ""),
        (["", ""], ""),
        (["日本語 ☃ \U0001f9d1‍\U0001f680"], ""),
        (["x" * 100_000], ""),
        (["good " * 20_000], "was cut to 16 tokens, the longest exported length"),
        (["a\0b\r\n\x1b[31m"], ""),
        (["--", "--debug", "-x"], ""),
    ],
    ids=["empty", "two empty", "unknown characters", "one long word", "100,000 characters", "controls", "dashes"],
)
def test_odd_texts_are_answered(texts: list[str], note: str, place: Place, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capfd, "run", str(place.artifact()), *texts)
    assert code == 0 and out.count("positive") == len([text for text in texts if text != "--"])
    assert note in err and err.count("\n") == bool(note)


def test_padded_embedding_loads(place: Place, capfd: pytest.CaptureFixture[str]) -> None:
    folder = place.model()
    model = load(folder)
    assert model.tokenizer.vocab_size < model.config.vocab_size
    assert run(capfd, "inspect", str(folder))[0] == 0


@pytest.mark.parametrize("name", ["my model", "模型", "[bold]", "-x", "a'b\"c", "..."])
def test_odd_names_of_folders_are_fine(name: str, place: Place, capfd: pytest.CaptureFixture[str]) -> None:
    place.copy("tiny-classifier", name)
    code, out, _ = run(capfd, "inspect", f"./{name}")
    assert code == 0 and name in out


@pytest.mark.parametrize(
    "spoil",
    [
        folders.in_text('"hidden_size": 64', '"hidden_size": 3, "hidden_size": 64'),
        folders.content("tokenizer_config.json", '{"model_max_length": 1e30}'),
        folders.spoiled(
            lambda f: (f / "vocab.txt").write_bytes((f / "vocab.txt").read_bytes().replace(b"\n", b"\r\n"))
        ),
        folders.instead("tokenizer.json", lambda p: p.mkdir()),
        folders.spoiled(
            lambda f: (f / "model.safetensors").rename(f / "w") and (f / "model.safetensors").symlink_to("w")
        ),
        weights.tensors(lambda t: {name: values.astype("float64") for name, values in t.items()}),
        weights.tensors(lambda t: {**t, "cls.extra": t[weights.HEAD]}),
    ],
    ids=[
        "duplicate key",
        "no limit",
        "CRLF",
        "only a vocabulary",
        "link to the weights",
        "double precision",
        "more tensors",
    ],
)
def test_harmless_oddities_load(
    spoil: Callable[[Place], list[str]], place: Place, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(capfd, *spoil(place))[0] == 0
