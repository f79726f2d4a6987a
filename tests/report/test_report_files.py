"""What a report leaves in its folder, and what it refuses to read."""

import errno
import json
import re
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pandas as pd
import pytest
from commands import cuset, small_files
from results_factory import write_results

from cuset_stage.judge.results import ResultsError, code_sha256, read_results
from cuset_stage.report.cells import Cell, ranked
from cuset_stage.report.collect import collect
from cuset_stage.report.collection import NO_ANSWER, NOT_JUDGED
from cuset_stage.report.numbers import build_report
from cuset_stage.report.page import duration
from cuset_stage.report.tables import VERDICTS
from cuset_stage.report.write import CSV_TABLES, write_report
from cuset_stage.sandbox import Verdict


P, M = "passed", "mismatch"


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_holds_one_report(write: Any, tmp_path: Path) -> None:
    """Of two runs, then of one; a file of the reader's stays."""
    a, b = (write(name, {"a": [P], "b": [M]}) for name in "ab")
    out = tmp_path / "out"
    write_report(build_report(collect([a, b]), ks=(1,)), out)
    assert "csv/comparisons.csv" in files(out)
    (out / "csv" / "mine.csv").write_text("1\n")
    one = build_report(collect([a]), ks=(1,))
    assert [path.name for path in write_report(one, out)] == ["report.md", "pass_at_k.csv", "report.html"]
    assert "csv/comparisons.csv" not in files(out) and {"csv/samples.csv", "csv/mine.csv"} <= files(out)


def test_a_full_disk_is_said(write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    results = [write(name, {"a": [P], "b": [M]}) for name in "ab"]
    with small_files():
        said = cuset("report", *results, output=out, exit_code=2)
    assert said == f"cuset: report: {out}/report.md: File too large.\n"
    assert not files(out)
    full = OSError(errno.ENOSPC, "No space left on device")  # as most libraries raise it
    monkeypatch.setattr("cuset_stage.report.write.write_report", Mock(side_effect=full))
    assert "a file that the system does not name" in cuset("report", *results, output=out, exit_code=2)


def test_every_csv_file_is_known(write: Any, tmp_path: Path) -> None:
    """Tables with flags, cases and an audit."""

    def change(record: dict[str, Any]) -> dict[str, Any]:
        cases = [{"name": name, "verdict": P, "run_s": 0.1} for name in ("small", "large")]
        return {**record, "cases": cases, "flags": ["quick"], "speedup": 2.0}

    told = {"findings": {"a": ["zeros pass"]}, "audited": 2}
    paths = [write(name, {"a": [P], "b": [M]}, change=change, arch=name, **told) for name in ("x", "y")]
    write_report(build_report(collect(paths), ks=(1,)), tmp_path / "out")
    assert files(tmp_path / "out" / "csv") == {f"{name}.csv" for name in CSV_TABLES}


def test_interval_ends_are_numbers_of_their_own(write: Any, tmp_path: Path) -> None:
    weak = write("weak", {str(i): [P if i < 2 else M] for i in range(8)})
    strong = write("strong", {str(i): [P if i < 7 else M] for i in range(8)})
    write_report(build_report(collect([weak, strong]), ks=(1,), baseline="weak"), tmp_path / "out")
    row = pd.read_csv(tmp_path / "out" / "csv" / "comparisons.csv").set_index("Criterion").loc["Function"]
    name = "A − B (points): pass@1, first"
    assert 0 < row[f"{name} (low)"] < row[name] == 62.5 < row[f"{name} (high)"] <= 100
    assert not any(str(value).startswith("'") for value in row)


def test_the_code_written_last_counts(write: Any, tmp_path: Path) -> None:
    """Two files merged by hand: one sample judged with code 1, with code 2, and with code 1 again."""
    path = write("one", {"a": [P]})
    header, line = path.read_text().splitlines()
    record = json.loads(line)
    lines = [
        json.dumps({**record, "code_sha256": code_sha256(code), "verdict": verdict, "passed": verdict == P})
        for code, verdict in (("1", M), ("2", M), ("1", P))
    ]
    path.write_text("\n".join([header, *lines]) + "\n")
    assert [sample["verdict"] for sample in read_results(path).samples] == [M, P]
    (run,) = collect([path]).runs
    assert run.verdict("a", 0) == P


def test_files_joined_by_hand_count_together(write: Any, tmp_path: Path) -> None:
    """Parts that two machines judged, one of them not to its end; never two methods."""
    second = {"verdicts": {"b": [P, None]}, "answers": {"levels": {"1": 2}, "count": 2}, "audited": 1}
    weak = {"findings": {"a": ["zeros pass"]}, "audited": 2}
    joined, first = tmp_path / "joined.jsonl", write("one", {"a": [P], "c": []}, **weak).read_text()
    joined.write_text(first + write_results(tmp_path / "second.jsonl", "one", **second).read_text())
    collection = collect([joined])
    (run,) = collection.runs
    assert (run.asked, run.planned, run.missing) == ({"a", "b", "c"}, 3, 1)
    assert collection.tasks[0].findings == ("zeros pass",) and collection.audited == 3
    joined.write_text(first + first)
    assert collect([joined]).runs[0].planned == 1
    joined.write_text(first + write("other", {"b": [P]}).read_text())
    with pytest.raises(
        ResultsError, match=r'joined\.jsonl:3: a second header, with method "other"; the first one has "one"'
    ):
        collect([joined])
    others = {"flags": ["-O0"], "compile_only": True, "thorough": True, "require_gpu": True, "extract": "last"}
    for key, value in {**others, "isolation": "none", "limits": {"wall_s": 9.0}, "tasks": {"sha256": "ef"}}.items():
        joined.write_text(first + write("one", {"b": [P]}, **{key: value}).read_text())
        with pytest.raises(ResultsError, match=f"a second header, with {key.replace('tasks', 'task set')} "):
            collect([joined])
    joined.write_text(first + write("one", {"a": [P], "b": [P]}).read_text())
    with pytest.raises(ResultsError, match="task a and 0 more belong to both parts"):
        collect([joined])


def test_answers_divided_over_two_machines_count_together(tmp_path: Path) -> None:
    """Both parts ask for all tasks. What the second has not judged yet is no failure."""
    both = {"tasks": {"sha256": "ab", "ids": ["a", "b", "c"]}}
    answers = [{"sha256": name, "count": 2, "levels": {"1": 2}} for name in ("first", "second")]
    parts = [
        write_results(tmp_path / "1.jsonl", "m", {"a": [P, P]}, answers=answers[0], **both).read_text(),
        write_results(tmp_path / "2.jsonl", "m", {"b": [P, None]}, answers=answers[1], **both).read_text(),
    ]
    joined = tmp_path / "joined.jsonl"
    joined.write_text("".join(parts))
    (run,) = collect([joined]).runs
    assert (run.planned, run.missing, run.verdict("b", 1)) == (4, 1, NOT_JUDGED)
    grown = {"sha256": "both", "count": 3, "levels": {"1": 3}}
    more = write_results(tmp_path / "3.jsonl", "m", {"a": [P, P], "b": [P]}, answers=grown, **both)
    joined.write_text(parts[0] + more.read_text())  # of the first file, to which an answer was added
    (run,) = collect([joined]).runs
    assert (run.planned, run.missing, run.verdict("c", 0)) == (3, 0, NO_ANSWER)


@pytest.mark.parametrize(
    ("place", "key", "value", "says"),
    [
        (0, "tasks", True, "the header's tasks is True; expected an object, or null"),
        (0, "tasks", {"count": "x"}, "tasks.count is 'x'; expected an integer from 0 below 1,000,000, or null"),
        (0, "tasks", {"families": ["f"]}, "tasks.families is ['f']; expected an object of task -> text, or null"),
        (0, "answers", {"levels": {"one": 3}}, "answers.levels is {'one': 3}; expected an object of level -> count"),
        (0, "limits", [1], "limits is [1]; expected an object, or null"),
        (0, "gpus", ["H200"], "gpus is ['H200']; expected a list of objects, or null"),
        (1, "task", None, "task is None; expected text"),
        (1, "cases", [1], "cases is [1]; expected a list of objects with name, verdict and numbers"),
        (1, "compiled", ..., "compiled is missing; expected true or false"),
        (1, "compiled", "yes", "compiled is 'yes'; expected true or false"),
        (1, "tokens", 10**400, "expected an integer from 0 below 2**53"),
        (1, "tokens", -1, "tokens is -1; expected an integer from 0"),
        (1, "run_s", 10**400, "expected a number up to 2**53"),
        (1, "speedup", float("nan"), "speedup is nan; expected a number"),
        (1, "sample", 10**9, "sample is 1000000000; expected an integer from 0 below"),
        (1, "level", "one", "level is 'one'; expected an integer"),
    ],
)
def test_a_value_that_no_run_writes_is_named(write: Any, place: int, key: str, value: Any, says: str) -> None:
    path = write("one", {"a": [P]})
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[place][key] = value
    if value is ...:
        del lines[place][key]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    fix = "take it out" if place else "judge again into another file"
    with pytest.raises(ResultsError, match=rf"results\.jsonl:{place + 1}: .*{re.escape(says)}.*{fix}"):
        collect([path])


@pytest.mark.parametrize(
    ("seconds", "text"), [(1.2345e-3, "1.23 ms"), (45e-6, "45 µs"), (2.5, "2.50 s"), (150.4, "150 s"), (None, "")]
)
def test_times_are_in_the_unit_that_shows_them(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text


def test_every_verdict_has_a_name_and_a_place() -> None:
    assert set(VERDICTS) == {*Verdict, NO_ANSWER, NOT_JUDGED}


def test_the_best_of_a_group_is_marked_and_the_second_of_three():
    texts = ["10.0", "30.0", "20.0", "30.0", "7.0", "5.0", "1.0", "–"]
    cells = [Cell(text, None if text == "–" else float(text)) for text in texts]
    assert [cell.rank for cell in ranked(cells, [[0, 1, 2, 3], [4, 5], [6, 7]])] == [0, 1, 2, 1, 1, 0, 0, 0]
