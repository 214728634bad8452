"""A process of its own for an engine: calls go in and answers come out over a pipe; a crash is an error, not the end.

Engines clash inside one process and print a great deal, so each lives in a child whose standard output and error
go to a log file. A message is a JSON header and arrays in the safetensors format: nothing is ever unpickled.

A service is named `module:factory`; the factory returns a callable
`service(method, params, arrays, progress) -> (result, arrays)`.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import EngineError, MobilekitError

Arrays = Mapping[str, NDArray[np.generic]]
Service = Callable[[str, dict[str, Any], Arrays, Callable[[str], None]], tuple[Any, Arrays]]
_LENGTHS = struct.Struct("<QQ")


def _write(stream: IO[bytes], header: dict[str, Any], arrays: Arrays) -> None:
    from safetensors.numpy import save

    head = json.dumps(header).encode()
    body = save({name: np.ascontiguousarray(a) for name, a in arrays.items()}) if arrays else b""
    stream.write(_LENGTHS.pack(len(head), len(body)) + head + body)
    stream.flush()


def _read(stream: IO[bytes]) -> tuple[dict[str, Any], Arrays]:
    from safetensors.numpy import load

    prefix = stream.read(_LENGTHS.size)
    if len(prefix) < _LENGTHS.size:
        raise EOFError
    head_size, body_size = _LENGTHS.unpack(prefix)
    head, body = stream.read(head_size), stream.read(body_size)
    if len(head) < head_size or len(body) < body_size:
        raise EOFError
    return json.loads(head), load(body) if body else {}


class EngineProcess:
    """A child process that serves one `module:factory`; starts at once, loads in the background.

    log: the file that takes everything the engine prints. hide: top-level modules that the child must not import
    (tensorflow breaks coremltools). Use it as a context manager or call `close`.
    """

    def __init__(self, service: str, log: Path | None = None, hide: tuple[str, ...] = (), threads: int = 0) -> None:
        self.service, self._lock, self._closed = service, threading.Lock(), False
        self._own_log = log is None
        self.log = log or Path(tempfile.mkstemp(prefix="mobilekit-", suffix=".log")[1])
        environment = dict(os.environ)
        environment.update(TF_CPP_MIN_LOG_LEVEL="3", TOKENIZERS_PARALLELISM="false", PYTHONWARNINGS="ignore")
        # The child finds the same mobilekit as the parent, also from a source tree.
        environment["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
        if threads:
            environment.update(OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads))
        with self.log.open("ab") as log_file:
            self._child = subprocess.Popen(
                [sys.executable, "-m", "mobilekit.process", service, ",".join(hide), str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log_file,
                env=environment,
                # A session of its own: Ctrl-C is the parent's to handle; a child that sees it dies as if it crashed.
                start_new_session=True,
            )

    def call(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        arrays: Arrays | None = None,
        progress: Callable[[str], None] = lambda _: None,
    ) -> tuple[Any, Arrays]:
        """Call a method of the service. Raises what it raised if that is ours, else EngineError with the log's path."""
        with self._lock:
            self._send({"method": method, "params": params or {}}, arrays or {})
            while True:
                header, answer = self._receive()
                if "progress" not in header:
                    break
                progress(header["progress"])
        if "error" in header:
            self._raise(header)
        return header.get("result"), answer

    def _send(self, header: dict[str, Any], arrays: Arrays) -> None:
        assert self._child.stdin is not None
        try:
            _write(self._child.stdin, header, arrays)
        except (OSError, ValueError) as error:
            raise self._death() from error

    def _receive(self) -> tuple[dict[str, Any], Arrays]:
        assert self._child.stdout is not None
        try:
            return _read(self._child.stdout)
        except (EOFError, OSError, ValueError) as error:
            raise self._death() from error

    def _death(self) -> EngineError:
        """What to raise when the pipe is closed; a child that lives on without one is of no use."""
        try:
            code = self._child.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._child.kill()
            code = self._child.wait()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        self._own_log = self._own_log and self._closed
        return EngineError(f"the {self.service} process died ({how}); its output is in {self.log}")

    def _raise(self, header: dict[str, Any]) -> None:
        if header.get("errno"):
            raise OSError(int(header["errno"]), header["error"])
        kinds = {kind.__name__: kind for kind in _all_kinds(MobilekitError)}
        kind = kinds.get(header["kind"])
        if kind is None:
            self._own_log = False
            raise EngineError(f"{header['error']} (details in {self.log})")
        error = MobilekitError.__new__(kind)
        Exception.__init__(error, header["error"])
        raise error

    @property
    def pid(self) -> int:
        """Process id of the child."""
        return self._child.pid

    def close(self) -> None:
        """End the child; its log goes too, unless it was asked for or something failed."""
        if self._closed:
            return
        self._closed = True
        if self._lock.locked():
            # Another thread waits for an answer: closing the pipe under it would block until there is one.
            self._child.kill()
            self._child.wait()
        for stream in (self._child.stdin, self._child.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            self._child.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        if self._own_log:
            self.log.unlink(missing_ok=True)

    def __enter__(self) -> EngineProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        # At the interpreter's end modules may be gone already; the child ends with the parent anyway.
        try:  # noqa: SIM105 (contextlib itself may be gone)
            self.close()
        except Exception:  # noqa: BLE001
            pass


class InsideProcess:
    """The same calls to a service of this very process, for a program that is an engine's process itself."""

    def __init__(self, service: Service) -> None:
        self._service, self.pid = service, os.getpid()

    def call(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        arrays: Arrays | None = None,
        progress: Callable[[str], None] = lambda _: None,
    ) -> tuple[Any, Arrays]:
        """Call a method of the service, and raise what it raises."""
        return self._service(method, params or {}, arrays or {}, progress)

    def close(self) -> None:
        """Nothing to end."""


def _all_kinds(kind: type[MobilekitError]) -> list[type[MobilekitError]]:
    return [kind, *(k for child in kind.__subclasses__() for k in _all_kinds(child))]


def _die_with_parent(parent: int) -> None:
    """End this process when `parent` is gone: a conversion of minutes must not outlive one that was killed.

    A thread looks, since Linux's death signal would also come when only the parent's thread that started us ends.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def serve(service: str, hide: str, parent: int) -> None:
    """Answer calls on standard input until it closes; everything printed goes to standard error."""
    _die_with_parent(parent)
    inward, outward = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for module in filter(None, hide.split(",")):
        sys.modules[module] = None  # type: ignore[assignment]
    import warnings

    warnings.filterwarnings("ignore")
    made: Service | None = None
    while True:
        try:
            header, arrays = _read(inward)
        except EOFError:
            return
        try:
            if made is None:
                module_name, factory = service.split(":")
                made = getattr(importlib.import_module(module_name), factory)()
            result, answer = made(
                header["method"], header["params"], arrays, lambda text: _write(outward, {"progress": text}, {})
            )
            _write(outward, {"result": result}, answer)
        except Exception as error:  # noqa: BLE001 (whatever it is, the parent is told)
            import traceback

            traceback.print_exc()
            sys.stderr.flush()
            text = (str(error).strip().splitlines() or [""])[0][:500]
            kind = type(error).__name__
            ours = isinstance(error, MobilekitError)
            said = {"error": text if ours else f"{kind}: {text}", "kind": kind if ours else ""}
            # A full disk is the user's matter, not the engine's.
            said["errno"] = str(error.errno or "") if isinstance(error, OSError) else ""
            _write(outward, said, {})


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], int(sys.argv[3]))
