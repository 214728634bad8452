"""One long-lived process a target: engines take 10 to 50 s to import, clash with each other, and may crash."""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from export.registry import Emission, GraphSpec, target
from mobilekit.errors import EngineError
from mobilekit.process import Arrays, EngineProcess


class ExportService:
    """What runs in the child: the service of `mobilekit.process` around `Target.emit`."""

    def __call__(
        self, method: str, params: dict[str, Any], arrays: Arrays, progress: Callable[[str], None]
    ) -> tuple[Any, Arrays]:
        """emit: {target, records, out, lengths, name, minimum_ios, metadata, tokenizer} -> the Emission's fields."""
        from mobilekit.compression.compressed import load_records

        if method != "emit":
            raise ValueError(f"no method {method}")
        tokenizer = params.get("tokenizer")
        spec = GraphSpec(
            tuple(params["lengths"]),
            params["name"],
            int(params["minimum_ios"]),
            dict(params["metadata"]),
            None if tokenizer is None else Path(tokenizer),
        )
        model = load_records(Path(params["records"]))
        made = target(params["target"]).emit(model, spec, Path(params["out"]), progress)
        fields = dict(vars(made))
        fields["entry_points"] = sorted(made.entry_points.items())
        return fields, {}


def service() -> ExportService:
    """Factory for `mobilekit.process`."""
    return ExportService()


class Workers:
    """The worker processes of this session by target, made when first asked for, made again after a crash."""

    def __init__(self) -> None:
        self._processes: dict[str, EngineProcess] = {}
        self._logs = Path(tempfile.mkdtemp(prefix="mobilekit-logs-"))
        self._failed = False

    def log(self, name: str) -> Path:
        """The log file of a target's worker."""
        return self._logs / f"{name}.log"

    def emit(self, name: str, records: Path, spec: GraphSpec, out: Path, progress: Callable[[str], None]) -> Emission:
        """Have `name`'s worker write `out`. Raises EngineError, with the log's path, when the engine fails or dies."""
        params = {
            "target": name,
            "records": str(records.resolve()),
            "out": str(out.resolve()),
            "lengths": list(spec.lengths),
            "name": spec.name,
            "minimum_ios": spec.minimum_ios,
            "metadata": dict(spec.metadata),
            "tokenizer": None if spec.tokenizer is None else str(spec.tokenizer.resolve()),
        }
        try:
            fields, _ = self._process(name).call("emit", params, progress=progress)
        except EngineError as error:
            self._failed = True
            self._close(name)
            raise EngineError(f"{name}: {error}") from error
        fields["entry_points"] = {int(length): entry for length, entry in fields["entry_points"]}
        for listed in ("input_names", "more_outputs"):
            fields[listed] = tuple(fields[listed])
        return Emission(**fields)

    def close(self) -> None:
        """End all workers and remove their logs, unless an error has named one."""
        for name in list(self._processes):
            self._close(name)
        if not self._failed:
            shutil.rmtree(self._logs, ignore_errors=True)

    def _process(self, name: str) -> EngineProcess:
        if name not in self._processes:
            # tensorflow beside coremltools crashes the process, and nothing here needs it.
            self._logs.mkdir(exist_ok=True)
            self._processes[name] = EngineProcess("export.worker:service", self.log(name), hide=("tensorflow",))
        return self._processes[name]

    def _close(self, name: str) -> None:
        process = self._processes.pop(name, None)
        if process is not None:
            process.close()


@functools.cache
def shared_workers() -> Workers:
    """The workers of this Python process; they end with it."""
    workers = Workers()
    atexit.register(workers.close)
    return workers
