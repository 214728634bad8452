"""`--calibration`: text that `compress` and `export` look at activations with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mobilekit.errors import InputError

if TYPE_CHECKING:
    from mobilekit.compression.plan import Plan

calibration_option = click.option(
    "--calibration",
    metavar="DATA",
    help="Text like what the model will read: a built-in name, hub:NAME or a file.  [default: built-in sentences]",
)


def calibration_texts(spec: str | None, plan: Plan) -> list[str] | None:
    """Texts of what the option names, None where it is not given.

    Raises InputError when the plan does not look at text, and when there is none in what is named.
    """
    if spec is None:
        return None
    if not plan.looks_at_text:
        raise InputError(f"--calibration: {plan.kind} '{plan.name}' looks at no text; leave it out.")
    from mobilekit.compression.calibrate import MOST_TEXTS, checked_texts
    from mobilekit.text.data.texts import load_texts

    try:
        texts = load_texts(spec, MOST_TEXTS)
    except InputError as error:
        raise InputError(f"--calibration {error}") from error
    return list(checked_texts(texts))
