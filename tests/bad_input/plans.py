"""Plans: what is wrong in a TOML file, and plans that do not fit the model or the target."""

from __future__ import annotations

import os
from pathlib import Path

from bad_input.arguments import line
from bad_input.case import Case, Place, Spoil, export
from bad_input.weights import about

INT8 = '[[rule]]\npattern = "*"\nscheme = "int8"\n'


def plan(text: str | bytes, *more: str, name: str = "p.toml") -> Spoil:
    """An export with a plan that holds this text."""

    def spoil(place: Place) -> list[str]:
        (place.root / name).write_bytes(text.encode() if isinstance(text, str) else text)
        return export("tiny-classifier", "--scheme", name, *more)

    return spoil


def rule(keys: str, *more: str, verb: str = "export", model: str = "tiny-classifier") -> Spoil:
    """A verb with a plan whose second rule has these keys."""

    def spoil(place: Place) -> list[str]:
        (place.root / "p.toml").write_text(f"{INT8}[[rule]]\n{keys}\n")
        if verb == "compress":
            return ["compress", "--model", model, "--scheme", "p.toml", "--out", "o", *more]
        return export(model, "--scheme", "p.toml", *more)

    return spoil


def _targets(keys: str, *targets: str) -> Spoil:
    def spoil(place: Place) -> list[str]:
        given = rule(keys)(place)
        del given[given.index("--target") : given.index("--target") + 2]
        return [*given, *targets]

    return spoil


def _pipe(place: Place) -> list[str]:
    os.mkfifo(place.root / "p.toml")
    return export("tiny-classifier", "--scheme", "p.toml")


def _folder(place: Place) -> list[str]:
    (place.root / "p.toml").mkdir()
    return export("tiny-classifier", "--scheme", "p.toml")


def _other_records(place: Place) -> list[str]:
    place.copy("records")
    (place.root / "p.toml").write_text(INT8)
    return export(Path("m"), "--scheme", "p.toml")


def _records_again(place: Place) -> list[str]:
    place.copy("records")
    return ["compress", "--model", "m", "--scheme", "int4", "--out", "o"]


def _artifact(place: Place) -> list[str]:
    return ["inspect", str(place.artifact()), "--plan", "int8"]


def _look(*more: str) -> Spoil:
    return line("inspect", "tiny-classifier", *more)


def _rows(*more: str, text: str = "text,label\na,positive\nb,negative\n") -> Spoil:
    def spoil(place: Place) -> list[str]:
        (place.root / "rows.csv").write_text(text)
        return ["inspect", "tiny-classifier", "--sensitivity", "--data", "rows.csv", *more]

    return spoil


CASES = (
    Case("plan missing", line("export", "--scheme", "no.toml"), "no.toml: not found; a plan is a TOML file, or give a"),
    Case("plan missing to compress", line("compress", "--scheme", "no.toml", "--out", "o"), "no.toml: not found"),
    Case("plan with a NUL", line("export", "--scheme", "a\0.toml"), "cannot be read|is no|not found"),
    Case("plan that is a pipe", _pipe, "p.toml: is not a file"),
    Case("plan that is a folder", _folder, "p.toml: is not a file"),
    Case("plan empty", plan(""), r"p.toml: has no rules; begin each with a line \[\[rule\]\]"),
    Case("plan that is no TOML", plan("rules:\n  - pattern: x"), "p.toml: not readable as TOML"),
    Case("plan of bytes", plan(bytes(range(256))), "p.toml: not UTF-8 text"),
    Case("plan of 2 MB", plan("#" * 2**21), "p.toml: 2,097,152 bytes are too many for a plan"),
    Case("plan with another table", plan("[[rules]]\n"), "p.toml: key 'rules' is unknown; did you mean 'rule'"),
    Case("plan called as a scheme", plan(INT8, name="int8.toml"), "int8.toml: 'int8' is the name of a scheme; call"),
    Case("plan with a name of spaces", plan(INT8, name="my plan.toml"), "my plan.toml: a plan is called as its file"),
    Case(
        "rule with an unknown key",
        rule('pattern = "head.*"\nscheme = "int8"\ngruop = 3'),
        r"p.toml: rule 2 \(head.\*\): key 'gruop' is unknown; choose from pattern, scheme, skip",
    ),
    Case(
        "rule without a scheme", rule('pattern = "*"'), r"p.toml: rule 2 \(\*\): needs either a scheme or skip = true"
    ),
    Case("rule without a pattern", rule('scheme = "int8"'), "p.toml: rule 2: has no pattern; for example pattern"),
    Case(
        "rule with a pattern of the wrong type", rule('pattern = 3\nscheme = "int8"'), "rule 2: pattern 3 has to be a"
    ),
    Case(
        "rule with a scheme of the wrong type", rule('pattern = "*"\nscheme = 8'), r"rule 2 \(\*\): scheme is 8; it has"
    ),
    Case(
        "rule with an unknown scheme",
        rule('pattern = "*"\nscheme = "int5"'),
        r"p.toml: rule 2 \(\*\): scheme 'int5' is unknown; did you mean 'int8'",
    ),
    Case(
        "rule with bits out of range",
        rule('pattern = "*"\nscheme = "int4"\nbits = 9'),
        r"p.toml: rule 2 \(\*\): has bits, which the scheme's name says; choose from",
    ),
    Case(
        "rule with too many groups",
        rule('pattern = "*"\nscheme = "pal4"\ngroups = 99'),
        r"p.toml: rule 2 \(\*\): groups is 99; it has to be a number from 1 to 64",
    ),
    Case(
        "rule with groups that do not divide",
        rule('pattern = "head.*"\nscheme = "pal4"\ngroups = 3'),
        r"head.\S+.weight: 3 groups do not divide its \d+ rows; choose a divisor",
    ),
    Case(
        "rule with too many outliers",
        rule('pattern = "*"\nscheme = "pal2"\noutliers = 51'),
        r"p.toml: rule 2 \(\*\): outliers is 51; it has to be a number from 1 to 50",
    ),
    Case(
        "rule with no outliers",
        rule('pattern = "*"\nscheme = "pal2"\noutliers = 0'),
        r"p.toml: rule 2 \(\*\): outliers is 0; it has to be a number from 1 to 50",
    ),
    Case(
        "rule with outliers at 4 bits",
        rule('pattern = "*"\nscheme = "pal4"\noutliers = 5'),
        r"p.toml: rule 2 \(\*\): key 'outliers' is unknown; .*groups",
    ),
    Case(
        "rule with outliers for Core ML",
        _targets('pattern = "head.*"\nscheme = "pal2"\noutliers = 5', "--target", "coreml"),
        r"p.toml: rule 2 \(head.\*\): target 'coreml' cannot hold outliers of scheme 'pal2' \(.*\); leave outliers out",
    ),
    Case("rule that skips a little", rule('pattern = "*"\nskip = "yes"'), "skip is 'yes'; it has to be true, or left"),
    Case(
        "pattern that matches nothing",
        rule('pattern = "layers.*.atention.query"\nscheme = "int4"'),
        r"p.toml: rule 2 \(layers.*query\): 'layers.*' matches no tensor; near names: layers\.\*\.attention\.query",
    ),
    Case(
        "pattern that matches nothing to compress",
        rule('pattern = "zzz"\nskip = true', verb="compress"),
        r"p.toml: rule 2 \(zzz\): 'zzz' matches no tensor; there are embeddings",
    ),
    Case(
        "pattern of a shared layer",
        rule('pattern = "layers.3.*"\nskip = true', model="tiny-shared"),
        r"rule 2 \(layers.3.\*\): 'layers.3.\*' matches no tensor; ",
    ),
    Case(
        "pattern of floats with codes",
        rule('pattern = "*.norm"\nscheme = "int4"'),
        r"rule 2 \(\*.norm\): '\*.norm' matches no weight that 'int4' compresses: norms",
    ),
    Case(
        "rule that a target cannot hold",
        rule('pattern = "head.*"\nscheme = "int4-g32"'),
        r"p.toml: rule 2 \(head.\*\): target 'tflite' cannot hold scheme 'int4-g32' \(groups .* fp32 there\); it can",
    ),
    Case(
        "rule that ExecuTorch cannot hold",
        _targets('pattern = "*.bias"\nscheme = "fp16"', "--target", "executorch"),
        r"p.toml: rule 2 \(\*.bias\): target 'executorch' cannot hold scheme 'fp16' \(",
    ),
    Case(
        "rule for old systems",
        _targets('pattern = "head.*"\nscheme = "int4"', "--target", "coreml", "--minimum-ios", "16"),
        r"p.toml: rule 2 \(head.\*\): scheme 'int4' needs iOS 18 on Core ML; give --minimum-ios 18, or one that iOS 16",
    ),
    Case(
        "groups for old systems",
        _targets('pattern = "layers.*"\nscheme = "pal4"\ngroups = 2', "--target", "coreml", "--minimum-ios", "16"),
        r"rule 2 \(layers.\*\): scheme 'pal4' with groups needs iOS 18 on Core ML; give --minimum-ios 18, or leave",
    ),
    Case("records compressed again", _records_again, "m: holds records, and its weights are the compressed ones; give"),
    Case(
        "calibration for a plan of floats",
        plan('[[rule]]\npattern = "*"\nskip = true\n', "--calibration", "no.txt"),
        "--calibration: plan 'p' looks at no text; leave it out",
    ),
    Case("unknown scheme to look at", line("inspect", "tiny-classifier", "--plan", "int5"), "scheme 'int5' is unknown"),
    Case(
        "plan to look at missing", line("inspect", "tiny-classifier", "--plan", "no.toml"), "no.toml: not found; a plan"
    ),
    Case(
        "calibration of nothing", line("inspect", "tiny-classifier", "--calibration", "a"), "is for --plan and --sens"
    ),
    Case(
        "calibration for floats to look at",
        line("inspect", "tiny-classifier", "--plan", "fp16", "--calibration", "a"),
        "--calibration: scheme 'fp16' looks at no text",
    ),
    Case("plan for an artifact", _artifact, "a: is an artifact; --plan and --sensitivity are for", True),
    Case(
        "sensitivity without data", _look("--sensitivity"), "--sensitivity measures on data: give --data, for example"
    ),
    Case("sensitivity of no such data", _look("--sensitivity", "--data", "no.csv"), "no.csv: not found"),
    Case(
        "sensitivity to an unknown scheme",
        _look("--sensitivity", "--data", "no.csv", "--scheme", "int5"),
        "scheme 'int5' is unknown; did you mean 'int8'",
    ),
    Case(
        "sensitivity on no rows",
        _look("--sensitivity", "--data", "no.csv", "--limit", "0"),
        "--limit 0: expected a number of rows >= 1; leave it out",
    ),
    Case(
        "sensitivity without room for text",
        _rows("--length", "2"),
        "length is 2; 2 ids that are special .*leave no room for text: give --length 3 or more",
    ),
    Case("sensitivity on other labels", _rows(text="text,label\na,x\n"), "'x'.*negative, positive"),
    Case("sensitivity on another column", _rows("--label-column", "stars"), "'stars'"),
    Case("sensitivity over what is there", _rows("--out", "."), "'.': the output needs a folder of its own name"),
    Case("force without an output", _rows("--force"), "--force is for --out; leave it out"),
    Case(
        "plan and sensitivity", _look("--plan", "int8", "--sensitivity"), "--plan shows one plan, --sensitivity tries"
    ),
    Case("data without sensitivity", _look("--data", "a.csv"), "--data is for --sensitivity; leave it out"),
    Case("schemes without sensitivity", _look("--scheme", "int8"), "--scheme is for --sensitivity; leave it out"),
    Case("column without sensitivity", _look("--text-column", "a"), "--text-column is for --sensitivity; leave it"),
    Case("records of a scheme for a plan", _other_records, "m: holds records of scheme 'int8'; export it with that"),
    Case(
        "records with a plan that is none",
        about(lambda v: v.update(plan=[3])),
        "m/records.safetensors: its plan: a plan has to be a list of rules; compr",
    ),
    Case(
        "records with a plan of unknown schemes",
        about(lambda v: v.update(scheme="x", plan=[{"pattern": "*", "scheme": "int9"}])),
        r"m/records.safetensors: its plan: rule 1 \(\*\): scheme 'int9' is unknown.*; compress again",
    ),
    Case(
        "records whose scheme and plan differ",
        about(lambda v: v.update(plan=[{"pattern": "*", "skip": True}])),
        "m/records.safetensors: its scheme and its plan contradict each other; compress again",
    ),
)
