"""The group of verbs; only the verb that runs is imported, so `--help` is instant."""

from __future__ import annotations

import contextlib
import errno
import importlib
import io
import os
import re
import signal
import sys

import click

from mobilekit.errors import FellowError, MobilekitError, short, unknown
from mobilekit.version import __version__

# Verb -> what its help line says. The file has the verb's name (a trailing underscore where Python needs one).
VERBS = {
    "export": "compress a model and write it for phones, every file checked",
    "check": "prove an artifact again, from its files",
    "run": "run an artifact on text",
    "inspect": "show what takes the bytes in an artifact or a model",
    "compress": "compress a model into records that any machine can export",
    "train": "fine-tune a model on labelled text",
    "distill": "teach a small model what a large one knows",
    "pretrain": "train on plain text: masked words, the order of segments",
    "bench": "measure artifacts: size, load, latency, memory, accuracy against the teacher",
    "compare": "join reports of hosts and phones, or hold one against an older one",
    "device": "measure artifacts on a phone that is plugged in",
    "pack": "make an artifact one small file for download",
    "unpack": "give back the artifact that `pack` made small",
    "list": "list models, families, tasks, targets, schemes, recipes, students or peers",
    "doctor": "say what works on this machine, and why the rest does not",
}

# What a disk may refuse: the user's matter, not ours.
_DISK = {
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EIO,
    errno.ELOOP,
    errno.ENAMETOOLONG,
    errno.ENOTDIR,
    errno.EISDIR,
}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class LazyGroup(click.Group):
    """A group whose commands are modules of this package."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs, in the order of use."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one verb."""
        if cmd_name not in VERBS:
            return None
        command = importlib.import_module(f"mobilekit.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb; raises InputError with a did-you-mean."""
        if args and not args[0].startswith("-") and args[0] not in VERBS:
            raise unknown("verb", args[0], VERBS)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs' lines, without importing them."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="mobilekit")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_context
def group(ctx: click.Context, debug: bool) -> None:
    """Small, fast, proven text encoders for phones.

    \b
    python -m mobilekit export --target coreml      the built-in MiniLM for iOS, int8
    python -m mobilekit export --model ./my-bert    your model for all targets
    python -m mobilekit VERB --help                 examples and options of a verb
    """
    ctx.obj = debug


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 our bug, 2 wrong input, 3 a check failed."""
    args = sys.argv[1:] if arguments is None else arguments
    # Wherever it stands; but what comes after `--` is text.
    end = args.index("--") if "--" in args else len(args)
    debug = "--debug" in args[:end]
    for stream in (sys.stdout, sys.stderr):
        # A terminal that has not every character shows its number instead.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    # Asked to end: the same way out as Ctrl-C, so that nothing stays behind.
    signal.signal(signal.SIGTERM, _interrupt)
    # Warnings of the libraries that a user cannot act on.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    try:
        given = [a for a in args[:end] if a != "--debug"] + args[end:]
        group.main(args=given, prog_name="mobilekit", standalone_mode=False)
    except (Exception, KeyboardInterrupt) as error:
        if debug and not isinstance(error, click.ClickException):
            raise
        sys.exit(error.exit_code if isinstance(error, FellowError) else _report(error))


def _report(error: BaseException) -> int:
    """Say what went wrong in one line; returns the exit code."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message())
        return 0
    if isinstance(error, click.ClickException):
        _say_once(error.format_message())
        return 2
    if isinstance(error, click.Abort | KeyboardInterrupt):
        _say_once("interrupted.")
        return 130
    if isinstance(error, MobilekitError):
        _say(str(error))
        return error.exit_code
    if isinstance(error, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    if isinstance(error, OSError) and error.errno in _DISK:
        _say(f"{error.filename or 'the output'}: {error.strerror}.")
        return 2
    if isinstance(error, ImportError):
        _say(f"an import failed: {error}; `mobilekit doctor` says what is missing or in the way.")
        return 2
    _say(f"this is a bug in mobilekit: {type(error).__name__}: {error} (--debug shows where; please report it).")
    return 1


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _say_once(text: str) -> None:
    """Say what all processes of a run would: they have the same arguments, and are ended together."""
    if os.environ.get("RANK", "0") == "0":
        _say(text)


def _say(text: str) -> None:
    # Whatever a file put into it: one line that can be read, and nothing that steers the terminal.
    line = _CONTROL.sub("?", short(" ".join(text.split()), 2000))
    # Nobody may be reading any more, or the file that reads may be full.
    with contextlib.suppress(OSError):
        click.echo(f"error: {line}", err=True)
