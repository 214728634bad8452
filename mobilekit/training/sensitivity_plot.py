"""The plot of a sensitivity table: a row of bars for each group, a bar for each scheme."""

from __future__ import annotations

from mobilekit.evaluation.bars import Bar, Panel, bars_svg
from mobilekit.training.sensitivity import Sensitivity


def plot(found: Sensitivity) -> str:
    """An SVG: points lost with their intervals, the rise of the loss where rows have labels, distance of outputs."""
    lost, rise, distance = {}, {}, {}
    for row in found.rows:
        key = row.group, row.scheme
        if row.drop is not None:
            lost[key] = Bar(row.drop.points, row.drop.low, row.drop.high)
        if row.rise is not None:
            rise[key] = Bar(row.rise)
        if row.distance is not None:
            distance[key] = Bar(row.distance)
    panels = [Panel(f"points of {found.metric} lost, 95 % interval", lost)]
    panels += [Panel("loss against the labels, over the float model's", rise)] if rise else []
    panels.append(Panel("distance of outputs, relative", distance))
    title = f"{found.model} on {found.data['name']} ({found.data['rows']} rows), one group compressed at a time"
    return bars_svg(title, [group.name for group in found.groups], found.schemes, panels)
