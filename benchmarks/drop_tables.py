"""The tables of `benchmarks.drops` and `benchmarks.drop_artifacts`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.markdown import table


def drops(content: dict[str, Any]) -> str:
    """What each scheme costs, with the compressed weights in torch."""
    head = ["scheme", "bits a weight", "accuracy", "points lost", "95 % interval", "aim", "same answers"]
    lines = []
    for row in content["rows"]:
        low, high = (100 * end for end in row["drop_interval"])
        cells = [
            _name(row["variant"]),
            f"{row['bits_a_weight']:.2f}",
            f"{100 * row['accuracy']:.1f} %",
            f"{100 * row['drop']:.2f}",
            f"{low:.2f} to {high:.2f}",
            _aim(row["aim"], 100 * row["drop"]),
            f"{100 * row['agreement']:.1f} %",
        ]
        lines.append(cells)
    count, by_fold = content["sentences"], content["float_accuracy_by_fold"]
    mean = 100 * sum(by_fold) / len(by_fold)
    note = (
        f"MiniLM, {len(by_fold)} fine-tunes; each of the {count:,} sentences judged by the one that did not see it. "
        f"Float: {mean:.1f} %. Bits: codes, codebooks and float16 scales of all compressed matrices. Intervals: paired "
        "bootstrap."
    )
    return "\n".join([*table(head, lines), "", note])


def artifacts(content: dict[str, Any]) -> str:
    """What the files themselves weigh and say."""
    columns = "scheme | target | MB | packed MB | accuracy | points lost | by the engine | same answers | checks"
    lines = []
    for row in content["rows"]:
        systems = {each["system"]: each["values"] for each in row["accuracy"]["systems"]}
        lost = {(each["from"], each["to"]): each["points"] for each in row["accuracy"]["drops"]}
        cells = [
            _name(row["variant"]),
            row["target"],
            f"{row['bytes'] / 1e6:.2f}",
            f"{row['packed_bytes'] / 1e6:.2f}",
            f"{100 * systems['artifact']['accuracy']:.1f} %",
            f"{lost['float', 'artifact']:.1f}",
            f"{lost['decoded', 'artifact']:.1f}",
            f"{100 * systems['artifact']['agreement']:.1f} %",
            f"{sum(check['passed'] for check in row['checks'])} of {len(row['checks'])}",
        ]
        lines.append(cells)
    return "\n".join([*table(columns.split(" | "), lines), "", _note(content)])


def _note(content: Mapping[str, Any]) -> str:
    return (
        f"The first fine-tune, length {content['length']}, {content['sentences']} of the sentences it did not see: "
        "so few tell a broken file, not a point. By the engine: what of it is lost after the weights. Packed: the "
        "whole folder as one file."
    )


def _name(variant: str) -> str:
    for ending, about in (("-tuned", ", fine-tuned"), ("-plain", ", scales by the largest weight")):
        if variant.endswith(ending):
            return f"`{variant.removesuffix(ending)}`{about}"
    return f"`{variant}`"


def _aim(aim: float | None, lost: float) -> str:
    return "-" if aim is None else f"{aim:g}: {'met' if lost <= aim else 'missed'}"
