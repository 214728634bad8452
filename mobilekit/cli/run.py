"""`mobilekit run`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mobilekit.cli.options import Folder, as_json, print_json
from mobilekit.errors import ArtifactError, EngineError, InputError, short

if TYPE_CHECKING:
    from mobilekit.artifact import Artifact, Manifest
    from mobilekit.decoding.item import Item
    from mobilekit.runtimes.answer import Answer


@click.command()
@click.argument("artifact", type=Folder())
@click.argument("texts", nargs=-1, metavar="TEXT...")
@click.option("--pair", help="A second text, for a model that reads pairs; the context, for question answering.")
@click.option("--threshold", type=float, help="Least probability of a label where several may hold.  [default: 0.5]")
@click.option("--top", type=int, help="How many words or spans.  [default: 5]")
@click.option("--threads", type=int, help="Threads of the engine.  [default: up to 4]")
@as_json
def command(
    artifact: Path,
    texts: tuple[str, ...],
    pair: str | None,
    threshold: float | None,
    top: int | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Run an artifact on text: labels, entities, answers, missing words, or the cosine of embeddings.

    \b
    Examples:
      mobilekit run out/my-classifier-int8/tflite "A quiet, patient triumph."
      mobilekit run out/my-tagger-int8/tflite "Ada Lovelace was born in London."
      mobilekit run out/my-reader-int8/tflite "Where was she born?" --pair "Ada Lovelace was born in London."
      mobilekit run out/my-bert-int8/tflite "The capital of France is [MASK]."
      mobilekit run out/minilm-l6-int8/coreml "How do I log in?" "I forgot my password" "Nice weather"
      mobilekit run out/minilm-l6-int8/executorch --json "the embedding itself"

    Off macOS, Core ML artifacts run in the reference interpreter: exact, but slow.
    """
    from mobilekit.artifact import open_folder
    from mobilekit.runtimes.answer import COUNT, THRESHOLD, answer, artifact_tokenizer
    from mobilekit.runtimes.runner import DEFAULT_THREADS, open_artifact

    if not texts:
        raise InputError('no text given; for example: mobilekit run ARTIFACT "some text".')
    # What can be refused is, before an engine starts.
    opened = open_folder(artifact)
    manifest = opened.manifest
    _check(manifest, threshold, top)
    with open_artifact(opened, DEFAULT_THREADS if threads is None else threads) as runner, _fitting(opened):
        tokenizer = artifact_tokenizer(runner.artifact)
        least, count = THRESHOLD if threshold is None else threshold, COUNT if top is None else top
        answers = [answer(runner, tokenizer, text, pair, least, count) for text in texts]
    for cut in (a for a in answers if a.truncated):
        click.echo(f"note: '{cut.text[:40]}...' was cut to {cut.tokens} tokens, the longest exported length.", err=True)
    if as_json:
        print_json([_summary(a, manifest) for a in answers])
    elif manifest.task == "sentence-embedding":
        _print_cosines(answers)
    else:
        for found in answers:
            _print_items(found, manifest.task)


@contextlib.contextmanager
def _fitting(artifact: Artifact) -> Iterator[None]:
    """Where an engine fails, look whether the manifest asks it for what the file does not have, and say that."""
    try:
        yield
    except EngineError as error:
        from export.check import check_inputs

        held = check_inputs(artifact)
        if held.passed:
            raise
        raise ArtifactError(
            f"{artifact.folder}: manifest.json does not fit {artifact.model_path.name}: {held.measured}; export again."
        ) from error


_LONGEST = 160


def _check(manifest: Manifest, threshold: float | None, top: int | None) -> None:
    """Raise InputError for an option that this artifact has no use for."""
    if threshold is not None and manifest.content["problem_type"] != "multi_label_classification":
        raise InputError("--threshold is for models of which several labels may hold; this is none.")
    if threshold is not None and not 0 <= threshold <= 1:
        raise InputError(f"--threshold {threshold}: expected a probability, 0 to 1.")
    if top is not None and manifest.task not in ("question-answering", "fill-mask"):
        raise InputError(f"--top is for question answering and fill-mask; this is a {manifest.task} model.")
    if top is not None and top < 1:
        raise InputError(f"--top {short(top)}: expected a number >= 1.")


def _summary(found: Answer, manifest: Manifest) -> dict[str, Any]:
    common = {"text": found.text, "tokens": found.tokens, "truncated": found.truncated}
    if manifest.task == "sentence-embedding":
        return {**common, "embedding": [float(f"{v:.9g}") for v in found.output]}
    return {**common, "task": manifest.task, "items": [_item(item) for item in found.items]}


def _item(item: Item) -> dict[str, Any]:
    return {name: value for name, value in vars(item).items() if value is not None}


def _print_items(found: Answer, task: str) -> None:
    click.echo(_shown(found.text))
    if not found.items:
        click.echo("  nothing found")
    for item in found.items:
        place = "" if item.start is None else f"  {item.start}..{item.end}"
        if task == "sequence-classification":
            mark = "*" if item.chosen else " "
            click.echo(f" {mark}{item.score:8.4f}  {item.label}")
        elif task == "token-classification":
            click.echo(f"  {item.score:8.4f}  {item.label:<8} {_shown(item.text or '')}{place}")
        elif task == "question-answering":
            click.echo(f"  {item.score:8.4f}  {_shown(item.text or item.label)}{place}")
        else:
            click.echo(f"  {item.score:8.4f}  {item.label:<16} {_shown(item.text or '')}")


def _shown(text: str) -> str:
    """A text on one line, its middle left out where it is long; --json has all of it."""
    line = "".join(c if c.isprintable() else " " for c in text)
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST // 2]} ... {line[-_LONGEST // 2 :]}"


def _print_cosines(answers: list[Answer]) -> None:
    from mobilekit.runtimes.answer import cosines

    table = cosines([a.output for a in answers])
    if len(answers) == 1:
        values = " ".join(f"{v:.4f}" for v in answers[0].output[:6])
        click.echo(f"{answers[0].text}\n  {values} ... ({answers[0].output.size} values; --json prints all)")
    for i, found in enumerate(answers[1:], 1):
        click.echo(f"{table[0, i]:8.4f}  {answers[0].text} | {found.text}")
