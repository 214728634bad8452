"""The processes of one run: how they find each other, how long they wait, and that one failure is one message."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from mobilekit.errors import EngineError, FellowError, MissingExtraError
from mobilekit.host import is_installed

if TYPE_CHECKING:
    from accelerate import PartialState

# While the first process asks a teacher about a large corpus the others wait; the libraries' own limits are 10 and 30
# minutes. Whoever starts the processes ends all of them when one has died.
_PATIENCE = timedelta(days=7)
_FAILED = "mobilekit-failed"


def start_processes() -> PartialState:
    """Let the processes that `torchrun` or `accelerate launch` started find each other; the second call does nothing.

    Raises MissingExtraError without accelerate.
    """
    if not is_installed("accelerate"):
        raise MissingExtraError("accelerate", "train", "training")
    from accelerate import PartialState

    return PartialState(cpu=on_cpu(), timeout=_PATIENCE)


def on_cpu() -> bool:
    """Whether a run is to leave GPUs alone; several processes on a machine without one have to be told, too."""
    import torch
    from accelerate.utils import parse_flag_from_env

    shared = "LOCAL_RANK" in os.environ and not torch.accelerator.is_available()
    return shared or bool(parse_flag_from_env("ACCELERATE_USE_CPU"))


@contextlib.contextmanager
def one_message() -> Iterator[None]:
    """Of all processes that fail let the first say why: the others fail because it did, or for the same reason.

    Raises FellowError in those, which says nothing. Also a decorator.
    """
    if os.environ.get("WORLD_SIZE", "1") not in ("", "0", "1"):
        # Before data are read: whoever fails there has to be able to tell the others.
        start_processes()
    try:
        yield
    except BaseException as error:
        if not _is_one_of_many():
            raise
        if not _is_first_to_fail():
            raise FellowError("another process of this run failed, and said why.") from error
        if _is_broken_off(error):
            raise EngineError(
                "another process of this run was ended, by the system for lack of memory perhaps; a run that has a "
                "checkpoint goes on with --resume."
            ) from error
        raise


def _is_one_of_many() -> bool:
    distributed = sys.modules.get("torch.distributed")
    return distributed is not None and distributed.is_available() and distributed.is_initialized()


def _is_first_to_fail() -> bool:
    from torch.distributed.distributed_c10d import _get_default_store

    try:
        return bool(_get_default_store().add(_FAILED, 1) == 1)
    except RuntimeError:
        # The process that keeps the count is gone.
        return False


def _is_broken_off(error: BaseException) -> bool:
    """Whether an error is that another process no longer answers."""
    from torch.distributed import DistError

    # What exchanges tensors on processors raises no class of its own.
    return isinstance(error, DistError) or (isinstance(error, RuntimeError) and "/gloo/" in str(error))
