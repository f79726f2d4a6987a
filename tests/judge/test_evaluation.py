"""`cuset evaluate` over many answers: what is judged, what is taken from an earlier run, and what a killed run leaves
behind.
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
import pytest
from host_programs import BROKEN, HOST_FLAGS, PROGRAM, REFERENCE, TASKS, answer_row, arguments, task_row
from processes import HEARS_CTRL_C, until
from task_factory import write_lines

from cuset_stage.judge.judgement import Built, Judge, Judgement
from cuset_stage.judge.oracle import OracleError
from cuset_stage.judge.pipeline import Job, Pipeline
from cuset_stage.judge.results import Results, read_results
from cuset_stage.sandbox import Verdict
from cuset_stage.tasks import load_tasks


def verdicts(results: Results) -> dict[tuple[str, int], str]:
    return {(sample["task"], sample["sample"]): sample["verdict"] for sample in results.samples}


def test_judges_all_and_equal_code_once(run):
    codes = (PROGRAM, BROKEN, PROGRAM, None)
    answers = [*(answer_row("one", number, code) for number, code in enumerate(codes)), answer_row("two", 0)]
    said, results = run(answers, "method=sft", "extract=last")
    assert verdicts(results) == {
        ("one", 0): "passed", ("one", 1): "compile_error", ("one", 2): "passed", ("one", 3): "no_code",
        ("two", 0): "mismatch",
    }  # fmt: skip
    same = {(s["task"], s["sample"]): s["same_as_sample"] for s in results.samples}
    assert same == {("one", 0): None, ("one", 1): None, ("one", 2): 0, ("one", 3): None, ("two", 0): None}
    assert "fupen" in results.samples[1]["message"]
    failing = results.samples[-1]
    assert (failing["case"], [case["name"] for case in failing["cases"]]) == ("wrong", ["right", "wrong"])
    assert failing["code"].strip() == PROGRAM.strip() and failing["tokens"] == 100
    header = results.run
    assert (header["method"], header["flags"], header["gpus"]) == ("sft", [*HOST_FLAGS], [])
    assert header["per_gpu"] == 1  # more must be asked for, since times mean nothing if programs share a GPU
    assert header["limits"]["gpu_memory_bytes"] is None and header["memory_account"] in ("cgroup v2", "watcher")
    assert header["answers"]["count"] == header["answers"]["chosen"] == 5
    assert (header["generation"]["model"], header["extract"]) == ("m", "last")
    assert "passed 2" in said and "compile_error 1" in said


def test_only_what_changed_is_judged_again(run):
    answers = [answer_row("one", 0), answer_row("two", 0), answer_row("one", 1, None)]
    run(answers)
    assert "nothing new to judge, 3 taken" in run(answers)[0]

    answers[0] = answer_row("one", 0, BROKEN)  # the code changed
    said, results = run(answers)
    assert "(1 judged" in said and "2 taken" in said
    assert verdicts(results)["one", 0] == "compile_error"

    tasks = [TASKS[0], task_row("two", "right"), TASKS[2]]  # the task changed
    said, results = run(answers, tasks=tasks)
    assert "(1 judged" in said and verdicts(results)["two", 0] == "passed"

    for setting in ("time_limit=30", "gpu_memory=1.5"):  # a limit changed: everything is judged again
        said, results = run(answers, setting, tasks=tasks)
        assert "(3 judged" in said
    assert results.run["limits"]["gpu_memory_bytes"] == 3 << 29
    assert len(results.samples) == 3


def test_parts_of_a_file_add_up(run):
    answers = [answer_row("one", 0), answer_row("two", 0), answer_row("two", 0, level=2)]
    said, results = run(answers, "split=eval")
    assert list(verdicts(results)) == [("one", 0)] and results.run["answers"]["chosen"] == 1
    for part in ("limit=1", "only=one"):
        said, results = run(answers, "level=1", part)
        assert "nothing new" in said and results.run["answers"]["chosen"] == 1
        assert results.run["tasks"]["ids"] == ["one"] and results.run["tasks"]["set_size"] > 1
    said, results = run(answers)
    assert "(2 judged" in said and "1 taken" in said and len(results.samples) == 3
    split = [{**answer, "chosen_tasks": {"split": "train"}} for answer in answers[1:]]
    assert run(split, "limit=1")[1].run["tasks"]["ids"] == ["two"]  # limit= is of the tasks that the model was asked
    assert run(split, "split=train")[1].run["tasks"]["ids"] == ["two"]
    assert "no answers to judge with these" in run(split, "only=one", code=2)[0]
    limited = [{**answers[0], "chosen_tasks": {"limit": 1}}]
    changed = run(limited, tasks=[TASKS[2], *TASKS[:2]])[1].run  # a task was put before those that the limit chose
    assert changed["tasks"]["ids"] == ["three", "one"] and changed["answers"]["chosen"] == 1
    # The header describes every line of the file, so lines that were judged in another way are removed.
    said, results = run(answers, "limit=1", "compile_only=true")
    assert "(1 judged" in said and verdicts(results) == {("one", 0): "compiled"}


def test_another_models_results_are_not_written_over_and_more_answers_of_one_are_taken_up(run):
    """Each sample has its own seed, so further answers bring further seeds. It is still the same run."""
    answers = [answer_row("one", number, None, seed=7 + number) for number in range(3)]
    run(answers[:1])
    run(answers[:2])
    said, results = run(answers)
    assert "(1 judged" in said and "2 taken" in said and len(results.samples) == 3
    for more in ({"seed": 0}, {"seed": 8, "model": "other"}):
        other = [answers[0], answer_row("one", 1, None, **more)]
        assert "holds results with generation" in run(other, code=2)[0]
    said, results = run(answers, "method=sft")  # named later
    assert "nothing new to judge" in said and results.run["method"] == "sft"
    assert "holds results with method" in run(answers, "method=cuset", code=2)[0]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["memory_limit=inf"], "memory_limit='inf': expected a finite number"),
        (["gpus=0"], "gpus and no_gpu contradict each other"),
        (["thorough=true"], "thorough and no_gpu contradict each other"),
        (["split=test"], "no task of split 'test'; splits: eval, train"),
        (["flags='"], 'flags="\'": No closing quotation'),
        ([], "no NVIDIA GPU here, or no driver: compile_only=true"),
    ],
)
def test_bad_options(run, monkeypatch, options, says):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    output, results = run([answer_row("one", 0)], *(options or ["no_gpu=false"]), code=2)
    assert says in output and results is None


def test_bad_files(run, tmp_path):
    """The first sample must be number 0: otherwise pass@1 would silently be 0."""
    for answers, says in (
        ([answer_row("one", 0), answer_row("onne", 0)], "answers.jsonl:2: "),
        ([], "answers.jsonl: no answers in this file"),
        ([answer_row("one", 0)] * 2, "already at"),
        ([answer_row("one", 1), answer_row("one", 2)], "the first sample is number 1"),
        ([answer_row("one", 0), answer_row("one", 1, level=2)], "sample of level 2 is number 1"),
    ):
        assert says in run(answers, code=2)[0]
    output = f"output={tmp_path / 'answers.jsonl'}"
    assert "the command reads this file; give" in run([answer_row("one", 0)], output, code=2)[0]


def test_infra_errors_end_with_3_and_are_judged_again(run, cache, tmp_path, monkeypatch):
    blocked = tmp_path / "cache"
    blocked.mkdir()
    monkeypatch.setenv("CUSET_CACHE", str(blocked))
    answers = [answer_row("one", 0), answer_row("one", 1, BROKEN)]
    with monkeypatch.context() as patched:
        patched.setattr("cuset_stage.sandbox.cache.RESERVE", 2**60)  # the disk is full
        said, results = run(answers, "retry_infra=0", code=3)
    assert verdicts(results) == {("one", 0): "infra_error", ("one", 1): "compile_error"}
    assert "task one, case right: its data takes" in results.samples[0]["message"]
    assert "the judge itself failed on 1 samples" in said
    said, results = run(answers)
    assert "(1 judged" in said
    assert verdicts(results) == {("one", 0): "passed", ("one", 1): "compile_error"}


class Flaky(Judge):
    """A judge that itself fails in the first `failures` calls of one of its steps: build, prepare or execute."""

    def __init__(self, step: str = "", failures: int = 0) -> None:
        self.step, self.failures = step, failures
        self.calls: Counter[str] = Counter()

    def fails(self, step: str) -> bool:
        self.calls[step] += 1
        return step == self.step and self.calls[step] <= self.failures

    def build(self, task: Any, code: str) -> Built:
        if self.fails("build"):
            return Built(Judgement(Verdict.INFRA_ERROR, "no space"))
        return Built(Judgement(Verdict.COMPILED, compiled=True), Path("program"))

    def prepare(self, task: Any) -> str:
        if self.fails("prepare"):
            raise OracleError("gen.py hangs") if self.failures == FOR_ALL else OSError("no space")
        return "prepared"

    def execute(self, task: Any, built: Built, prepared: Any) -> Judgement:
        assert prepared == "prepared"
        if self.fails("execute"):
            raise RuntimeError("the GPU is gone")
        return Judgement(Verdict.PASSED, compiled=True)

    def discard(self, built: Built) -> None:
        self.fails("discard")


FOR_ALL = 99  # failures: the task's own script fails (OracleError), which is not tried again


@pytest.mark.parametrize(
    ("step", "failures", "calls"),
    [
        *(("build", 1, 4), ("build", 9, 9), ("execute", 1, 4), ("execute", 9, 9)),
        *(("prepare", 1, 2), ("prepare", 9, 3), ("prepare", FOR_ALL, 1)),
    ],
)
def test_failures_of_the_judge_are_tried_again(step, failures, calls, tmp_path, monkeypatch):
    monkeypatch.setattr("cuset_stage.judge.pipeline.FIRST_WAIT_S", 0.01)
    task = load_tasks(write_lines(tmp_path / "tasks.jsonl", *TASKS)).by_id("one")
    judge = Flaky(step, failures)
    pipeline = Pipeline(judge, jobs=1, runs=1, retries=2)
    judged = {judgement.verdict for _, judgement in pipeline.run([Job(task, str(number)) for number in range(3)])}
    pipeline.join()
    assert judged == {Verdict.PASSED if failures == 1 else Verdict.INFRA_ERROR}
    assert judge.calls[step] == calls
    assert judge.calls["discard"] == 3 or step == "build"
    assert not pipeline._prepared  # what was prepared for a task is dropped when it is done


def test_what_takes_longest_is_begun_first_in_turns_with_the_quickest(tmp_path):
    """The order by cost is 9, 1, 7, 3, 5.

    All programs may be compiled ahead of their runs, but only a few tasks' cases are made ahead.
    """
    costs = [3, 9, 1, 7, 5]
    rows = [task_row(str(cost), "right", reference=f"{REFERENCE}# {cost}\n") for cost in costs]
    tasks = load_tasks(write_lines(tmp_path / "tasks.jsonl", *rows))
    order: list[str] = []
    kept: list[int] = []
    all_compiled, four_prepared = threading.Event(), threading.Event()

    class Costly(Flaky):
        def build(self, task: Any, code: str) -> Built:
            order.append(task.id + code)
            if len(order) == 10:
                all_compiled.set()
            return super().build(task, code)

        def preparation_cost(self, task: Any) -> float:
            return float(task.id)

        def prepare(self, task: Any) -> str:
            prepared = super().prepare(task)
            if self.calls["prepare"] == 4:
                four_prepared.set()
            return prepared

        def execute(self, task: Any, built: Built, prepared: Any) -> Judgement:
            assert all_compiled.wait(60) and four_prepared.wait(60)
            kept.append(len(pipeline._with_cases))
            return super().execute(task, built, prepared)

    pipeline = Pipeline(Costly(), jobs=1, runs=1)
    judged = [judgement.verdict for _, judgement in pipeline.run([Job(task, code) for code in "ab" for task in tasks])]
    assert judged == [Verdict.PASSED] * 10
    assert order == ["9a", "9b", "1a", "1b", "7a", "7b", "3a", "3b", "5a", "5b"]
    assert max(kept) == 4  # tasks whose cases are in use, so that the cache cannot drop them
    assert not pipeline._with_cases


@pytest.fixture
def scratch(open_folder):
    """A folder for programs to run in. Its name is in the environment of each process, so leftovers can be found."""
    return open_folder()


def left_behind(scratch: Path) -> list[str]:
    """Return the commands of other processes that have the folder in their command line or environment."""
    commands = []
    for process in psutil.process_iter(["cmdline", "environ"]):
        command, environment = process.info["cmdline"] or [], process.info["environ"] or {}
        if process.pid != os.getpid() and any(str(scratch) in text for text in (*command, *environment.values())):
            commands.append(" ".join(command)[:200])
    return commands


# With HOST_FLAGS, nvcc takes no kernel: they are tried out without one.
CUSET = (
    "from cuset_stage.judge import bench; bench.SMALLEST = 'int main() {}'; from cuset_stage.cli import main; main()"
)


def start(command: list[str], cache: Path, scratch: Path) -> subprocess.Popen:
    environment = {**os.environ, "CUSET_CACHE": str(cache), "CUSET_SCRATCH": str(scratch)}
    return subprocess.Popen(
        [sys.executable, "-c", CUSET, *command],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **HEARS_CTRL_C,
    )  # fmt: skip


@pytest.mark.slow
def test_a_killed_run_goes_on(run, cache, scratch, tmp_path):
    """A run that is killed at random points, again and again, ends with every sample judged once and no process left."""
    answers = [answer_row("three", number, f"{PROGRAM}// {number}") for number in range(2)]
    answers += [answer_row("three", 2), answer_row("two", 0), answer_row("one", 0), answer_row("one", 1, None)]
    command = arguments(tmp_path, answers)
    rng, lines = random.Random(7), 0
    for _ in range(5):
        process = start(command, cache, scratch)
        time.sleep(rng.uniform(0.6, 2.5))
        process.kill()
        process.communicate()
        assert until(lambda: not left_behind(scratch)), left_behind(scratch)
        if (tmp_path / "results.jsonl").exists():
            before, lines = lines, len((tmp_path / "results.jsonl").read_bytes().splitlines())
            assert lines >= before, "a judged sample was lost"
    _, results = run(answers)
    written = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()[1:]]
    assert Counter((row["task"], row["sample"]) for row in written) == Counter(verdicts(results).keys())
    passed = dict.fromkeys([("three", 0), ("three", 1), ("three", 2), ("one", 0)], "passed")
    assert verdicts(results) == {**passed, ("two", 0): "mismatch", ("one", 1): "no_code"}


def test_ctrl_c_keeps_what_is_judged(run, cache, scratch, tmp_path):
    tasks = [task_row("hangs", "hangs"), *TASKS]
    answers = [answer_row("one", 0, None), answer_row("hangs", 0), answer_row("one", 1)]
    output = tmp_path / "results.jsonl"
    process = start([*arguments(tmp_path, answers, tasks), "time_limit=10", "jobs=1"], cache, scratch)

    def hangs() -> bool:
        """Return whether the hanging answer runs.

        Before there is a results file, a running program is the trial of nvcc's options.
        """
        return output.is_file() and any(
            "./program" in text or "program" in text.split(" ")[0] for text in left_behind(scratch)
        )

    assert until(lambda: hangs() or process.poll() is not None, 600) and process.poll() is None
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "what was written is kept" in said and "Traceback" not in said
    assert until(lambda: not left_behind(scratch)), left_behind(scratch)
    assert not list(scratch.iterdir())
    before = len(read_results(output).samples)
    assert before >= 1
    said, results = run(answers, "time_limit=10", tasks=tasks)
    assert f"{before} taken" in said
    assert verdicts(results) == {("hangs", 0): "timeout", ("one", 0): "no_code", ("one", 1): "passed"}


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("flags", "--bogus", "Unknown option"),
        ("arch", "sm_1", "Unsupported gpu"),
        ("flags", "-x c++ -c", "does not run"),
        ("flags", "-x c++ -shared -Xcompiler -fPIC", "does not run"),
    ],
)
def test_options_that_make_no_program_are_charged_to_nobody(run, option, value, said):
    output, results = run([answer_row("one", 0)], f"{option}={value}", code=2)
    assert "nvcc" in output and value in output and said in output
    assert results is None
