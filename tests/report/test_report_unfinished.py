"""Reports of runs that were stopped, of several parts in one results file, and of audits that cover a part of the tasks."""

import itertools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from commands import cuset
from host_programs import BROKEN, PROGRAM, REFERENCE, answer_row, task_row, write_lines
from results_factory import loud, sample, write_results

from cuset_stage.judge.results import ResultsWriter, describe_run
from cuset_stage.report import build_report, collect
from cuset_stage.report.collection import NO_ANSWER, NOT_JUDGED
from cuset_stage.report.statistics import Rule
from cuset_stage.tasks import choose_tasks, load_tasks
from cuset_stage.tasks.answers_file import read_answers


P, M, C, INFRA = "passed", "mismatch", "compile_error", "infra_error"
TRAIN, EVAL = ("t1", "t2"), ("a", "b")


def write_part(
    folder: Path,
    lines: Iterable[tuple[str, int, int]],
    *,
    levels: int = 1,
    split: str | None = None,
    level: int | None = None,
) -> Path:
    """The results file of a run of `split` and `level` that holds passed lines (task, sample, level), over two train and two
    eval tasks with two samples a level; its header is the one that `cuset evaluate` makes."""
    rows = [task_row(name, "right", split="train" if name in TRAIN else "eval") for name in (*TRAIN, *EVAL)]
    tasks = load_tasks(write_lines(folder / "tasks.jsonl", rows))
    wanted = itertools.product(range(1, levels + 1), (*TRAIN, *EVAL), (0, 1))
    rows = [answer_row(name, number, level=one) for one, name, number in wanted]
    path = write_lines(folder / "answers.jsonl", rows)
    answers = read_answers(path)
    tasks = choose_tasks(tasks, split=split)
    chosen = sum(one.task in {task.id for task in tasks} and level in (None, one.level or 1) for one in answers)
    header = describe_run(
        answers_path=path, answers=answers, chosen=chosen, tasks=tasks, spec={}, method="SFT", split=split, level=level
    )
    output = folder / "results.jsonl"
    with ResultsWriter(output, header) as writer:
        for task, number, one in lines:
            writer.append(sample(task, number, P, level=one))
    return output


def test_a_second_split_that_was_stopped_is_not_finished(tmp_path: Path) -> None:
    """The lines of --split train stay in the file; none of them is one that --split eval asks for."""
    kept = [(task, number, 1) for task in TRAIN for number in (0, 1)]
    collection = collect([write_part(tmp_path, kept, split="eval")])
    assert "Not finished: SFT 4 of 4 samples not judged" in loud(collection)
    assert "left from another split or limit: SFT 2 beyond 2" in loud(collection)
    assert [task.id for task in collection.tasks] == ["a", "b", "t1", "t2"]
    (run,) = collection.runs
    assert run.verdict("a", 0) == NOT_JUDGED

    half = [*kept, ("a", 0, 1)]
    assert "SFT 3 of 4 samples not judged" in loud(collect([write_part(tmp_path, half, split="eval")]))


def test_what_an_earlier_split_left_half_done_is_charged_to_nobody(tmp_path: Path) -> None:
    lines = [("t1", 0, 1), *((task, number, 1) for task in EVAL for number in (0, 1))]
    collection = collect([write_part(tmp_path, lines, split="eval")])
    (run,) = collection.runs
    assert "Not finished" not in loud(collection)
    assert run.verdict("t1", 1) == NOT_JUDGED
    estimate = build_report(collection, ks=(2,)).rates["SFT", Rule.FIRST, 2, "passed"]
    assert (estimate.value, estimate.tasks, estimate.left_out) == (1.0, 2, 1)


def test_a_task_without_an_answer_still_fails(tmp_path: Path) -> None:
    lines = [(task, number, 1) for task in EVAL for number in (0, 1)]
    path = write_part(tmp_path, lines, split="eval")
    header, *rest = path.read_text().splitlines(keepends=True)
    told = json.loads(header)
    told["tasks"] |= {"ids": ["a", "b", "c"], "count": 3}
    path.write_text("".join([json.dumps(told) + "\n", *rest]))
    (run,) = collect([path]).runs
    assert not run.missing and run.verdict("c", 0) == NO_ANSWER


def test_a_second_level_that_was_stopped_is_not_finished(tmp_path: Path) -> None:
    kept = [(task, number, 1) for task in (*TRAIN, *EVAL) for number in (0, 1)]
    collection = collect([write_part(tmp_path, kept, levels=2, level=2)])
    assert [(run.label, run.missing == 0) for run in collection.runs] == [
        *(("SFT (level 1)", True), ("SFT (level 2)", False)),
    ]
    assert "Not finished: SFT (level 2) 8 of 8 samples not judged" in loud(collection)

    begun = [*kept[:3], *((task, number, 2) for task, number, _ in kept)]
    collection = collect([write_part(tmp_path, begun, levels=2, level=2)])
    assert "Not finished: SFT (level 1) 5 of 8 samples not judged" in loud(collection)
    assert "level 2" not in loud(collection)


def test_a_level_that_was_not_asked_for_is_no_run(tmp_path: Path) -> None:
    lines = [(task, number, 2) for task in (*TRAIN, *EVAL) for number in (0, 1)]
    collection = collect([write_part(tmp_path, lines, levels=2, level=2)])
    assert [(run.level, run.missing == 0) for run in collection.runs] == [(2, True)]
    assert loud(collection) == ""


@pytest.mark.parametrize(("verdicts", "missing"), [({task: [P] for task in "abcdefgh"}, 16), ({}, 24)])
def test_a_run_narrower_than_planned_is_not_finished(tmp_path: Path, verdicts: dict[str, Any], missing: int) -> None:
    """Sample 0 of every task, or a header alone: no cell of the table is empty."""
    answers, tasks = {"count": 24, "levels": {"1": 24}}, {"sha256": "1", "ids": list("abcdefgh")}
    path = write_results(tmp_path / "r.jsonl", "SFT", verdicts, answers=answers, tasks=tasks)
    assert f"Not finished: SFT {missing} of 24 samples not judged" in loud(collect([path]))


def test_an_oracle_that_fails_reaches_the_report(run: Any, tmp_path: Path) -> None:
    """No audit of it is kept: what the judge met is all there is."""
    failing = task_row(
        "failing", "right", reference=REFERENCE.replace("return {", "raise ValueError('bad seed')\n    return {")
    )
    run(
        [answer_row("failing", 0, PROGRAM), answer_row("failing", 1, BROKEN), answer_row("whole", 0, PROGRAM)],
        tasks=[failing, task_row("whole", "right")],
        code=3,
    )
    cuset("report", tmp_path / "results.jsonl", output=tmp_path / "report", k=1)
    text = (tmp_path / "report" / "report.md").read_text()
    (note,) = [line for line in text.splitlines() if "What the judge failed with, by task" in line]
    assert "failing: " in note and "bad seed" in note and "whole" not in note


def test_failing_oracles_stand_before_failing_machines(tmp_path: Path) -> None:
    def said(record: dict[str, Any]) -> dict[str, Any]:
        return {**record, "message": f"{record['task']}{record['sample']} failed\nat line 3"}

    verdicts = {"a": [INFRA, P], "b": [INFRA, INFRA], "c": [P, P], **{f"d{i}": [INFRA, C] for i in range(8)}}
    path = write_results(tmp_path / "r.jsonl", "SFT", verdicts, change=said)
    (note,) = [note.text for note in collect([path]).notes if "What the judge failed with" in note.text]
    assert "by task: b: b1 failed at line 3; d0: d0" in note
    assert "and 2 more. Correct an oracle" in note
