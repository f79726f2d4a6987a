"""Whether the GPU did a program's work: honest programs of all kinds keep their speed-up, and each way round the work is found."""

from collections.abc import Mapping

import pytest
from gpu_work_programs import (
    CONVERTS,
    DECODED,
    FORGED,
    HONEST,
    NOT_FROM_GPU,
    NOT_NEEDED,
    NOTHING,
    UPLOADED,
    VARIABLE,
    task_row,
)
from task_factory import load_row

from cuset_stage.judge import gpu_work
from cuset_stage.judge.bench import Bench
from cuset_stage.judge.judge_spec import EvaluationSpec
from cuset_stage.judge.judgement import Judgement
from cuset_stage.sandbox import Isolation, Verdict
from cuset_stage.tasks import ProgramTask


pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> ProgramTask:
    return load_row(tmp_path_factory.mktemp("tasks"), task_row())


@pytest.fixture(scope="module")
def bench() -> Bench:
    bench = Bench(EvaluationSpec(seed=1, require_gpu=True), "cuda")
    assert bench.recorded == "yes"
    return bench


def judge(bench: Bench, task: ProgramTask, source: str) -> Judgement:
    return bench.judge.judge(task, source)


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_program_is_not_flagged(bench: Bench, task: ProgramTask, name: str) -> None:
    judged = judge(bench, task, HONEST[name])
    assert (judged.verdict, judged.flags) == (Verdict.PASSED, ()), judged.message
    assert judged.speedup == pytest.approx(judged.reference_s / judged.kernel_s)
    assert sum(kernel.launches for kernel in judged.kernels) == 2 and "kernel" in judged.kernels[0].name


FLAGGED = {"NOTHING_RAN": NOTHING, "RESULT_UPLOADED": UPLOADED, "NOT_FROM_GPU": NOT_FROM_GPU, "NOT_NEEDED": NOT_NEEDED}


@pytest.mark.parametrize(("flag", "programs"), FLAGGED.items(), ids=FLAGGED)
def test_a_program_without_gpu_work_fails(
    bench: Bench, task: ProgramTask, programs: Mapping[str, str], flag: str
) -> None:
    wanted = (Verdict.NO_GPU_WORK, (getattr(gpu_work, flag),), None)
    for name, source in programs.items():
        judged = judge(bench, task, source)
        assert (judged.verdict, judged.flags, judged.speedup) == wanted, name


@pytest.mark.parametrize("source", [CONVERTS, DECODED, VARIABLE])
def test_work_of_the_host_has_no_speed(bench: Bench, task: ProgramTask, source: str) -> None:
    judged = judge(bench, task, source)
    assert (judged.verdict, judged.flags, judged.speedup) == (Verdict.PASSED, (gpu_work.HOST_WORK,), None)


@pytest.mark.parametrize("name", FORGED)
def test_a_record_that_the_program_wrote_has_no_speed(task: ProgramTask, name: str) -> None:
    source, flag = FORGED[name]
    judged = judge(Bench(EvaluationSpec(seed=1), "cuda"), task, source)
    assert (judged.verdict, judged.flags, judged.speedup) == (Verdict.PASSED, (getattr(gpu_work, flag),), None), judged


def test_recorded_in_each_sandbox(task: ProgramTask, isolation: Isolation) -> None:
    judged = judge(Bench(EvaluationSpec(seed=1, isolation=isolation), "cuda"), task, HONEST["plain"])
    assert judged.passed and judged.cases[1].gpu.launches == 1 and judged.cases[1].gpu.bytes_to_gpu == 400_000
