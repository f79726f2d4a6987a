"""Running all cases of a task in one process.

Starting a program is slow, so cases share a start. The verdicts must be those that each case would get in a process of
its own.
"""

from dataclasses import replace

import pytest
from fake_nvml import fake_gpus
from host_programs import PROGRAM, make_task

from cuset_stage.judge import case_runs
from cuset_stage.judge.case_runs import Program, limits_for, read_report
from cuset_stage.judge.devices import GpuPool
from cuset_stage.judge.gpu_activity import Activity, Kernel, Transfer
from cuset_stage.judge.programs import ProgramJudge, needs_one_queue
from cuset_stage.sandbox import Limits, Verdict
from cuset_stage.tasks import ProgramTask


COUNTS = "static int calls;\nint main() {\n  ++calls;\n"


def program(*changes: tuple[str, str]) -> str:
    """Return the program of `host_programs`, counting the calls of its `main` in `calls`, with (old, new) texts
    replaced.
    """
    source = PROGRAM.replace("int main() {\n", COUNTS)
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    return source


@pytest.fixture
def task(tmp_path):
    return make_task(tmp_path, "right", "slow", "plain")


def together(judge: ProgramJudge, task: ProgramTask, source: str) -> list[Verdict]:
    built = judge.build(task, source)
    assert built.product is not None, built.judgement.message
    judge.prepare(task)
    return [run.result.verdict for run in judge.run_together(Program(task, built.product)) or ()]


# Right outputs only in the first call of `main` (ONCE), or only from the third call on (THIRD).
ONCE = program(("if (mode == 1)", "if (mode == 1 || calls > 1)"))
THIRD = program(("if (mode == 1)", "if (calls < 3)"))
STDLIB = ("#include <cstdio>", "#include <cstdio>\n#include <cstdlib>")
SHOWS = program(("int mode = -1;", 'if (getenv("CUDA_DEVICE_MAX_CONNECTIONS")) return 1;\n  int mode = -1;'), STDLIB)
LEAVES = program(("  fclose(file);\n  return 0;", "  fclose(file);\n  exit(0);"), STDLIB)
DIES = program(("if (mode == 1)", "if (calls == 3) __builtin_trap();\n  if (mode == 1)"))

CRASHES = program(
    ("static int calls;", "static struct Last { ~Last() { __builtin_trap(); } } last;\nstatic int calls;")
)
FORGE = 'file = fopen(".cases/report", "a");\n  fprintf(file, "1 2\\n3 4\\n5 6\\n");\n  fclose(file);\n  return 0;\n}'
FORGED = program(("return 0;\n}", FORGE))
FORKS = program(
    ("  ++calls;\n", "  ++calls;\n  if (!fork()) return 0;\n  wait(nullptr);\n"),
    ("#include <cstdio>", "#include <cstdio>\n#include <sys/wait.h>"),
)


def test_all_cases_in_one_process(judge, task, isolation):
    judge = replace(judge, isolation=isolation)
    passed = Verdict.PASSED
    assert together(judge, task, program()) == [passed] * 3
    assert together(judge, task, FORKS) == [passed] * 3
    assert together(judge, task, ONCE) == [passed]
    assert together(judge, task, THIRD) == [Verdict.MISMATCH]
    judged = judge.judge(task, THIRD)
    assert (judged.verdict, judged.case) == (Verdict.MISMATCH, "right")
    judged = judge.judge(task, program())
    errors = [(case.name, case.max_abs_error) for case in judged.cases]
    assert judged.passed and errors == [("right", 0), ("slow", 0), ("plain", 0)]
    assert judged.run_s == pytest.approx(sum(case.run_s for case in judged.cases))
    assert judged.cases[1].run_s > 0.3  # the slow case sleeps for 0.3 s


@pytest.mark.parametrize("source", [ONCE, LEAVES, DIES], ids=["once", "leaves", "dies"])
def test_a_main_that_may_be_called_once_alone_passes(judge, task, source):
    judged = judge.judge(task, source)
    assert judged.passed and [case.name for case in judged.cases] == [case.name for case in task.cases], judged.message


def test_a_program_that_crashes_when_it_ends_or_forges_its_report_fails(judge, task, tmp_path):
    assert together(judge, task, CRASHES) == []
    judged = judge.judge(task, CRASHES)
    assert (judged.verdict, judged.case) == (Verdict.RUNTIME_ERROR, "right")
    judged = judge.judge(make_task(tmp_path, "right", "wrong", "slow"), FORGED)
    assert (judged.verdict, judged.case) == (Verdict.MISMATCH, "wrong")


@pytest.mark.parametrize("modes", [("right",), ("right", "plain")])
def test_programs_that_need_no_more_have_one_queue_where_nothing_is_timed(judge, tmp_path, monkeypatch, modes):
    monkeypatch.setenv("CUSET_CACHE", str(tmp_path / "cache"))
    task = make_task(tmp_path, *modes)
    streams = f"using cudaStream_t = int;\n{SHOWS}"
    assert judge.judge(task, SHOWS).passed
    on_a_gpu = replace(judge, gpus=GpuPool(fake_gpus(1)))
    assert on_a_gpu.judge(task, SHOWS).verdict is Verdict.RUNTIME_ERROR
    assert on_a_gpu.judge(task, streams).passed


@pytest.mark.parametrize("sign", ["cudaStream_t", "cuda::stream", "cudaGraphLaunch", "cublas_v2.h", "dlopen"])
def test_which_programs_need_one_queue(sign):
    assert not needs_one_queue(f"#include <{sign}>") and not needs_one_queue(f"{sign}(one, two);")
    assert needs_one_queue(f"// {sign}\nkernel<<<1, 32>>>(x);")


def test_a_time_limit_is_each_cases_own(judge, task):
    slow = program(("if (mode == 7)", "if (true)"), ("usleep(300000)", "usleep(1000000)"))
    brief = replace(judge, limits=Limits(wall_s=2.5))
    assert together(brief, task, slow) == []
    assert brief.judge(task, slow).passed


def test_what_a_task_asks_for_is_within_the_limits(judge, task, monkeypatch):
    """Limits are raised to what a task's own data need. Cases that are too large to share memory get a process each.

    The largest outputs of CUDABench exceed the default limit of a file.
    """
    tight = replace(judge, limits=replace(judge.limits, file_bytes=300))
    judged = tight.judge(task, PROGRAM)
    assert judged.passed, judged.message
    limits = limits_for(task, Limits(memory_bytes=1, file_bytes=None, folder_bytes=1 << 40))
    assert (limits.memory_bytes, limits.file_bytes, limits.folder_bytes) == (2 * 820, None, 1 << 40)
    assert [limits_for(replace(task, time_limit=9.0), Limits(wall_s=s)).wall_s for s in (2.0, 20.0)] == [9.0, 20.0]
    monkeypatch.setattr(case_runs, "MOST_BYTES", 100)
    assert together(judge, task, program()) == [] and judge.judge(task, program()).passed


@pytest.mark.parametrize(
    "text, calls",
    [
        ("10 20\n20 35\n", [(10, 20), (20, 35)]),
        ("", []),
        ("10 20\n15 35\n", [(10, 20)]),  # begins before the previous call ended
        ("10 20\n30 2000000011\n", [(10, 20)]),  # ends after the process did
        ("10 20\n-1 4\n", [(10, 20)]),
        (f"1 {10**30}\n", []),
        ("10 20\nnonsense\n30 40\n", [(10, 20)]),
    ],
)
def test_reports_are_read_as_far_as_they_make_sense(tmp_path, text, calls):
    path = tmp_path / "report"
    path.write_text(text)
    assert read_report(path, 2.0) == calls
    assert read_report(None, 2.0) == []


def test_work_belongs_to_the_case_in_which_it_began():
    kernels = tuple(Kernel(start, start + 10, (1, 1, 1), (1, 1, 1), "k") for start in (5, 100, 199, 200, 900))
    whole = Activity(kernels, (Transfer(150, 160, 1, 64),), complete=True)
    parts = whole.split([50, 200, 400])
    assert [[one.start for one in part.kernels] for part in parts] == [[5, 100, 199], [200], [900]]
    assert [len(part.transfers) for part in parts] == [1, 0, 0] and all(part.complete for part in parts)
