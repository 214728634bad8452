"""Runs of teachers and students: their commands parse, their order holds, and the tables say what records say."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import click
import pytest

from benchmarks.student_ablations import PAIR_TASKS, groups
from benchmarks.student_runs import HEADLINE, Run, runs
from benchmarks.student_tables import figures, headline, pairs, parts
from benchmarks.students import carry_out, command_of, read_records, wanted, write_records
from mobilekit.cli.main import group
from mobilekit.errors import CheckFailedError, InputError


@pytest.mark.parametrize("run", runs().values(), ids=lambda run: run.name)
def test_commands_are_those_of_the_command_line(run: Run, tmp_path: Path) -> None:
    verb, *arguments = command_of(run, tmp_path)
    command = group.get_command(click.Context(group), verb)
    assert command is not None
    # Parsing raises for an option that there is not.
    command.make_context(verb, list(arguments))
    assert arguments[-2:] == ["--out", str(tmp_path / run.name)] and "{" not in " ".join(arguments)


class Reached(Exception):
    """A command got as far as its models."""


@pytest.mark.parametrize("run", runs().values(), ids=lambda run: run.name)
def test_commands_have_no_option_that_changes_nothing(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mobilekit.cli import training_options

    def reach(*given: Any) -> Any:
        raise Reached

    monkeypatch.setattr(training_options, "_splits", lambda *given: None)
    monkeypatch.setattr(training_options.Corpora, "__call__", lambda self: [])
    monkeypatch.setattr(training_options.Corpora, "split", lambda self, *given: [])
    for name in ("load.load", "load.load_backbone"):
        monkeypatch.setattr(f"mobilekit.models.{name}", reach)
    monkeypatch.setattr("mobilekit.training.students.find.load_backbone", reach)
    verb, *arguments = command_of(run, tmp_path)
    command = group.get_command(click.Context(group), verb)
    assert command is not None
    with pytest.raises(Reached):
        command.invoke(command.make_context(verb, [*arguments, "--quiet"]))


def test_runs_come_after_what_they_need() -> None:
    seen: set[str] = set()
    for run in runs().values():
        assert set(run.needs) <= seen
        seen.add(run.name)
    rows = {row.name for row in (*HEADLINE, *(row for group in groups().values() for row in group))}
    rows |= {name for task in PAIR_TASKS for name in (f"pairs-{task}", f"pairs-{task}-tuned")} | {"pairs-teacher"}
    assert {name for run in runs().values() for name in (run.row, run.alone) if name} <= rows


def test_a_run_brings_what_it_needs() -> None:
    assert [run.name for run in wanted(("minilm-1",))] == ["teacher-0", "minilm-1"]
    assert len(wanted(())) == len(runs())
    with pytest.raises(InputError, match="did you mean 'words-head'"):
        wanted(("words-hed",))


def record(name: str, accuracy: float, alone: float | None = None, base: float = 0.9) -> dict[str, Any]:
    run = runs()[name]
    size = {"parameters": 22_000_000, "multiply_adds": 1_434_000_000, "seconds": 120.0}
    machine = {"cpus": 2, "processor": "some processor"}
    common = {"run": name, "command": run.command, "environment": machine}
    if run.command.startswith("train"):
        return {**common, "report": {"test": {"accuracy": accuracy}, **size}}
    rows = [("teacher", base), *([("the student alone", alone)] if alone else []), ("the student", accuracy)]
    made = [{"name": n, "values": {"accuracy": v}, "retained": v / base, **size} for n, v in rows]
    return {**common, "report": {"rows": made, "data": {"rows": 1500}}}


def test_table_has_means_over_seeds_and_says_whether_the_aim_was_met() -> None:
    records = [
        record("teacher-0", 0.9),
        record("teacher-1", 0.92),
        record("minilm-0", 0.89, 0.85),
        record("minilm-1", 0.91, 0.87),
        record("distil6-pkd-0", 0.86),
    ]
    table = headline({"runs": records})
    (teacher,) = [line for line in table.splitlines() if "the teacher |" in line and "12 layers" in line]
    assert "| 2 | 91.0 % (90.0 to 92.0) | - | - | 22.0 M | 1434 M | 2 |" in teacher
    (hinton,) = [line for line in table.splitlines() if "MiniLM, 6 layers, `hinton`" in line]
    assert "| 2 | 90.0 % (89.0 to 91.0) | 100.0 % | 99.5 %: met |" in hinton
    (alone,) = [line for line in table.splitlines() if "MiniLM, 6 layers, without" in line]
    assert "86.0 % (85.0 to 87.0)" in alone
    (pkd,) = [line for line in table.splitlines() if "`pkd`" in line]
    assert "| 1 | 86.0 % | 95.6 % | 97 %: missed |" in pkd
    assert figures(records, "distil6-tinybert") == [] and "tinybert" not in table


def test_teachers_of_two_trainings_are_told_apart() -> None:
    one = [record("distil6-pkd-0", 0.89), record("distil6-pkd-1", 0.91)]
    assert "trainings of the teacher" not in headline({"runs": one})
    one[1]["report"]["rows"][0]["values"]["accuracy"] = 0.88
    assert "2 trainings of the teacher by the same command, with 88.0 % and 90.0 %" in headline({"runs": one})


def test_parts_are_held_against_the_whole() -> None:
    records = [record("part-tinybert", 0.80), record("part-tinybert-no-hidden", 0.78), record("part-distilbert", 0.7)]
    table = parts({"runs": records})
    assert "| TinyBERT | all of it | 80.0 % | - |" in table
    assert "| TinyBERT | without the hidden states | 78.0 % | -2.0 points |" in table
    assert table.count("\n") == 4


def test_pair_tasks_have_their_intervals() -> None:
    test = {"loss": 4.5, "accuracy": 0.3, "pair_accuracy": 0.65}
    report = {"test": test, "pair_interval": {"low": 0.55, "high": 0.74}, "unigram_entropy": 6.8}
    machine = {"environment": {}, "command": ""}
    records = [{"run": "pairs-sop", "report": report, **machine}, record("pairs-sop-tuned", 0.81)]
    words = "4.50 nats (without context 6.80) | 30.0 % | 65.0 % | 55 to 74 %"
    assert f"| `albert` | sop | {words} | 81.0 % |" in pairs({"runs": records})
    records[0]["run"] = "pairs-teacher"
    table = pairs({"runs": records})
    assert f"| the teacher | sop | {words} | - |" in table and "albert" not in table


def test_records_are_kept_until_their_command_changes(tmp_path: Path) -> None:
    run = Run("tiny", "pretrain --model tiny-words --text text.txt --epochs 1 --length 16")
    (tmp_path / "text.txt").write_text("a good film\n\na bad film\n")
    run = Run("tiny", run.command.replace("text.txt", str(tmp_path / "text.txt")))
    made = carry_out(run, tmp_path, None)
    assert made["report"]["passages"] == 2 and "versions" not in made["report"]
    assert made["environment"]["versions"] and made["wall_seconds"] > 0
    assert carry_out(run, tmp_path, made) is made
    with pytest.raises(CheckFailedError, match="is of another command"):
        carry_out(Run("tiny", f"{run.command} --seed 1"), tmp_path, made)
    with pytest.raises(CheckFailedError, match="run broken failed"):
        carry_out(Run("broken", "pretrain --model nothing"), tmp_path, None)


def test_records_do_not_say_where_folders_lay(tmp_path: Path) -> None:
    (tmp_path / "done").mkdir()
    (tmp_path / "done/distill.json").write_text(json.dumps({"options": {"augmented": f"{tmp_path}/varied.jsonl"}}))
    made = carry_out(Run("done", "distill"), tmp_path, None)
    assert made["report"] == {"options": {"augmented": "{work}/varied.jsonl"}}


def test_runs_wait_for_what_they_need_and_a_failure_ends_only_those(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import benchmarks.students as students

    said: list[str] = []

    def carried_out(run: Run, work: Path, had: object, threads: int | None) -> dict[str, Any]:
        said.append(run.name)
        if run.name == "words-head":
            raise CheckFailedError("no")
        assert threads is not None and threads >= 1
        return record("teacher-0", 0.9) | {"run": run.name, "command": run.command}

    monkeypatch.setattr(students, "carry_out", carried_out)
    chosen = [runs()[name] for name in ("minilm-0", "words", "words-head", "teacher-0")]
    with pytest.raises(CheckFailedError, match="1 runs failed: words-head; 1 were not begun"):
        students.carry_out_all(chosen, tmp_path, 2, tmp_path / "file.json")
    assert said.index("teacher-0") < said.index("minilm-0") and "words" not in said
    assert set(read_records(tmp_path / "file.json")) == {"teacher-0", "minilm-0"}


def test_records_are_written_in_the_order_of_the_runs(tmp_path: Path) -> None:
    file = tmp_path / "students.json"
    assert read_records(file) == {}
    write_records({"minilm-0": record("minilm-0", 0.8), "teacher-0": record("teacher-0", 0.9), "gone": {}}, file)
    assert list(read_records(file)) == ["teacher-0", "minilm-0"]
    assert json.loads(file.read_text())["runs"][0]["command"] == shlex.join(shlex.split(runs()["teacher-0"].command))


def test_committed_records_are_of_the_commands_that_there_are() -> None:
    known = runs()
    assert {name: record["command"] for name, record in read_records().items()} == {
        name: known[name].command for name in read_records()
    }
