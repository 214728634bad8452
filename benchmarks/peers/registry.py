"""What a peer is, and the list of those there are. Nothing heavy is imported here."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring.service import Ready
from mobilekit.errors import MissingExtraError
from mobilekit.host import is_installed
from mobilekit.registry import import_modules, named

# Writes to `path` (a new file or folder) what the tool makes of the checkpoint `source` (`stock_module.write_stock`),
# for inputs of so many tokens (ascending). Returns the lengths that the file takes, none where it takes any.
Make = Callable[[Path, tuple[int, ...], Path, int], tuple[int, ...]]


@dataclass(frozen=True)
class Peer:
    """Another tool's usual route.

    about: one line. scheme: what its weights are (fp32, fp16, int8, int4, pal4). packages: what it imports -> the extra
    that brings it. suffix: of the file's name, "" for a folder. make(source, lengths, path, threads): in a process of
    its own. ready: as in `benchmarks.measuring.service`; its params are {path, threads, layout, warm}:
    `layout.Layout`, and lengths to run at before the first is timed, where a tool compiles for what it meets. timed:
    whether milliseconds mean anything here.
    """

    name: str
    about: str
    tool: str
    scheme: str
    packages: Mapping[str, str]
    suffix: str
    make: Make
    ready: Ready
    timed: bool = True

    def check_installed(self) -> None:
        """Raises MissingExtraError when a package is not there."""
        for package, extra in self.packages.items():
            if not is_installed(package):
                raise MissingExtraError(package, extra, f"peer {self.name}")


_peers: dict[str, Peer] = {}


def register(peer: Peer) -> Peer:
    """Add a peer to the registry."""
    _peers[peer.name] = peer
    return peer


@functools.cache
def peers() -> Mapping[str, Peer]:
    """All peers by name: every module of `benchmarks.peers.tools` registers some."""
    import benchmarks.peers.tools as package

    import_modules(package)
    return dict(sorted(_peers.items()))


def peer(name: str) -> Peer:
    """The peer called `name`; raises InputError with a did-you-mean."""
    return named("peer", name, peers())
