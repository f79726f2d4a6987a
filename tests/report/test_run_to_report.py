"""From a judged run to its report: what the audit found, and what a judge measured."""

import base64
import re
import zlib
from pathlib import Path
from typing import Any

import pytest
from commands import cuset
from host_programs import BROKEN, PROGRAM, REFERENCE, TASKS, answer_row, task_row, write_lines

from cuset_stage.judge.judgement import Built, Judge, Judgement
from cuset_stage.judge.pipeline import Pipeline
from cuset_stage.judge.results import describe_run, evaluate, make_samples
from cuset_stage.report import build_report, collect
from cuset_stage.report.collection import ReportError
from cuset_stage.report.page import render_html
from cuset_stage.report.statistics import Rule
from cuset_stage.report.tables import speed_table
from cuset_stage.report.write import report_markdown as render_markdown
from cuset_stage.sandbox import Verdict
from cuset_stage.tasks import load_tasks
from cuset_stage.tasks.answers_file import read_answers


def test_an_audit_reaches_the_header_and_the_report(run: Any, tmp_path: Path) -> None:
    blind = task_row("blind", "right", reference=REFERENCE.replace("(1e-6, 1e-6)", "(0, 1e9)"))
    tasks, answers = [TASKS[0], blind], [answer_row("one", 0), answer_row("blind", 0)]

    def flagged() -> str:
        cuset("report", tmp_path / "results.jsonl", output=tmp_path / "report")
        return (tmp_path / "report" / "report.md").read_text()

    _, results = run(answers, tasks=tasks)
    assert (results.run["audited"], results.run["findings"]) == (0, {})
    assert "No audit of the task set was given" in flagged()

    command = ["audit-tasks", tmp_path / "tasks.jsonl", f"output={tmp_path / 'audit.jsonl'}"]
    cuset(*command, "only=one")
    _, results = run(answers, tasks=tasks)
    assert (results.run["audited"], results.run["findings"]) == (1, {})
    assert "The audit covers 1 of 2 tasks" in flagged()

    cuset(*command, "only=one,blind")
    said, results = run(answers, tasks=tasks)
    assert "nothing new to judge" in said
    assert results.run["audited"] == 2 and "zeros pass as y" in results.run["findings"]["blind"]
    assert re.search(r"\| blind \| blind \| .*zeros pass as y", flagged())
    assert "The audit covers 2 of 2 tasks." in flagged()

    run([answer_row("one", 0)], tasks=[TASKS[0]])
    assert "The audit covers 1 of 1 tasks and flags none of them." in flagged()


def test_a_measured_speedup_reaches_the_report(tmp_path: Path) -> None:
    """What a module's judge measures, through the results file, to fast_p."""
    speeds = {0: 4.0, 1: 1.5, 2: None}

    class Measured(Judge):
        compile_only = False

        def build(self, task: Any, code: str) -> Built:
            return Built(Judgement(Verdict.COMPILED, compiled=True), Path("module"))

        def prepare(self, task: Any) -> None: ...

        def discard(self, built: Built) -> None: ...

        def execute(self, task: Any, built: Built, prepared: Any) -> Judgement:
            speed = speeds[int(task.id[-1])]
            flags = ("speed-up over 10x",) if speed == 4.0 else ()
            return Judgement(Verdict.PASSED, compiled=True, speedup=speed, reference_s=4.0, kernel_s=1.0, flags=flags)

    task_set = load_tasks(write_lines(tmp_path / "tasks.jsonl", [task_row(f"t{n}", "right") for n in speeds]))
    path = write_lines(tmp_path / "answers.jsonl", [answer_row(f"t{n}", 0) for n in speeds])
    answers = read_answers(path)
    samples = make_samples(answers, task_set)
    header = describe_run(answers_path=path, answers=answers, chosen=3, tasks=task_set, spec={})
    pipeline = Pipeline(Measured(), jobs=1, runs=1)
    evaluate(samples, pipeline, tmp_path / "results.jsonl", header=header, settings={})
    report = build_report(collect([tmp_path / "results.jsonl"]), ks=(1,))
    (row,) = speed_table(report).rows
    assert [cell.text for cell in row] == ["answers", *("100.0", "66.7", "33.3"), "2.75"]
    assert "speed-up over 10x" in render_markdown(report)


def test_a_part_of_the_tasks_is_reported_as_a_part(run: Any, tmp_path: Path) -> None:
    """Asked of the model, judged, or reported alone: no other task counts as failed. Without a word of it, all of the set are asked for."""

    def summary(**chosen: Any) -> tuple[int, float, str]:
        report = build_report(collect([tmp_path / "results.jsonl"], **chosen), ks=(1,))
        rate = report.rates["answers", Rule.FIRST, 1, "passed"]
        return len(report.collection.tasks), rate.value, " ".join(note.text for note in report.collection.notes)

    first, second = answer_row("one", 0), answer_row("two", 0, BROKEN)
    said, _ = run([first, second])
    assert "tasks without an answer: 1 of 3" in said
    tasks, rate, notes = summary()
    assert (tasks, rate) == (3, 1 / 3) and "Samples without an answer: answers 1 of 3" in notes
    assert summary(limit=1)[:2] == summary(only=["one"])[:2] == (1, 1.0)
    with pytest.raises(ReportError, match="only=onne: the results have no such task; did you mean one"):
        summary(only=["onne"])
    said, _ = run([answer_row("one", 0, f"{PROGRAM}// cut", finish_reason="length"), second], "limit=2")
    assert "without an answer" not in said
    assert "Answers cut at max_tokens: answers 1 of 2" in summary()[2]
    tasks, rate, notes = summary()
    assert (tasks, rate) == (2, 0.5) and "A part of the task set alone: answers 2 tasks of 3." in notes
    part = [{**answer, "chosen_tasks": {"only": ["one", "two"]}} for answer in (first, second)]
    run(part)
    assert summary()[:2] == (2, 0.5)
    run([*part, answer_row("three", 0, BROKEN)])
    assert summary()[0] == 3


def test_levels_in_one_file_are_runs_of_their_own(run: Any, tmp_path: Path) -> None:
    """Each level has its samples from 0, its own verdicts and its own answers behind them."""
    answers = [
        answer_row("one", number, f"{code}// <{level}, {number}>", level=level)
        for level, codes in ((1, (BROKEN, PROGRAM)), (2, (PROGRAM, BROKEN)))
        for number, code in enumerate(codes)
    ]
    _, results = run(answers, tasks=TASKS[:1])
    assert [(s["level"], s["sample"], s["verdict"]) for s in results.samples] == [
        *((1, 0, "compile_error"), (1, 1, "passed"), (2, 0, "passed"), (2, 1, "compile_error"))
    ]
    assert "nothing new to judge, 4 taken" in run(answers, tasks=TASKS[:1])[0]
    report = build_report(collect([tmp_path / "results.jsonl"]), ks=(1, 2))
    labels = [one.label for one in report.collection.runs]
    assert labels == ["answers (level 1)", "answers (level 2)"]
    passed = {(label, k): report.rates[label, Rule.FIRST, k, "passed"].value for label in labels for k in (1, 2)}
    assert list(passed.values()) == [0, 1, 1, 1]
    block = re.search(r'id="block-0">([^<]+)<', render_html(report))[1]
    details = zlib.decompress(base64.b64decode(block)).decode().split("<hr>")
    assert [re.search(r"&lt;\d, \d&gt;", one)[0] for one in details[:-1]] == [
        *("&lt;1, 0&gt;", "&lt;1, 1&gt;", "&lt;2, 0&gt;", "&lt;2, 1&gt;")
    ]
