"""The page in `docs/measured` of a model that was measured: its plots, and the tables of its report."""

from __future__ import annotations

from pathlib import Path

from benchmarks.measured_tables import key_of
from benchmarks.reports.plots import plots
from benchmarks.reports.report import Report
from benchmarks.tables import PAGES, filled

FOLDER = Path(__file__).parent.parent / PAGES
_ABOUT = (
    "Every artifact, the peers, the float model and its teacher, measured in turn on one machine by "
    "`python -m benchmarks.measured` ([how, and what the columns are](../benchmarking.md))."
)


def write_page(model: str, report: Report, folder: Path = FOLDER) -> None:
    """Write a page and its plots, in the place of those of before. The report has to be among the results.

    Raises MissingExtraError without matplotlib.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"# `{model}`", "", _ABOUT, ""]
    for plot in plots(report):
        name = f"{model}-{plot.file}"
        (folder / name).write_bytes(plot.png)
        lines += [f"![{plot.title}]({name})", ""]
    lines += [f"<!-- table: measured_{key_of(model)} -->", "<!-- end -->", ""]
    (folder / f"{model}.md").write_text(filled("\n".join(lines)), encoding="utf-8")
