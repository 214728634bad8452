"""Reports that follow the schema, and whose every text was written by somebody who means harm."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from synthetic_reports import report

from benchmarks.reports.report import Report, validated
from mobilekit.manifest_rules import CONTROL

Json = dict[str, Any]
ATTACKS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title></style></table><iframe srcdoc='x'>",
    "' onmouseover='alert(1)",
    "<!--",
    "]]><![CDATA[",
    "&lt;b&gt; &#60;",
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "a | b || c",
    "`code` ``` ~~~",
    "**bold** [link](javascript:alert(1)) ![i](http://x)",
    "https://evil.example www.evil.example @everyone #1",
    "$\\frac{1}{0}$ $x",
    "_hidden",
    "[red]rich[/red] [/]",
    "\u202egnp.exe \u2066 \u200b \ufeff \U000e0041",
    "日本語 ☃ \U0001f9d1\u200d\U0001f680 é",
    "%s %d {0} {x!r} \\",
    " ",
]
_FIXED = ("kind", "made_at", "sha256", "work")
# What validating refuses anyway.
_TEXTS = st.sampled_from(ATTACKS) | st.text(min_size=1, max_size=40).filter(lambda text: not CONTROL.search(text))


@st.composite
def hostile(draw: st.DrawFn) -> tuple[Report, Report]:
    """A hostile report, and the same one with harmless texts in the same places."""
    good = report(draw(st.sampled_from([2, 5, 10])))
    # A text a place would be thousands of draws: some are drawn, and go round.
    drawn = draw(st.lists(_TEXTS, min_size=1, max_size=8))
    bad, plain = (_changed(good.content, texts) for texts in (drawn, ["a"]))
    return validated(bad, "hostile"), validated(plain, "plain")


def _changed(content: Json, texts: list[str]) -> Json:
    count = 0

    def text() -> str:
        nonlocal count
        count += 1
        return texts[count % len(texts)]

    def walk(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: walk(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [walk(inner, key) for inner in value]
        return text() if isinstance(value, str) and key not in _FIXED else value

    found: Json = walk(content)
    # Names are told apart by a number, and what may have any keys gets hostile ones.
    names = {row["name"]: f"{texts[i % len(texts)]} {i}" for i, row in enumerate(content["rows"])}
    for row, old in zip(found["rows"], content["rows"], strict=True):
        row["name"] = names[old["name"]]
        row["groups"] = {f"{texts[i % len(texts)]}{i}": size for i, size in enumerate(old["groups"].values())}
    for ratio, old in zip(found["ratios"], content["ratios"], strict=True):
        ratio["row"], ratio["base"] = names[old["row"]], names[old["base"]]
    found["versions"] = {f"{texts[0]}{i}": version for i, version in enumerate(found["versions"].values())}
    return found
