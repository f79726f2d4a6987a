"""What `verify` does with GPUs, on a machine without one: mutants that decide, leases on all of them, threads for CPUs and GPUs."""

import json
import threading

import pytest
from fake_gpus import cased_row, path_with_gpus, write_copies

from cuset_stage.curate.parallel import cpu_count
from cuset_stage.curate.stage_rows import CurationError
from cuset_stage.curate.verify import Verification, run_verify
from cuset_stage.sandbox import SandboxError, find_toolkit


try:
    find_toolkit()
except SandboxError:
    pytest.skip("nvcc is needed", allow_module_level=True)

GPUS = 2


@pytest.fixture(autouse=True)
def gpus(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", path_with_gpus(tmp_path / "bin", GPUS))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_row_none_of_whose_mutants_is_found_out_is_dropped(tmp_path):
    # Its mutants are errors of kernel and launch, which change nothing on the CPU.
    row = cased_row(tmp_path, "x * x", "x * x")
    rows = write_copies(tmp_path / "rows.jsonl", row, 1)
    wanted = Verification(times=1, mutants=3, programs=tmp_path / "programs")
    summary = run_verify(tmp_path, [rows], wanted)
    assert (summary.kept, summary.unsettled, summary.reasons) == (0, 0, {"weak_cases": 1}), summary.unsettled_rows
    detail = lines(tmp_path / "verify" / "dropped.jsonl")[0]["detail"]
    assert detail.startswith("every mutant that compiled passes all cases: ") and detail.count(" in line ") == 3
    untested = Verification(times=1, mutants=0, programs=tmp_path / "programs")
    assert run_verify(tmp_path, [rows], untested, fresh=True).kept == 1


def test_a_row_with_a_mutant_that_is_found_out_is_kept_with_it(tmp_path):
    row = cased_row(tmp_path, "x * x + 1.0f", "x * x + 1.0")  # value() is the CPU's, too, and `+` becomes `-`
    rows = write_copies(tmp_path / "rows.jsonl", row, 1)
    summary = run_verify(tmp_path, [rows], Verification(times=1, programs=tmp_path / "programs"))
    assert (summary.kept, summary.unsettled) == (1, 0), (summary.reasons, summary.unsettled_rows)
    tested = lines(tmp_path / "verify" / "rows.jsonl")[0]["verified"]["mutants"]
    assert (tested["found"], tested["as"]) == ("wrong_operator", "mismatch")
    assert len(tested["passed"]) == tested["compiled"] - 1 > 0  # it went on after those that pass


def test_programs_run_on_all_gpus_and_threads_are_there_for_all_cpus_and_gpus(tmp_path):
    # Right on the first GPU alone, so that the verdict tells where a program ran.
    row = cased_row(
        tmp_path,
        "x * x",
        "x * x",
        'usleep(100000); if (std::strcmp(std::getenv("CUDA_VISIBLE_DEVICES"), "GPU-fake-0")) return 7;',
    )
    per_gpu = 3
    threads = cpu_count() + per_gpu * GPUS
    rows = write_copies(tmp_path / "rows.jsonl", row, 3 * threads)
    most, over = [0], threading.Event()

    def watch():
        while not over.wait(0.01):
            most[0] = max(most[0], sum(each.name.startswith("curate") for each in threading.enumerate()))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        wanted = Verification(times=1, mutants=0, per_gpu=per_gpu, programs=tmp_path / "programs")
        summary = run_verify(tmp_path, [rows], wanted)
    finally:
        over.set()
        watcher.join()
    assert most[0] == threads
    assert summary.unsettled == 0, summary.unsettled_rows
    dropped = lines(tmp_path / "verify" / "dropped.jsonl")
    assert summary.kept and summary.kept + len(dropped) == 3 * threads
    assert dropped and all("returned 7" in each["detail"] for each in dropped), dropped[:1]


def test_an_architecture_that_a_gpu_cannot_run_is_refused_before_the_first_row(tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.touch()
    with pytest.raises(CurationError, match=r"sm_100: GPU 0 .* is sm_90"):
        run_verify(tmp_path, [rows], Verification(arch="sm_100", programs=tmp_path / "programs"))
