"""Rows worked on with Ray: the same results as with threads. Left out where Ray is not installed."""

import json
import os
from dataclasses import dataclass

import pytest
from curation_tree import write_program

from cuset_stage.curation.adapt import run_adapt
from cuset_stage.curation.cases import run_cases
from cuset_stage.curation.importing import Source, run_import
from cuset_stage.curation.parallel import Executor, unordered_map
from cuset_stage.curation.rows import CurationError
from cuset_stage.curation.stage import stage_files


ray = pytest.importorskip("ray")


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """One machine with two CPUs; a worker finds this folder's modules."""
    paths = os.pathsep.join([os.path.dirname(__file__), *filter(None, [os.environ.get("PYTHONPATH")])])
    ray.shutdown()  # what another file began
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": paths}})
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
