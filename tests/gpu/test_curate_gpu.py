"""Curation on a GPU: right programs pass, a wrong one does not, and mutants must not all pass."""

import shutil
from pathlib import Path

import pytest
from curation_steps import lines
from curation_tree import write_program
from typer.testing import CliRunner

from cuset_stage.cli import app


ROOT = Path(__file__).parents[2]


@pytest.mark.gpu
def test_programs_and_bundled_tasks_are_verified_on_the_gpu(tmp_path):
    write_program(tmp_path / "tree", "right", "x * x + 1.0f", "x * x + 1.0")
    write_program(tmp_path / "tree", "wrong", "x * x", "x * x + 1.0")
    for name in ("transpose_padded", "row_argmax"):
        shutil.copytree(ROOT / "data" / "kernels" / name, tmp_path / "kernels" / name)
    given = [str(tmp_path / name) for name in ("work", "tree", "kernels")]
    done = CliRunner().invoke(app, ["curate", "run", *given, "licence=Apache-2.0", "validation=0"])
    assert done.exit_code == 0, done.output
    rows = {row["id"]: row for row in lines(tmp_path / "work" / "prove" / "rows.jsonl")}
    dropped = {row["id"]: row["reason"] for row in lines(tmp_path / "work" / "prove" / "dropped.jsonl")}
    assert set(rows) == {"tree:right.cu", "kernels:transpose_padded", "kernels:row_argmax"}
    assert dropped == {"tree:wrong.cu": "mismatch"}
    for row in rows.values():
        verified = row["verified"]
        assert verified["gpu"] and verified["driver"] and verified["mutants"]["found"]
        assert all(len(case["run_s"]) == 2 for case in verified["cases"])
