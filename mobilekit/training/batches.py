"""Which inputs make a batch: of about one length, in an order that seed and epoch alone decide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# Inputs are sorted by length within so many batches, so that a batch has little padding and epochs differ.
_WINDOW = 50


def epoch_batches(lengths: Sequence[int], size: int, seed: int, epoch: int) -> list[list[int]]:
    """Indices of each batch of an epoch, every input once; the last batch may be short.

    The same for the same arguments on every machine, so that a run can go on where it was ended, and so that many
    processes agree without talking.
    """
    rng = np.random.default_rng([seed, epoch])
    order = rng.permutation(len(lengths))
    sizes = np.asarray(lengths)
    batches: list[list[int]] = []
    for start in range(0, len(order), size * _WINDOW):
        window = order[start : start + size * _WINDOW]
        window = window[np.argsort(sizes[window], kind="stable")]
        batches += [window[i : i + size].tolist() for i in range(0, len(window), size)]
    return [batches[i] for i in rng.permutation(len(batches))]


def shares(batch: Sequence[int], process: int, processes: int, parts: int) -> list[list[int]]:
    """The part of a batch that one of many processes takes, in `parts` pieces that go through one after the other."""
    own = list(batch[process::processes])
    return [own[i::parts] for i in range(parts)]
