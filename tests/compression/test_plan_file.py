from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mobilekit.compression.plan import SKIP
from mobilekit.compression.plan_file import plan_from_json, plan_text, read_plan
from mobilekit.compression.schemes import registry
from mobilekit.compression.schemes.registry import scheme
from mobilekit.errors import InputError

DOCUMENT = Path(__file__).parents[2] / "docs" / "compression.md"
GOOD = """
# Of most tensors.
[[rule]]
pattern = "*"
scheme = "int8"

[[rule]]
pattern = ["embeddings.token", "layers.*.ffn.*"]
scheme = "int4"

[[rule]]
pattern = "head.*"
skip = true
"""


def written(folder: Path, text: str | bytes, name: str = "mine.toml") -> Path:
    file = folder / name
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def test_rules_are_read_in_order_one_a_pattern(tmp_path: Path) -> None:
    plan = read_plan(written(tmp_path, GOOD))
    assert plan.name == "mine" and not plan.is_ready
    assert plan.to_json() == [
        {"pattern": "*", "scheme": "int8"},
        {"pattern": "embeddings.token", "scheme": "int4"},
        {"pattern": "layers.*.ffn.*", "scheme": "int4"},
        {"pattern": "head.*", "skip": True},
    ]
    assert plan.rules[2].where.endswith("mine.toml: rule 2 (layers.*.ffn.*): ")
    assert plan.rules[3].scheme is SKIP


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    marked = read_plan(written(tmp_path, b"\xef\xbb\xbf" + GOOD.encode()))
    assert plan_text(marked) == plan_text(read_plan(written(tmp_path, GOOD)))


def test_canonical_text_is_read_again(tmp_path: Path) -> None:
    plan = read_plan(written(tmp_path, GOOD + '[[rule]]\npattern = "a\\"\\\\b é"\nskip = true\n'))
    again = read_plan(written(tmp_path, plan_text(plan), "other.toml"))
    assert again.to_json() == plan.to_json() and plan_text(again) == plan_text(plan)
    assert plan_from_json("mine", plan.to_json(), "").to_json() == plan.to_json()


def test_options_are_those_of_the_scheme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = replace(
        scheme("int4"), options={"groups": range(1, 9)}, configure=lambda groups: replace(scheme("int4"), smooth=groups)
    )
    monkeypatch.setattr(registry, "schemes", lambda: {"int4": made})
    rule = '[[rule]]\npattern = "*"\nscheme = "int4"\n'
    plan = read_plan(written(tmp_path, rule + "groups = 4"))
    assert plan.rules[0].scheme.smooth == 4 and plan.to_json() == [{"pattern": "*", "scheme": "int4", "groups": 4}]
    assert read_plan(written(tmp_path, plan_text(plan))).to_json() == plan.to_json()
    for value in ("0", "9", '"4"', "4.0", "true", "[4]", "99999999999999999999"):
        with pytest.raises(InputError, match=r"rule 1 \(\*\): groups is .*; it has to be a number from 1 to 8"):
            read_plan(written(tmp_path, rule + f"groups = {value}"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "mine.toml: has no rules; begin each"),
        ("rule = []", "has no rules"),
        ("rule = 3", r"'rule' has to be a list of tables; begin each rule with a line \[\[rule\]\]"),
        ("rule = [3]", "'rule' has to be a list of tables"),
        ("[rule]\npattern = '*'", "'rule' has to be a list of tables"),
        ("[[rules]]\npattern = '*'", "key 'rules' is unknown; did you mean 'rule'"),
        ("scheme = 'int8'", "key 'scheme' is unknown; choose from rule"),
        ("[[rule]]\nscheme = 'int8'", "rule 1: has no pattern; for example"),
        ("[[rule]]\npattern = 3\nscheme = 'int8'", "rule 1: pattern 3 has to be a text"),
        ("[[rule]]\npattern = ''\nscheme = 'int8'", "rule 1: pattern '' has to be a text of 1 to 200"),
        ("[[rule]]\npattern = []\nscheme = 'int8'", "rule 1: its list of patterns is empty"),
        ("[[rule]]\npattern = ['*', 3]\nscheme = 'int8'", "rule 1: pattern 3 has to be"),
        ("[[rule]]\npattern = \"a\\nb\"\nscheme = 'int8'", "rule 1: pattern .* has to be"),
        ("[[rule]]\npattern = '*'", r"rule 1 \(\*\): needs either a scheme or skip = true"),
        ("[[rule]]\npattern = '*'\nscheme = 'int8'\nskip = true", r"rule 1 \(\*\): needs either a scheme or skip"),
        ("[[rule]]\npattern = '*'\nskip = false", r"rule 1 \(\*\): skip is False; it has to be true, or left out"),
        ("[[rule]]\npattern = '*'\nskip = 1", "skip is 1; it has to be true"),
        ("[[rule]]\npattern = '*'\nskip = true\ngroups = 2", "key 'groups' is unknown; choose from pattern, skip"),
        ("[[rule]]\npattern = '*'\nscheme = 8", r"rule 1 \(\*\): scheme is 8; it has to be a text, such as \"int8\""),
        ("[[rule]]\npattern = '*'\nscheme = 'int5'", r"rule 1 \(\*\): scheme 'int5' is unknown; did you mean 'int8'"),
        ("[[rule]]\npattern = '*'\nscheme = 'skip'", r"rule 1 \(\*\): scheme 'skip' is unknown"),
        (
            "[[rule]]\npattern = '*'\nscheme = 'int8'\nbits = 3",
            r"rule 1 \(\*\): has bits, which the scheme's name says",
        ),
        ("[[rule]]\npattern = '*'\nschem = 'int8'", r"needs either a scheme or skip"),
        ("[[rule]]\npattern = '*'\nscheme = 'int8'\ngroup = 3", r"rule 1 \(\*\): key 'group' is unknown; choose from"),
        ("[[rule]\n", "mine.toml: not readable as TOML"),
        ("a = " + "[" * 5000, "not readable as TOML"),
        (b"\xff\xfe", "not UTF-8 text"),
        ("#" * (2**20 + 1), "bytes are too many for a plan"),
        ("[[rule]]\npattern = '*'\nscheme = 'int8'\n" * 1025, "has 1025 patterns; at most 1024"),
    ],
)
def test_what_is_wrong_in_a_file_is_one_line(text: str | bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_plan(written(tmp_path, text))
    assert str(caught.value).startswith(f"{tmp_path}/mine.toml: ")
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500 + len(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("int8.toml", "'int8' is the name of a scheme; call the file otherwise"),
        ("INT8.toml", "'INT8' is the name of a scheme"),
        ("skip.toml", "'skip' is the name of a scheme"),
        ("my plan.toml", "a plan is called as its file is"),
        (".toml", "a plan is called as its file is"),
        ("x" * 61 + ".toml", "a plan is called as its file is"),
    ],
)
def test_names_that_folders_cannot_have_are_refused(name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read_plan(written(tmp_path, GOOD, name))


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.toml").mkdir()
    for name, message in (("folder.toml", "is not a file"), ("no.toml", "not found; a plan is a TOML file, or give")):
        with pytest.raises(InputError, match=message):
            read_plan(tmp_path / name)


@pytest.mark.parametrize(
    "content",
    [None, 3, [], [3], [{}], [{"pattern": ["*"], "scheme": "int8"}], [{"pattern": "*", "scheme": "int9"}], {"a": 1}],
)
def test_values_that_are_no_plan_are_refused(content: object) -> None:
    with pytest.raises(InputError, match="^m: "):
        plan_from_json("p", content, "m: ")


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["*", "int8", "fp16"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["pattern", "scheme", "skip", "bits", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(content=_VALUES)
def test_any_values_are_a_plan_or_one_error(content: object) -> None:
    try:
        plan = plan_from_json("p", content, "m: ")
    except InputError as error:
        assert str(error).startswith("m: ") and str(error).isprintable() and len(str(error)) < 400
    else:
        assert plan_from_json("p", plan.to_json(), "m: ").to_json() == plan.to_json()


def test_the_documents_example_is_a_plan(tmp_path: Path) -> None:
    examples = re.findall(r"```toml\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert examples
    for text in examples:
        assert read_plan(written(tmp_path, text)).rules
