"""From a judged run to its report: what the audit found, which tasks and levels count, and runs that were stopped."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from commands import cuset
from host_programs import BROKEN, PROGRAM, REFERENCE, TASKS, answer_row, task_row
from results_factory import blocks, loud, sample, write_results
from task_factory import write_lines

from cuset_stage.judge.results import ResultsWriter, describe_run
from cuset_stage.report.collect import collect
from cuset_stage.report.collection import NO_ANSWER, NOT_JUDGED, Collection, ReportError
from cuset_stage.report.numbers import build_report
from cuset_stage.report.page import render_html
from cuset_stage.report.statistics import Rule
from cuset_stage.tasks import choose_tasks, load_tasks
from cuset_stage.tasks.answers_file import read_answers


P, C, INFRA = "passed", "compile_error", "infra_error"
TRAIN, EVAL = ("t1", "t2"), ("a", "b")
ALL = (*TRAIN, *EVAL)


def test_an_audit_reaches_the_header_and_the_report(run: Any, tmp_path: Path) -> None:
    blind = task_row("blind", "right", reference=REFERENCE.replace("(1e-6, 1e-6)", "(0, 1e9)"))
    tasks, answers = [TASKS[0], blind], [answer_row("one", 0), answer_row("blind", 0)]

    def check(said: str) -> str:
        """Both pages say this of the audit; returns the Markdown."""
        cuset("report", tmp_path / "results.jsonl", output=tmp_path / "report")
        markdown, page = ((tmp_path / "report" / f"report.{kind}").read_text() for kind in ("md", "html"))
        assert said in markdown and said in page
        return markdown

    _, results = run(answers, tasks=tasks)
    assert (results.run["audited"], results.run["findings"]) == (0, {})
    check("No audit of the task set was given")

    command = ["audit-tasks", tmp_path / "tasks.jsonl", f"output={tmp_path / 'audit.jsonl'}"]
    cuset(*command, "only=one")
    _, results = run(answers, tasks=tasks)
    assert (results.run["audited"], results.run["findings"]) == (1, {})
    check("The audit covers 1 of 2 tasks and flags none of them: of the others nothing is known")

    cuset(*command, "only=one,blind")
    said, results = run(answers, tasks=tasks)
    assert "nothing new to judge" in said
    assert results.run["audited"] == 2 and "zeros pass as y" in results.run["findings"]["blind"]
    assert re.search(r"\| blind \| blind \| .*zeros pass as y", check("The audit covers 2 of 2 tasks."))

    run([answer_row("one", 0)], tasks=[TASKS[0]])
    check("The audit covers 1 of 1 tasks and flags none of them.")


def test_a_part_of_the_tasks_is_reported_as_a_part(run: Any, tmp_path: Path) -> None:
    """Asked of the model, judged, or reported alone: no other task counts as failed. Without a word of it, all of the set are asked for."""

    def summary(**chosen: Any) -> tuple[int, float, str]:
        report = build_report(collect([tmp_path / "results.jsonl"], **chosen), ks=(1,))
        rate = report.rates["answers", Rule.FIRST, 1, "passed"]
        return len(report.collection.tasks), rate.value, " ".join(note.text for note in report.collection.notes)

    first, second = answer_row("one", 0), answer_row("two", 0, BROKEN)
    said, _ = run([first, second])
    assert "tasks without an answer: 1 of 3" in said and "run `cuset generate` again" in said
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
    found = [(sample["level"], sample["sample"], sample["verdict"] == "passed") for sample in results.samples]
    assert found == [(1, 0, False), (1, 1, True), (2, 0, True), (2, 1, False)]
    assert "nothing new to judge, 4 taken" in run(answers, tasks=TASKS[:1])[0]
    report = build_report(collect([tmp_path / "results.jsonl"]), ks=(1, 2))
    labels = [one.label for one in report.collection.runs]
    assert labels == ["answers (level 1)", "answers (level 2)"]
    passed = {(label, k): report.rates[label, Rule.FIRST, k, "passed"].value for label in labels for k in (1, 2)}
    assert list(passed.values()) == [0, 1, 1, 1]
    (details,) = blocks(render_html(report))
    behind = [re.search(r"&lt;(\d, \d)&gt;", one)[1] for one in details]
    assert behind == ["1, 0", "1, 1", "2, 0", "2, 1"]


def test_answers_to_different_prompts_of_a_task_are_named(run: Any, tmp_path: Path) -> None:
    """As after a change of system= or of the task set's wording, which the verdicts do not depend on."""
    for digest, said in (("p", False), ("q", True)):
        run([answer_row("one", 0, None, prompt_sha256=digest), answer_row("two", 0, None, prompt_sha256="same")])
        (tmp_path / "results.jsonl").rename(tmp_path / f"{digest}.jsonl")
        told = loud(collect([tmp_path / f"{name}.jsonl" for name in "pq" if name <= digest]))
        assert ("The answers to 1 task, one among them, are to different prompts" in told) == said


def of(tasks: Iterable[str], level: int = 1) -> list[tuple[str, int, int]]:
    """Two lines a task: (task, sample, level)."""
    return [(task, number, level) for task in tasks for number in (0, 1)]


def collected(folder: Path, lines: Iterable[tuple[str, int, int]], **asked: Any) -> Collection:
    """What is there of a run of a split, or of one of two levels, over two train and two eval tasks; all lines have passed, and the header is
    the one that `cuset evaluate` makes."""
    rows = [task_row(name, "right", split="train" if name in TRAIN else "eval") for name in ALL]
    tasks = choose_tasks(load_tasks(write_lines(folder / "tasks.jsonl", *rows)), split=asked.get("split"))
    wanted = [*of(ALL), *(of(ALL, 2) if "level" in asked else ())]
    path = write_lines(folder / "answers.jsonl", *(answer_row(task, n, level=level) for task, n, level in wanted))
    chosen = sum(task in {one.id for one in tasks} and level == asked.get("level", level) for task, _, level in wanted)
    given = {"answers_path": path, "answers": read_answers(path), "chosen": chosen, "tasks": tasks, **asked}
    with ResultsWriter(folder / "results.jsonl", describe_run(**given, spec={}, method="SFT")) as writer:
        for task, number, level in lines:
            writer.append(sample(task, number, P, level=level))
    return collect([folder / "results.jsonl"])


def test_a_second_split_that_was_stopped_is_not_finished(tmp_path: Path) -> None:
    """The lines of --split train stay in the file; none of them is one that --split eval asks for."""
    collection = collected(tmp_path, of(TRAIN), split="eval")
    assert "Not finished: SFT 4 of 4 samples not judged" in loud(collection)
    assert "left from another split or limit: SFT 2 beyond 2" in loud(collection)
    assert [task.id for task in collection.tasks] == ["a", "b", "t1", "t2"]
    assert collection.runs[0].verdict("a", 0) == NOT_JUDGED
    half = collected(tmp_path, [*of(TRAIN), ("a", 0, 1)], split="eval")
    assert "SFT 3 of 4 samples not judged" in loud(half)


def test_what_an_earlier_split_left_half_done_is_charged_to_nobody(tmp_path: Path) -> None:
    collection = collected(tmp_path, [("t1", 0, 1), *of(EVAL)], split="eval")
    assert "Not finished" not in loud(collection) and collection.runs[0].verdict("t1", 1) == NOT_JUDGED
    estimate = build_report(collection, ks=(2,)).rates["SFT", Rule.FIRST, 2, "passed"]
    assert (estimate.value, estimate.tasks, estimate.left_out) == (1.0, 2, 1)


def test_only_counts_no_line_of_an_earlier_split_as_planned(tmp_path: Path) -> None:
    """One run was asked for a and c, which has no answer, and has a line of b left; only= makes the two compare."""
    part = {"tasks": {"sha256": "1", "ids": ["a", "c"]}, "answers": {"count": 2, "levels": {"1": 1}}}
    whole = write_results(tmp_path / "w.jsonl", "SFT", {"a": [P], "b": [P], "c": [P]}, tasks={"sha256": "1"})
    path = write_results(tmp_path / "r.jsonl", "CuSeT", {"a": [P], "b": [P]}, **part)
    collection = collect([whole, path], only=["a", "b", "c"])
    assert collection.runs[1].missing == 0 and collection.runs[1].verdict("c", 0) == NO_ANSWER


@pytest.mark.parametrize(
    ("lines", "runs", "said"),
    [
        (of(ALL), {"SFT (level 1)": 0, "SFT (level 2)": 8}, "Not finished: SFT (level 2) 8 of 8 samples not judged"),
        ([*of(ALL)[:3], *of(ALL, 2)], {"SFT (level 1)": 5, "SFT (level 2)": 0}, "SFT (level 1) 5 of 8 samples not judged"),
        (of(ALL, 2), {"SFT": 0}, ""),  # level 1 was not asked for, and is no run
    ],
)  # fmt: skip
def test_a_level_that_was_stopped_is_not_finished(tmp_path: Path, lines: Any, runs: dict[str, int], said: str) -> None:
    collection = collected(tmp_path, lines, level=2)
    assert {run.label: run.missing for run in collection.runs} == runs and collection.runs[-1].level == 2
    text = loud(collection)
    assert (said in text and text.count("not judged") == 1) if said else text == ""


@pytest.mark.parametrize(("verdicts", "missing"), [({task: [P] for task in "abcdefgh"}, 16), ({}, 24)])
def test_a_run_narrower_than_planned_is_not_finished(tmp_path: Path, verdicts: dict[str, Any], missing: int) -> None:
    """Sample 0 of every task, or a header alone: no cell of the table is empty."""
    answers, tasks = {"count": 24, "levels": {"1": 24}}, {"sha256": "1", "ids": list("abcdefgh")}
    path = write_results(tmp_path / "r.jsonl", "SFT", verdicts, answers=answers, tasks=tasks)
    assert f"Not finished: SFT {missing} of 24 samples not judged" in loud(collect([path]))


def test_failing_oracles_stand_before_failing_machines(tmp_path: Path) -> None:
    def said(record: dict[str, Any]) -> dict[str, Any]:
        return {**record, "message": f"{record['task']}{record['sample']} failed\nat line 3"}

    verdicts = {"a": [INFRA, P], "b": [INFRA, INFRA], "c": [P, P], **{f"d{i}": [INFRA, C] for i in range(8)}}
    path = write_results(tmp_path / "r.jsonl", "SFT", verdicts, change=said)
    (note,) = [note.text for note in collect([path]).notes if "What the judge failed with" in note.text]
    assert "by task: b: b1 failed at line 3; d0: d0" in note
    assert "and 2 more. Correct an oracle" in note
