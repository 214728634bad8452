"""Write a compressed model as an `.mlpackage`."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

from export.coreml.engine import import_coremltools
from export.graph import input_names
from export.registry import Emission, GraphSpec, Progress
from mobilekit.compression.compressed import CompressedModel
from mobilekit.errors import InputError

MACOS = {16: "13", 17: "14", 18: "15"}
_DESCRIPTIONS = {
    "sentence-embedding": "Text encoder: token ids to a sentence embedding.",
    "sequence-classification": "Text classifier: token ids to logits, before softmax or sigmoid.",
    "token-classification": "Token classifier: token ids to logits for every token, before softmax.",
    "question-answering": "Question answering: token ids to start and end logits for every token, before softmax.",
    "fill-mask": "Masked language model: token ids to logits over the vocabulary for one token, before softmax.",
}


def emit(model: CompressedModel, spec: GraphSpec, path: Path, progress: Progress) -> Emission:
    """Write `model` as an ML program to `path`, a new folder; needs coremltools, so it runs in the worker process.

    From iOS 18 on each of several lengths is a function of its own ("len_32", ...; the longest is the default)
    with fixed shapes, which suit the Neural Engine; all share one weight file. Before, several lengths are shapes
    of the one input "input_ids" of "main". Raises InputError for a `minimum_ios` that is not 16, 17 or 18, and
    EngineError when the converter has changed a weight, so that its record can't be written.
    """
    if spec.minimum_ios not in MACOS:
        raise InputError(f"minimum iOS {spec.minimum_ios} is not supported by Core ML export; choose 16, 17 or 18.")
    progress("loading coremltools")
    import_coremltools()
    from export.coreml.convert import Converter
    from export.coreml.package import PackageWriter

    converter, writer = Converter(model, spec.minimum_ios), PackageWriter()
    several = len(spec.lengths) > 1
    names = input_names(model)
    entries = dict.fromkeys(spec.lengths, "main")
    if several and spec.minimum_ios < 18:
        progress("converting all lengths")
        names = ("input_ids",)
        with converter.enumerated(spec.lengths) as converted:
            writer.add_only(converted.model, converted.folder)
    elif several:
        entries = {length: f"len_{length}" for length in spec.lengths}
        for length, entry in entries.items():
            progress(f"converting length {length}")
            with converter.fixed(length) as converted:
                writer.add_function(entry, converted.model, converted.folder)
    else:
        progress(f"converting length {spec.lengths[0]}")
        with converter.fixed(spec.lengths[0]) as converted:
            writer.add_only(converted.model, converted.folder)
    progress("writing")
    writer.write(path, _DESCRIPTIONS[model.head.task], _metadata(model, spec))
    system = {"ios": str(spec.minimum_ios), "macos": MACOS[spec.minimum_ios]}
    # Core ML 6 came with iOS 16, then one a year; Model.proto lists them with the specification that each reads.
    return Emission(entries, names, "Core ML", str(spec.minimum_ios - 10), system)


def _metadata(model: CompressedModel, spec: GraphSpec) -> dict[str, str]:
    metadata = dict(spec.metadata)
    if model.head.labels:
        metadata["labels"] = json.dumps(model.head.labels, ensure_ascii=False)
    # coremltools' own keys, without its date and the build of torch, so that the bytes depend on neither.
    metadata["com.github.apple.coremltools.version"] = version("coremltools")
    metadata["com.github.apple.coremltools.source"] = f"torch=={version('torch').split('+')[0]}"
    return metadata
