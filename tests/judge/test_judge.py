"""The judge of programs, one answer at a time, without a GPU.

Every verdict comes from a real compiler and a real run.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from fake_nvml import fake_gpus, fake_nvml
from host_programs import PROGRAM, REFERENCE, make_task
from task_factory import GEN, cudabench_row, load_row

from cuset_stage.judge.case_runs import CaseRunner
from cuset_stage.judge.devices import GpuPool, NoGpuLeft
from cuset_stage.judge.modules import ModuleJudge
from cuset_stage.sandbox import Isolation, Limits, Verdict, resolve_isolation


(LOST,) = fake_gpus(1)  # a GPU that the driver no longer finds


@pytest.mark.parametrize(
    ("mode", "verdict", "says"),
    [
        ("wrong", Verdict.MISMATCH, "1 of 101 values are wrong"),
        ("short", Verdict.MISMATCH, "400 bytes, expected 404"),
        ("silent", Verdict.MISSING_OUTPUT, "data/y.bin: not written"),
        ("returns_3", Verdict.RUNTIME_ERROR, "bad luck"),
        ("hangs", Verdict.TIMEOUT, "limit of 2 s"),
    ],
)
def test_stops_at_the_first_case_that_fails(judge, tmp_path, mode, verdict, says):
    if mode == "hangs":
        judge = replace(judge, limits=Limits(wall_s=2.0))
    judged = judge.judge(make_task(tmp_path, "right", mode, "slow"), PROGRAM)
    assert (judged.verdict, judged.compiled, judged.passed, judged.case) == (verdict, True, False, mode)
    assert [(case.name, case.verdict) for case in judged.cases] == [("right", Verdict.PASSED), (mode, verdict)]
    assert says in judged.message


def test_a_full_disk_that_cuts_off_the_first_output_is_not_charged(judge, tmp_path, monkeypatch):
    monkeypatch.setattr("cuset_stage.sandbox.folders.ROOM_BYTES", 2**60)  # every disk counts as full
    assert judge.judge(make_task(tmp_path, "short", "right"), PROGRAM).verdict is Verdict.INFRA_ERROR


def test_settings_tell_isolations_and_gpus_apart(judge):
    """The settings decide whether an earlier verdict still counts.

    They contain the isolation that is really used, not the one that was asked for, and the models of the GPUs, not
    their order.
    """
    landlock = replace(judge, isolation=Isolation.LANDLOCK)
    assert landlock.settings()["isolation"] == "landlock"
    assert replace(judge, isolation=resolve_isolation()).settings() == judge.settings()  # the judge's AUTO, resolved

    def on(*names: str, per_gpu: int = 1) -> dict[str, Any]:
        gpus = [replace(LOST, name=name, index=index) for index, name in enumerate(names)]
        return replace(judge, gpus=GpuPool(gpus, per_gpu=per_gpu)).settings()

    assert judge.settings() != on("H100") != on("H200")
    assert on("H100", "H200", "H100") == on("H200", "H100")
    assert on("H100", per_gpu=2) == on("H100")  # nothing is timed here
    sharing = replace(judge, gpus=GpuPool([LOST]))
    assert replace(sharing, confirms=False).settings() != sharing.settings()

    def of_modules(per_gpu: int, **changes: Any) -> dict[str, Any]:
        return ModuleJudge(gpus=GpuPool([LOST], per_gpu=per_gpu), **changes).settings()

    # Modules have a GPU to themselves, whatever `per_gpu` says for programs.
    assert of_modules(1) == of_modules(2) == of_modules(1, isolation=resolve_isolation()) != of_modules(1, seed=1)
    assert of_modules(1, isolation=Isolation.LANDLOCK)["isolation"] == "landlock"


def test_a_reference_that_fails_is_not_the_answers_fault(judge, tmp_path):
    task = make_task(tmp_path, "right", reference=REFERENCE.replace("2 *", "1 / 0 *"))
    judged = judge.judge(task, PROGRAM)
    assert judged.verdict is Verdict.INFRA_ERROR and judged.infra
    assert judged.compiled  # that it compiled is still reported
    assert "ZeroDivisionError" in judged.message


def test_a_failure_on_a_lost_gpu_is_not_the_answers_fault(judge, tmp_path):
    pool = GpuPool([LOST])
    task = make_task(tmp_path, "says_no_device")
    built = judge.build(task, PROGRAM)
    prepared = judge.prepare(task)
    with_gpu = replace(judge, gpus=pool)
    judged = with_gpu.execute(task, built, prepared)
    assert judged.verdict is Verdict.INFRA_ERROR
    assert "GPU 0" in judged.message
    with pytest.raises(NoGpuLeft, match="no GPU left"):
        with_gpu.execute(task, built, prepared)
    pool = GpuPool([LOST])
    silent = replace(judge, gpus=pool).judge(make_task(tmp_path, "returns_3"), PROGRAM)
    assert silent.verdict is Verdict.RUNTIME_ERROR and not pool.lost  # its output does not mention a device
    # Without a GPU in use, none can be lost, whatever the program prints.
    assert judge.execute(task, built, prepared).verdict is Verdict.RUNTIME_ERROR


@pytest.mark.parametrize("per_gpu", [1, 2])
def test_a_gpu_lost_while_programs_wait_for_it_is_not_leased(per_gpu, tmp_path, monkeypatch):
    monkeypatch.setenv("CUSET_CACHE", str(tmp_path))
    monkeypatch.setattr("cuset_stage.judge.devices.used_memory", lambda gpu: (1, {}))
    pool = GpuPool(fake_gpus(2), per_gpu=per_gpu)

    def leased():
        with pool.lease() as gpu:
            return gpu

    with ThreadPoolExecutor(4) as threads:
        with pool.lease(alone=True) as lost, pool.lease(alone=True) as other:
            waiting = [threads.submit(leased) for _ in range(4)]
            time.sleep(0.5)
            pool.lost[lost.uuid] = "it fell off the bus"
        assert {future.result() for future in waiting} == {other}


@pytest.mark.parametrize(
    ("modes", "used"),
    [
        *product([("wrong", "right"), ("right", "wrong"), ("returns_3", "right")], [0.0, 0.5, 0.8]),
        (("hangs", "right"), 0.5),  # however much memory is used
    ],
)
def test_what_other_programs_may_have_made_fail_starts_twice(judge, tmp_path, monkeypatch, modes, used):
    """A failure is confirmed by a second run, alone on the GPU, only if other programs may have caused it.

    Starting CUDA is serialised on a machine, so the number of starts decides how many answers are judged in an hour.
    """
    monkeypatch.setenv("CUSET_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("cuset_stage.judge.devices.probe_gpu", lambda gpu, isolation: None)
    fake_nvml(monkeypatch, [LOST], lambda: int(used * LOST.memory_bytes))
    judge = replace(judge, limits=Limits(wall_s=2.0))
    pool = GpuPool([LOST], per_gpu=2)
    leases, lease, run = [], pool.lease, CaseRunner.run
    monkeypatch.setattr(pool, "lease", lambda *args, alone=False: leases.append(alone) or lease(*args, alone=alone))
    monkeypatch.setattr(CaseRunner, "run", lambda *x, alone: replace(run(*x, alone=alone), message="alone" * alone))
    judged = replace(judge, gpus=pool).judge(make_task(tmp_path, *modes), PROGRAM)
    assert not judged.passed and (judged.message == "alone") is leases[-1]
    # A failure in a later call of `main` proves nothing, so that case is run again in a process of its own anyway.
    beside = [False] if modes[0] != "right" else [False, False]
    scarce = used != 0.5  # memory is scarce, or 0: the driver does not say how much is used
    assert leases == ([False, True] if scarce or modes[0] == "hangs" else beside)
    leases.clear()
    assert not replace(judge, gpus=pool, confirms=False).judge(make_task(tmp_path, *modes), PROGRAM).passed
    assert leases == beside


def test_time_is_told_apart(judge, tmp_path):
    """The judge's own time is the whole time minus compiler and program. The program takes 0.3 s here."""
    task = make_task(tmp_path, "slow")
    judge.judge(task, PROGRAM)
    begin = time.perf_counter()
    judged = judge.judge(task, PROGRAM)
    whole = time.perf_counter() - begin
    assert judged.compile_cached and judged.compile_s
    assert judged.run_s and judged.run_s >= 0.3
    assert 0 < judged.overhead_s <= whole - judged.run_s
    assert judged.compare_s and judged.compare_s < judged.overhead_s  # comparing is part of the judge's own time


@pytest.mark.parametrize(("mode", "verdict"), [(0, "passed"), (1, "mismatch"), (4, "missing_output")])
def test_script_oracle(judge, tmp_path, mode, verdict):
    """A task of CUDABench's kind: gen.py writes inputs and reference, and compare.py prints T or F.

    If compare.py is broken, no answer is judged by it, right or wrong.
    """
    inputs = [{"name": "mode", "dtype": "int32", "shape": "(1,)"}, {"name": "x", "dtype": "float32", "shape": "(64,)"}]
    row = cudabench_row(inputs=inputs, **{"gen.py": f'{GEN}np.array([{mode}], np.int32).tofile("data/mode.bin")\n'})
    judged = judge.judge(load_row(tmp_path, row), PROGRAM)
    assert judged.verdict == verdict, judged.message
    judged = judge.judge(load_row(tmp_path, {**row, "compare.py": "print('F')\n"}), PROGRAM)
    assert (judged.verdict, judged.cases) == (Verdict.INFRA_ERROR, ())
    assert "no answer is charged" in judged.message
