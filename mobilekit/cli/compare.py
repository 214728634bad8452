"""`mobilekit compare`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mobilekit.cli.options import File, Folder, as_json, print_json
from mobilekit.cli.report_tables import show_tables
from mobilekit.errors import CheckFailedError, InputError

if TYPE_CHECKING:
    from benchmarks.reports.limits import Finding
    from benchmarks.reports.report import Report


@click.command()
@click.argument("files", type=File(), nargs=-1, metavar="REPORT...")
@click.option("--base", help="The report that ratios are to: its device's or file's name.  [default: the first]")
@click.option("--out", type=Folder(), help="Folder for tables, plots, a page, CSV and JSON.")
@click.option("--force", is_flag=True, help="Replace what is there.")
@click.option("--baseline", type=File(), help="An older report that the first one is held against.")
@click.option("--fail-if-slower", type=float, metavar="PCT", help="Exit 3 where a row takes more than so much longer.")
@click.option("--fail-if-larger", type=float, metavar="PCT", help="Exit 3 where a row's bytes are so much more.")
@as_json
def command(
    files: tuple[Path, ...],
    base: str | None,
    out: Path | None,
    force: bool,
    baseline: Path | None,
    fail_if_slower: float | None,
    fail_if_larger: float | None,
    as_json: bool,
) -> None:
    """Join reports of hosts and phones by the artifacts that they share, show one alone, or hold it against an old one.

    \b
    Examples:
      mobilekit compare report.json --out report                      tables, plots and a page of one report
      mobilekit compare host.json pixel.json iphone.json --base host --out phones
      mobilekit compare new.json --baseline old.json --fail-if-slower 10 --fail-if-larger 1

    Artifacts are the same where their sha256 is. Other threads or texts are told, and their milliseconds are not held
    against the base's. A baseline counts on the same machine, or by ratios to the same file; what is too noisy to
    decide does not fail.
    """
    from benchmarks.reports.compare import compare
    from benchmarks.reports.compare_views import comparison_json, comparison_table
    from benchmarks.reports.folder import MARK_FILE, write_folder
    from benchmarks.reports.limits import findings_table, summary
    from benchmarks.reports.report import read_report
    from benchmarks.reports.tables import report_tables
    from mobilekit.staging import refuse_existing, refuse_unwritable

    _refuse_options(files, out, force, baseline, fail_if_slower, fail_if_larger)
    if out is not None:
        refuse_existing(out, force, MARK_FILE)
        refuse_unwritable(out.parent)
    reports = [read_report(file) for file in files]
    found = compare(reports, base)
    old = None if baseline is None else read_report(baseline)
    findings = [] if old is None else _findings(reports[0], old, fail_if_slower, fail_if_larger)
    written = [] if out is None else write_folder(found, out, force)
    if as_json:
        print_json({**comparison_json(found), "limits": [{**vars(e), "change_percent": e.change} for e in findings]})
    else:
        tables = [comparison_table(found)] if len(reports) > 1 else report_tables(reports[0])
        if old is not None:
            tables.append(findings_table(findings, old, reports[0].content["synthetic"]))
        show_tables(tables)
        if out is not None:
            click.echo(f"{out}: {', '.join(written)}")
    if old is not None and any(each.broken for each in findings):
        raise CheckFailedError(summary(findings, old))
    undecided = sum(each.verdict == "undecided" for each in findings)
    if undecided:
        click.echo(f"note: {undecided} of {len(findings)} timings were too noisy to decide; measure again.", err=True)


def _refuse_options(
    files: tuple[Path, ...],
    out: Path | None,
    force: bool,
    baseline: Path | None,
    slower: float | None,
    larger: float | None,
) -> None:
    """Raise InputError for options that do not fit each other."""
    if not files:
        raise InputError("no report given; give one or more files that `mobilekit bench` or a phone wrote.")
    if force and out is None:
        raise InputError("--force is for --out; leave it out.")
    limits = {"--fail-if-slower": slower, "--fail-if-larger": larger}
    given = {name: value for name, value in limits.items() if value is not None}
    for name, value in given.items():
        if not (math.isfinite(value) and value >= 0):
            raise InputError(f"{name} {value}: expected percent, 0 or more.")
    if given and baseline is None:
        raise InputError(f"{min(given)} holds the first report against an older one: give --baseline.")
    if baseline is not None and not given:
        raise InputError("--baseline is for --fail-if-slower and --fail-if-larger; give one of them.")


def _findings(report: Report, baseline: Report, slower: float | None, larger: float | None) -> list[Finding]:
    from benchmarks.reports import limits

    found = [] if slower is None else limits.slower(report, baseline, slower)
    return found if larger is None else [*found, *limits.larger(report, baseline, larger)]
