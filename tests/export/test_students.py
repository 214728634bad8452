"""Students go to phones: made from one teacher, each to every target at int8, with all checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from export.pipeline import export
from mobilekit.models.config import HeadConfig
from mobilekit.models.load import load
from mobilekit.models.rehead import with_head
from mobilekit.models.save import save_model
from mobilekit.training.students.registry import StudentOptions, students

# Mean pooling and one linear map, as the tables' students have.
HEAD = HeadConfig("sequence-classification", ("negative", "positive"), mean=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("distil6", StudentOptions(depth=2)),
        ("tiny4", StudentOptions(depth=2)),
        ("albert", StudentOptions(embedding_size=32)),
        ("albert", StudentOptions(embedding_size=0, sharing="attention")),
    ],
    ids=["distil6", "tiny4", "albert", "albert that shares attention"],
)
def test_student_exports_to_every_target(name: str, options: StudentOptions, tmp_path: Path) -> None:
    student = with_head(students()[name].make(load("tiny-embedding"), options, 0, None), HEAD)
    (tmp_path / "student").mkdir()
    save_model(student, tmp_path / "student")
    results = export(tmp_path / "student", ["executorch", "coreml", "tflite"], "int8", lengths=(16,), out=tmp_path)
    assert [result.passed for result in results] == [True] * 3
