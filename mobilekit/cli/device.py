"""`mobilekit device`: measuring on a phone."""

from __future__ import annotations

from pathlib import Path

import click

from mobilekit.cli.options import File, Folder, as_json, print_json, progress_lines, quiet
from mobilekit.cli.report_tables import show_tables


@click.group()
def command() -> None:
    """Measure artifacts on a phone that is plugged in.

    \b
    Examples:
      mobilekit device android out/minilm-l6-int8/tflite --out phone.json
      mobilekit device android --json                        what the app has already, as JSON
      mobilekit compare report.json phone.json
    """


@command.command()
@click.argument("artifacts", type=Folder(), nargs=-1, metavar="[ARTIFACT]...")
@click.option("--serial", help="Which phone, as `adb devices` lists it.  [default: the only one]")
@click.option("--threads", type=click.IntRange(1, 16), default=2, show_default=True, help="Of the engine.")
@click.option("--timeout", type=click.FloatRange(1), default=1800, show_default=True, help="Seconds to wait.")
@click.option("--out", type=File(), default="phone.json", show_default=True, help="The report to write.")
@click.option("--force", is_flag=True, help="Replace a report that is there.")
@as_json
@quiet
def android(
    artifacts: tuple[Path, ...],
    serial: str | None,
    threads: int,
    timeout: float,
    out: Path,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Push artifacts to the demo app's debug build, have it measure them, and pull its report.

    \b
    Examples:
      mobilekit device android out/minilm-l6-int8/tflite out/minilm-l6-int8/executorch
      mobilekit device android --threads 4 --out phone-4.json      what the app has already

    Needs adb (Android's platform-tools), a phone with USB debugging, and the app: android_demo/README.md. The report
    is read as carefully as anyone's; `mobilekit compare report.json phone.json` puts it beside the host's.
    """
    from benchmarks.device.adb import phone
    from benchmarks.device.android import Measuring, measure
    from benchmarks.reports.report import MARK, write_report
    from benchmarks.reports.tables import report_tables
    from mobilekit.staging import refuse_existing_file

    refuse_existing_file(out, force, MARK)
    with progress_lines(not quiet and not as_json) as say:
        found = measure(phone(serial), Measuring(artifacts, threads, timeout), say)
    write_report(found.content, out, force)
    if as_json:
        print_json(found.content)
    else:
        show_tables(report_tables(found))
        click.echo(f"{out}: from {found.device}")
