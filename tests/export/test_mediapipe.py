"""What a .tflite of one length carries for MediaPipe's text tasks, read back independently of its writer.

MediaPipe is no dependency of ours (it brings OpenCV and another numpy), so here its format is read by slots and by
zipfile. `make check-mediapipe` opens files with MediaPipe itself. Last seen by hand: mediapipe 1.2.3 gives our runner's
scores and embeddings to the last bit at fp32, fp16 and int8, and tokenizer.json's ids for 499 of 499 mixed texts in
`plain` form (245 as they are, with MiniLM's vocabulary); it reads stored zip entries only; 0.10.35 leaves out scores
below 0 by default. TFLite Support 0.4.4's MetadataDisplayer reads the metadata and lists both files.
"""

from __future__ import annotations

import io
import json
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import CLASSIFIER, EMBEDDING, SHARED, TINY, random_compressed
from task_metadata import task_metadata

from export.pipeline import export as run_export
from export.registry import Emission, GraphSpec, target
from export.tflite.mediapipe import mediapipe_ids, plain, shared_vocabulary
from export.tflite.metadata import TaskMetadata, append_files, read_files, read_task_metadata
from export.tflite.read import read_metadata
from mobilekit.artifact import open_folder
from mobilekit.compression.compressed import CompressedModel, save_records
from mobilekit.models.config import EncoderConfig, HeadConfig
from mobilekit.process import EngineProcess
from mobilekit.text.parity import parity_texts
from mobilekit.text.tokenizer import TextTokenizer, load_tokenizer

TFLITE = target("tflite")
LENGTH = 32
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
CHARACTERS = [chr(c) for c in range(33, 127)]
TOKENS = [*SPECIAL, *CHARACTERS, *(f"##{c}" for c in CHARACTERS if c.isalnum()), "film", "great", "un", "##able"]
METADATA = {"model": "tiny", "license": "Apache-2.0"}
SEVERAL = replace(CLASSIFIER, problem_type="multi_label_classification")
Make = Callable[..., TextTokenizer]


@pytest.fixture
def tokenizer(tmp_path: Path) -> Make:
    def make(tokens: list[str] = TOKENS, **options: Any) -> TextTokenizer:
        folder = tmp_path / "tokenizer"
        folder.mkdir(exist_ok=True)
        (folder / "vocab.txt").write_text("\n".join(tokens) + "\n", encoding="utf-8")
        (folder / "tokenizer_config.json").write_text(json.dumps(options))
        return load_tokenizer(folder, 64)

    return make


@dataclass(frozen=True)
class Exported:
    path: Path
    emission: Emission
    model: CompressedModel


@pytest.fixture
def export(tmp_path: Path, tokenizer: Make) -> Callable[..., Exported]:
    def write(
        head: HeadConfig = CLASSIFIER,
        encoder: EncoderConfig = TINY,
        lengths: tuple[int, ...] = (LENGTH,),
        with_tokenizer: bool = True,
        tokens: list[str] = TOKENS,
        **options: Any,
    ) -> Exported:
        model = random_compressed(encoder, head, "int8")
        if not encoder.token_types:
            records = {n: r for n, r in model.records.items() if n != "embeddings.token_type.weight"}
            model = replace(model, records=records)
        file = tmp_path / "tokenizer.json"
        file.write_text(tokenizer(tokens, **options).serialized(), encoding="utf-8")
        path = tmp_path / f"model{len(list(tmp_path.glob('*.tflite')))}.tflite"
        spec = GraphSpec(lengths, "Tiny", metadata=METADATA, tokenizer=file if with_tokenizer else None)
        return Exported(path, TFLITE.emit(model, spec, path, lambda _: None), model)

    return write


def run(path: Path, ids: list[int]) -> dict[str, np.ndarray]:
    with EngineProcess("mobilekit.runtimes.service:service", hide=("tensorflow",)) as process:
        process.call("load", {"engine": "litert", "path": str(path), "entries": [f"len_{LENGTH}"], "threads": 1})
        padded = np.zeros((1, LENGTH), np.int32)
        padded[0, : len(ids)] = ids
        inputs = {
            "input_ids": padded,
            "attention_mask": (np.arange(LENGTH) < len(ids)).astype(np.int32)[None],
            "token_type_ids": np.zeros_like(padded),
        }
        return dict(process.call("run", {"entry": f"len_{LENGTH}"}, inputs)[1])


def test_metadata_says_what_mediapipe_looks_for(export: Callable[..., Exported]) -> None:
    made = export()
    assert made.emission.opened_by == "TextClassifier"
    root = task_metadata(made.path)
    assert (root.text(0), root.text(5), root.text(7)) == ("tiny", "Apache-2.0", "1.1.0")
    (graph,) = root.vector(3)
    # In the order of the graph's inputs, which MediaPipe fills by these names.
    assert [tensor.text(0) for tensor in graph.vector(2)] == ["ids", "mask", "segment_ids"]
    assert [i.name for i in TFLITE.read_inputs(made.path)] == ["input_ids", "attention_mask", "token_type_ids"]
    (unit,) = graph.vector(5)
    # The union's fourth member: BertTokenizerOptions.
    assert unit.byte(0) == 4
    (vocabulary,) = unit.table(1).vector(0)
    assert (vocabulary.text(0), vocabulary.byte(2)) == ("vocab.txt", 5)
    outputs = graph.vector(3)
    assert [tensor.text(0) for tensor in outputs] == ["probabilities", "logits"]
    for tensor in outputs:
        (labels,) = tensor.vector(6)
        assert (labels.text(0), labels.byte(2)) == ("labels.txt", 2)


def test_an_embedding_has_one_output_and_no_labels(export: Callable[..., Exported]) -> None:
    made = export(EMBEDDING, SHARED)
    assert (made.emission.opened_by, made.emission.more_outputs) == ("TextEmbedder", ())
    (graph,) = task_metadata(made.path).vector(3)
    (output,) = graph.vector(3)
    assert (output.text(0), output.vector(6)) == ("embedding", [])
    assert zipfile.ZipFile(made.path).namelist() == ["vocab.txt"]


def test_files_stand_behind_the_model_uncompressed(export: Callable[..., Exported]) -> None:
    made = export()
    raw = made.path.read_bytes()
    with zipfile.ZipFile(made.path) as archive:
        entries = archive.infolist()
        assert [entry.filename for entry in entries] == ["vocab.txt", "labels.txt"]
        assert {entry.compress_type for entry in entries} == {zipfile.ZIP_STORED}
        assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}
        assert archive.read("vocab.txt").decode().split("\n") == [*TOKENS, ""]
        assert archive.read("labels.txt") == b"negative\npositive\nneutral\n"
        # What the central directory itself says, before zipfile corrects it: places in the whole file.
        (directory,) = struct.unpack_from("<I", raw, raw.rindex(b"PK\x05\x06") + 16)
        (first,) = struct.unpack_from("<I", raw, directory + 42)
    assert raw[directory : directory + 4] == b"PK\x01\x02"
    assert raw[first : first + 4] == b"PK\x03\x04"


def test_the_readers_agree_with_the_file(export: Callable[..., Exported]) -> None:
    made = export()
    expected = TaskMetadata("tiny", ("ids", "mask", "segment_ids"), ("probabilities", "logits"), True, "Apache-2.0")
    assert read_task_metadata(made.path) == expected
    assert read_files(made.path)["labels.txt"] == b"negative\npositive\nneutral\n"
    assert read_metadata(made.path) == METADATA


def test_the_same_bytes_each_time_and_from_another_process(export: Callable[..., Exported], tmp_path: Path) -> None:
    made, again = export(), export()
    assert made.path.read_bytes() == again.path.read_bytes()
    save_records(made.model, tmp_path / "records.safetensors")
    params = {
        "target": "tflite",
        "records": str(tmp_path / "records.safetensors"),
        "out": str(tmp_path / "other.tflite"),
        "lengths": [LENGTH],
        "name": "Tiny",
        "minimum_ios": 18,
        "metadata": METADATA,
        "tokenizer": str(tmp_path / "tokenizer.json"),
    }
    with EngineProcess("export.worker:service", hide=("tensorflow",)) as process:
        fields, _ = process.call("emit", params)
    assert (fields["opened_by"], fields["more_outputs"]) == ("TextClassifier", ["probabilities"])
    assert (tmp_path / "other.tflite").read_bytes() == made.path.read_bytes()


@pytest.mark.parametrize("head", [CLASSIFIER, SEVERAL], ids=["single", "several"])
def test_probabilities_are_those_of_the_unchanged_logits(export: Callable[..., Exported], head: HeadConfig) -> None:
    ids = [2, 30, 40, 50, 3]
    got = run(export(head).path, ids)
    bare = run(export(head, with_tokenizer=False).path, ids)
    assert sorted(got) == ["logits", "probabilities"]
    assert np.array_equal(got["logits"], bare["logits"])
    logits = bare["logits"].astype(np.float64)
    expected = 1 / (1 + np.exp(-logits)) if head is SEVERAL else np.exp(logits) / np.exp(logits).sum()
    assert np.abs(got["probabilities"] - expected).max() < 1e-6


def test_weights_and_inputs_are_read_as_without_an_attachment(export: Callable[..., Exported]) -> None:
    made, bare = export(), export(with_tokenizer=False)
    assert TFLITE.read_inputs(made.path) == TFLITE.read_inputs(bare.path)
    keys = [sorted((w.codes if w.codes is not None else w.values).tobytes() for w in TFLITE.read_weights(e.path))
            for e in (made, bare)]  # fmt: skip
    assert keys[0] == keys[1]


def test_the_budget_is_given_what_is_attached(export: Callable[..., Exported]) -> None:
    for head, room in ((CLASSIFIER, 500), (EMBEDDING, 200)):
        made, bare = export(head), export(head, with_tokenizer=False)
        added = made.path.stat().st_size - bare.path.stat().st_size
        assert 0 < added - TFLITE.attached_bytes(made.path) < room
        assert TFLITE.attached_bytes(bare.path) == 0


def test_what_metadata_does_not_name_is_no_part_of_the_budget(export: Callable[..., Exported]) -> None:
    bare = export(with_tokenizer=False).path
    append_files(bare, {"vocab.txt": b"x" * 1000})
    assert TFLITE.attached_bytes(bare) == 0


@pytest.mark.parametrize(
    "case",
    [
        {"lengths": (16, 32)},
        {"with_tokenizer": False},
        {"encoder": replace(TINY, token_types=0)},
        {"head": replace(CLASSIFIER, problem_type="regression")},
        {"head": replace(CLASSIFIER, task="token-classification")},
        {"do_lower_case": False},
        {"strip_accents": False, "tokens": [*TOKENS, "\u00e9", "##\u00e9", "\u00fc", "##\u00fc"]},
        {"tokens": [*SPECIAL, "", *TOKENS[5:]]},
    ],
    ids=["lengths", "no-tokenizer", "no-types", "regression", "token-classification", "cased", "accents", "blank"],
)
def test_nothing_is_attached_where_mediapipe_would_fail_or_differ(
    export: Callable[..., Exported], case: dict[str, Any]
) -> None:
    made = export(**case)
    assert (made.emission.opened_by, made.emission.more_outputs) == ("", ())
    assert not zipfile.is_zipfile(made.path)
    assert read_task_metadata(made.path) is None
    assert b"M001" not in made.path.read_bytes()


def test_a_tokenizer_with_words_of_its_own_is_not_shared(tokenizer: Make) -> None:
    made = tokenizer()
    assert shared_vocabulary(made) == TOKENS
    content = json.loads(made.serialized())
    content["added_tokens"].append({**content["added_tokens"][0], "id": len(TOKENS), "content": "covid-19"})
    content["added_tokens"][-1]["special"] = False
    assert shared_vocabulary(TextTokenizer(json.dumps(content), 64)) is None


@pytest.mark.parametrize("kind", ["prefix", "template", "splitting"])
def test_a_tokenizer_that_works_otherwise_is_not_shared(tokenizer: Make, kind: str) -> None:
    content = json.loads(tokenizer().serialized())
    if kind == "prefix":
        content["model"]["continuing_subword_prefix"] = "@@"
    elif kind == "template":
        content["post_processor"] = None
    else:
        content["pre_tokenizer"] = {"type": "WhitespaceSplit"}
    assert shared_vocabulary(TextTokenizer(json.dumps(content), 64)) is None


def test_plain_texts_have_the_ids_of_the_tokenizer(tokenizer: Make) -> None:
    made = tokenizer()
    ids = {token: i for i, token in enumerate(TOKENS)}
    # Literal special tokens are found whole by the tokenizer, and split by MediaPipe.
    texts = [text for text in parity_texts() if plain(text).isascii() and "[CLS]" not in text]
    assert len(texts) > 60
    for text in texts:
        assert made.encode(text, max_length=1 << 20).ids.tolist() == mediapipe_ids(plain(text), ids), text


def test_a_readme_shows_mediapipe_only_where_it_opens_the_file(export: Callable[..., Exported]) -> None:
    assert "TextClassifier.createFromFile" in TFLITE.usage(export().emission)
    assert "TextEmbedder.createFromFile" in TFLITE.usage(export(EMBEDDING).emission)
    bare = export(encoder=replace(TINY, token_types=0)).emission
    assert "MediaPipe" not in TFLITE.usage(bare)
    assert "token_type_ids" not in TFLITE.usage(bare)


def test_zip_that_ends_within_weights_is_no_archive_of_ours(tmp_path: Path) -> None:
    # Weights may hold any bytes, also those that end a zip.
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("trap.txt", "x")
    path = tmp_path / "model.tflite"
    path.write_bytes(b"model" + buffer.getvalue())
    append_files(path, {"vocab.txt": b"a\nb\n"})
    assert read_files(path) == {"vocab.txt": b"a\nb\n"}


@pytest.mark.slow
@pytest.mark.skipif(find_spec("tensorflow") is None, reason="tensorflow is an extra")
def test_tensorflow_reads_a_file_with_files_behind_the_model(export: Callable[..., Exported]) -> None:
    script = (
        "import sys, numpy as np, tensorflow as tf; i = tf.lite.Interpreter(sys.argv[1]);"
        f"r = i.get_signature_runner('len_{LENGTH}'); z = np.zeros((1, {LENGTH}), np.int32);"
        "o = r(input_ids=z, attention_mask=z + 1, token_type_ids=z);"
        "print(sorted(o), float(o['probabilities'].sum()))"
    )
    command = [sys.executable, "-c", script, str(export().path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    names, total = done.stdout.strip().splitlines()[-1].rsplit(" ", 1)
    assert names == "['logits', 'probabilities']"
    assert abs(float(total) - 1) < 1e-5


@pytest.mark.slow
def test_an_export_of_one_length_carries_the_vocabulary_of_its_artifact(tmp_path: Path) -> None:
    (result,) = run_export("tiny-classifier", "tflite", lengths=(LENGTH,), out=tmp_path)
    assert result.passed and result.folder is not None
    artifact = open_folder(result.folder)
    files = read_files(artifact.model_path)
    assert files["vocab.txt"] == (result.folder / "vocab.txt").read_bytes()
    assert files["labels.txt"].decode().split() == list(artifact.manifest.labels)
    outputs = [port["name"] for port in artifact.manifest.content["outputs"]]
    assert outputs == ["logits", "probabilities"]
    assert "TextClassifier" in (result.folder / "README.md").read_text()
