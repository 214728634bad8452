"""Texts and numbers of reports as people read them. Anyone may write one: nothing in it steers what shows it."""

from __future__ import annotations

import re
import unicodedata

NONE = "-"
# What begins a formula in a spreadsheet.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_MARKDOWN = re.compile(r"([\\`*_\[\]|~$!#])")
# What GitHub makes links and mentions of by itself.
_LINK = re.compile(r":(?=//)|(?<=\bwww)\.", re.IGNORECASE)
# They join emoji and letters of some scripts, and turn nothing round.
_JOINERS = "\u200c\u200d"


def plain(text: str) -> str:
    """A text without what nobody sees and what steers terminals or turns the reading round: its number instead."""
    return "".join(_seen(character) for character in text)


def cut(text: str, most: int) -> str:
    """A text of so many characters at most."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def markdown_text(text: str) -> str:
    """A text that Markdown shows as it is, in a cell of a table too."""
    escaped = _MARKDOWN.sub(r"\\\1", plain(text))
    escaped = escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # A mention would call somebody.
    return _LINK.sub(r"\\\g<0>", escaped).replace("@", "&#64;\u2060")


def csv_text(text: str) -> str:
    """A cell that no spreadsheet takes for a formula: an apostrophe before it says that it is text."""
    shown = plain(text)
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA) else shown


def milliseconds(value: float) -> str:
    """Three digits or more, and never less than a microsecond."""
    if value >= 10:
        return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"
    return f"{value:.2f}" if value >= 1 else f"{value:.3f}"


def whole_percent(share: float) -> str:
    """A share, in whole percent."""
    return f"{100 * share:.0f} %"


def megabytes(count: float) -> str:
    """Bytes as MB (a million)."""
    value = count / 1e6
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.1f}" if abs(value) >= 100 else f"{value:.2f}"


def hundredths(share: float) -> str:
    """A share or a metric in points, 1 as 100.00; and never -0.00."""
    value = round(100 * share, 2) + 0.0
    return f"{value:.2f}" if abs(value) < 1e5 else f"{value:.2e}"


def points(value: float) -> str:
    """Points, which are hundredths already."""
    return hundredths(value / 100)


def times(value: float) -> str:
    """How many times as long."""
    return f"{value:.2f} x" if value < 1000 else f"{value:.2e} x"


def _seen(character: str) -> str:
    # Format characters (they turn the direction of reading, or are nothing at all), controls, halves, unassigned.
    if character in _JOINERS or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return character
    return f"\\u{{{ord(character):x}}}"
