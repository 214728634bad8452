"""`mobilekit run`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mobilekit.cli.options import as_json, print_json
from mobilekit.errors import InputError

if TYPE_CHECKING:
    from mobilekit.runtimes.answer import Answer


@click.command()
@click.argument("artifact", type=click.Path(path_type=Path))
@click.argument("texts", nargs=-1, metavar="TEXT...")
@click.option("--pair", help="A second text, for a model that reads pairs.")
@click.option("--threads", type=int, help="Threads of the engine.  [default: up to 4]")
@as_json
def command(artifact: Path, texts: tuple[str, ...], pair: str | None, threads: int | None, as_json: bool) -> None:
    """Run an artifact on text: labels with probabilities, or the cosine of embeddings.

    \b
    Examples:
      mobilekit run out/my-classifier-int8/tflite "A quiet, patient triumph."
      mobilekit run out/minilm-l6-int8/coreml "How do I log in?" "I forgot my password" "Nice weather"
      mobilekit run out/minilm-l6-int8/executorch --json "the embedding itself"

    Off macOS, Core ML artifacts run in the reference interpreter: exact, but slow.
    """
    from mobilekit.runtimes.answer import answer, artifact_tokenizer
    from mobilekit.runtimes.runner import DEFAULT_THREADS, open_artifact

    if not texts:
        raise InputError('no text given; for example: mobilekit run ARTIFACT "some text".')
    with open_artifact(artifact, DEFAULT_THREADS if threads is None else threads) as runner:
        tokenizer = artifact_tokenizer(runner)
        answers = [answer(runner, tokenizer, text, pair) for text in texts]
    for cut in (a for a in answers if a.truncated):
        click.echo(f"note: '{cut.text[:40]}...' was cut to {cut.tokens} tokens, the longest exported length.", err=True)
    if as_json:
        print_json([_summary(a) for a in answers])
    elif answers[0].scores:
        _print_scores(answers)
    else:
        _print_cosines(answers)


def _summary(found: Answer) -> dict[str, Any]:
    common = {"text": found.text, "tokens": found.tokens, "truncated": found.truncated}
    if found.scores:
        return {**common, "scores": dict(found.scores)}
    return {**common, "embedding": [float(f"{v:.9g}") for v in found.output]}


def _print_scores(answers: list[Answer]) -> None:
    for found in answers:
        click.echo(found.text)
        for label, score in found.scores:
            click.echo(f"  {score:8.4f}  {label}")


def _print_cosines(answers: list[Answer]) -> None:
    from mobilekit.runtimes.answer import cosines

    table = cosines([a.output for a in answers])
    if len(answers) == 1:
        values = " ".join(f"{v:.4f}" for v in answers[0].output[:6])
        click.echo(f"{answers[0].text}\n  {values} ... ({answers[0].output.size} values; --json prints all)")
    for i, found in enumerate(answers[1:], 1):
        click.echo(f"{table[0, i]:8.4f}  {answers[0].text} | {found.text}")
