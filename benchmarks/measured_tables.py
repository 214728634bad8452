"""The tables of `benchmarks.measured`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.reports.report import validated
from benchmarks.reports.tables import ratio_table, report_tables


def table_of(model: str) -> Callable[[dict[str, Any]], str]:
    """Sizes and times, accuracy, and ratios of one model's report in the results."""

    def made(content: dict[str, Any]) -> str:
        report = validated(content["reports"][model], f"measured.json: {model}")
        tables = [*report_tables(report), ratio_table(report)]
        return "\n".join(table.markdown() for table in tables if table is not None).rstrip("\n")

    return made
