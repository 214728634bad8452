"""Runs of each verb that were ended: what they may replace, and that only the same run goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from training_program import ROWS

from mobilekit.errors import InputError
from mobilekit.models.load import load
from mobilekit.text.data.rows import TextData
from mobilekit.training.distill import Teaching, distill
from mobilekit.training.pretrain import Corpus, pretrain
from mobilekit.training.settings import Settings
from mobilekit.training.train import Splits, train

SENTIMENT = TextData("toy", "sequence-classification", ("negative", "positive"), "single_label_classification", ROWS)
SETTINGS = Settings(epochs=1, batch=16, learning_rate=1e-3, length=32, save_every=1)
Run = Callable[..., object]


def trained(out: Path, **options: object) -> None:
    train(load("tiny-classifier"), Splits(SENTIMENT), out, SETTINGS, **options)  # type: ignore[arg-type]


def distilled(out: Path, **options: object) -> None:
    teaching = Teaching(anyway=True, alone=False)
    splits = Splits(SENTIMENT, SENTIMENT)
    distill(load("tiny-classifier"), [load("tiny-classifier")], splits, out, SETTINGS, teaching, **options)  # type: ignore[arg-type]


def pretrained(out: Path, **options: object) -> None:
    pretrain(load("tiny-words"), Corpus(ROWS), out, SETTINGS, **options)  # type: ignore[arg-type]


VERBS = pytest.mark.parametrize("run", [trained, distilled, pretrained])


def ended(run: Run, out: Path, **options: object) -> None:
    """Run and be interrupted after the second step."""

    def report(text: str) -> None:
        if "step 3 of" in text:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(out, report=report, **options)
    assert list(out.with_name("out.training").glob("**/progress.json"))


@VERBS
def test_what_was_begun_with_force_replaces_when_it_goes_on(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(out)
    (out / "old").touch()
    ended(run, out, force=True)
    assert (out / "old").is_file()
    run(out, resume=True)
    assert not (out / "old").exists() and [p.name for p in tmp_path.iterdir()] == ["out"]


@VERBS
def test_what_was_begun_without_force_replaces_nothing(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended(run, out)
    out.mkdir()
    (out / "config.json").write_text("{}")
    with pytest.raises(InputError, match="begun without --force; move it away"):
        run(out, resume=True)
    (out / "config.json").unlink()
    out.rmdir()
    run(out, resume=True)
    assert (out / "config.json").is_file() and not out.with_name("out.training").exists()


@VERBS
def test_force_is_not_for_the_next_run(run: Run, tmp_path: Path) -> None:
    """Begun anew without a folder in the way, it is a run without force."""
    out = tmp_path / "out"
    ended(run, out, force=True)
    for left in sorted(out.with_name("out.training").rglob("*"), reverse=True):
        if left.name != ".mobilekit-run":
            left.rmdir() if left.is_dir() else left.unlink()
    ended(run, out)
    out.mkdir()
    with pytest.raises(InputError, match="begun without --force"):
        run(out, resume=True)


@pytest.mark.parametrize("out", [".", "..", "/"])
def test_folder_without_a_name_is_refused_when_a_run_goes_on_too(out: str) -> None:
    with pytest.raises(InputError, match="needs a folder of its own name"):
        trained(Path(out), resume=True)


def test_half_emptied_folder_is_a_runs_still(tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended(trained, out)
    left = out.with_name("out.training")
    (left / "checkpoint" / "progress.json").unlink()
    with pytest.raises(InputError, match="no checkpoint to go on from"):
        trained(out, resume=True)
    trained(out, force=True)
    assert out.is_dir() and not left.exists()
