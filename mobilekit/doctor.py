"""What works here and what does not, with the way out: targets, runtimes, package names taken by others."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from mobilekit import host

OUR_PACKAGES = ("mobilekit", "export", "benchmarks")


@dataclass(frozen=True)
class Status:
    """Whether a target or a runtime can be used here; reason: why not, and what to do ("" if usable)."""

    name: str
    usable: bool
    reason: str


@dataclass(frozen=True)
class Shadow:
    """A foreign module with the name of one of our packages. hides_ours: Python would import it instead."""

    name: str
    location: str
    distribution: str | None
    hides_ours: bool
    remedy: str


@dataclass(frozen=True)
class Diagnosis:
    """All that `mobilekit doctor` tells."""

    mobilekit: str
    python: str
    packages: Mapping[str, str | None]
    targets: tuple[Status, ...]
    runtimes: tuple[Status, ...]
    shadows: tuple[Shadow, ...]
    host: host.Host


def diagnose() -> Diagnosis:
    """Look at this environment without importing an engine; takes well under a second."""
    shadows = find_shadows()
    versions = host.versions()
    hidden = any(shadow.hides_ours for shadow in shadows)
    return Diagnosis(
        mobilekit=_own_version(),
        python=platform.python_version(),
        packages=versions,
        # With our packages hidden the registries are not ours to read.
        targets=() if hidden else target_statuses(versions),
        runtimes=() if hidden else runtime_statuses(versions),
        shadows=shadows,
        host=host.describe(),
    )


def _own_version() -> str:
    try:
        return metadata.version("mobilekit")
    except metadata.PackageNotFoundError:
        return "a source tree that is not installed"


# What can be used


def target_statuses(versions: Mapping[str, str | None]) -> tuple[Status, ...]:
    """For each target whether it can be exported here."""
    from export.registry import targets

    return tuple(
        _status(target.name, why_not(("torch", *target.packages), target.extra, versions))
        for target in targets().values()
    )


def runtime_statuses(versions: Mapping[str, str | None]) -> tuple[Status, ...]:
    """For each runtime whether it can run artifacts here; last the emulation of `check --arm64`."""
    from mobilekit.runtimes.arm64 import emulation as arm64
    from mobilekit.runtimes.base import engines

    known = engines()
    statuses = []
    for engine in known.values():
        reason = why_not(engine.packages, engine.extra, versions)
        if engine.platform not in ("", sys.platform):
            others = [other.name for other in known.values() if other.target == engine.target and not other.platform]
            system = {"darwin": "macOS"}.get(engine.platform, engine.platform)
            reason = f"needs {system}" + (f"; here {' and '.join(others)} runs its files" if others else "")
        statuses.append(_status(engine.name, reason))
    return (*statuses, _status("arm64", arm64.why_not()))


def why_not(packages: Sequence[str], extra: str, versions: Mapping[str, str | None]) -> str:
    """Why something that needs `packages` (import or distribution names) cannot be used, or ""."""
    missing = [package for package in packages if not host.is_installed(package)]
    if missing:
        wanted = f"mobilekit[{extra}]" if extra and missing != ["torch"] else "mobilekit"
        are = "is" if len(missing) == 1 else "are"
        return f'{", ".join(missing)} {are} not installed: pip install "{wanted}"'
    numpy = versions.get("numpy")
    if "coremltools" in packages and numpy and _release(numpy) >= (2, 4):
        return f'numpy {numpy} breaks coremltools {versions.get("coremltools")}: pip install "numpy<2.4"'
    return ""


def _status(name: str, reason: str) -> Status:
    return Status(name, not reason, reason)


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


# Names taken by others


def find_shadows(path: Sequence[str] | None = None, root: Path | None = None) -> tuple[Shadow, ...]:
    """Foreign packages and modules along `path` (default: sys.path) that have the name of one of ours.

    root: the folder that holds our packages (default: where this file is). A folder without __init__.py is
    left out: Python prefers any package to it.
    """
    root = (root or Path(__file__).parent.parent).resolve()
    folders = _distinct(Path(entry or ".").resolve() for entry in (sys.path if path is None else path))
    owners = _owners(folders)
    found = []
    for name in OUR_PACKAGES:
        ours_passed = False
        for folder in folders:
            for file in (folder / name / "__init__.py", folder / f"{name}.py"):
                owner = owners.get(file)
                is_ours = folder == root and file.name == "__init__.py"
                if file.is_file() and not (is_ours and owner is None):
                    found.append(_shadow(name, file, owner, hides_ours=is_ours or not ours_passed))
                ours_passed |= is_ours
    return tuple(found)


def _distinct(folders: Iterable[Path]) -> list[Path]:
    return list(dict.fromkeys(folders))


def _owners(folders: Sequence[Path]) -> dict[Path, str]:
    """Files with our packages' names that a foreign distribution has installed: file -> distribution."""
    pattern = re.compile(rf"^((?:{'|'.join(OUR_PACKAGES)})(?:/__init__)?\.py),", re.MULTILINE)
    owners = {}
    for distribution in metadata.distributions(path=[str(folder) for folder in folders]):
        # The raw text: `distribution.files` takes a second for all the engines.
        record = distribution.read_text("RECORD") or ""
        if distribution.name == "mobilekit":
            continue
        for match in pattern.finditer(record):
            owners[Path(str(distribution.locate_file(match[1]))).resolve()] = distribution.name
    return owners


def _shadow(name: str, file: Path, owner: str | None, hides_ours: bool) -> Shadow:
    location = file.parent if file.name == "__init__.py" else file
    if not hides_ours:
        remedy = "ours is imported; give programs that need the other one an environment of their own"
    elif owner:
        remedy = f"pip uninstall {owner}, then install mobilekit again; or give each an environment of its own"
    else:
        remedy = "rename it, or run from another folder"
    return Shadow(name, str(location), owner, hides_ours, remedy)
