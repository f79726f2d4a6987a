"""Which GPUs a run uses, and what the record says of them, of three that are not there."""

import pytest
from fake_nvml import fake_gpus, fake_nvml

from cuset_stage.judge.bench import Bench, choose_gpus
from cuset_stage.judge.judge_spec import JudgeSpec
from cuset_stage.sandbox import SandboxError


@pytest.fixture(autouse=True)
def three_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_nvml(monkeypatch, fake_gpus(3))


@pytest.mark.parametrize(
    ("asked", "chosen"), [(None, [0, 1, 2]), ((1,), [1]), ((2, 0), [2, 0]), ((1, 1), [1])], ids=str
)
def test_the_gpus_that_were_asked_for(asked: tuple[int, ...] | None, chosen: list[int]) -> None:
    assert [gpu.index for gpu in choose_gpus(asked)] == chosen
    bench = Bench(JudgeSpec(gpus=asked, isolation="none"), "python")
    assert bench.pool is not None and [gpu.index for gpu in bench.pool.gpus] == chosen


def test_a_gpu_that_is_not_there() -> None:
    with pytest.raises(SandboxError, match="gpus: no GPU 7; this machine has 0, 1, 2"):
        choose_gpus([0, 7])
