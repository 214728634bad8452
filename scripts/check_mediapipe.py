"""Whether MediaPipe opens exported .tflite files and gives what our runner gives; see check_mediapipe.sh.

    .venv/bin/python scripts/check_mediapipe.py prepare FOLDER      exports models, with what is expected of them
    MEDIAPIPE/bin/python scripts/check_mediapipe.py compare FOLDER  opens them with MediaPipe and compares

The two run in environments of their own: MediaPipe needs another numpy than Core ML's tools.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

LENGTH = 64
# At int8 another version of the engine rounds activations otherwise.
LIMITS = {"fp32": 1e-5, "fp16": 1e-5, "int8": 1e-3}
TEXTS = (
    "The film was GOOD, not great!",
    "a very bad movie",
    "",
    "Naïve café, \N{LATIN CAPITAL LETTER E WITH ACUTE}tude: \N{LATIN CAPITAL LETTER U WITH DIAERESIS}bermut",
    "unknown zzqx " * 30,
)
# Literal special tokens are found whole by tokenizer.json; MediaPipe splits them.
SPECIAL = ("[CLS]", "[SEP]", "[MASK]", "[PAD]", "[UNK]")
# Above the ids, where the model that shows inputs puts mask and segment ids.
MASK, SEGMENT = 1 << 17, 1 << 18


def prepare(folder: Path) -> None:
    """Export models, and for each vocabulary a model that gives its inputs; write expected.json."""
    from export.pipeline import export
    from mobilekit.models.load import load

    classifier = load("tiny-classifier")
    several = load("tiny-classifier")
    several.name = "tiny-several"
    several.head = replace(several.head, problem_type="multi_label_classification")
    cases, inputs = [], []
    for model in (classifier, several, load("tiny-embedding"), load("minilm-l6")):
        for scheme in ("fp32", "fp16", "int8"):
            (result,) = export(model, "tflite", scheme, lengths=(LENGTH,), out=folder / "out", force=True)
            assert result.folder is not None
            cases.append(expected_outputs(result.folder))
        if model.name in ("tiny-embedding", "minilm-l6"):
            inputs.append(expected_inputs(model.tokenizer, folder / f"inputs-{model.name}.tflite"))
    (folder / "expected.json").write_text(json.dumps({"cases": cases, "inputs": inputs}))


def expected_outputs(folder: Path) -> dict[str, Any]:
    """What our runner gives for TEXTS in `plain` form."""
    from export.tflite.mediapipe import plain
    from mobilekit.runtimes.runner import open_artifact
    from mobilekit.text.tokenizer import TextTokenizer

    tokenizer = TextTokenizer((folder / "tokenizer.json").read_text(encoding="utf-8"), LENGTH)
    answers = []
    with open_artifact(folder) as runner:
        for text in TEXTS:
            outputs = runner(tokenizer.encode(text).ids)
            answers.append([plain(text), {name: values[0].tolist() for name, values in outputs.items()}])
        manifest = runner.artifact.manifest
        file = str(runner.artifact.model_path)
    return {"name": manifest.content["name"], "file": file, "labels": list(manifest.labels), "answers": answers}


def expected_inputs(tokenizer: Any, path: Path) -> dict[str, Any]:
    """A model whose embedding is what its inputs hold, and the ids that the tokenizer gives for mixed texts."""
    import numpy as np
    from ai_edge_litert import schema_py_generated as schema

    from export.tflite.builder import ModelBuilder
    from export.tflite.mediapipe import plain, shared_vocabulary
    from export.tflite.metadata import BUFFER_NAME, VOCABULARY, TaskMetadata, append_files, write_metadata
    from mobilekit.text.parity import parity_texts

    int32, shape = schema.TensorType.INT32, (1, 2 * LENGTH)
    builder = ModelBuilder()
    graph = builder.graph("inputs")
    total = graph.input("input_ids", shape, int32)
    for name, factor in (("attention_mask", MASK), ("token_type_ids", SEGMENT)):
        scale = graph.constant(np.array(factor, np.int32))
        scaled = graph.operator("MUL", [graph.input(name, shape, int32), scale], shape, int32)
        total = graph.operator("ADD", [total, scaled], shape, int32)
    types = {"inDataType": int32, "outDataType": schema.TensorType.FLOAT32}
    graph.output("embedding", graph.operator("CAST", [total], shape, **types))
    about = TaskMetadata("inputs", ("ids", "mask", "segment_ids"), ("embedding",))
    builder.metadata(BUFFER_NAME, write_metadata(about))
    path.write_bytes(builder.serialize())
    append_files(path, {VOCABULARY: "".join(f"{token}\n" for token in shared_vocabulary(tokenizer) or ()).encode()})
    texts = [text for text in parity_texts() if not any(token in text for token in SPECIAL)]
    ids = [tokenizer.encode(text, max_length=2 * LENGTH).ids.tolist() for text in texts]
    rows = [[text, plain(text), row] for text, row in zip(texts, ids, strict=True)]
    return {"name": path.stem, "file": str(path), "rows": rows}


def compare(folder: Path) -> int:
    """Open every file with MediaPipe; prints a line for each and returns how many differ."""
    import mediapipe

    expected = json.loads((folder / "expected.json").read_text())
    print(f"mediapipe {mediapipe.__version__}, largest difference to our runner on {len(TEXTS)} texts")
    wrong = 0
    for case in expected["cases"]:
        worst = largest_difference(case)
        limit = LIMITS[case["name"].rsplit("-", 1)[1]]
        wrong += worst > limit
        print(f"  {case['name']:<24} {worst:.1e}{'' if worst <= limit else f'  differs: limit {limit:.0e}'}")
    print("ids equal to tokenizer.json's: texts as they are, texts in plain form")
    for case in expected["inputs"]:
        raw, plain, ascii_raw, ascii_all = equal_ids(case)
        count = len(case["rows"])
        wrong += plain < count
        print(f"  {case['name']:<24} {raw} of {count} ({ascii_raw} of {ascii_all} in ASCII), {plain} of {count}")
    return wrong


def largest_difference(case: dict[str, Any]) -> float:
    """Of every score or value of every text; infinite where labels or heads are others."""
    import numpy as np
    from mediapipe.tasks.python import text as tasks

    worst = 0.0
    if case["labels"]:
        with tasks.TextClassifier.create_from_model_path(case["file"]) as task:
            for text, outputs in case["answers"]:
                heads = task.classify(text).classifications
                first = {category.category_name: category.score for category in heads[0].categories}
                if heads[0].head_name != "probabilities" or set(first) != set(case["labels"]):
                    return float("inf")
                pairs = zip(case["labels"], outputs["probabilities"], strict=True)
                worst = max(worst, *(abs(first[label] - value) for label, value in pairs))
        return worst
    with tasks.TextEmbedder.create_from_model_path(case["file"]) as task:
        for text, outputs in case["answers"]:
            got = np.asarray(task.embed(text).embeddings[0].embedding)
            worst = max(worst, float(np.abs(got - np.array(outputs["embedding"])).max()))
    return worst


def equal_ids(case: dict[str, Any]) -> tuple[int, int, int, int]:
    """How many texts have the expected inputs: as they are; in plain form; of those in ASCII as they are, and all."""
    import numpy as np
    from mediapipe.tasks.python import text as tasks

    with tasks.TextEmbedder.create_from_model_path(case["file"]) as task:

        def equal(text: str, ids: list[int]) -> bool:
            got = np.asarray(task.embed(text).embeddings[0].embedding).astype(np.int64)
            return bool(np.array_equal(got, [i + MASK for i in ids] + [0] * (2 * LENGTH - len(ids))))

        raw = [equal(text, ids) for text, _, ids in case["rows"]]
        plain = [equal(text, ids) for _, text, ids in case["rows"]]
    in_ascii = [same for same, (text, _, _) in zip(raw, case["rows"], strict=True) if text.isascii()]
    return sum(raw), sum(plain), sum(in_ascii), len(in_ascii)


if __name__ == "__main__":
    step, place = sys.argv[1], Path(sys.argv[2])
    if step == "prepare":
        prepare(place)
    elif differing := compare(place):
        raise SystemExit(f"error: {differing} of MediaPipe's answers differ from ours")
