"""Plans as TOML files and as JSON values: read strictly, written in one canonical form."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from mobilekit.compression.plan import SKIP, Json, Plan, Rule
from mobilekit.compression.schemes.registry import Scheme, schemes
from mobilekit.compression.schemes.registry import scheme as find_scheme
from mobilekit.errors import InputError, short, unknown
from mobilekit.reading import read_errors

# A plan is written by hand; more than this is another kind of file.
_LARGEST = 2**20
_MOST_RULES = 1024
_LONGEST_PATTERN = 200
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
_KEYS = ("pattern", "scheme", "skip")


def read_plan(file: str | Path) -> Plan:
    """The plan in a TOML file, named as the file is.

    Raises InputError, in one line with the file and the rule, for a file that cannot be read and for every key, type,
    scheme or value that is not known.
    """
    path = Path(file)
    content = _toml(path)
    name = path.name.removesuffix(".toml")
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{path}: a plan is called as its file is, and folders are called by it: use at most 60 letters, digits, "
            "'.', '_' and '-' before .toml."
        )
    if name.casefold() in (*schemes(), SKIP.name):
        raise InputError(f"{path}: '{name}' is the name of a scheme; call the file otherwise.")
    for key in content:
        if key != "rule":
            raise unknown("key", key, ("rule",), f"{path}: ")
    tables = content.get("rule", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise InputError(f"{path}: 'rule' has to be a list of tables; begin each rule with a line [[rule]].")
    rules = [rule for i, table in enumerate(tables, 1) for rule in _rules(table, f"{path}: rule {i}")]
    return _plan(name, rules, f"{path}: ")


def plan_from_json(name: str, content: object, where: str) -> Plan:
    """The plan that `Plan.to_json` gave; where: what messages begin with. Raises InputError when it is none."""
    if not isinstance(content, list) or not all(isinstance(value, dict) for value in content):
        raise InputError(f"{where}a plan has to be a list of rules.")
    rules: list[Rule] = []
    for i, value in enumerate(content, 1):
        if not isinstance(value.get("pattern"), str):
            raise InputError(f"{where}rule {i}: the pattern has to be a text.")
        rules += _rules(value, f"{where}rule {i}")
    return _plan(name, rules, where)


def plan_text(plan: Plan) -> str:
    """A plan as a TOML file that `read_plan` reads again; the same text for the same plan."""
    tables = []
    for rule in plan.to_json():
        lines = (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in rule.items())
        tables.append("\n".join(["[[rule]]", *lines]) + "\n")
    return "\n".join(tables)


def _toml(path: Path) -> Json:
    with read_errors(path):
        if not path.exists():
            raise InputError(f"{path}: not found; a plan is a TOML file, or give a scheme's name (`list schemes`).")
        # Opening a pipe would wait for ever, and a device never ends.
        if not path.is_file():
            raise InputError(f"{path}: is not a file.")
        if path.stat().st_size > _LARGEST:
            raise InputError(f"{path}: {path.stat().st_size:,} bytes are too many for a plan.")
        data = path.read_bytes()
    try:
        # Editors of Windows put a byte order mark before the text.
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text ({error.reason} at byte {error.start}).") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not readable as TOML ({short(error, 200)}).") from error


def _plan(name: str, rules: list[Rule], where: str) -> Plan:
    if not rules:
        raise InputError(f"{where}has no rules; begin each with a line [[rule]].")
    if len(rules) > _MOST_RULES:
        raise InputError(f"{where}has {len(rules)} patterns; at most {_MOST_RULES}.")
    return Plan(name, tuple(rules))


def _rules(table: Mapping[str, object], where: str) -> Iterator[Rule]:
    """The rules of a table, one a pattern; they differ in nothing else."""
    if "pattern" not in table:
        raise InputError(f'{where}: has no pattern; for example pattern = "layers.*.attention.*".')
    patterns = table["pattern"] if isinstance(table["pattern"], list) else [table["pattern"]]
    if not patterns:
        raise InputError(f"{where}: its list of patterns is empty.")
    for pattern in patterns:
        if not isinstance(pattern, str) or not pattern.isprintable() or not 0 < len(pattern) <= _LONGEST_PATTERN:
            raise InputError(
                f"{where}: pattern {short(repr(pattern))} has to be a text of 1 to {_LONGEST_PATTERN} characters."
            )
        place = f"{where} ({short(pattern)}): "
        options = {key: value for key, value in table.items() if key not in _KEYS}
        yield Rule(pattern, *_scheme(table, options, place), place)


def _scheme(table: Mapping[str, object], options: Json, where: str) -> tuple[Scheme, Json]:
    """The scheme that a rule is about, with its options."""
    if ("skip" in table) == ("scheme" in table):
        raise InputError(f"{where}needs either a scheme or skip = true.")
    if "skip" in table:
        if table["skip"] is not True:
            raise InputError(f"{where}skip is {short(repr(table['skip']))}; it has to be true, or left out.")
        if options:
            raise unknown("key", next(iter(options)), ("pattern", "skip"), where)
        return SKIP, {}
    name = table["scheme"]
    if not isinstance(name, str):
        raise InputError(f'{where}scheme is {short(repr(name))}; it has to be a text, such as "int8".')
    try:
        found = find_scheme(name)
    except InputError as error:
        raise InputError(f"{where}{error}") from error
    for key, value in options.items():
        if key == "bits" and key not in found.options:
            raise InputError(f"{where}has bits, which the scheme's name says; choose from {', '.join(schemes())}.")
        if key not in found.options:
            raise unknown("key", key, (*_KEYS, *found.options), where)
        _check_option(key, value, found.options[key], where)
    return (found.configured(**options), options) if options else (found, {})


def _check_option(key: str, value: object, allowed: range, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value not in allowed:
        most = allowed[-1]
        raise InputError(f"{where}{key} is {short(repr(value))}; it has to be a number from {allowed[0]} to {most}.")
