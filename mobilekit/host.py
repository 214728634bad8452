"""What this machine is: processor, threads, memory, and versions of the packages that matter to a result."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import psutil

# What a result, an artifact's bytes or a millisecond can depend on. tensorflow has two distributions.
PACKAGES: Mapping[str, tuple[str, ...]] = {
    "torch": ("torch",),
    "numpy": ("numpy",),
    "tokenizers": ("tokenizers",),
    "safetensors": ("safetensors",),
    "huggingface-hub": ("huggingface-hub",),
    "executorch": ("executorch",),
    "torchao": ("torchao",),
    "coremltools": ("coremltools",),
    "protobuf": ("protobuf",),
    "litert-torch": ("litert-torch",),
    "ai-edge-litert": ("ai-edge-litert",),
    "transformers": ("transformers",),
    "onnxruntime": ("onnxruntime",),
    "onnx": ("onnx",),
    "onnxscript": ("onnxscript",),
    "tensorflow": ("tensorflow", "tensorflow-cpu"),
}
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OPENBLAS_CORETYPE")

# Our name of a feature that the engines' kernels choose by -> its names in Linux's and macOS's lists.
_FEATURES: Mapping[str, frozenset[str]] = {
    "avx2": frozenset({"avx2"}),
    "fma": frozenset({"fma"}),
    "f16c": frozenset({"f16c"}),
    "avx512f": frozenset({"avx512f"}),
    "avx512-vnni": frozenset({"avx512_vnni", "avx512vnni"}),
    "avx-vnni": frozenset({"avx_vnni"}),
    "amx-int8": frozenset({"amx_int8"}),
    "neon": frozenset({"asimd", "neon", "advsimd"}),
    "fp16": frozenset({"asimdhp", "feat_fp16"}),
    "dotprod": frozenset({"asimddp", "feat_dotprod"}),
    "i8mm": frozenset({"i8mm", "feat_i8mm"}),
    "sve": frozenset({"sve"}),
}


@dataclass(frozen=True)
class Host:
    """One machine.

    cpus: those that this process may use. threads: the variables set to steer them. Memory is in bytes.
    """

    system: str
    machine: str
    processor: str
    cpus: int
    cpu_features: tuple[str, ...]
    threads: Mapping[str, str]
    memory_bytes: int
    memory_available_bytes: int


def describe() -> Host:
    """The machine that this process runs on; takes milliseconds and imports no engine."""
    memory = psutil.virtual_memory()
    processor, flags = _processor()
    return Host(
        system=f"{platform.system()} {platform.release()}",
        machine=platform.machine(),
        processor=processor,
        cpus=_usable_cpus(),
        cpu_features=tuple(name for name, names in _FEATURES.items() if names & flags),
        threads={name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ},
        memory_bytes=memory.total,
        memory_available_bytes=memory.available,
    )


def versions() -> dict[str, str | None]:
    """Version of each package in PACKAGES, None where it is not installed; nothing is imported."""
    return {name: _first_version(distributions) for name, distributions in PACKAGES.items()}


def is_installed(package: str) -> bool:
    """Whether something of that name can be imported, or is installed as a distribution; nothing is imported."""
    try:
        if importlib.util.find_spec(package.replace("-", "_")) is not None:
            return True
    except (ImportError, ValueError):  # hidden in sys.modules, or a parent that is no package
        return False
    return _first_version((package,)) is not None


def _first_version(distributions: tuple[str, ...]) -> str | None:
    for distribution in distributions:
        with contextlib.suppress(metadata.PackageNotFoundError):
            return metadata.version(distribution)
    return None


def _usable_cpus() -> int:
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processor() -> tuple[str, frozenset[str]]:
    """Name and lower-case feature names of the processor; empty where the system does not tell."""
    if sys.platform == "darwin":
        return _parse_sysctl(_sysctl())
    try:
        return _parse_cpuinfo(Path("/proc/cpuinfo").read_text())
    except OSError:
        return "", frozenset()


def _parse_cpuinfo(text: str) -> tuple[str, frozenset[str]]:
    """Of Linux's /proc/cpuinfo the first processor: the others have the same features."""
    first = text.split("\n\n")[0]
    fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in first.splitlines())}
    flags = fields.get("flags", fields.get("Features", ""))
    return fields.get("model name", ""), frozenset(flags.lower().split())


def _parse_sysctl(text: str) -> tuple[str, frozenset[str]]:
    """Of macOS's `sysctl hw.optional machdep.cpu`: Intel lists words, Apple silicon one 0 or 1 a feature."""
    fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in text.splitlines())}
    words = [word for key, value in fields.items() if key.endswith("features") for word in value.split()]
    ones = [key.rsplit(".", 1)[-1] for key, value in fields.items() if key.startswith("hw.optional") and value == "1"]
    # hw.optional.avx2_0 and its like carry a revision.
    flags = {flag.lower().removesuffix("_0") for flag in (*words, *ones)}
    return fields.get("machdep.cpu.brand_string", ""), frozenset(flags)


def _sysctl() -> str:
    try:
        return subprocess.run(
            ["sysctl", "hw.optional", "machdep.cpu"], capture_output=True, text=True, timeout=5, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
