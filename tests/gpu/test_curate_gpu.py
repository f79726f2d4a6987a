"""Curation on a GPU: right programs pass, a wrong one does not, and mutants must not all pass."""

import shutil
from pathlib import Path

import pytest
from curation_steps import deduplicate, lines, run, split, take_in, write
from curation_tree import write_program
from written_tasks import Writers, put_kernels, recorded


ROOT = Path(__file__).parents[2]


@pytest.mark.gpu
def test_programs_and_bundled_tasks_are_verified_on_the_gpu(tmp_path):
    write_program(tmp_path / "tree", "right", "x * x + 1.0f", "x * x + 1.0")
    write_program(tmp_path / "tree", "wrong", "x * x", "x * x + 1.0")
    for name in ("transpose_padded", "row_argmax"):
        shutil.copytree(ROOT / "data" / "kernels" / name, tmp_path / "kernels" / name)
    run("run", *(tmp_path / name for name in ("work", "tree", "kernels")), licence="Apache-2.0", validation=0)
    rows = {row["id"]: row for row in lines(tmp_path / "work" / "prove" / "rows.jsonl")}
    dropped = {row["id"]: row["reason"] for row in lines(tmp_path / "work" / "prove" / "dropped.jsonl")}
    assert set(rows) == {"tree:right", "kernels:transpose_padded", "kernels:row_argmax"}
    assert dropped == {"tree:wrong": "mismatch"}
    for row in rows.values():
        verified = row["verified"]
        assert verified["gpu"] and verified["driver"] and verified["mutants"]["found"]
        assert all(len(case["run_s"]) == 2 for case in verified["cases"])


@pytest.mark.gpu
def test_a_task_that_is_written_is_proved_on_the_gpu_and_what_is_wrong_there_goes_back(tmp_path):
    take_in(tmp_path, put_kernels(tmp_path / "tree"), licence="MIT", allow=("MIT",))
    split(tmp_path)
    deduplicate(tmp_path)
    server = Writers(histogram=[recorded("histogram").replace("i < n)", "i < n - 1)")])
    try:
        assert write(tmp_path, endpoint=server.url, model="writer").kept == 2
    finally:
        server.close()
    rows = {row["name"]: row for row in lines(tmp_path / "write" / "rows.jsonl")}
    tries = rows["byte_histogram_modulo"]["written"]["tries"]
    assert [each["reason"] for each in tries] == ["mismatch", ""] and "1 of 64 values" in tries[0]["message"]
    for row in rows.values():
        verified = row["verified"]
        assert verified["verdict"] == "passed" and any(row["kernel"] in name for name in verified["kernels"])
        assert verified["mutants"]["found"]
    assert write(tmp_path, model="writer").kept == 2  # from what is kept
