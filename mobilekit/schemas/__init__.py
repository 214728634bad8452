"""The JSON schemas of what is exchanged with apps, and whether values follow one."""

from __future__ import annotations

import functools
import itertools
import json
from importlib import resources
from typing import Any

from mobilekit.errors import short

_FAULTS = 50


@functools.cache
def schema(name: str) -> dict[str, Any]:
    """A schema as shipped: `manifest` or `report`."""
    text = resources.files("mobilekit").joinpath(f"schemas/{name}.schema.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def newer(content: object, known: int) -> object:
    """The schema version of values where it is newer than `known`, else None."""
    version = content.get("schema") if isinstance(content, dict) else None
    return version if isinstance(version, int) and not isinstance(version, bool) and version > known else None


def first_fault(content: object, name: str) -> str | None:
    """Place and reason of the first thing in JSON values that is against a schema, or None."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    # The first ones tell enough: a hostile file may have millions.
    fault = best_match(itertools.islice(Draft202012Validator(schema(name)).iter_errors(content), _FAULTS))
    if fault is None:
        return None
    place = short("/".join(map(str, fault.absolute_path))) or "the whole"
    return f"{place}: {short(fault.message, 200)}"
