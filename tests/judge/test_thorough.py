"""`thorough`: verdicts from the reports of compute-sanitizer.

A shell script stands in for the tool here. tests/gpu/ runs the tool itself.
"""

from dataclasses import replace

import pytest
from host_programs import PROGRAM, make_task

from cuset_stage.judge.thorough import TOOLS, Sanitizer, examined_cases, find_sanitizer, read_reports
from cuset_stage.sandbox import Limits, SandboxError, Toolkit, Verdict


# The stand-in runs the program, and reports, hides or delays what texts in the program ask for, each for one tool (as
# error-memcheck).
TOOL = r"""#!/bin/sh
while [ $# -gt 1 ]; do
  case $1 in --tool) tool=$2;; --log-file) log=$2;; esac
  shift
done
ended=0
grep -q "sleeps-$tool" $1 && sleep 100
grep -q "slow-$tool" $1 && sleep 3
$1 || ended=$?
if grep -q "error-$tool" $1; then
  echo "========= Invalid __global__ read of size 4 bytes" > $log
  echo "=========     at k(int *)+0x1b0 in raw.cu:30" >> $log
  ended=87
fi
echo "========= ERROR SUMMARY: some" >> $log
grep -q "hides-$tool" $1 && : > $log
exit $ended
"""


@pytest.fixture
def judge(judge, tmp_path):
    folder = tmp_path / "toolkit"
    folder.mkdir()
    folder.chmod(0o755)
    tool = folder / "compute-sanitizer"
    tool.write_text(TOOL)
    tool.chmod(0o755)
    sanitizer = Sanitizer(tool, replace(judge.compiler.toolkit, nvcc=folder / "nvcc", folder=folder))
    return replace(judge, limits=Limits(wall_s=60.0), sanitizer=sanitizer)


def saying(*words: str) -> str:
    """Return the program with these texts in it, for which the stand-in looks."""
    return PROGRAM + "".join(f'\nextern const char word{n}[] = "{word}";' for n, word in enumerate(words))


@pytest.mark.parametrize(("tool", "verdict"), TOOLS.items())
def test_each_tool_has_a_verdict(judge, tmp_path, tool, verdict):
    judged = judge.judge(make_task(tmp_path, "right"), saying(f"error-{tool}"))
    assert (judged.verdict, judged.passed, judged.case) == (verdict, False, "right")
    assert judged.message.startswith(f"{tool}: Invalid __global__ read of size N bytes\n")
    assert "raw.cu:30" in judged.message


def test_what_passes_is_examined_even_if_it_hides_the_report(judge, tmp_path):
    task, racing = make_task(tmp_path, "right"), saying("error-racecheck")
    assert replace(judge, sanitizer=None).judge(task, racing).passed
    hidden = judge.judge(task, saying("error-racecheck", "hides-racecheck"))  # the program empties the log
    assert hidden.verdict is Verdict.RACE and hidden.message.startswith("racecheck: racecheck found an error")
    right = judge.judge(task, PROGRAM)
    assert right.passed and not right.flags
    wrong = judge.judge(make_task(tmp_path, "wrong"), racing)
    assert wrong.verdict is Verdict.MISMATCH  # an answer that fails anyway is not examined


def test_what_the_tasks_own_solution_shows_as_well_is_not_charged(judge, tmp_path):
    task = replace(make_task(tmp_path, "right"), solution=saying("error-racecheck"))
    assert judge.judge(task, saying("error-racecheck", "of the answer")).passed
    assert judge.judge(task, saying("error-initcheck")).verdict is Verdict.UNDEFINED


@pytest.mark.slow
def test_a_tool_that_does_not_finish_is_not_charged(judge, tmp_path):
    """A tool that runs out of time leaves a flag, and what other tools find still counts."""
    judge, task = replace(judge, limits=Limits(wall_s=1.0)), make_task(tmp_path, "right")
    judged = judge.judge(task, saying("sleeps-synccheck"))
    assert judged.passed and judged.flags == ("not looked at to the end: synccheck",)
    judged = judge.judge(task, saying("hides-memcheck", "error-initcheck"))
    assert judged.verdict is Verdict.UNDEFINED and judged.flags == ("not looked at to the end: memcheck",)


def test_limits_are_larger_and_the_smallest_case_is_left_out(judge, tmp_path):
    task = make_task(tmp_path, "right", "slow", "plain")
    assert [case.parameters["n"] for case in examined_cases(task)] == [101, 102]
    task = make_task(tmp_path, "slow")
    assert len(examined_cases(task)) == 1
    brief = replace(judge, limits=Limits(wall_s=2.0))
    judged = brief.judge(task, saying("slow-memcheck"))  # takes 3 s, while an ordinary run may take 2 s
    assert judged.passed and not judged.flags


def test_a_tool_that_finds_nothing_is_refused(judge, tmp_path, monkeypatch):
    """The tool is first tried on a planted error, which the stand-in does not find.

    The real tool may miss it, too, for example with a driver that it does not support. On some machines there is no
    tool at all.
    """
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        SandboxError, match=r"no compute-sanitizer beside .*nvcc.*part of the CUDA toolkit.*leave thorough out"
    ):
        find_sanitizer(Toolkit(tmp_path / "bin" / "nvcc", "13.0", tmp_path))
    (tmp_path / "compute-sanitizer").symlink_to(judge.sanitizer.program)
    assert find_sanitizer(Toolkit(tmp_path / "bin" / "nvcc", "13.0", tmp_path)).program.name == "compute-sanitizer"
    with pytest.raises(SandboxError, match=r"does not find a planted error with isolation=.*It said: .*SUMMARY"):
        judge.sanitizer.check(replace(judge.compiler, flags=("-O0",)), None, Limits())


REPORTS = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at k(float *)+0x70 in program.cu:6
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0x7f1 is out of bounds
========= Invalid __global__ write of size 8 bytes
========= Program hit cudaErrorLaunchFailure (error 719) due to "unspecified launch failure" on CUDA API call to cudaDeviceSynchronize.
========= Target application returned an error
========= Error: Race reported between Write access at k(int *)+0x1b0 in raw.cu:30
=========     and Read access at k(int *)+0x240 in raw.cu:33 [508 hazards]
========= Barrier error detected. Divergent thread(s) in block.
the program printed ========= this
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
========= ERROR SUMMARY: 3 errors
"""


def test_reports_of_compute_sanitizer():
    assert read_reports(REPORTS) == {
        "Invalid __global__ write of size N bytes",
        "Program hit cudaErrorLaunchFailure (error N)",
        "Error: Race reported between Write access",
        "Barrier error detected. Divergent thread(s)",
    }
    assert read_reports("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n") == set()
