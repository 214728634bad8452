"""Artifacts: a folder with a model file, its manifest, tokenizer and README; written beside and renamed, verified.

Nothing here needs torch or an engine: an app's build can use it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mobilekit.errors import ArtifactError, InputError, short
from mobilekit.manifest_rules import MANIFEST_FILE as MANIFEST_FILE
from mobilekit.manifest_rules import PREDICT_MASK as PREDICT_MASK
from mobilekit.manifest_rules import first_contradiction
from mobilekit.reading import read_errors, read_values
from mobilekit.schemas import first_fault, newer

SCHEMA_VERSION = 1

Json = dict[str, Any]


@dataclass(frozen=True)
class Manifest:
    """A validated manifest; `content` is its JSON as `docs/manifest.md` describes it."""

    content: Json

    @property
    def lengths(self) -> dict[int, str]:
        """Entry point by sequence length, ascending."""
        return {int(e["length"]): str(e["entry"]) for e in self.content["lengths"]}

    @property
    def output_size(self) -> int:
        """Values of the output, of each token where it has a row for each."""
        return int(self.content["outputs"][0]["shape"][-1])

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the inputs, in order."""
        return tuple(i["name"] for i in self.content["inputs"])

    @property
    def output_name(self) -> str:
        """Name of the output."""
        return str(self.content["outputs"][0]["name"])

    @property
    def per_token(self) -> bool:
        """Whether the output has a row for each token."""
        return "length" in self.content["outputs"][0]["shape"]

    @property
    def asks_token(self) -> bool:
        """Whether the graph is told which token is asked for."""
        return PREDICT_MASK in self.input_names

    @property
    def task(self) -> str:
        """The head's task."""
        return str(self.content["task"])

    @property
    def target(self) -> str:
        """The export target."""
        return str(self.content["target"])

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels in the order of the logits; empty for embeddings."""
        return tuple(self.content["labels"])

    @property
    def max_length(self) -> int:
        """The longest input, special tokens included."""
        return min(max(self.lengths), int(self.content["tokenizer"]["max_length"]))


@dataclass(frozen=True)
class Artifact:
    """An artifact folder with its manifest."""

    folder: Path
    manifest: Manifest

    @property
    def model_path(self) -> Path:
        """The model file, or folder for Core ML."""
        return self.folder / str(self.manifest.content["file"])

    def altered(self) -> list[str]:
        """Names of files that are missing or do not have the sha256 of the manifest; empty when all is well."""
        return [name for name in sorted(self._hashes()) if self.is_altered(name)]

    def is_altered(self, name: str) -> bool:
        """The same of one file that the manifest names; no other is read."""
        with read_errors(self.folder):
            return not _has_hash(self.folder / name, self._hashes()[name])

    def refuse_altered(self, name: str | None = None) -> None:
        """Raise ArtifactError where a file is missing or altered: that one (None: any)."""
        altered = self.altered() if name is None else [name] if self.is_altered(name) else []
        if altered:
            raise ArtifactError(f"{self.folder / altered[0]}: missing or altered since it was exported; export again.")

    def _hashes(self) -> dict[str, str]:
        content = self.manifest.content
        return {content["file"]: content["sha256"], **content["files"]}


@read_errors("the artifact")
def open_folder(folder: Path | str) -> Artifact:
    """Read an artifact's manifest; raises ArtifactError when it is missing, broken, of a newer schema or unsafe."""
    folder = Path(folder)
    file = folder / MANIFEST_FILE
    if folder.is_file():
        raise ArtifactError(f"{folder}: is a file; give the artifact's folder, {folder.parent}.")
    if not folder.is_dir():
        raise ArtifactError(f"{folder}: no such artifact folder.")
    if not file.exists():
        inner = sorted(p.parent for p in folder.glob(f"*/{MANIFEST_FILE}"))
        hint = f"; give one of those in it, such as {inner[0]}" if inner else ""
        raise ArtifactError(
            f"{folder}: no {MANIFEST_FILE} in it; an artifact is a folder that `mobilekit export` wrote{hint}."
        )
    try:
        content = read_values(file)
    except InputError as error:
        remedy = "." if isinstance(error.__cause__, OSError) else "; export again."
        raise ArtifactError(str(error).rstrip(".") + remedy) from error
    return Artifact(folder, validated(content, str(file)))


def validated(content: object, where: str) -> Manifest:
    """A Manifest of JSON values that follow the schema; raises ArtifactError that names the first fault."""
    version = newer(content, SCHEMA_VERSION)
    if version is not None:
        raise ArtifactError(
            f"{where}: schema {short(version)} is newer than this mobilekit reads ({SCHEMA_VERSION}); upgrade it."
        )
    fault = first_fault(content, "manifest")
    if fault is not None:
        raise ArtifactError(f"{where}: {fault}; export again.")
    assert isinstance(content, dict)
    contradiction = first_contradiction(content)
    if contradiction is not None:
        raise ArtifactError(f"{where}: {short(contradiction, 200)}; export again.")
    return Manifest(content)


def write_manifest(folder: Path, content: Json) -> Manifest:
    """Validate and write manifest.json, the same bytes for the same content."""
    file = folder / MANIFEST_FILE
    manifest = validated(content, str(file))
    file.write_text(json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    return manifest


def size_and_hash(path: Path) -> tuple[int, str]:
    """Bytes and sha256 of a file; of a folder the sum, and the sha256 over lines `hex  path`, sorted by bytes."""
    if path.is_file():
        return path.stat().st_size, _hash_file(path)
    files = sorted((p for p in path.rglob("*") if p.is_file()), key=lambda p: p.relative_to(path).as_posix().encode())
    lines = "".join(f"{_hash_file(p)}  {p.relative_to(path).as_posix()}\n" for p in files)
    return sum(p.stat().st_size for p in files), hashlib.sha256(lines.encode()).hexdigest()


def rounded(values: Iterable[float]) -> list[float]:
    """Floats with the nine digits that a float32 needs, short in JSON."""
    return [float(f"{v:.9g}") for v in values]


def _has_hash(path: Path, sha: str) -> bool:
    # Nothing but files and folders: opening a pipe would wait for ever.
    return (path.is_file() or path.is_dir()) and size_and_hash(path)[1] == sha


def _hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
