"""`inspect --plan`: what a plan would do to a model, without exporting it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from mobilekit.cli.options import print_table

if TYPE_CHECKING:
    from mobilekit.compression.plan import Plan
    from mobilekit.compression.preview import Kept
    from mobilekit.models.model import Model

_SUMS = ("tensors", "parameters", "bytes", "bits")
_SMALL, _VECTORS = "norms, biases, small tables", "vectors of smoothing"


def float_model(name: str) -> Model:
    """The model called `name`; raises InputError for one whose weights are compressed already."""
    from mobilekit.compression.folder import refuse_records
    from mobilekit.models.load import load

    model = load(name)
    refuse_records(model)
    return model


def planned(name: str, plan: Plan, texts: Sequence[str] | None, report: Callable[[str], None]) -> dict[str, Any]:
    """What becomes of every tensor, what each rule comes to, and the totals, as JSON values."""
    from mobilekit.compression.preview import preview

    report(f"loading {name}")
    model = float_model(name)
    report(f"compressing as {plan.name}")
    kept = preview(model, plan, texts)
    report("compressed")
    rules = [rule | _sums(row for row in kept if row.rule == i) for i, rule in enumerate(plan.to_json())]
    return {
        "model": model.name,
        "plan": plan.name,
        "minimum_ios": plan.minimum_ios,
        "tensors": [vars(row) for row in kept],
        "rules": rules,
        "total": _sums(kept),
        "weights": _sums(row for row in kept if row.is_weight),
    }


def show_plan(found: dict[str, Any]) -> None:
    """A table of weights, with what is not compressed summed up, one of the rules, and the totals."""
    patterns = [rule["pattern"] for rule in found["rules"]]
    rows: list[list[str]] = []
    others: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(found["tensors"], key=lambda row: _places(row["name"])):
        if row["is_weight"]:
            rule = "-" if row["rule"] is None else patterns[row["rule"]]
            rows.append([row["name"], rule, row["scheme"], *_numbers(row), f"{row['error']:.4f}"])
        else:
            others.setdefault(_SMALL if row["parameters"] else _VECTORS, []).append(row)
    for what, some in others.items():
        sums = {key: sum(row[key] for row in some) for key in ("parameters", "bytes")}
        rows.append([f"{len(some)} {what}", "", "", *_numbers(sums), "-"])
    print_table(["tensor", "rule", "scheme", "parameters", "kB", "bits", "error"], rows, left=3)
    click.echo()
    rules = [[r["pattern"], _scheme(r), str(r["tensors"]), *_numbers(r)] for r in found["rules"]]
    print_table(["rule", "scheme", "tensors won", "parameters", "kB", "bits"], rules, left=2)
    click.echo()
    for what in ("weights", "total"):
        sums = found[what]
        said = f"{sums['parameters']:,} parameters, {sums['bytes'] / 1e6:.2f} MB"
        click.echo(f"{what:<8} {said}, {sums['bits']:.2f} bits each on average")
    if static := [row["name"] for row in found["tensors"] if row["static"]]:
        click.echo(static_line(static))
    click.echo(f"Core ML  from iOS {found['minimum_ios']}")


def static_line(weights: Sequence[str]) -> str:
    """Around which linear maps activations are rounded with fixed scales; weights: theirs."""
    names = (name.removesuffix(".weight") for name in sorted(weights, key=_places))
    return f"activations with fixed scales around {len(weights)} linear maps: {', '.join(names)}"


def _places(name: str) -> list[str | int]:
    """What names are sorted by: layer 2 comes before layer 10."""
    return [int(part) if i % 2 else part for i, part in enumerate(re.split(r"(\d+)", name))]


def _scheme(rule: dict[str, Any]) -> str:
    options = (f"{key} {rule[key]}" for key in rule.keys() - {"pattern", "scheme", "skip", *_SUMS})
    return " ".join([rule.get("scheme", "skip"), *sorted(options)])


def _sums(kept: Iterable[Kept]) -> dict[str, Any]:
    from mobilekit.compression.preview import total

    rows = list(kept)
    sums = total(rows)
    return dict(zip(_SUMS, (len(rows), sums.parameters, sums.bytes, round(sums.bits, 4)), strict=True))


def _numbers(row: dict[str, Any]) -> list[str]:
    bits = 8 * row["bytes"] / row["parameters"] if row["parameters"] else None
    return [f"{row['parameters']:,}", f"{row['bytes'] / 1e3:,.1f}", "-" if bits is None else f"{bits:.2f}"]
