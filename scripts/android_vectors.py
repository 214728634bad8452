"""Real artifacts for the Android demo's tests, and what mobilekit answers with them; `make test-android` runs it.

    PYTHONPATH=. .venv/bin/python scripts/android_vectors.py FOLDER [--built-in]

Writes FOLDER/models: for each of several models `NAME/artifact`, exported to TFLite, and `NAME/expected.json`: for each
text its inputs as the engine gets them, the output and the answer. Every head is among them, and every scheme that the
target holds; models are tiny and have random weights, but for the built-in one at int8, or with --built-in at every
scheme (some ten minutes). Does nothing when none of it can have changed.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mobilekit.decoding.item import Item

ROOT = Path(__file__).resolve().parent.parent
TARGET = "tflite"
# Of each model; the built-in one shows its schemes, not its answers.
TEXTS, BUILT_IN_TEXTS = 200, 20
# What decides what is written.
SOURCES = ("export", "mobilekit", "benchmarks/matrix_models.py", "scripts/android_vectors.py", "requirements.lock")


@dataclass(frozen=True)
class Case:
    """A model and a scheme. changes: of the model's configuration, called `variant`; family: None for the built-in."""

    family: str | None
    task: str
    scheme: str = "int8"
    variant: str = ""
    changes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Of its folder."""
        parts = (self.family or "minilm-l6", self.task, self.variant, self.scheme)
        return "-".join(part for part in parts if part)


def cases(built_in: bool) -> Iterator[Case]:
    """Each head, each kind of tokenizer, each way to read logits, each scheme."""
    from export.registry import targets
    from mobilekit.models.tasks import TASKS

    schemes = targets()[TARGET].schemes
    for task in TASKS:
        yield Case("bert", task)
    yield Case("roberta", "fill-mask")
    yield Case("xlm-roberta", "token-classification")
    yield Case("distilbert", "question-answering")
    yield Case("albert", "sequence-classification")
    yield Case("bert", "sequence-classification", "int8", "multi", {"problem_type": "multi_label_classification"})
    one = {"problem_type": "regression", "id2label": {0: "rating"}, "label2id": {"rating": 0}}
    yield Case("bert", "sequence-classification", "int8", "regression", one)
    for scheme in schemes:
        if scheme != "int8":
            yield Case("bert", "sequence-classification", scheme)
    for scheme in schemes if built_in else ("int8",):
        yield Case(None, "sentence-embedding", scheme)


def write(case: Case, folder: Path) -> None:
    """Export the case's model and write what is expected of it."""
    from benchmarks.matrix_models import LENGTHS, write_folder
    from export.pipeline import export

    source: Path | str = "minilm-l6"
    if case.family is not None:
        source = folder / "source"
        write_folder(case.family, case.task, source, **case.changes)
    (result,) = export(source, TARGET, case.scheme, lengths=LENGTHS, out=folder / "out")
    assert result.folder is not None
    result.folder.rename(folder / "artifact")
    for left in ("source", "out"):
        shutil.rmtree(folder / left, ignore_errors=True)
    count = BUILT_IN_TEXTS if case.family is None else TEXTS
    expected = json.dumps({"runs": list(runs(folder / "artifact", count))}, ensure_ascii=False)
    (folder / "expected.json").write_text(expected + "\n", encoding="utf-8")


def runs(folder: Path, count: int) -> Iterator[dict[str, Any]]:
    """What `mobilekit run` answers for each text, and what the engine got and gave for it."""
    from mobilekit.artifact import rounded
    from mobilekit.runtimes.answer import answer, artifact_tokenizer
    from mobilekit.runtimes.runner import open_artifact

    with open_artifact(folder, 1) as runner:
        tokenizer, task = artifact_tokenizer(runner.artifact), runner.artifact.manifest.task
        seen: list[tuple[int, Mapping[str, Any]]] = []
        outputs = runner.outputs

        def watched(length: int, inputs: Any) -> Any:
            seen.append((length, inputs))
            return outputs(length, inputs)

        runner.outputs = watched  # type: ignore[method-assign]
        for text, pair in questions(task, tokenizer.mask_token, count):
            seen.clear()
            found = answer(runner, tokenizer, text, pair)
            ((length, inputs),) = seen
            yield {
                "text": text,
                "pair": pair,
                "length": length,
                "inputs": {name: values.ravel().tolist() for name, values in inputs.items()},
                "output": rounded(found.output.ravel().tolist()),
                "tokens": found.tokens,
                "truncated": found.truncated,
                "items": [in_utf16(item, text if pair is None else pair) for item in found.items],
            }


def in_utf16(item: Item, text: str) -> dict[str, Any]:
    """An item with its place in `text` as Kotlin counts it."""
    places = {name: getattr(item, name) for name in ("start", "end")}
    units = {name: None if at is None else len(text[:at].encode("utf-16-le")) // 2 for name, at in places.items()}
    return {**dataclasses.asdict(item), **units}


def questions(task: str, mask: str | None, count: int) -> Iterator[tuple[str, str | None]]:
    """Texts and their pairs: sentences of the built-in data and strings that tokenizers stumble over."""
    from mobilekit.text.calibration import TEXTS as SENTENCES
    from mobilekit.text.calibration_more import MORE_TEXTS
    from mobilekit.text.parity import parity_texts

    # The first fill any length, and hide the mask token or the context.
    texts = [text for text in (*SENTENCES, *MORE_TEXTS, *parity_texts()) if len(text) < 2_000][:count]
    for i, text in enumerate(texts):
        if task == "fill-mask":
            words = text.replace(mask or "", "").split(" ")
            before = words[: i % 6]
            # What is cut off must not be the mask, whatever the tokenizer makes of the words.
            while len(" ".join(before).encode()) > 30:
                before.pop()
            yield " ".join([*before, mask or "", *words[len(before) + 1 :]]), None
        elif task == "question-answering":
            # Room for the context too, whatever the tokenizer makes of it.
            yield text[:20], texts[i - 1]
        else:
            yield text, texts[i - 1] if task == "sequence-classification" and i % 4 == 3 else None


def key(built_in: bool) -> str:
    """Changes when something changes that the files are made by."""
    digest = hashlib.sha256(str(built_in).encode())
    for source in SOURCES:
        path = ROOT / source
        for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
            digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def main() -> None:
    """Write all cases into a new folder and put it in the old one's place."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--built-in", action="store_true", help="the built-in model at every scheme")
    arguments = parser.parse_args()
    models, wanted = arguments.folder / "models", key(arguments.built_in)
    if (models / "key").exists() and (models / "key").read_text() == wanted:
        return
    arguments.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=arguments.folder, prefix="models-") as scratch:
        new = Path(scratch) / "models"
        for case in cases(arguments.built_in):
            print(f"exporting {case.name}", flush=True)
            (new / case.name).mkdir(parents=True)
            write(case, new / case.name)
        (new / "key").write_text(wanted)
        shutil.rmtree(models, ignore_errors=True)
        new.rename(models)


if __name__ == "__main__":
    main()
