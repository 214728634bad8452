"""What all registries do."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from mobilekit.errors import InputError
from mobilekit.registry import import_modules, named


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    folder = tmp_path / "made_up"
    (folder / "inner").mkdir(parents=True)
    for file in ("__init__.py", "one.py", "inner/__init__.py", "inner/deeper.py"):
        (folder / file).write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    return "made_up"


def imported(package: str) -> set[str]:
    found = {name for name in sys.modules if name.startswith(f"{package}.")}
    for name in [*found, package]:
        del sys.modules[name]
    return found


def test_every_module_and_package_is_imported_and_nothing_below(package: str) -> None:
    import_modules(importlib.import_module(package))
    assert imported(package) == {"made_up.one", "made_up.inner"}


def test_only_packages_leaves_modules_alone(package: str) -> None:
    import_modules(importlib.import_module(package), only_packages=True)
    assert imported(package) == {"made_up.inner"}


def test_a_name_is_looked_up_or_refused_with_a_near_one() -> None:
    known = {"int4": 1, "int8": 2}
    assert named("scheme", "int8", known) == 2
    with pytest.raises(InputError, match=r"scheme 'int5' is unknown; did you mean 'int8'\? Choose from int4, int8\."):
        named("scheme", "int5", known)
