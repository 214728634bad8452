"""What exported lengths cost and give: bytes, memory, time of export, and time of texts as they come.

    python -m benchmarks.lengths --out benchmarks/results/lengths.json

A model is exported at int8 with several sets of lengths. All files are then measured in turn: each text runs at the
smallest length that holds it, and the base is the file that pads everything to its only length. Best on a machine that
does nothing else.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import click

from benchmarks import markdown
from benchmarks.bench import contender_of
from benchmarks.environment import environment
from benchmarks.measuring.contender import Contender
from benchmarks.measuring.rows import ratios, timings
from benchmarks.measuring.texts import Texts, texts_for
from benchmarks.measuring.turns import ROWS, Protocol, measure
from benchmarks.writing import write_results
from export.pipeline import export, prepare
from mobilekit.artifact import open_folder
from mobilekit.models.load import load
from mobilekit.runtimes.answer import artifact_tokenizer
from mobilekit.runtimes.base import engines
from mobilekit.text.data.load import load_data

SETS = ((128,), (32, 128), (16, 32, 64, 128), (16, 24, 32, 48, 64, 96, 128))
_TARGETS = ("executorch", "tflite")
_THREADS = 2


def exported(name: str, lengths: tuple[int, ...], target: str, folder: Path) -> tuple[Path, float]:
    """The artifact of a model at int8 with these lengths, and the seconds that it took, checks included."""
    model = load(name)
    named = replace(model, name=f"{model.name}-{'-'.join(map(str, lengths))}")
    started = time.perf_counter()
    (result,) = export(named, prepare([target], "int8", 18), "int8", lengths=lengths, out=folder)
    assert result.folder is not None
    return result.folder, time.perf_counter() - started


def measured(
    name: str, data: str, sets: Sequence[tuple[int, ...]] = SETS, protocol: Protocol | None = None
) -> dict[str, Any]:
    """The result of one model on one text."""
    texts = _texts(name, data)
    with tempfile.TemporaryDirectory() as work:
        entered = [each for target in _TARGETS for s in sets for each in _entered(name, s, target, Path(work), texts)]
        found = measure([contender for contender, _ in entered], [ROWS], protocol or Protocol(_THREADS)).measured
    over: dict[str, dict[str, Any]] = {}
    for engine in {about["engine"] for _, about in entered}:
        own = [each for (_, about), each in zip(entered, found, strict=True) if about["engine"] == engine]
        # The first of its engine is the one that pads.
        for times in ratios(own, own[0].contender.name):
            over[times["row"]] = {key: times[key] for key in ("median", "low", "high")}
    rows: list[dict[str, Any]] = []
    for (contender, about), each in zip(entered, found, strict=True):
        values = timings(each)
        kept = {key: values[key] for key in ("load_ms", "text_run", "memory")}
        rows.append({**about, **kept, "over_padded": over.get(contender.name)})
    tokens = [len(ids) for ids, _ in entered[0][0].rows]
    return {
        "environment": environment(),
        "model": name,
        "texts": texts.to_dict(),
        "tokens": {"mean": round(sum(tokens) / len(tokens), 1), "least": min(tokens), "most": max(tokens)},
        "rows": rows,
    }


def _entered(
    name: str, lengths: tuple[int, ...], target: str, folder: Path, texts: Texts
) -> list[tuple[Contender, dict[str, Any]]]:
    """A file in each engine that reads it, and what is known of it."""
    path, seconds = exported(name, lengths, target, folder)
    artifact = open_folder(path)
    tokenizer = artifact_tokenizer(artifact)
    about = {"target": target, "lengths": list(lengths), "export_seconds": round(seconds, 1)}
    about["bytes"] = artifact.manifest.content["bytes"]
    return [
        (contender_of(f"{path.parent.name} {engine}", artifact, engine, tokenizer, texts), {**about, "engine": engine})
        for engine in sorted(each.name for each in engines().values() if each.target == target)
    ]


def _texts(name: str, data: str) -> Texts:
    model = load(name)
    return texts_for(model.head.task, load_data(data, split="test"), model.tokenizer.mask_token)


@click.command()
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The JSON file to write.")
@click.option("--model", default="minilm-l6", show_default=True)
@click.option("--data", default="movie-sentiment", show_default=True, help="Built-in text.")
def main(out: Path, model: str, data: str) -> None:
    """Export and measure, and write the result; takes some ten minutes."""
    write_results(out, measured(model, data))


def table(content: dict[str, Any]) -> str:
    """A row a file and engine."""
    head = "target (engine) | lengths | MB | export, s | load ms | ms a text | padded to 128 over it | own memory, MB"
    lines = []
    for row in content["rows"]:
        ratio = row["over_padded"]
        low, middle, high = (1.0, 1.0, 1.0) if ratio is None else (1 / ratio[key] for key in ("high", "median", "low"))
        cells = [
            f"{row['target']} ({row['engine']})",
            ", ".join(map(str, row["lengths"])),
            f"{row['bytes'] / 1e6:.2f}",
            f"{row['export_seconds']:.0f}",
            f"{median(row['load_ms']):.0f}",
            f"{row['text_run']['middle80_mean_ms']:.2f}",
            "1" if ratio is None else f"{middle:.2f} ({low:.2f} to {high:.2f})",
            f"{row['memory']['anonymous_bytes'] / 1e6:.0f}",
        ]
        lines.append(cells)
    tokens, texts = content["tokens"], content["texts"]
    note = (
        f"`{content['model']}` at int8, {texts['count']} texts of {texts['name']} of {tokens['least']} to "
        f"{tokens['most']} tokens (mean {tokens['mean']:g}), {_THREADS} threads, all in turn."
    )
    return "\n".join([*markdown.table(head.split(" | "), lines), "", note])


if __name__ == "__main__":
    main()
