"""The folder that `compare --out` writes: all that can be made of reports, whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.reports.compare import Comparison
from benchmarks.reports.compare_views import (
    comparison_csv,
    comparison_json,
    comparison_page,
    comparison_plot,
    comparison_table,
)
from benchmarks.reports.page import page
from benchmarks.reports.plots import plots
from benchmarks.reports.report import Report
from benchmarks.reports.tables import ratio_table, report_tables
from mobilekit.staging import staged

# What a folder has to have for --force to replace it.
MARK_FILE = "comparison.json"


def write_folder(found: Comparison, folder: Path, force: bool = False) -> list[str]:
    """Write a comparison, or a report that is alone, and give the names of the files.

    Raises InputError where something is in the way, MissingExtraError without matplotlib.
    """
    several = len(found.reports) > 1
    files = _of_several(found) if several else _of_one(found.reports[0])
    files["comparison.csv"] = comparison_csv(found).encode()
    files[MARK_FILE] = (
        json.dumps(comparison_json(found), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    ).encode()
    with staged(folder, force, MARK_FILE) as beside:
        for name, data in files.items():
            (beside / name).write_bytes(data)
    return sorted(files)


def _of_several(found: Comparison) -> dict[str, bytes]:
    plot = comparison_plot(found)
    files = {
        "comparison.md": comparison_table(found).markdown().encode(),
        "comparison.html": comparison_page(found, plot).encode(),
    }
    return files if plot is None else {**files, plot.file: plot.png}


def _of_one(report: Report) -> dict[str, bytes]:
    pictures, ratios = plots(report), ratio_table(report)
    tables = [*report_tables(report), *([ratios] if ratios is not None else [])]
    return {
        "report.md": "\n".join(table.markdown() for table in tables).encode(),
        "report.html": page(report, pictures).encode(),
        **{picture.file: picture.png for picture in pictures},
    }
