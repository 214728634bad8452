"""The share of a teacher's figure that another system keeps on the same rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mobilekit.evaluation.intervals import Interval, Statistic, bootstrap


def retained_share(own: Statistic, base: Statistic, count: int) -> tuple[float, Interval] | None:
    """`own` over `base` on `count` rows, with its 95 % interval; None where the teacher's figure is not above 0."""
    everything = np.arange(count)
    teacher = base(everything)
    if teacher <= 0:
        return None

    def share(drawn: NDArray[np.intp]) -> float:
        # Draws in which the teacher's figure is not above 0 have no share.
        of = base(drawn)
        return own(drawn) / of if of > 0 else float("nan")

    return own(everything) / teacher, bootstrap(share, count)
