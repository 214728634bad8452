"""The README's example runs as it is printed, and its tables are what the result files say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.tables import DOCUMENTS, filled
from mobilekit.cli.main import VERBS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_worked_example_runs(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", example],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**__import__("os").environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("(1, 2) ['files', 'inputs', 'weights'")
    assert (tmp_path / "out/tiny-classifier-int8/tflite/manifest.json").is_file()


def test_tables_are_what_the_result_files_say() -> None:
    for name in DOCUMENTS:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert filled(text) == text
        assert "<!-- table:" in text


def test_every_verb_is_in_the_readme() -> None:
    for verb in VERBS:
        assert f"| `{verb}` |" in README


def test_links_lead_somewhere() -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / link).is_file(), link


def test_paths_that_documents_name_are_there() -> None:
    for document in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = document.read_text(encoding="utf-8")
        for path in re.findall(r"`((?:benchmarks|docs|export|mobilekit|scripts|tests)/[\w./*-]+)`", text):
            assert list(ROOT.glob(path.rstrip("/"))), f"{document.name}: {path}"
