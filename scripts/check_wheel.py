"""Check a built wheel and its installation in the running environment: python check_wheel.py WHEEL."""

import importlib
import sys
import zipfile
from pathlib import Path

PACKAGES = ("benchmarks", "export", "mobilekit")
DATA = ("mobilekit/py.typed", "mobilekit/schemas/")


def check_contents(wheel: Path) -> None:
    """Only the three packages and the wheel's own records are inside, with the data files they read."""
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    foreign = {top for top in tops if top not in PACKAGES and not top.endswith(".dist-info")}
    missing = [entry for entry in (*PACKAGES, *DATA) if not any(name.startswith(entry) for name in names)]
    results = [name for name in names if name.startswith("benchmarks/results/")]
    if foreign or missing or results:
        raise SystemExit(f"error: {wheel.name}: foreign {sorted(foreign)}, missing {missing}, results {results}")


def check_imports() -> None:
    """Every package is imported from this environment, not from a checkout that happens to be near."""
    for name in PACKAGES:
        origin = importlib.import_module(name).__file__
        if origin is None or not Path(origin).is_relative_to(sys.prefix):
            raise SystemExit(f"error: {name} was imported from {origin}, not from the installed wheel")
        print(f"{name}: {Path(origin).relative_to(sys.prefix)}")


if __name__ == "__main__":
    check_contents(Path(sys.argv[1]))
    check_imports()
