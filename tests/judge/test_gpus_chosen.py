"""The choice of GPUs for a run, and of the architecture that code is compiled for, with three made-up GPUs."""

from contextlib import nullcontext

import pytest
from fake_nvml import fake_gpus, fake_nvml

from cuset_stage.judge.bench import Bench, check_arch, choose_gpus
from cuset_stage.judge.judge_spec import JudgeSpec
from cuset_stage.sandbox import SandboxError


@pytest.fixture(autouse=True)
def three_gpus(monkeypatch):
    fake_nvml(monkeypatch, fake_gpus(3))


@pytest.mark.parametrize(
    ("asked", "chosen"), [(None, [0, 1, 2]), ((1,), [1]), ((2, 0), [2, 0]), ((1, 1), [1])], ids=str
)
def test_the_gpus_that_were_asked_for(asked, chosen):
    assert [gpu.index for gpu in choose_gpus(asked)] == chosen
    bench = Bench(JudgeSpec(gpus=asked, isolation="none"), "python")
    assert bench.pool is not None and [gpu.index for gpu in bench.pool.gpus] == chosen


def test_a_gpu_that_is_not_there():
    with pytest.raises(SandboxError, match="gpus: no GPU 7; this machine has 0, 1, 2"):
        choose_gpus([0, 7])


FITS = (
    *("sm_80 9.0", "sm_90 9.0", "compute_90 12.0", "native 9.0", "sm_90a 9.0", "sm_100f 10.3"),
    *("sm_100 9.0 no", "compute_100 9.0 no", "sm_90a 10.0 no", "sm_100f 12.0 no", "sm_103f 10.0 no", "sm_120 10.3 no"),
)


@pytest.mark.parametrize("case", FITS)
def test_code_that_the_gpu_cannot_run_is_refused(case):
    """Code for a later architecture, or for another one with an `a` or `f` suffix, is refused before anything is
    judged.

    PTX of an earlier architecture runs on every later one, except that `a` ties it to one architecture and `f` to one
    family.
    """
    arch, capability, *refused = case.split()
    (gpu,) = fake_gpus(1, capability)
    with pytest.raises(SandboxError, match=f"arch={arch}: GPU 0") if refused else nullcontext():
        check_arch(arch, gpu)
