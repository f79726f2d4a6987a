"""Rows worked on with Ray: the same results as with threads. Left out where Ray is not installed.

The cluster's first machine has no GPU; a second one, whose GPUs are not there, comes with `gpu_machine`.
"""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest
from curation_steps import lines, prove, put
from fake_gpus import path_with_gpus, ready_row, write_copies
from patient_ray import patient

from cuset_stage.curate import parallel
from cuset_stage.curate.parallel import unordered_map
from cuset_stage.curate.stage import Kept, run_stage
from cuset_stage.curate.stage_rows import CurationError, StageRows
from cuset_stage.sandbox import SandboxError, find_toolkit


ray = pytest.importorskip("ray")
cluster_utils = pytest.importorskip("ray.cluster_utils")
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    ray.shutdown()  # what another file began
    helpers = [str(HERE), str(HERE.parent / "helpers"), *filter(None, [os.environ.get("PYTHONPATH")])]
    patch.setenv("PYTHONPATH", os.pathsep.join(helpers))  # a worker finds this folder's modules
    patch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "1")  # what versions before April 2026 do
    patch.setenv("PATH", path_with_gpus(tmp_path_factory.mktemp("path") / "none", 0))
    patch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    machines = patient(cluster_utils.Cluster)(initialize_head=True, head_node_args={"num_cpus": 2, "num_gpus": 0})
    patient(ray.init)(address=machines.address, log_to_driver=False)
    yield machines
    ray.shutdown()
    machines.shutdown()
    patch.undo()


@pytest.fixture(scope="module")
def gpu_machine(cluster, tmp_path_factory):
    path = path_with_gpus(tmp_path_factory.mktemp("path") / "two", 2)
    return cluster.add_node(num_cpus=2, num_gpus=2, env_vars={"PATH": path})


@pytest.fixture(scope="module")
def row(tmp_path_factory):
    """Right on the first GPU and without one, so that the verdict tells where a program ran."""
    try:
        find_toolkit()
    except SandboxError:
        pytest.skip("nvcc is needed")
    test = 'const char* gpu = std::getenv("CUDA_VISIBLE_DEVICES"); usleep(200000); if (gpu && !std::strcmp(gpu, "GPU-fake-1")) return 7;'
    return ready_row(tmp_path_factory.mktemp("row"), "x * x", "x * x", test)


@dataclass(frozen=True)
class Times:
    factor: int

    def __call__(self, number: int) -> tuple[int, int]:
        if number < 0:
            raise CurationError("a number below zero")
        return number * self.factor, os.getpid()


def test_every_item_comes_back_with_its_result_from_other_processes(cluster):
    found = list(unordered_map(Times(3), range(12), ray=True))
    assert sorted(item for item, _ in found) == list(range(12))
    assert all(result[0] == 3 * item and result[1] != os.getpid() for item, result in found)
    with pytest.raises(CurationError, match="below zero"):  # an error that ends the run keeps its type
        list(unordered_map(Times(3), [1, -1], ray=True))


@pytest.mark.parametrize("ray", [False, True])
def test_items_that_python_works_on_go_to_processes_in_chunks(cluster, ray):
    found = list(unordered_map(Times(3), range(500), workers=2, processes=True, ray=ray))
    assert sorted(item for item, _ in found) == list(range(500)) and all(
        result[0] == 3 * item for item, result in found
    )
    assert os.getpid() not in {result[1] for _, result in found}
    few = list(unordered_map(Times(3), range(9), workers=2, processes=True, ray=ray))
    assert {result[1] for _, result in few} == {os.getpid()}  # not worth a process


@dataclass(frozen=True)
class Dies:
    at: str

    def __call__(self, row: dict) -> Kept:
        if row["id"] == self.at:
            os.kill(os.getpid(), signal.SIGKILL)
        return Kept(row)


def test_a_row_that_kills_its_worker_is_left_for_the_next_run_and_the_rest_goes_on(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(parallel, "RAY_RETRIES", 1)
    rows = [{"id": f"r{number}", "source": {"file": "a.cu", "row": number}} for number in range(6)]
    path = put(tmp_path / "rows.jsonl", rows)

    def run(at: str):
        return run_stage(tmp_path / "prove", "prove", StageRows([path]), Dies(at), settings={}, ray=True)

    summary = run("r3")
    assert (summary.kept, summary.dropped, summary.unsettled) == (5, 0, 1)
    [left] = summary.unsettled_rows
    assert (left["reason"], left["row"]) == ("worker_lost", 3) and "WorkerCrashedError" in left["detail"]
    summary = run("none")
    assert (summary.kept, summary.unsettled, summary.resumed) == (6, 0, 5)


@pytest.mark.slow
def test_a_row_that_kills_its_process_is_the_only_one_that_is_lost(tmp_path):
    rows = [{"id": f"r{number}", "source": {"file": "a.cu", "row": number}} for number in range(300)]
    path = put(tmp_path / "rows.jsonl", rows)
    summary = run_stage(tmp_path / "a", "a", StageRows([path]), Dies("r70"), settings={}, workers=2, processes=True)
    assert (summary.kept, summary.unsettled) == (299, 1) and summary.unsettled_rows[0]["reason"] == "worker_lost"
    assert summary.unsettled_rows[0]["row"] == 70


def test_programs_that_need_no_gpu_are_verified_on_machines_without_one(cluster, tmp_path, row):
    rows = write_copies(tmp_path / "rows.jsonl", row, 2)
    wanted = {"times": 1, "mutants": 0, "executor": "ray"}
    with pytest.raises(CurationError, match="no machine of the cluster has a GPU; no_gpu=true"):
        prove(tmp_path, rows, **wanted)
    summary = prove(tmp_path, rows, no_gpu=True, **wanted)
    assert (summary.kept, summary.unsettled) == (2, 0), (summary.reasons, summary.unsettled_rows)
    assert summary.settings["gpu"] is None and summary.settings["arch"] == "sm_90"


@pytest.mark.slow
def test_rows_go_to_all_gpus_of_the_machines_that_have_some(gpu_machine, tmp_path, row):
    rows = write_copies(tmp_path / "rows.jsonl", row, 12)
    summary = prove(tmp_path, rows, times=1, mutants=0, executor="ray")
    assert summary.unsettled == 0, summary.unsettled_rows
    assert summary.kept and summary.reasons["runtime_error"] and summary.kept + summary.dropped == 12
    assert [summary.settings[name] for name in ("gpu", "driver", "arch")] == ["NVIDIA Fake", "580.0", "sm_90"]
    assert {each["verified"]["gpu"] for each in lines(tmp_path / "prove" / "rows.jsonl")} == {"NVIDIA Fake"}


@pytest.mark.slow
def test_machines_whose_gpus_differ_are_refused(cluster, gpu_machine, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.touch()
    path = path_with_gpus(tmp_path / "older", 1, capability="8.0")
    machine = cluster.add_node(num_cpus=1, num_gpus=1, env_vars={"PATH": path})
    try:
        with pytest.raises(CurationError, match="machines differ in what decides verdicts: arch: sm_80 and sm_90"):
            prove(tmp_path, rows, executor="ray")
    finally:
        cluster.remove_node(machine)
    assert not (tmp_path / "prove").exists()
