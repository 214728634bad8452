"""mobilekit: small, fast, proven text encoders for phones.

The front door. Every name is loaded when it is first used, so that `import mobilekit` stays instant:

    import mobilekit

    model = mobilekit.load("minilm-l6")
    results = mobilekit.export(model, target="tflite", scheme="int8", out="out")
    with mobilekit.open_artifact(results[0].folder) as runner:
        print(runner([101, 7592, 102]))
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mobilekit.version import __version__

if TYPE_CHECKING:
    from benchmarks.bench import bench as bench
    from export.pipeline import export as export
    from export.pipeline import recheck as check
    from mobilekit.compression.compress import compress as compress
    from mobilekit.compression.pack.pack import pack as pack
    from mobilekit.compression.pack.pack import unpack as unpack
    from mobilekit.models.load import load as load
    from mobilekit.runtimes.runner import open_artifact as open_artifact
    from mobilekit.training.distill import distill as distill
    from mobilekit.training.pretrain import pretrain as pretrain
    from mobilekit.training.train import train as train

_HOME = {
    "load": ("mobilekit.models.load", "load"),
    "compress": ("mobilekit.compression.compress", "compress"),
    "pack": ("mobilekit.compression.pack.pack", "pack"),
    "unpack": ("mobilekit.compression.pack.pack", "unpack"),
    "export": ("export.pipeline", "export"),
    "open_artifact": ("mobilekit.runtimes.runner", "open_artifact"),
    "check": ("export.pipeline", "recheck"),
    "bench": ("benchmarks.bench", "bench"),
    "train": ("mobilekit.training.train", "train"),
    "distill": ("mobilekit.training.distill", "distill"),
    "pretrain": ("mobilekit.training.pretrain", "pretrain"),
}

__all__ = [
    "__version__",
    "bench",
    "check",
    "compress",
    "distill",
    "export",
    "load",
    "open_artifact",
    "pack",
    "pretrain",
    "train",
    "unpack",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'mobilekit' has no attribute '{name}'; it has {', '.join(__all__)}")
    module, attribute = _HOME[name]
    return getattr(importlib.import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted(__all__)
