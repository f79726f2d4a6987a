"""Selection: answers that are alike, and ranking."""

from math import nan
from pathlib import Path

import pandas as pd
import pytest
from curation_steps import lines, put, select
from curation_tree import PROGRAM

from cuset_stage.curate.select import speeds, worse_answers


ROOT = Path(__file__).parents[2]
TASKS = sorted(path for path in (ROOT / "data/kernels").glob("*/kernel.cu") if path.with_name("prompt.md").is_file())


def bundled(which: int | str) -> tuple[str, str, str]:
    """Name, program and prompt of a task, by its place or its name."""
    folder = TASKS[which].parent if isinstance(which, int) else ROOT / "data" / "kernels" / which
    return folder.name, *((folder / name).read_text(encoding="utf-8") for name in ("kernel.cu", "prompt.md"))


def row(identity: str, program: str, prompt: str = "", **more) -> dict:
    task, source = {"id": identity, "prompt": prompt or identity}, {"name": "test", "licence": "MIT"}
    return {"id": identity, "kind": "program", "program": program, "task": task, **more, "source": source}


def reasons(folder: Path, stage: str = "select") -> dict[str, str]:
    return {each["id"]: each["reason"] for each in lines(folder / stage / "dropped.jsonl")}


ORIGINAL = PROGRAM % {"expression": "x * x"}


def measured(seconds: float, **more) -> dict:
    """What `prove` says of a program whose case takes so long."""
    return {"verdict": "passed", "per_gpu": 1, "cases": [{"name": "large", "run_s": [seconds * 2, seconds]}], **more}


def module(speedup: float, *flags: str) -> dict:
    """What `prove` says of a module."""
    return {"verdict": "passed", "speedup": speedup, "module_flags": list(flags)}


def answers(tmp_path, *given: dict) -> Path:
    """Rows of one task; each has a longer program than the one before."""
    longer = [f"// {'x' * 3000 * i}\n{bundled(i)[1]}" for i in range(len(given))]
    rows = [row(f"r{i}", longer[i], "Sort it.", **more) for i, more in enumerate(given)]
    return put(tmp_path / "rows.jsonl", rows)


def test_of_programs_for_one_task_the_fastest_is_the_best(tmp_path):
    path = answers(tmp_path, {"verified": measured(9.0)}, {"verified": measured(0.4)}, {"verified": measured(0.41)})
    summary = select(tmp_path, path, per_task=1)
    best = worse_answers(table(slow={"speedup": 0.5}, fast={"speedup": 2.0}, other={"group": 1}), 1)
    assert set(best) == {"slow"}
    assert summary.kept == 1 and set(reasons(tmp_path)) == {"r0", "r2"}  # r2 differs by noise and is longer


@pytest.mark.parametrize(
    ("slow", "fast"),
    [
        ({"verified": measured(9.0)}, {"verified": measured(0.01, per_gpu=4)}),  # its time says nothing
        ({"verified": measured(0.01, per_gpu=4)}, {"verified": measured(9.0)}),  # nor is that against it
        ({"verified": measured(9.0, gpu="a")}, {"verified": measured(0.01, gpu="b")}),
        ({"verified": measured(1.0)}, {"verified": measured(1.0), "speedup": 99.0}),  # as its source claims
        ({"verified": module(2.0)}, {"verified": module(500.0, "speed-up over 10x")}),
    ],
)
def test_what_was_not_measured_or_elsewhere_or_is_flagged_does_not_rank(tmp_path, slow, fast):
    select(tmp_path, answers(tmp_path, slow, fast), per_task=1)
    assert reasons(tmp_path) == {"r1": "not_among_best"}  # the longer one


def table(**lines: dict) -> pd.DataFrame:
    """What ranking takes; a line by its name."""
    empty = {"group": 0, "tokens": 100, "speedup": nan, "run_s": nan, "bench": 0}
    rows = {name: {**empty, "order": order, **line} for order, (name, line) in enumerate(lines.items())}
    return pd.DataFrame.from_dict(rows, orient="index")


def test_times_on_other_sizes_are_not_compared():
    found = speeds(table(a1={"run_s": 1.0}, a2={"run_s": 4.0}, b1={"run_s": 100.0, "bench": 1}, none={}))
    assert found.to_dict() == {"a1": 2.5, "a2": 0.6, "b1": 1.0, "none": 1.0}


def test_of_answers_that_are_alike_the_fastest_stays(tmp_path):
    alike = ORIGINAL.replace("int devices", "std::fflush(stdout);\n    int devices", 1)
    rows = [
        row("slow", ORIGINAL, "Square it.", verified=measured(5.0)),
        row("quick", f"// long {'x' * 900}\n{alike}", "Square it.", verified=measured(1.0)),
        row("elsewhere", ORIGINAL, "Another task.", verified=measured(9.0)),
    ]
    select(tmp_path, put(tmp_path / "rows.jsonl", rows))
    assert reasons(tmp_path) == {"slow": "duplicate_near"}
    assert select(tmp_path, tmp_path / "rows.jsonl", near=1.0).kept == 3
