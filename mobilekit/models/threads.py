"""torch's threads."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Run torch on one thread, for many small operations beside other busy processes.

    Two threads meet after every operation; on a busy machine each meeting costs a time slice of milliseconds, and half
    a second of work takes fifteen.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
