"""The results file: what was written can be read again, also after interruptions and for any values."""

import json
import math
import sys
from typing import Any

import pytest
from task_factory import cuset_row, load_row

from cuset_stage.judge.judgement import CaseResult, Judgement
from cuset_stage.judge.results import ResultsError, ResultsWriter, Sample, code_sha256, read_results, sample_record
from cuset_stage.sandbox import Verdict
from cuset_stage.tasks.answers_file import Answer


HEADER, RUN = {"run": "r", "method": "sft"}, '{"type": "run", "format": 1}'


def line(task: str, sample: int, verdict: str = "passed", **more: Any) -> dict[str, Any]:
    found = {"type": "sample", "verdict": verdict, "compiled": verdict == "passed", "passed": verdict == "passed"}
    return {"task": task, "sample": sample, "code_sha256": code_sha256(f"{task}{sample}"), **found, **more}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "results.jsonl"
    with ResultsWriter(path, HEADER) as writer:
        writer.append(line("b", 1, message="\udc80 torn surrogate, ünïcode"))
        writer.append(line("b", 0))
        writer.append(line("a", 0, "infra_error"))
    return path


def test_round_trip(path):
    results = read_results(path)
    assert results.run == {"type": "run", "format": 1, **HEADER}
    assert [(s["task"], s["sample"]) for s in results.samples] == [("a", 0), ("b", 0), ("b", 1)]
    assert results.samples[2]["message"] == "\udc80 torn surrogate, ünïcode"


@pytest.mark.parametrize("size", [0.0, sys.float_info.max, math.inf, math.nan, None])
@pytest.mark.parametrize("verdict", [Verdict.PASSED, Verdict.MISMATCH])
def test_what_a_judge_finds_is_read_again(tmp_path, verdict, size):
    """Errors may have any size: sums of squares of 1e30 may differ by 1e48 and be right.

    Those that are not finite become null.
    """
    task = load_row(tmp_path, cuset_row(id="a"))
    case = CaseResult("special", verdict, 1e-7, size, size)
    judgement = Judgement(verdict, "message", compiled=True, cases=(case, case), run_s=1e-7, speedup=1.5)
    record = sample_record(Sample(Answer("a", 0, "text"), task, "code", code_sha256("code")), judgement, "key")
    path = tmp_path / "results.jsonl"
    with ResultsWriter(path, HEADER) as writer:
        writer.append(record)
    (found,) = read_results(path).samples
    assert found == record
    assert found["cases"][1]["max_abs_error"] == (size if size is not None and math.isfinite(size) else None)


@pytest.mark.parametrize("cut", [1, 10, 60])
def test_torn_last_line(path, cut):
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    kept = 3 if cut == 1 else 2  # if only the line end is missing, the line is whole
    assert len(read_results(path).samples) == kept
    with ResultsWriter(path, HEADER, read_results(path).samples) as writer:
        writer.append(line("c", 0))
    assert len(read_results(path).samples) == kept + 1
    assert all(json.loads(text) for text in path.read_text(errors="surrogateescape").splitlines())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no header"),
        (f"{RUN}\n{{broken\n{json.dumps(line('a', 0))}\n", r":2: not JSON.*its sample is judged again"),
        ('{"type": "run", "format": 99}\n', "format 99"),
        ('{"task": "a", "sample": 0}\n', r":1: not a line of a file that `cuset evaluate` wrote"),
        ('{"type": "sample", "task": "a"}\n', r":1: .*sample is missing; .*take it out"),
    ],
)
def test_other_files_are_refused(tmp_path, text, says):
    path = tmp_path / "x.jsonl"
    for place, problem in ((tmp_path, "Is a directory.*Give a file that"), (path, "No such file")):
        with pytest.raises(ResultsError, match=problem):
            read_results(place)
    path.write_text(text)
    with pytest.raises(ResultsError, match=says):
        read_results(path)


def test_a_later_line_replaces_an_earlier_one_and_what_is_not_kept_is_not_lost(path, caplog):
    before = read_results(path).samples
    with ResultsWriter(path, {"run": "again"}, before[:2]) as writer:
        writer.append(line("a", 0, "passed"))
        with pytest.raises(ValueError, match="another process is writing"):
            ResultsWriter(path, HEADER)
        with pytest.raises(ValueError):  # NaN is refused before anything is written
            writer.append(line("z", 0, run_s=math.nan))
    assert [(s["task"], s["verdict"]) for s in read_results(path).samples] == [("a", "passed"), ("b", "passed")]
    aside = path.with_name(path.name + ".replaced")
    assert [json.loads(text) for text in aside.read_text().splitlines()] == before[2:]
    assert f"1 earlier result(s) moved from results.jsonl to {aside}" in caplog.text
