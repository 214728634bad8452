"""What can be wrong on the command line alone, with what is there."""

from __future__ import annotations

import os
from pathlib import Path

from bad_input.case import Case, Place, Spoil, export


def line(*arguments: str) -> Spoil:
    """A command line that needs nothing."""
    return lambda place: list(arguments)


def tiny(*more: str) -> Spoil:
    """An export of a small built-in model with options."""
    return lambda place: ["export", "--model", "tiny-classifier", *more]


def folder_with(*more: str) -> Spoil:
    """An export of a good folder with options."""
    return lambda place: export(place.model(), *more)


def _file_as_out(place: Place) -> list[str]:
    (place.root / "out").write_text("x")
    return export("tiny-classifier", "--out", "out/below")


def _file_among_artifacts(place: Place) -> list[str]:
    (place.root / "out").mkdir()
    (place.root / "out" / "tiny-classifier-int8").write_text("x")
    return export("tiny-classifier")


def _link(name: str, *arguments: str) -> Spoil:
    def spoil(place: Place) -> list[str]:
        (place.root / "real").mkdir()
        (place.root / "real" / "precious").write_text("x")
        link = place.root / name
        link.parent.mkdir(parents=True, exist_ok=True)
        os.symlink(place.root / "real", link)
        return list(arguments)

    return spoil


def _existing(place: Place) -> list[str]:
    (place.root / "out" / "tiny-classifier-int8" / "tflite").mkdir(parents=True)
    return export("tiny-classifier")


def _foreign(name: str, *arguments: str) -> Spoil:
    def spoil(place: Place) -> list[str]:
        (place.root / name).mkdir(parents=True)
        (place.root / name / "thesis").write_text("x")
        return list(arguments)

    return spoil


def _compress_onto_itself(place: Place) -> list[str]:
    place.copy("records")
    return ["compress", "--model", "m", "--out", "m", "--force"]


def _compress_onto_parent(place: Place) -> list[str]:
    place.copy("records")
    place.copy("tiny-classifier", "m/inner")
    return ["compress", "--model", "m/inner", "--out", "m", "--force"]


def _calibration(name: str, content: str, given: str = "") -> Spoil:
    def spoil(place: Place) -> list[str]:
        (place.root / name).write_text(content)
        return export("tiny-classifier", "--calibration", given or name)

    return spoil


def _calibrated_records(place: Place) -> list[str]:
    place.copy("records")
    (place.root / "a.txt").write_text("some text\n")
    return export("m", "--calibration", "a.txt")


def _model_file(place: Place) -> list[str]:
    return export(Path(place.model(), "config.json"))


_NAME_RULE = r"use letters, digits, '.', '_' and '-' only, such as 'model'"
_ON_TINY = ("compress", "--model", "tiny-classifier", "--out")

CASES = (
    # Names.
    Case("unknown verb", line("exprot"), "verb 'exprot' is unknown; did you mean 'export'"),
    Case("verb of only spaces", line(" "), "verb ' ' is unknown; choose from export, check"),
    Case("unknown target", tiny("--target", "corml"), "target 'corml' is unknown; did you mean 'coreml'"),
    Case("target in capitals", tiny("--target", "TFLite"), "'TFLite' is unknown; did you mean 'tflite'"),
    Case("targets with a comma", tiny("--target", "tflite,coreml"), "did you mean 'tflite'"),
    Case("empty target", tiny("--target", ""), "target '' is unknown; choose from coreml, executorch, tflite"),
    Case("unknown scheme", tiny("--scheme", "int9"), "scheme 'int9' is unknown; did you mean 'int8'"),
    Case("scheme in capitals", tiny("--scheme", "FP32"), "scheme 'FP32' is unknown; did you mean 'fp32'"),
    Case(
        "int4 for old systems",
        tiny("--target", "coreml", "--scheme", "int4", "--minimum-ios", "17"),
        "scheme 'int4' needs iOS 18 on Core ML; give --minimum-ios 18, or one that iOS 17 has: fp32, fp16, int8",
    ),
    Case(
        "groups on TFLite",
        tiny("--target", "tflite", "--scheme", "int4-g32"),
        r"'tflite' cannot hold scheme 'int4-g32' \(groups .* fp32 there\); it can hold fp32, fp16, int8, int8-",
    ),
    Case(
        "fixed scales of activations for old systems",
        tiny("--target", "coreml", "--scheme", "int8-static", "--minimum-ios", "16"),
        "scheme 'int8-static' needs iOS 17 on Core ML; give --minimum-ios 17, or one that iOS 16 has: fp32, fp16, int8",
    ),
    # Calibration text.
    Case(
        "calibration file missing",
        tiny("--scheme", "int4", "--calibration", "no.txt"),
        "--calibration no.txt: not found",
    ),
    Case(
        "calibration for floats", tiny("--scheme", "fp16", "--calibration", "no.txt"), "'fp16' looks at no text; leave"
    ),
    Case("calibration file of no known kind", _calibration("a.docx", "x"), "--calibration a.docx: the kind of file"),
    Case("calibration file empty", _calibration("a.txt", ""), "--calibration a.txt: is empty"),
    Case("calibration file of spaces", _calibration("a.txt", "  \n \n"), "--calibration a.txt: has no rows"),
    Case(
        "calibration texts empty",
        _calibration("a.csv", "text\n  \n \n"),
        "the calibration text is empty; give some lines",
    ),
    Case(
        "unknown calibration data", _calibration("a.csv", "text\n", "movie-sentimant"), "did you mean 'movie-sentiment'"
    ),
    Case(
        "calibration of records", _calibrated_records, "m: its records are taken as they are; leave out the calibration"
    ),
    Case("unknown scheme to compress", line(*_ON_TINY, "o", "--scheme", "int9"), "did you mean 'int8'"),
    Case("unknown model", line("export", "--model", "minilm"), "model 'minilm' is unknown; did you mean 'minilm-l6'"),
    Case("unknown model to inspect", line("inspect", "tiny-clasifier"), "did you mean 'tiny-classifier'"),
    Case("unknown task", tiny("--task", "sentence-embeding"), "task .* is unknown; did you mean 'sentence-embedding'"),
    Case("unknown list", line("list", "model"), "list 'model' is unknown; did you mean 'models'"),
    Case("unknown option", line("export", "--nothing"), "No such option '--nothing'"),
    Case(
        "name of 100,000 characters", line("inspect", "x" * 100_000), r"x\.\.\.x.*: cannot be read: File name too long"
    ),
    Case("scheme of 100,000 characters", tiny("--scheme", "x" * 100_000), r"x\.\.\.x+' is unknown; choose from fp32"),
    Case("two verbs", line("export", "run"), r"Got unexpected extra argument \(run\)"),
    Case("no argument", line("check"), "Missing argument 'ARTIFACT'"),
    Case("two artifacts", line("check", "a", "b"), r"unexpected extra argument \(b\)"),
    Case("no text", line("run", "a"), 'no text given; for example: mobilekit run ARTIFACT "some text"'),
    # Models that are none.
    Case("folder missing", line("export", "--model", "./missing"), "missing: no such folder"),
    Case("model with an empty name", line("export", "--model", ""), "no model given: its name is empty; give a"),
    Case("nothing to inspect", line("inspect", ""), "no model given: its name is empty; give a"),
    Case("file as model", _model_file, "config.json: is a file; a model is a folder with config.json and"),
    Case("device as model", line("export", "--model", "/dev/null"), "/dev/null: is a file; a model is a folder"),
    Case(
        "address as model", line("inspect", "https://hub/a/b"), "is an address; give the hub id alone, such as owner/"
    ),
    Case("hub id that cannot be one", line("inspect", "a/--b"), "'a/--b' is neither a folder nor a hub id"),
    Case("model with a NUL", line("inspect", "a\0b"), r"model 'a\?b' is unknown; choose from"),
    # Lengths.
    Case("length 0", tiny("--lengths", "0"), "length 0 is outside 5 to 4096; for example --lengths 32,128"),
    Case("negative length", tiny("--lengths", "-4"), "length -4 is outside 5 to"),
    Case("length that is no number", tiny("--lengths", "many"), "--lengths 'many': expected numbers with commas"),
    Case("length with a fraction", tiny("--lengths", "16.5"), "--lengths '16.5': expected numbers with commas"),
    Case("lengths with a semicolon", tiny("--lengths", "32;128"), "--lengths '32;128': expected numbers"),
    Case("no lengths", tiny("--lengths", ""), "--lengths '': expected numbers with commas between, such as 32,128"),
    Case("comma behind a length", tiny("--lengths", "16,"), "--lengths '16,': expected numbers"),
    Case("digits of another script", tiny("--lengths", "١٦"), "--lengths '١٦': expected numbers"),
    Case("length beyond the position table", tiny("--lengths", "129"), "129 is outside 5 to 128, the model's position"),
    Case("length of 31 digits", tiny("--lengths", "1" + "0" * 30), "length 10{30} is outside 5 to"),
    Case("length of 5,000 digits", tiny("--lengths", "9" * 5000), r"--lengths '9+\.\.\.9+': expected numbers"),
    Case("length given twice", tiny("--lengths", "16,32,16"), r"length 16 is given twice \(--lengths\); give it once"),
    Case(
        "too many lengths", tiny("--lengths", ",".join(map(str, range(5, 99)))), "94 lengths are too many .* at most 64"
    ),
    # Options that contradict each other, or what they are given with.
    Case(
        "revision of a folder", folder_with("--revision", "main"), "'main' is for hub ids; 'm' is a folder: leave --rev"
    ),
    Case(
        "revision of a built-in",
        tiny("--revision", "v1"),
        "'tiny-classifier' is a built-in model: leave --revision out",
    ),
    Case(
        "task of a built-in",
        tiny("--task", "fill-mask"),
        "is a sequence-classification model; it has no fill-mask head",
    ),
    Case(
        "task of a folder", folder_with("--task", "fill-mask"), "m: is a sequence-classification model; it has no fill-"
    ),
    Case(
        "iOS without Core ML",
        tiny("--target", "tflite", "--minimum-ios", "17"),
        "--minimum-ios is for target coreml, no",
    ),
    Case("iOS of long ago", tiny("--minimum-ios", "12"), "--minimum-ios 12 is unknown; choose from 16, 17, 18"),
    Case("iOS of letters", tiny("--minimum-ios", "new"), "'--minimum-ios': 'new' is not a valid integer"),
    Case(
        "scheme that a target cannot hold",
        tiny("--target", "executorch", "--scheme", "fp16"),
        r"target 'executorch' cannot hold scheme 'fp16' \(ExecuTorch keeps GELU .* float16\); it can hold fp32, int8",
    ),
    Case("empty name", tiny("--name", ""), f"--name '': {_NAME_RULE}"),
    Case("name with a slash", tiny("--name", "a/b"), "--name 'a/b': use letters, digits, .* such as 'a-b'"),
    Case("name that is a parent", tiny("--name", ".."), f"--name '..': {_NAME_RULE}"),
    Case("name too long", tiny("--name", "x" * 300), r"name 'x+\.\.\.' has 300 characters; at most 120 \(--name\)"),
    # Output.
    Case("empty output", tiny("--out", ""), "--out: '' is no folder's name"),
    Case("output with a NUL", tiny("--out", "a\0b"), r"--out: 'a\\x00b' is no folder's name"),
    Case(
        "output with too long a name", tiny("--out", "x" * 300), "x+: cannot be written: a name in the path is too long"
    ),
    Case("output below a file", _file_as_out, "out/below: cannot be written: out is a file; choose another --out"),
    Case("file among the artifacts", _file_among_artifacts, "tiny-classifier-int8 is a file; choose another --out"),
    Case("output not writable", tiny("--target", "tflite", "--out", "/proc/x"), "/proc/x.* choose another --out"),
    Case("artifact there already", _existing, "out/tiny-classifier-int8/tflite: exists already; --force replaces it"),
    Case(
        "foreign folder for an artifact",
        _foreign("out/tiny-classifier-int8/tflite", *export("tiny-classifier", "--force")),
        "tflite: has no manifest.json, so mobilekit did not write it, and --force does not replace it; remove it, or",
    ),
    Case(
        "link for an artifact",
        _link("out/tiny-classifier-int8/tflite", *export("tiny-classifier", "--force")),
        "tflite: is a link; remove it, or choose another output folder",
    ),
    Case("no output", line("compress", "--model", "tiny-classifier"), "Missing option '--out'"),
    Case("current folder as output", line(*_ON_TINY, "."), "'.': the output needs a folder of its own name"),
    Case("root as output", line(*_ON_TINY, "/", "--force"), "'/': the output needs a folder of its own name"),
    Case("parent as output", line(*_ON_TINY, "..", "--force"), "'..': the output needs a folder of its own name"),
    Case("records there already", _foreign("o", *_ON_TINY, "o"), "o: exists already; --force replaces it"),
    Case(
        "foreign folder for records", _foreign("o", *_ON_TINY, "o", "--force"), "o: has no records.safetensors, so mob"
    ),
    Case("link for records", _link("o", *_ON_TINY, "o", "--force"), "o: is a link; remove it, or choose another"),
    Case("output in /proc", line(*_ON_TINY, "/proc/x"), "/proc/x: cannot be written"),
    Case("model would replace itself", _compress_onto_itself, "m: holds the model itself, which would be lost; choose"),
    Case("model would be swept away", _compress_onto_parent, "m: holds the model itself, which would be lost; choose"),
)
