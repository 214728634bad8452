"""What each part of a recipe is worth: the same short run with one part left out, one seed a row."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.student_runs import INSIDES, TASK, Row, Run

# Short ones: plain text is the task's own, and a sentence is varied once.
_TEXT, _VARIED = "--text movie-sentiment", "--copies 1 --augmented {work}/varied-1.jsonl"
_TAUGHT = f"distill --teacher {{teacher-0}} {TASK} --skip-alone"
_DISTILBERT = f"{_TAUGHT} --recipe distilbert --general-teacher {{words}} {_TEXT} --general-epochs 2 --epochs 2"


def _tinybert(general: str, task: str = f"{_VARIED} --inner-epochs 1 --epochs 1") -> str:
    return f"{_TAUGHT} --recipe tinybert --general-teacher {{words}} {general} {task} {INSIDES}"


_PLAIN_TEXT = f"{_TEXT} --general-epochs 1"
_TINYBERT = _tinybert(_PLAIN_TEXT)
_ALBERT = f"{_TAUGHT} --student albert --epochs 2"
_PAIRS = "pretrain --model {general-albert} --text editorials --length 192"

# Group -> (row, what is left out or changed, options); the first of each group is the whole recipe.
_PARTS: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "DistilBERT": (
        ("distilbert", "all of it", _DISTILBERT),
        ("distilbert-no-soft", "without the teacher's distribution", f"{_DISTILBERT} --soft-words 0"),
        ("distilbert-no-words", "without the masked words", f"{_DISTILBERT} --masked-words 0"),
        ("distilbert-no-cosine", "without the cosine", f"{_DISTILBERT} --cosine 0"),
        ("distilbert-fresh", "without the teacher's layers", f"{_DISTILBERT} --layers none"),
    ),
    "TinyBERT": (
        ("tinybert", "all of it", _TINYBERT),
        ("tinybert-no-general", "without plain text", _tinybert("--general-epochs 0")),
        ("tinybert-no-inner", "without the insides on the task's text", f"{_TINYBERT} --inner-epochs 0"),
        (
            "tinybert-no-copies",
            "without variations (twice the passes)",
            _tinybert(_PLAIN_TEXT, "--copies 0 --inner-epochs 2 --epochs 2"),
        ),
        ("tinybert-no-embedding", "without the embeddings", f"{_TINYBERT} --embedding 0"),
        ("tinybert-no-attention", "without the attention scores", f"{_TINYBERT} --attention 0"),
        ("tinybert-no-hidden", "without the hidden states", f"{_TINYBERT} --hidden 0"),
    ),
    "ALBERT, E 128": tuple(
        (f"albert-128-{sharing}", f"{sharing} shared", f"{_ALBERT} --sharing {sharing}")
        for sharing in ("all", "attention", "ffn", "none")
    ),
    "ALBERT, E = H": tuple(
        (f"albert-wide-{sharing}", f"{sharing} shared", f"{_ALBERT} --sharing {sharing} --embedding-size 0")
        for sharing in ("all", "attention", "ffn", "none")
    ),
}
PAIR_TASKS = ("none", "nsp", "sop")


def ablations() -> list[Run]:
    """The runs of the ablations: each row is one, of a pair task two (pre-trained, then fine-tuned), and the teacher
    itself on the order of segments."""
    made = [Run(f"part-{name}", command, f"part-{name}") for rows in _PARTS.values() for name, _, command in rows]
    for task in PAIR_TASKS:
        made.append(Run(f"pairs-{task}", f"{_PAIRS} --epochs 4 --pair-task {task}", f"pairs-{task}"))
        tuned = f"train --model {{pairs-{task}}} {TASK} --epochs 2"
        made.append(Run(f"pairs-{task}-tuned", tuned, f"pairs-{task}-tuned"))
    teacher = _PAIRS.replace("{general-albert}", "{words}")
    made.append(Run("pairs-teacher", f"{teacher} --epochs 6 --pair-task sop", "pairs-teacher"))
    return made


def groups() -> Mapping[str, tuple[Row, ...]]:
    """Rows of the table by group, the whole recipe first."""
    return {group: tuple(Row(f"part-{name}", about) for name, about, _ in rows) for group, rows in _PARTS.items()}
