"""What each scheme costs a task: MiniLM fine-tuned on `movie-sentiment`, cross-fitted (`benchmarks.folds`).

    python -m benchmarks.drops --work drops               # all that is not done yet
    python -m benchmarks.drops --work drops --only pal4   # one scheme

Every sentence is judged by a model that did not see it, before and after compression, with the compressed weights in
torch. What artifacts themselves say of some of them is `benchmarks.drop_artifacts`.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from benchmarks.codes import Plan, records_by
from benchmarks.environment import environment
from benchmarks.folds import LENGTH, Fold, folds, train
from benchmarks.writing import write_results
from mobilekit.compression.compress import compress
from mobilekit.compression.compressed import RECORDS_FILE, CompressedModel, load_records
from mobilekit.compression.plan import plan_of
from mobilekit.compression.preview import record_bytes
from mobilekit.compression.records import Dense
from mobilekit.compression.rounding import round_activations
from mobilekit.evaluation.intervals import Interval, mean_of, paired_bootstrap, wilson
from mobilekit.models.load import load
from mobilekit.models.model import Model
from mobilekit.registry import named
from mobilekit.training.predict import predict

RESULTS = Path(__file__).parent / "results/drops.json"
PLAN = Path(__file__).parent.parent / "docs/plans/under-3-bits.toml"
_FINE_TUNE = "--model minilm-l6 --pooling mean --epochs 3"
_TUNE = "--epochs 2 --learning-rate 1e-4"
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Variant:
    """A row of the table. scheme: a name or a plan's file. tuned: whether codebooks are fine-tuned; plain: the
    bits of codes that are merely rounded by each row's largest weight, for comparison; aim: the most that it may lose,
    in points.
    """

    name: str
    scheme: str
    tuned: bool = False
    plain: int = 0
    aim: float | None = None


VARIANTS = (
    Variant("fp16", "fp16"),
    Variant("int8", "int8", aim=0.3),
    Variant("int8-static", "int8-static"),
    Variant("int4", "int4", aim=0.5),
    Variant("int4-plain", "int4", plain=4),
    Variant("int4-g32", "int4-g32"),
    Variant("pal8", "pal8"),
    Variant("pal6", "pal6"),
    Variant("pal4", "pal4", aim=0.5),
    Variant("pal3", "pal3", aim=1.0),
    Variant("pal2", "pal2"),
    Variant("pal2-tuned", "pal2", tuned=True, aim=2.0),
    Variant("pal1", "pal1"),
    Variant("under-3-bits", str(PLAN), aim=1.0),
    Variant("under-3-bits-tuned", str(PLAN), tuned=True, aim=1.0),
)


def said(fold: Fold, variant: Variant | None) -> tuple[Labels, float]:
    """What a fold's model answers to its sentences with the weights of a variant (None: its own), and the bits a weight
    of its matrices; kept in the fold's folder."""
    kept = fold.folder / f"said-{variant.name if variant else 'float'}.json"
    if not kept.is_file():
        bits = 32.0
        if variant is None:
            model = load(train(fold, "model", _FINE_TUNE))
        else:
            model, compressed = _compressed(fold, variant)
            bits = bits_a_weight(compressed)
        labels, _ = predict(model, fold.rows, LENGTH)
        kept.write_text(json.dumps({"labels": np.asarray(labels).tolist(), "bits": bits}), encoding="utf-8")
    content = json.loads(kept.read_text(encoding="utf-8"))
    return np.array(content["labels"], np.int64), float(content["bits"])


def weights_of(fold: Fold, variant: Variant) -> tuple[Path, Path | None]:
    """The folder of the fold's model, and that of its fine-tuned codebooks, if the variant has some; made unless they
    are there."""
    own = train(fold, "model", _FINE_TUNE)
    if not variant.tuned:
        return own, None
    return own, train(fold, variant.name, f"--model {own} --clustered {variant.scheme} {_TUNE}")


def _compressed(fold: Fold, variant: Variant) -> tuple[Model, CompressedModel]:
    own, tuned = weights_of(fold, variant)
    if tuned is not None:
        return load(tuned), load_records(tuned / RECORDS_FILE)
    model = load(own)
    compressed = rounded(model, variant.plain) if variant.plain else compress(model, plan_of(variant.scheme))
    model.load_tensors(compressed.decoded())
    round_activations(model.module, compressed)
    return model, compressed


def rounded(model: Model, bits: int) -> CompressedModel:
    """All matrices at some bits, each row's codes by its largest weight, and nothing smoothed."""
    return CompressedModel(model.config, model.head, f"int{bits}", records_by("largest", model, (), Plan(bits, ())))


def bits_a_weight(compressed: CompressedModel) -> float:
    """Codes, codebooks and float16 scales of all matrices that are compressed, in bits for each of their weights."""
    # fp16 has no codes; norms and biases are no matrices.
    own = [
        record
        for record in compressed.records.values()
        if not isinstance(record, Dense) or (len(record.shape) == 2 and record.values.dtype == np.float16)
    ]
    return 8 * sum(map(record_bytes, own)) / max(1, sum(math.prod(record.shape) for record in own))


def figures(variant: Variant, made: list[Fold]) -> dict[str, Any]:
    """Accuracy, drop and agreement over all folds."""
    wanted = np.concatenate([[row.label for row in fold.rows] for fold in made])
    before = np.concatenate([said(fold, None)[0] for fold in made])
    after = np.concatenate([said(fold, variant)[0] for fold in made])
    right, was_right = after == wanted, before == wanted
    drop = paired_bootstrap(mean_of(was_right), mean_of(right), len(wanted))
    return {
        "variant": variant.name,
        "tuned": variant.tuned,
        "aim": variant.aim,
        "bits_a_weight": round(float(np.mean([said(fold, variant)[1] for fold in made])), 3),
        "accuracy": float(right.mean()),
        "interval": _ends(wilson(int(right.sum()), len(right))),
        "drop": drop.value,
        "drop_interval": _ends(drop.interval),
        "agreement": float((after == before).mean()),
        "drops_by_fold": [
            round(float((a == w).mean() - (b == w).mean()), 5) for a, b, w in _by_fold(before, after, wanted, made)
        ],
    }


def _by_fold(
    before: Labels, after: Labels, wanted: Labels, made: list[Fold]
) -> list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
    ends = np.cumsum([len(fold.rows) for fold in made])[:-1]
    return list(zip(*(np.split(values, ends) for values in (before, after, wanted)), strict=True))


def _ends(interval: Interval) -> list[float]:
    return [interval.low, interval.high]


@click.command()
@click.option("--work", type=click.Path(path_type=Path), default=Path("drops"), show_default=True)
@click.option("--only", multiple=True, help="A row; may repeat.")
def main(work: Path, only: tuple[str, ...]) -> None:
    """Fine-tune, compress and judge, and write benchmarks/results/drops.json."""
    wanted, made = asked_for(only), folds(work.resolve())
    rows = read_rows()
    for variant in wanted:
        rows[variant.name] = figures(variant, made)
        click.echo(json.dumps(rows[variant.name], sort_keys=True))
        float_right = [float((said(fold, None)[0] == [row.label for row in fold.rows]).mean()) for fold in made]
        content = {
            "environment": environment(),
            "sentences": sum(len(fold.rows) for fold in made),
            "fine_tune": _FINE_TUNE,
            "tune": _TUNE,
            "float_accuracy_by_fold": float_right,
            "rows": [rows[each.name] for each in VARIANTS if each.name in rows],
        }
        write_results(RESULTS, content)


def asked_for(names: tuple[str, ...]) -> list[Variant]:
    """The rows of these names, all where there is none; raises InputError for one that is none."""
    known = {variant.name: variant for variant in VARIANTS}
    return [named("row", name, known) for name in names or known]


def read_rows() -> dict[str, dict[str, Any]]:
    """Rows by name; none where there is no file."""
    if not RESULTS.is_file():
        return {}
    return {row["variant"]: row for row in json.loads(RESULTS.read_text(encoding="utf-8"))["rows"]}


if __name__ == "__main__":
    main()
