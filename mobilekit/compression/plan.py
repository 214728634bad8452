"""Plans: which scheme each tensor of a model is kept in.

Rules go from a pattern over names to a scheme; of the rules that match a tensor the last wins. A scheme's name is a
ready plan of one rule.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from mobilekit.compression.schemes.floats import single
from mobilekit.compression.schemes.registry import Scheme
from mobilekit.compression.schemes.registry import scheme as find_scheme
from mobilekit.errors import InputError, short

Json = dict[str, Any]
# What a rule with `skip` makes of tensors, and what becomes of those that no rule names.
SKIP = Scheme("skip", "as it is, bit for bit", single, single)
# Small tables that are added, not multiplied: their bytes are few and their rounding would be in every token.
_KEPT = ("embeddings.position.weight", "embeddings.token_type.weight")
_NEAR = 3


@dataclass(frozen=True, eq=False)
class Rule:
    """One rule. pattern: over names, `*` stands for any characters, dots too. options: of the scheme, as they were
    given. where: what messages begin with, such as `plan.toml: rule 2 (head.*): `."""

    pattern: str
    scheme: Scheme
    options: Mapping[str, int] = field(default_factory=dict)
    where: str = ""

    def matches(self, tensor: str) -> bool:
        """Whether it is about a tensor: its whole name is meant, or that of the part that it is weight or bias of."""
        return any(fnmatchcase(name, self.pattern) for name in (tensor, part_of(tensor)))

    def to_json(self) -> Json:
        """As the manifest has it."""
        kept: Json = {"skip": True} if self.scheme is SKIP else {"scheme": self.scheme.name}
        return {"pattern": self.pattern, **kept, **self.options}


# Of tensors that no rule names.
NO_RULE = Rule("", SKIP)


@dataclass(frozen=True, eq=False)
class Plan:
    """Rules, later wins. name: the scheme's, or that of the file without its suffix."""

    name: str
    rules: tuple[Rule, ...]

    def to_json(self) -> list[Json]:
        """The rules in their canonical form: what manifests and records hold, and plans are compared by."""
        return [rule.to_json() for rule in self.rules]

    @property
    def is_ready(self) -> bool:
        """Whether it is a scheme by itself."""
        return self.to_json() == [{"pattern": "*", "scheme": self.name}]

    @property
    def kind(self) -> str:
        """For messages: what its name is the name of."""
        return "scheme" if self.is_ready else "plan"

    @property
    def minimum_ios(self) -> int:
        """The least iOS whose Core ML holds it: the largest of its schemes'."""
        return max(rule.scheme.minimum_ios for rule in self.rules)

    @property
    def looks_at_text(self) -> bool:
        """Whether what comes out depends on the text that activations are looked at with."""
        return any(rule.scheme.looks_at_text for rule in self.rules)

    def assigned(self, dimensions: Mapping[str, int]) -> dict[str, Rule]:
        """The rule that wins each tensor, by the tensor's name.

        dimensions: of every tensor of a model, by name. Raises InputError for a pattern that matches none of them, and
        for one that compresses nothing because no scheme compresses what it matches.
        """
        for rule in self.rules:
            matched = [name for name in dimensions if rule.matches(name)]
            if not matched:
                raise InputError(f"{rule.where}'{short(rule.pattern)}' matches no tensor; {_near(rule, dimensions)}.")
            if not rule.scheme.is_float and not any(is_weight(name, dimensions[name]) for name in matched):
                raise InputError(
                    f"{rule.where}'{short(rule.pattern)}' matches no weight that '{rule.scheme.name}' compresses: "
                    "norms, biases, positions and token types stay float; leave the rule out."
                )
        return {name: next((r for r in reversed(self.rules) if r.matches(name)), NO_RULE) for name in dimensions}


def plan_of(given: str | Scheme | Plan) -> Plan:
    """The plan that is meant: a scheme's name, a TOML file (what ends in `.toml`), a scheme, or a plan itself.

    Raises InputError for an unknown scheme and for whatever is wrong in a file.
    """
    if isinstance(given, Plan):
        return given
    if isinstance(given, str):
        if given.endswith(".toml"):
            from mobilekit.compression.plan_file import read_plan

            return read_plan(given)
        given = find_scheme(given)
    return Plan(given.name, (Rule("*", given),))


def is_weight(name: str, dimensions: int) -> bool:
    """Whether a tensor is one that schemes compress: a matrix of a linear map, or the token table."""
    return dimensions == 2 and name not in _KEPT


def part_of(tensor: str) -> str:
    """The name of what a tensor is the weight or bias of: `layers.0.attention.query`."""
    return tensor.rpartition(".")[0]


def _near(rule: Rule, tensors: Iterable[str]) -> str:
    """Names for a message: those like the pattern, or else what there is."""
    parts = list(dict.fromkeys(part_of(name) for name in tensors))
    # `layers.*.ffn.up` stands for those of all layers.
    all_layers = list(dict.fromkeys(re.sub(r"^layers\.\d+\.", "layers.*.", part) for part in parts))
    near = difflib.get_close_matches(short(rule.pattern), [*all_layers, *parts], n=_NEAR)
    if near:
        return f"near names: {', '.join(near)}"
    return f"there are {', '.join(all_layers)}"
