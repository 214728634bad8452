"""The project's own files: extras, the lock, and what a stranger may read in them."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PIN = re.compile(r"^([A-Za-z0-9][\w.-]*)==([\w.+!-]+)( ; .+)?$")


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def lock_lines() -> list[str]:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    return [line for line in lines if not line.startswith("#")]


@pytest.fixture(scope="module")
def pins(lock_lines: list[str]) -> dict[str, str]:
    matches = (PIN.match(line) for line in lock_lines)
    return {canonicalize_name(match[1]): match[2] for match in matches if match}


def test_every_extra_is_there_and_none_is_empty(project: dict[str, Any]) -> None:
    extras = project["optional-dependencies"]
    assert set(extras) == {
        "executorch", "coreml", "tflite", "tensorflow", "train", "bench", "models", "all", "dev",
    }  # fmt: skip
    assert all(extras.values())


def test_all_is_every_capability_but_tensorflow(project: dict[str, Any]) -> None:
    extras = project["optional-dependencies"]
    [everything] = map(Requirement, extras["all"])
    assert everything.extras == set(extras) - {"all", "dev", "tensorflow"}


def test_lock_has_exact_versions_and_no_index_host_or_path(lock_lines: list[str]) -> None:
    assert [line for line in lock_lines if not PIN.match(line)] == []
    assert not re.search(r"://|--|@ |/", (ROOT / "requirements.lock").read_text())


def test_lock_pins_every_requirement_within_its_range(project: dict[str, Any], pins: dict[str, str]) -> None:
    listed = [
        *project["dependencies"],
        *(r for extra in project["optional-dependencies"].values() for r in extra),
    ]
    wrong = [
        text
        for text in listed
        if (requirement := Requirement(text)).name != "mobilekit"
        and not requirement.specifier.contains(pins.get(canonicalize_name(requirement.name), "0"))
    ]
    assert wrong == []


def test_arm64_wheels_are_those_of_the_lock(pins: dict[str, str]) -> None:
    lines = [line for line in (ROOT / "scripts/arm64.txt").read_text().splitlines() if not line.startswith("#")]
    found = [re.fullmatch(r"([\w-]+)==([\w.]+) --hash=sha256:[0-9a-f]{64}", line) for line in lines]
    assert {match[1]: match[2] for match in found if match} == {
        name: pins[name] for name in ("ai-edge-litert", "executorch", "numpy")
    }
    assert all(found)
