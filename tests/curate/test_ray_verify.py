"""`verify` on a cluster whose driver and first machine have no GPU, with a Ray that hides GPUs from tasks that ask for none."""

import json

import pytest
from fake_gpus import cased_row, path_with_gpus, write_copies

from cuset_stage.curate.parallel import Executor
from cuset_stage.curate.stage_rows import CurationError
from cuset_stage.curate.verify import Verification, run_verify
from cuset_stage.sandbox import SandboxError, find_toolkit


ray = pytest.importorskip("ray")
cluster_utils = pytest.importorskip("ray.cluster_utils")

try:
    find_toolkit()
except SandboxError:
    pytest.skip("nvcc is needed", allow_module_level=True)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    folder = tmp_path_factory.mktemp("path")
    patch = pytest.MonkeyPatch()
    ray.shutdown()  # what another file began
    patch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "1")  # what versions before April 2026 do
    patch.setenv("PATH", path_with_gpus(folder / "none", 0))
    patch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    machines = cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "num_gpus": 0})
    machines.add_node(num_cpus=2, num_gpus=2, env_vars={"PATH": path_with_gpus(folder / "two", 2)})
    ray.init(address=machines.address, log_to_driver=False)
    yield machines
    ray.shutdown()
    machines.shutdown()
    patch.undo()


def test_rows_go_to_all_gpus_of_the_machines_that_have_some(cluster, tmp_path):
    # Right on the first GPU alone, so that the verdict tells where a program ran.
    row = cased_row(
        tmp_path,
        "x * x",
        "x * x",
        'usleep(200000); if (std::strcmp(std::getenv("CUDA_VISIBLE_DEVICES"), "GPU-fake-0")) return 7;',
    )
    rows = write_copies(tmp_path / "rows.jsonl", row, 16)
    wanted = Verification(times=1, mutants=0, programs=tmp_path / "programs")
    summary = run_verify(tmp_path, [rows], wanted, executor=Executor.RAY)
    assert summary.unsettled == 0, summary.unsettled_rows
    assert summary.kept and summary.reasons["runtime_error"] and summary.kept + summary.dropped == 16
    assert [summary.settings[name] for name in ("gpu", "driver", "arch")] == ["NVIDIA Fake", "580.0", "sm_90"]
    for line in (tmp_path / "verify" / "rows.jsonl").read_text(encoding="utf-8").splitlines():
        assert json.loads(line)["verified"]["gpu"] == "NVIDIA Fake"


def test_machines_whose_gpus_differ_are_refused(cluster, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.touch()
    path = path_with_gpus(tmp_path / "older", 1, capability="8.0")
    machine = cluster.add_node(num_cpus=1, num_gpus=1, env_vars={"PATH": path})
    try:
        with pytest.raises(CurationError, match="machines differ in what decides verdicts: arch: sm_80 and sm_90"):
            run_verify(tmp_path, [rows], Verification(), executor=Executor.RAY)
    finally:
        cluster.remove_node(machine)
    assert not (tmp_path / "verify").exists()
