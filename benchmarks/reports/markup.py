"""HTML by elements: whatever text goes in is escaped, so that no report can bring markup of its own."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable

from benchmarks.reports.tables import Table
from benchmarks.reports.texts import plain

# Nothing is fetched and nothing runs, even if something slipped through.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_EMPTY = ("img", "meta")
_STYLE = """
:root { color-scheme: light dark; --ink: #20242a; --soft: #5b6470; --back: #ffffff; --card: #f6f7f9; --line: #d9dde2;
  --best: #0f766e; --warn: #9a1c1c; --warn-back: #fdecec; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --soft: #9aa4b0; --back: #14171b; --card: #1d2127;
  --line: #343a43; --best: #5eead4; --warn: #ffb4b4; --warn-back: #3a1717; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 84rem; padding: 1.5rem 1.25rem 4rem; background: var(--back); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2.25rem 0 .6rem; padding-bottom: .25rem; border-bottom: 1px solid var(--line); }
p, ul { margin: .4rem 0; } .soft, li { color: var(--soft); font-size: .9rem; }
.synthetic { margin: 0 0 1.25rem; padding: 1rem 1.25rem; border: 2px solid var(--warn); border-radius: 6px;
  background: var(--warn-back); color: var(--warn); font-size: 1.35rem; font-weight: 700; }
.wide { overflow-x: auto; margin: .6rem 0; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: 0 0 .4rem; }
th, td { padding: .28rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th { position: sticky; top: 0; background: var(--card); vertical-align: bottom; white-space: normal; }
td.text, th.text { text-align: left; white-space: normal; min-width: 5rem; }
tbody tr:hover { background: var(--card); }
td.best { color: var(--best); font-weight: 700; }
figure { margin: 1rem 0; padding: .75rem; background: #ffffff; border: 1px solid var(--line); border-radius: 6px; }
figure img { display: block; max-width: 100%; height: auto; margin: 0 auto; }
@media print { body { max-width: none; } figure { break-inside: avoid; } }
"""


class Markup(str):
    """HTML that is complete and safe; any other str is text."""

    __slots__ = ()


def element(name: str, /, *inner: str | Iterable[str], **attributes: str) -> Markup:
    """An element. inner: Markup as it is, other texts escaped. attributes: escaped; `class_` is `class`."""
    pairs = "".join(f' {key.rstrip("_").replace("_", "-")}="{_escaped(value)}"' for key, value in attributes.items())
    if name in _EMPTY:
        return Markup(f"<{name}{pairs}>")
    return Markup(f"<{name}{pairs}>{''.join(_inner(each) for each in inner)}</{name}>")


def document(title: str, body: Iterable[str], banner: str = "") -> str:
    """A page that stands alone. banner: a warning at its top."""
    head = (
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", Markup(_STYLE)),
    )
    warning = [element("p", banner, class_="synthetic", role="alert")] if banner else []
    main = element("main", warning, element("h1", title), body)
    return f"<!doctype html>\n{element('html', element('head', head), element('body', main), lang='en')}\n"


def section(title: str, *inner: str | Iterable[str]) -> Markup:
    """A part of a page with a heading."""
    return element("section", element("h2", title), *inner)


def html_table(table: Table) -> Markup:
    """A table with its title as caption, the best figures marked, and its remarks beneath."""

    def cell(i: int, j: int) -> Markup:
        kind = "text" if j < table.left else "best" if (i, j) in table.best else ""
        return element("td", table.cells[i][j], **({"class_": kind} if kind else {}))

    head = [
        element("th", title, scope="col", **({"class_": "text"} if j < table.left else {}))
        for j, title in enumerate(table.head)
    ]
    rows = [element("tr", [cell(i, j) for j in range(len(table.head))]) for i in range(len(table.cells))]
    made = element(
        "table", element("caption", table.title), element("thead", element("tr", head)), element("tbody", rows)
    )
    return Markup(element("div", made, class_="wide") + bullets(table.remarks))


def bullets(texts: Iterable[str]) -> Markup:
    """A list, or nothing where there are no texts."""
    items = [element("li", text) for text in texts]
    return element("ul", items) if items else Markup()


def picture(png: bytes, title: str) -> Markup:
    """A plot, inside the page."""
    source = "data:image/png;base64," + base64.b64encode(png).decode("ascii")
    return element("figure", element("img", src=source, alt=title))


def _inner(each: str | Iterable[str]) -> str:
    if isinstance(each, str):
        return each if isinstance(each, Markup) else _escaped(each)
    return "".join(_inner(one) for one in each)


def _escaped(text: str) -> str:
    return html.escape(plain(text), quote=True)
