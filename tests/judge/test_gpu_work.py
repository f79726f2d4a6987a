"""Conclusions from the record of a program's work on the GPU.

There is no GPU in these tests. The programs write the record themselves, as any program could.
"""

import re
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from fake_nvml import fake_gpus, fake_nvml
from host_programs import HOST_FLAGS, MODES, PROGRAM, answer_row, task_row
from task_factory import load_row

from cuset_stage.judge import case_runs, gpu_work
from cuset_stage.judge.bench import Bench
from cuset_stage.judge.case_runs import Program
from cuset_stage.judge.devices import GpuPool
from cuset_stage.judge.gpu_activity import Activity, Counted, Transfer, Uploads, find_recorder
from cuset_stage.judge.gpu_work import Timed, Withheld, blocks_of, case_to_examine, examine
from cuset_stage.judge.judge_spec import EvaluationSpec
from cuset_stage.judge.programs import ProgramJudge
from cuset_stage.sandbox import SandboxError, Verdict
from cuset_stage.tasks import Case, ProgramTask


MIB = 1 << 20
RECORDS = r"""
struct Record {
  FILE* file = getenv("CUSET_GPU_ACTIVITY") ? fopen(getenv("CUSET_GPU_ACTIVITY"), "a") : nullptr;
  std::string plan;
  Record() {
    if (file) fprintf(file, "begin\n");
    if (auto take = (void (*)(std::string*))dlsym(RTLD_DEFAULT, "cuset_plan")) take(&plan);
  }
  ~Record() { if (file) fprintf(file, "end\n"); }
} record;

static void work() {
  const bool withheld = record.plan[0] == 'w';
  if (!record.file) return;
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  const long long now = time.tv_sec * 1000000000ll + time.tv_nsec;
  fprintf(record.file, "K %lld %lld 2 1 1 32 1 1 work\n", now, now + NANOSECONDS);
  for (int kind : {1, 2}) fprintf(record.file, "C %lld %lld %d 4096\n", now, now + 1, kind);
  if (withheld) fprintf(record.file, "U UPLOADS\n");
  if (withheld) WHEN_WITHHELD;
}

int main() {
  work();"""


def recording(uploads: str = "4096 0 0 4096 0", nanoseconds: int = 5000, when_withheld: str = "exit(0)") -> str:
    """Return a right program that records a kernel of so many nanoseconds, and `uploads` where inputs are withheld.

    By default it then ends without writing an output, where a program that really uses the GPU would write a wrong one.
    """
    records = RECORDS.replace("UPLOADS", uploads).replace("NANOSECONDS", str(nanoseconds))
    source = "#include <cstdlib>\n#include <ctime>\n#include <dlfcn.h>\n#include <string>\n" + PROGRAM
    return source.replace("int main() {", records.replace("WHEN_WITHHELD", when_withheld))


@pytest.fixture
def judge(judge, cache, monkeypatch):
    monkeypatch.setenv("CUSET_CACHE", str(cache))
    compiler = replace(judge.compiler, flags=(*HOST_FLAGS, "-ldl"))
    return replace(judge, compiler=compiler, recorder=find_recorder(), require_gpu=True)


@pytest.fixture
def on_a_gpu(judge):
    """The judge with a made-up GPU, which no program really uses."""
    return replace(judge, gpus=GpuPool(fake_gpus(1)))


@pytest.fixture
def task(tmp_path):
    """A task with two cases, of 404 and 4,404 bytes of input."""
    row = task_row("double", "right", "slow")
    row["cases"][1]["parameters"] = {"n": 1100, "mode": MODES["right"]}
    return load_row(tmp_path, row)


def judged(judge: ProgramJudge, task: ProgramTask, source: str) -> Any:
    found = judge.judge(task, source)
    assert not found.infra, found.message
    return found.verdict, found.flags, found.speedup


def test_a_program_of_the_host_fails(judge, task):
    assert judged(judge, task, PROGRAM) == (Verdict.NO_GPU_WORK, (gpu_work.NOTHING_RAN,), None)
    assert judged(replace(judge, require_gpu=False), task, PROGRAM) == (Verdict.PASSED, (gpu_work.NOTHING_RAN,), None)
    assert judged(replace(judge, recorder=None), task, PROGRAM) == (Verdict.PASSED, (), None)


def test_an_invented_record_is_called_that(on_a_gpu, task, monkeypatch):
    """A record is invented if the GPU's counters show no work. This also holds if it leaves out a case."""
    monkeypatch.setattr(case_runs, "counting", lambda gpu: nullcontext(lambda: Counted(0.0, 0.0)))
    for source in (recording(), recording().replace("  work();", "  static int calls;\n  if (!calls++) work();")):
        assert judged(on_a_gpu, task, source) == (Verdict.NO_GPU_WORK, (gpu_work.INVENTED,), None)


def test_what_ran_is_in_the_judgement(judge, task):
    found = judge.judge(task, recording())
    assert (found.verdict, found.flags) == (Verdict.PASSED, ()), found.message
    assert found.kernel_s == pytest.approx(10e-6)
    (use,) = found.kernels
    assert (use.name, use.launches, use.grid, use.block) == ("work", 2, (2, 1, 1), (32, 1, 1))
    assert [(case.gpu.launches, case.gpu.bytes_to_gpu) for case in found.cases] == [(1, 4096), (1, 4096)]


@pytest.mark.parametrize(
    ("uploads", "when_withheld", "flag"),
    [
        ("4096 0 0 4096 0", "(void)0", gpu_work.NOT_NEEDED),
        ("4096 8192 0 8192 0", "exit(0)", gpu_work.RESULT_UPLOADED),
        ("0 0 4096 4096 0", "(void)0", gpu_work.HOST_WORK),
    ],
)
def test_a_run_without_inputs_on_the_gpu(on_a_gpu, task, uploads, when_withheld, flag):
    verdict = Verdict.PASSED if flag == gpu_work.HOST_WORK else Verdict.NO_GPU_WORK
    assert judged(on_a_gpu, task, recording(uploads, when_withheld=when_withheld)) == (verdict, (flag,), None)


# Prints, before `main` and in it, everything by which a program could tell in which run it is: environment variables,
# arguments, files, open files and stdin, its own and those of its parent process.
LOOKS_ROUND = r"""
#include <cstdlib>
#include <string>
#include <unistd.h>

static void look() {
  const std::string above = "/proc/" + std::to_string(getppid());
  system(("cat; env; cat /proc/$PPID/environ " + above + "/environ " + above + "/cmdline; find . | sort; find . -type f | sort | xargs cksum; "
          "readlink /proc/$PPID/fd/* " + above + "/fd/*").c_str());
}
static struct Early { Early() { look(); } } early;

int main() {
  look();
  return 3;
}
"""


def test_a_program_does_not_see_in_which_run_it_is(judge, task, isolation):
    judge = replace(judge, isolation=isolation)
    built = judge.build(task, LOOKS_ROUND)  # `built` must live on, since it keeps the program in the cache

    def seen(withheld: bytes | None, cases: Sequence[Case]) -> str:
        with judge._running(Program(task, built.product), cases, withheld=withheld) as process:
            said = process.ran.finished.stdout
        assert said.count("LANG=C.UTF-8") >= 4 and said.count("all_cases.so") >= 2 and "data/x.bin" in said
        # Names of temporary files and numbers of sockets and pipes differ between any two runs.
        return re.sub(r"cuset-[\w-]+|(?<=:\[)\d+", "", said)

    for cases in (task.cases, task.cases[1:]):
        assert seen(None, cases) == seen(bytes(8192), cases)


def test_the_plan_is_read_once(judge, task):
    source = recording().replace("  work();", "  if (record.plan.empty()) return 1;\n  work();")
    assert judged(judge, task, source)[0] is Verdict.PASSED
    twice = source.replace("take(&plan);", "take(&plan), take(&plan);")
    assert judged(judge, task, twice)[0] is Verdict.RUNTIME_ERROR


def test_speed_is_measured_against_the_tasks_own_program(on_a_gpu, task):
    task = replace(task, solution=recording(nanoseconds=15_000))
    found = on_a_gpu.judge(task, recording())
    assert (found.reference_s, found.kernel_s) == (pytest.approx(30e-6), pytest.approx(10e-6))
    assert found.speedup == pytest.approx(3)
    assert judged(on_a_gpu, task, task.solution)[2] == pytest.approx(1)
    shared = replace(on_a_gpu, gpus=GpuPool(on_a_gpu.gpus.gpus, per_gpu=2))
    assert judged(shared, task, recording())[2] is None
    assert judged(on_a_gpu, replace(task, solution=None, id="other"), recording())[2] is None
    assert judged(on_a_gpu, replace(task, solution=PROGRAM, id="third"), recording())[2] is None  # it records nothing


def test_tensor_cores_that_work_for_the_answer_alone_are_flagged(on_a_gpu, task, monkeypatch):
    """The GPU's counters are read over three runs: the answer's, its run without inputs, and the task's own program.

    An answer that uses tensor cores is flagged if the task's own program does not use them.
    """
    task = replace(task, solution=recording(nanoseconds=15_000))
    for answer_share, reference_share, flags in ((0.5, 0.0, (gpu_work.TENSOR,)), (0.5, 0.4, ()), (0.0, 0.0, ())):
        shares = iter((answer_share, answer_share, reference_share))
        monkeypatch.setattr(
            case_runs, "counting", lambda gpu, left=shares: nullcontext(lambda: Counted(1.0, next(left)))
        )
        found = replace(on_a_gpu).judge(task, recording())
        assert found.flags == flags and found.speedup == pytest.approx(3)


def test_work_that_cannot_be_examined_has_no_speed(on_a_gpu, task):
    """If it is unclear whether the kernel does the work, there is no speed-up: a kernel that does nothing is always
    faster.
    """
    task = replace(task, solution=recording(nanoseconds=15_000))
    small = replace(task, cases=task.cases[:1], id="small")
    idle = recording("0 0 0 0 0", when_withheld="(void)0")
    assert judged(on_a_gpu, small, idle) == (Verdict.PASSED, (gpu_work.SMALL_INPUT,), None)
    assert judged(on_a_gpu, small, recording())[2] == pytest.approx(3)
    with patch("cuset_stage.judge.gpu_work.MOST_INPUT", 100):
        found = on_a_gpu.judge(replace(task, id="large"), recording())
    assert (found.verdict, found.flags, found.speedup) == (Verdict.PASSED, (), None)
    assert found.kernel_s == pytest.approx(10e-6)


def activity(uploads: Uploads = Uploads(), *copies: int, down: int = MIB) -> Activity:  # noqa: B008  a tuple
    return Activity((), (*(Transfer(0, 1, 1, size) for size in copies), Transfer(1, 2, 2, down)), True, uploads)


SMALL = {"largest_bytes": 4000, "input_bytes": 4000}
UP = activity(Uploads(MIB, 0, 0, MIB), MIB)  # all of the inputs, and nothing else
NO_RESULT = activity(down=0)
# Copies of such variables cannot be seen, so missing copies do not count against a program.
MANAGED = "__managed__ float from[1 << 18], to[1 << 18];"


@pytest.mark.parametrize(
    ("withheld", "passed", "changes", "source", "flag"),
    [
        (UP, False, {}, "", None),
        (UP, True, {}, "", gpu_work.NOT_NEEDED),
        (activity(), True, {}, "", gpu_work.NOT_NEEDED),
        (activity(Uploads(MIB, 0, 100, MIB + 100), MIB, 100), True, {}, "", gpu_work.NOT_NEEDED),
        (activity(Uploads(0, 0, MIB, MIB), MIB), True, {}, "", gpu_work.HOST_WORK),  # no input as it stands
        (activity(Uploads(), MIB), True, {}, "", gpu_work.HOST_WORK),  # uploaded in a way that is not looked into
        (activity(Uploads(MIB, 0, MIB, 2 * MIB), MIB, MIB), False, {}, "", gpu_work.HOST_WORK),
        (activity(Uploads(0, 4096, 0, MIB), MIB), False, {}, "", gpu_work.RESULT_UPLOADED),
        (activity(Uploads(MIB, 2048, 0, 2 * MIB), 2 * MIB), False, {}, "", None),  # values may be in tables, too
        (activity(Uploads(MIB, 0, 1000, MIB + 1000), MIB + 1000), False, {}, "", None),
        (activity(Uploads(MIB, 0, 0, MIB), MIB, down=4), False, {}, "", gpu_work.NOT_FROM_GPU),
        (activity(Uploads(MIB, 0, 0, MIB, shared=MIB), MIB, down=0), False, {}, "", None),
        (NO_RESULT, True, {}, MANAGED, gpu_work.HOST_WORK),
        (NO_RESULT, True, {}, f"// {MANAGED}", gpu_work.NOT_FROM_GPU),
        (NO_RESULT, True, {}, 'const char* text = "__managed__";', gpu_work.NOT_FROM_GPU),
        (NO_RESULT, True, {}, 'R"x(\n__managed__\n)x"', gpu_work.NOT_FROM_GPU),
        (activity(), True, SMALL, "", gpu_work.SMALL_INPUT),  # small inputs may go up as kernel arguments
        (activity(Uploads(4000, 0, 0, 4000), 4000), False, SMALL, "", None),
        (activity(), True, {"largest_bytes": 5000, "input_bytes": 5000}, "", gpu_work.NOT_NEEDED),
        (NO_RESULT, True, SMALL, "", gpu_work.NOT_FROM_GPU),
        (NO_RESULT, False, {"ended": False}, "", None),  # it does not end without its inputs, so it needs them
        (activity(Uploads(0, MIB, 0, MIB), MIB), True, SMALL, "", gpu_work.RESULT_UPLOADED),
    ],
)  # fmt: skip
def test_what_a_flag_takes(withheld, passed, changes, source, flag):
    run = Withheld(withheld, passed, True, MIB, MIB, MIB, 8192)
    assert examine(run._replace(**changes), source) == flag


def test_the_case_that_is_examined():
    assert case_to_examine([12, 5000, 400_000, 70_000]) == 2
    assert case_to_examine([12, 5000, 2000]) == 1
    assert case_to_examine([12, 1 << 40]) == 0
    assert case_to_examine([1 << 40]) is None


def test_blocks_of_outputs(tmp_path):
    """Blocks start at multiples of 4 bytes and are all different. Values that repeat themselves give no block."""
    values = np.arange(100_000, dtype="<f4")
    values.tofile(tmp_path / "a")
    np.concatenate([np.zeros(1 << 16, "<f4"), values[:9], values[:9]]).tofile(tmp_path / "b")
    (tmp_path / "small").write_bytes(b"few")
    blocks = blocks_of([tmp_path / name for name in ("a", "b", "small")])
    rows = np.frombuffer(blocks, "<f4").reshape(-1, 8)
    assert 120 < len(rows) <= 130 and (np.diff(rows, axis=1) == 1).sum() > 7 * 120
    assert not blocks_of([tmp_path / "small"])


def test_where_nothing_can_be_recorded_it_is_said(run, monkeypatch):
    fake_nvml(monkeypatch, fake_gpus(1))
    answers = [answer_row("one", 0)]
    said, results = run(answers, "no_gpu=false")
    assert results.samples[0]["verdict"] == "passed" and results.samples[0]["kernel_s"] is None
    assert "is not recorded: CUPTI records no kernel here" in said
    assert results.run["gpu_work_recorded"].startswith("CUPTI records no kernel here")
    _, results = run(answers, "no_gpu=false", "record_gpu=false")
    assert results.run["gpu_work_recorded"] == "record_gpu=false"
    for options, says in (
        (["no_gpu=false"], "require_gpu=true: what programs do on the GPU cannot be recorded here"),
        ([], "require_gpu and no_gpu contradict each other"),
        (["no_gpu=false", "record_gpu=false"], "require_gpu needs the record that record_gpu=false leaves out"),
    ):
        assert says in run(answers, "require_gpu=true", *options, code=2)[0]
    assert results.run["require_gpu"] is False
    with pytest.raises(SandboxError, match="record_gpu=false is about CUDA programs"):
        Bench(EvaluationSpec(no_gpu=True, record_gpu=False), "python")
    with pytest.raises(SandboxError, match="require_gpu=true is about CUDA programs"):
        Bench(EvaluationSpec(require_gpu=True), "python")


def test_a_record_is_held_against_the_gpus_counters():
    reference = Timed(1e-3, ((1e-3, 2.5e-3),))
    for processes, hides in (
        (((0.1e-3, 2.5e-3),), False),
        (((0.1e-3, 2.7e-3),), True),
        (((0.1e-3, 1.5e-3),) * 5, False),
        (((0.1e-3, 1.5e-3),) * 4 + ((0.1e-3, 2.7e-3),), True),
        ((), False),
    ):
        assert Timed(0.1e-3, processes).hides_more_than(reference) is hides
    assert not Timed(0.1e-3, ((0.1e-3, 1.0),)).hides_more_than(reference._replace(processes=()))
    for counted, invented in ((0.0, True), (0.7e-3, True), (1e-3, False)):
        assert Timed(1e-3, ((1e-3, 3e-3), (1e-3, counted))).invented is invented
    assert not Timed(1e-3, ()).invented
