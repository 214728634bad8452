"""A peer's process: it makes the file, or loads and runs it. Tools clash in one process, so that each has its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.measuring.service import Subject, TimedService
from benchmarks.peers.registry import peer
from mobilekit.errors import EngineError, MobilekitError
from mobilekit.process import Arrays


class PeerService(TimedService):
    """A `TimedService` around a peer. load: {peer} and what `Peer.ready` takes.

    make: {peer, source, lengths, path, threads} -> {seconds, bytes, lengths}: of the whole route, importing the tool
    included, and the lengths that the file takes. What a tool raises becomes an EngineError of its kind and first line.
    """

    def __call__(
        self, method: str, params: dict[str, Any], arrays: Arrays, progress: Callable[[str], None]
    ) -> tuple[Any, Arrays]:
        """Answer one call."""
        try:
            if method == "make":
                return _make(params), {}
            return super().__call__(method, params, arrays, progress)
        except MobilekitError:
            raise
        except Exception as error:
            raise EngineError(_said(error)) from error


def service() -> PeerService:
    """Factory for `mobilekit.process`."""
    return PeerService(_ready)


def _ready(params: Mapping[str, Any]) -> Callable[[], Subject]:
    return peer(params["peer"]).ready(params)


def _make(params: Mapping[str, Any]) -> dict[str, Any]:
    path, started = Path(params["path"]), time.perf_counter()
    lengths = peer(params["peer"]).make(Path(params["source"]), tuple(params["lengths"]), path, int(params["threads"]))
    seconds = time.perf_counter() - started
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return {"seconds": seconds, "bytes": sum(file.stat().st_size for file in files), "lengths": list(lengths)}


def _said(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
