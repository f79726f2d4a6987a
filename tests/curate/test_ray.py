"""Rows worked on with Ray: the same results as with threads. Left out where Ray is not installed."""

import json
import os
import signal
from dataclasses import dataclass, replace

import pytest
from curation_tree import write_program
from fake_gpus import cased_row, write_copies

from cuset_stage.curate.adapt import run_adapt
from cuset_stage.curate.cases import run_cases
from cuset_stage.curate.importing import Source, run_import
from cuset_stage.curate.parallel import Executor, unordered_map
from cuset_stage.curate.stage import Kept, run_stage, stage_files
from cuset_stage.curate.stage_rows import CurationError, read_stage_rows
from cuset_stage.curate.verify import Verification, run_verify
from cuset_stage.sandbox import SandboxError, find_toolkit


ray = pytest.importorskip("ray")


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """One machine with two CPUs; a worker finds this folder's modules."""
    paths = os.pathsep.join(
        [
            os.path.join(os.path.dirname(os.path.dirname(__file__)), "helpers"),
            *filter(None, [os.environ.get("PYTHONPATH")]),
        ]
    )
    ray.shutdown()  # what another file began
    ray.init(
        num_cpus=2,
        num_gpus=0,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": paths}},
    )
    yield
    ray.shutdown()


@dataclass(frozen=True)
class Times:
    factor: int

    def __call__(self, number: int) -> tuple[int, int]:
        if number < 0:
            raise CurationError("a number below zero")
        return number * self.factor, os.getpid()


def test_every_item_comes_back_with_its_result_from_other_processes():
    found = list(unordered_map(Times(3), range(30), executor=Executor.RAY))
    assert sorted(item for item, _ in found) == list(range(30))
    assert all(result[0] == 3 * item and result[1] != os.getpid() for item, result in found)


def test_an_error_that_ends_the_run_keeps_its_type():
    with pytest.raises(CurationError, match="below zero"):
        list(unordered_map(Times(3), [1, -1], executor=Executor.RAY))


@dataclass(frozen=True)
class Dies:
    at: str

    def __call__(self, row: dict) -> Kept:
        if row["id"] == self.at:
            os.kill(os.getpid(), signal.SIGKILL)
        return Kept(row)


def test_a_row_that_kills_its_worker_is_left_for_the_next_run_and_the_rest_goes_on(tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = [{"id": f"r{number}", "source": {"file": "a.cu", "row": number}} for number in range(12)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def run(at: str):
        return run_stage(
            tmp_path / "verify", "verify", read_stage_rows([path]), Dies(at), settings={}, executor=Executor.RAY
        )

    summary = run("r3")
    assert (summary.kept, summary.dropped, summary.unsettled) == (11, 0, 1)
    [left] = summary.unsettled_rows
    assert (left["reason"], left["row"]) == ("worker_lost", 3) and "WorkerCrashedError" in left["detail"]
    summary = run("none")
    assert (summary.kept, summary.unsettled, summary.resumed) == (12, 0, 11)


def test_programs_that_need_no_gpu_are_verified_on_machines_without_one(tmp_path):
    try:
        find_toolkit()
    except SandboxError:
        pytest.skip("nvcc is needed")
    row = cased_row(tmp_path, "x * x", "x * x")
    rows = write_copies(tmp_path / "rows.jsonl", row, 3)
    wanted = Verification(use_gpu=False, times=1, mutants=0, programs=tmp_path / "programs")
    with pytest.raises(CurationError, match="no machine of the cluster has a GPU; --no-gpu"):
        run_verify(tmp_path, [rows], replace(wanted, use_gpu=True), executor=Executor.RAY)
    summary = run_verify(tmp_path, [rows], wanted, executor=Executor.RAY)
    assert (summary.kept, summary.unsettled) == (3, 0), (summary.reasons, summary.unsettled_rows)
    assert summary.settings["gpu"] is None and summary.settings["arch"] == "sm_90"


def test_cases_are_those_of_the_threads(tmp_path):
    for number in range(3):
        write_program(tmp_path / "tree", f"program{number}", f"x + {number}.5f", f"x + {number}.5")
    rows = {}
    for executor in (Executor.THREADS, Executor.RAY):
        work = tmp_path / executor
        run_import(work, Source(tmp_path / "tree", revision="1"))
        run_adapt(work, stage_files(work, "import"))
        summary = run_cases(work, stage_files(work, "adapt"), executor=executor)
        assert (summary.kept, summary.unsettled) == (3, 0), summary.unsettled_rows
        lines = (work / "cases" / "rows.jsonl").read_text(encoding="utf-8").splitlines()
        rows[executor] = {row["id"]: row["task"] for row in map(json.loads, lines)}
    assert rows[Executor.RAY] == rows[Executor.THREADS]
