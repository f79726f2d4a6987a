"""Answers that are a part of a larger program.

For ComputeEval an answer is one file of a program with its own tests, compiled and run here without a GPU. For
robust-kbench it is a kernel or a module that is called in several settings.
"""

from dataclasses import replace

import pytest
import torch  # noqa: F401 - forks of this process have it
from host_programs import HOST_FLAGS
from other_sets import TWICE, computeeval_row, robust_kbench
from task_factory import load_row

from cuset_stage.judge.audit import audit_task
from cuset_stage.judge.modules import ModuleJudge
from cuset_stage.judge.modules.module_judge import BUILD_LIMITS
from cuset_stage.judge.oracle import CaseCache
from cuset_stage.sandbox import Verdict
from cuset_stage.tasks import load_tasks


@pytest.fixture
def task(tmp_path):
    """A task of ComputeEval's kind, compiled with HOST_FLAGS."""
    row = computeeval_row()
    row["build_command"] = row["build_command"].replace("nvcc", " ".join(("nvcc", *HOST_FLAGS)))
    return load_row(tmp_path, row)


ENDS_EARLY = {
    "handler of SIGABRT": "std::signal(SIGABRT, [](int) { _exit(0); }); return 0;",
    "at the exit of a failed test": "std::atexit([] { _exit(0); }); std::exit(1);",
    "exec": 'execl("/bin/true", "true", nullptr);',
    "before main": "static const int early = (_exit(0), 1);",
}
HEADERS = "#include <csignal>\n#include <cstddef>\n#include <cstdlib>\n#include <unistd.h>\n"


@pytest.mark.parametrize("ending", ENDS_EARLY.values(), ids=ENDS_EARLY)
def test_ending_before_the_test_does_is_no_pass(judge, task, ending):
    code = HEADERS + f'#include "twice.h"\nint twice(int x) {{ std::size_t n = x; {ending} return int(n); }}\n'
    if ending == ENDS_EARLY["before main"]:
        code = f"{HEADERS}{TWICE}\n{ending}\n"
    judgement = judge.judge(task, code)
    assert judgement.verdict in (Verdict.MISSING_OUTPUT, Verdict.RUNTIME_ERROR), judgement


def test_its_own_solution_passes_and_wrong_answers_do_not(judge, task, tmp_path):
    unchanged = load_row(tmp_path, computeeval_row())
    right = judge.judge(unchanged, TWICE)  # compiled by the task set's own command
    assert right.passed, right.message
    # The expected output is a random token that is also the input. A copy of the input is right then, and no finding
    # of the audit.
    assert audit_task(task, CaseCache(tmp_path)).findings == ()
    wrong = judge.judge(task, TWICE.replace("int(factor) * x", "x"))
    assert (wrong.verdict, wrong.case) == (Verdict.RUNTIME_ERROR, "test")
    assert "twice(x) == x + x" in wrong.message
    assert judge.judge(task, TWICE + "int main() { return 0; }").verdict is Verdict.COMPILE_ERROR
    unused = judge.judge(task, TWICE.replace("std::size_t", "int") + '// std::size_t\nauto text = "cudaMalloc";\n')
    said = "does not use cudaMalloc or std::size_t, which the task asks for"
    assert (unused.verdict, unused.message) == (Verdict.MISMATCH, said)


def test_what_the_machine_lacks_is_not_charged(judge, task):
    """If the task's own solution fails on this machine as well, a failing answer is not charged."""
    needs = replace(task, solution='#include "a_library_that_is_not_here.h"\n')
    judgement = judge.judge(needs, '#include "a_library_that_is_not_here.h"\nint twice(int x) { return x; }\n')
    assert judgement.verdict is Verdict.INFRA_ERROR
    assert "its own solution does not compile here" in judgement.message
    fails = replace(task, solution=TWICE.replace("int(factor)", "3"))
    judgement = judge.judge(fails, TWICE.replace("int(factor)", "4"))
    assert judgement.verdict is Verdict.INFRA_ERROR
    assert "its own solution fails here" in judgement.message
    assert judge.judge(fails, TWICE).passed


KERNEL = """\
#include <torch/extension.h>

torch::Tensor forward(torch::Tensor x, torch::Tensor weight) { return x * weight; }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""


def test_settings_and_gradients(tmp_path, forked):
    """robust-kbench: every setting is called, and one that is wrong is named in the message.

    A Python function stands in for the exported kernel.
    """
    (task,) = load_tasks(robust_kbench(tmp_path / "repo"), only=["scale_backward"])
    exported = "task.AutogradFunction.backward_fn = {}\nModelNew.given = {{'fn': task.AutogradFunction.apply}}"
    judge, plain = ModuleJudge(device="cpu"), replace(task, frame=None)
    right = "lambda up, x, weight: (up * weight, (up * x).sum(0))"
    judgement = judge.judge(plain, f"{task.frame}\n{exported.format(right)}")
    assert judgement.passed, judgement.message
    assert "task: filter_output_std, by the task set's own filters" in judgement.flags
    judgement = judge.judge(plain, f"{task.frame}\n{exported.format(right.replace('x).sum', 'x)[:2].sum'))}")
    assert judgement.verdict is Verdict.MISMATCH
    assert "rows=4, width=5" in judgement.message


@pytest.mark.slow  # torch's headers take nvcc a minute
def test_a_kernel_in_several_settings(tmp_path):
    """robust-kbench: a .cu file is built and called in every setting, and one that is wrong is named in the message."""
    judge = ModuleJudge(device="cpu", build_limits=replace(BUILD_LIMITS, wall_s=3600.0))
    (task,) = load_tasks(robust_kbench(tmp_path / "repo"), only=["scale_forward"])
    judgement = judge.judge(task, KERNEL)
    assert judgement.passed, judgement.message
    assert "task: filter_output_std, by the task set's own filters" in judgement.flags
    wrong = judge.judge(task, KERNEL.replace("x * weight;", "x.size(0) == 4 ? x : x * weight;"))
    assert (wrong.verdict, wrong.compiled) == (Verdict.MISMATCH, True)
    assert "start=3.0, rows=4, width=5" in wrong.message
