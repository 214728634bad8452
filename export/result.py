"""What became of an export, target by target."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from export.check import CheckResult
from mobilekit.artifact import Json
from mobilekit.errors import CheckFailedError, MobilekitError


@dataclass(frozen=True)
class ExportResult:
    """What became of one target.

    folder: the artifact, None if there is none. load_ms, run_ms (by length): median milliseconds, None where a
    reference interpreter ran. error: what went wrong.
    """

    target: str
    folder: Path | None
    manifest: Json
    checks: tuple[CheckResult, ...]
    load_ms: float | None = None
    run_ms: dict[int, float | None] = field(default_factory=dict)
    error: MobilekitError | None = None

    @property
    def passed(self) -> bool:
        """Whether the artifact is there and every check held."""
        return self.error is None and all(check.passed for check in self.checks)

    def to_dict(self) -> Json:
        """As JSON values; milliseconds are null where an engine does not run natively."""
        return {
            "target": self.target,
            "folder": None if self.folder is None else str(self.folder),
            "file": self.manifest.get("file"),
            "bytes": self.manifest.get("bytes"),
            "parameters": self.manifest.get("parameters"),
            "load_ms": self.load_ms,
            "run_ms": {str(length): ms for length, ms in self.run_ms.items()},
            "accuracy": self.manifest.get("accuracy"),
            "checks": [check.to_dict() for check in self.checks],
            "passed": self.passed,
            "error": None if self.error is None else str(self.error),
        }


class ExportError(CheckFailedError):
    """Some target failed; `results` has all of them."""

    def __init__(self, results: list[ExportResult]) -> None:
        failed = [r for r in results if not r.passed]
        super().__init__("; ".join(_failure(r) for r in failed))
        self.results = results
        codes = [r.error.exit_code for r in failed if r.error is not None]
        self.exit_code = codes[0] if codes else CheckFailedError.exit_code


def _failure(result: ExportResult) -> str:
    if result.error is not None:
        return f"{result.target}: {result.error}"
    rows = [f"{c.name} {c.measured} (limit: {c.limit})" for c in result.checks if not c.passed]
    kept = "" if result.folder else "; nothing was kept: another --scheme may hold, --keep-failing keeps it to look at"
    return f"{result.target}: check failed: {'; '.join(rows)}{kept}"
