"""Selection: answers that are alike, ConCuR's rule, ranking, balance."""

import json
import random
import tracemalloc
from collections.abc import Iterable
from math import nan
from pathlib import Path

import pandas as pd
import pytest
from curation_steps import deduplicate, export, put, select
from curation_tree import PROGRAM

from cuset_stage.curate.select import beyond_balance, concur, speeds, worse_answers
from cuset_stage.curate.settings import SelectSettings
from cuset_stage.settings import SettingsError


ROOT = Path(__file__).parents[2]
TASKS = sorted(
    path for path in (ROOT / "data" / "kernels").glob("*/kernel.cu") if path.with_name("prompt.md").is_file()
)


def bundled(which: int | str) -> tuple[str, str, str]:
    """Name, program and prompt of a task, by its place or its name."""
    folder = TASKS[which].parent if isinstance(which, int) else ROOT / "data" / "kernels" / which
    return (
        folder.name,
        (folder / "kernel.cu").read_text(encoding="utf-8"),
        (folder / "prompt.md").read_text(encoding="utf-8"),
    )


def row(identity: str, program: str, prompt: str = "", **more) -> dict:
    return {
        "id": identity,
        "kind": "program",
        "program": program,
        "task": {"id": identity, "prompt": prompt or identity},
        **more,
    } | {"source": {"name": "test", "licence": "MIT"}}


def write_rows(path: Path, rows: Iterable[dict]) -> Path:
    return put(path, ({"key": f"{i:032x}", **each} for i, each in enumerate(rows)))


def reasons(folder: Path) -> dict[str, str]:
    text = (folder / "select" / "dropped.jsonl").read_text(encoding="utf-8")
    return {each["id"]: each["reason"] for each in map(json.loads, text.splitlines())}


ORIGINAL = PROGRAM % {"expression": "x * x"}


def measured(seconds: float, **more) -> dict:
    """What `prove` says of a program whose case takes so long."""
    return {"verdict": "passed", "per_gpu": 1, "cases": [{"name": "large", "run_s": [seconds * 2, seconds]}], **more}


def answers(tmp_path, *given: dict) -> Path:
    """Rows of one task; each has a longer program than the one before."""
    rows = [
        row(f"r{i}", f"// {'x' * 3000 * i}\n{bundled(i)[1]}", prompt="Sort it.", **more)
        for i, more in enumerate(given)
    ]
    return write_rows(tmp_path / "rows.jsonl", rows)


@pytest.mark.parametrize("reward", ["kevin", "grpo"])
def test_of_programs_for_one_task_the_fastest_is_the_best(tmp_path, reward):
    path = answers(tmp_path, {"verified": measured(9.0)}, {"verified": measured(0.4)}, {"verified": measured(0.41)})
    summary = select(tmp_path, path, per_task=1, reward=reward)
    assert summary.kept == 1 and set(reasons(tmp_path)) == {"r0", "r2"}  # r2 differs by noise and is longer


@pytest.mark.parametrize(
    ("slow", "fast"),
    [
        ({"verified": measured(9.0)}, {"verified": measured(0.01, per_gpu=4)}),  # its time says nothing
        ({"verified": measured(0.01, per_gpu=4)}, {"verified": measured(9.0)}),  # nor is that against it
        ({"verified": measured(9.0, gpu="a")}, {"verified": measured(0.01, gpu="b")}),
        (
            {"verified": {"verdict": "compiled"}, "speedup": 1.0},
            {"verified": {"verdict": "compiled"}, "speedup": 99.0},
        ),
        ({"verified": measured(1.0)}, {"verified": measured(1.0), "speedup": 99.0}),
    ],
)
def test_what_was_not_measured_or_elsewhere_does_not_rank(tmp_path, slow, fast):
    select(tmp_path, answers(tmp_path, slow, fast), per_task=1)
    assert reasons(tmp_path) == {"r1": "not_among_best"}  # the longer one


def table(**lines: dict) -> pd.DataFrame:
    """What ranking takes; a line by its name."""
    empty = {
        "group": 0,
        "family": 0,
        "tokens": 100,
        "reasoning": nan,
        "speedup": nan,
        "run_s": nan,
        "bench": 0,
        "single": 0,
    }
    return pd.DataFrame.from_dict(
        {name: {**empty, "order": order, **line} for order, (name, line) in enumerate(lines.items())}, orient="index"
    )


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
    select(tmp_path, write_rows(tmp_path / "rows.jsonl", rows))
    assert reasons(tmp_path) == {"slow": "duplicate_near"}
    assert select(tmp_path, tmp_path / "rows.jsonl", near=1.0).kept == 3


def test_concurs_rule_leaves_rows_alone_that_have_no_measured_speed_up(tmp_path):
    thought = {"reasoning": "think " * 9}
    path = answers(
        tmp_path,
        {**thought, "verified": measured(9.0)},
        {**thought, "verified": measured(0.01), "speedup": 9.0},
        {"verified": measured(0.01)},
    )
    summary = select(tmp_path, path, concur=True)
    assert summary.kept == 3 and "leaves 2 rows with reasoning alone" in summary.notes[0]
    fast = {"verdict": "passed", "speedup": 2.0}
    path = answers(
        tmp_path,
        {"reasoning": "think " * 5, "verified": {**fast, "speedup": 0.5}, "speedup": 9.0},
        {**thought, "verified": fast},
    )
    summary = select(tmp_path, path, concur=True)
    assert summary.reasons == {"concur_rule": 2} and not summary.notes


def test_a_speed_up_under_a_flag_is_not_rewarded(tmp_path):
    fast = {"verdict": "passed", "speedup": 500.0, "module_flags": ["speed-up over 10x"]}
    rows = [{"verified": {"verdict": "passed", "speedup": 2.0, "module_flags": []}}, {"verified": fast}]
    summary = select(tmp_path, answers(tmp_path, *rows), per_task=1)
    assert summary.kept == 1
    (kept,) = map(json.loads, (tmp_path / "select" / "rows.jsonl").read_text(encoding="utf-8").splitlines())
    assert kept["verified"]["speedup"] == 2.0


def test_answers_to_one_prompt_are_answers_to_one_task(tmp_path):
    rows = [row(f"r{i}", bundled(i)[1], verified=measured(10.0 - i)) for i in range(3)]
    for each, prompt in zip(rows, ("Sort it.", "Sort it.", "Scan it."), strict=True):
        each["prompt"], each["task"]["prompt"] = prompt, f"{prompt}\n\nFiles of {each['id']}"
    summary = select(tmp_path, write_rows(tmp_path / "rows.jsonl", rows), per_task=1)
    assert summary.kept == 2 and reasons(tmp_path) == {"r0": "not_among_best"}


def test_concurs_rule_keeps_short_and_fast_very_fast_and_single_operators():
    def of(group, reasoning, speedup, single=False):
        return {"group": group, "reasoning": reasoning, "speedup": speedup, "single": single}

    answers = table(
        short_and_fast=of(1, 100, 2.0),
        long=of(1, 300, 1.5),
        short=of(2, 100, 1.0),
        fast=of(2, 200, 1.2),
        very_fast=of(2, 900, 6.0),
        single=of(3, 100, 0.5, single=True),
        single_fast=of(3, 200, 0.9, single=True),
        plain={"group": 2},
    )
    assert set(concur(answers)) == {"long", "short", "fast", "single_fast"}


def test_the_best_answers_to_a_task_are_kept_by_reward():
    answers = table(slow={"speedup": 0.5}, fast={"speedup": 2.0}, other={"group": 1})
    assert set(worse_answers(answers, 1, "kevin")) == set(worse_answers(answers, 1, "grpo")) == {"slow"}


def test_a_full_family_is_thinned_over_all_lengths():
    many = {f"{i:03d}": {"tokens": i} for i in range(100)}
    few = {f"few{i}": {"tokens": i, "family": 1} for i in range(3)}
    why = beyond_balance(table(**many, **few), 8, ["big", "small"])
    lengths = [line["tokens"] for name, line in many.items() if name not in why]
    assert len(lengths) == 8 and not set(few) & set(why) and "family big has 100 rows" in why["099"]
    assert [sum(start <= length < start + 25 for length in lengths) for start in (0, 25, 50, 75)] == [2, 2, 2, 2]


def test_names_that_are_no_unicode_are_selected_among(tmp_path):
    rows = [row("a\udc80", ORIGINAL, family="\ud800"), row("b\udc80", ORIGINAL, family="\ud800")]
    summary = select(tmp_path, write_rows(tmp_path / "rows.jsonl", rows), per_task=1, per_family=1)
    assert summary.kept == 1 and list(reasons(tmp_path).values()) == ["family_full"]


def test_options_out_of_range_name_their_range():
    for options, word in (
        (["near=0"], "near='0': expected greater than 0"),
        (["per_task=0"], "per_task='0': expected greater than 0"),
        (["reward=x"], "reward='x': expected 'kevin' or 'grpo'"),
    ):
        with pytest.raises(SettingsError, match=word):
            SelectSettings.read(["work", *options])


def test_a_row_given_twice_stays(tmp_path):
    given = [row("one", ORIGINAL), row("other", bundled(1)[1])]
    whole, part = write_rows(tmp_path / "rows.jsonl", given), write_rows(tmp_path / "part.jsonl", given[:1])
    summary = select(tmp_path, whole, part)
    assert (summary.kept, summary.repeated, summary.dropped) == (2, 1, 0)


def test_a_row_that_comes_between_the_passes_is_left_for_the_next_run(tmp_path, monkeypatch):
    from cuset_stage.curate import select as module

    path = write_rows(tmp_path / "rows.jsonl", [row("one", ORIGINAL)])
    decide = module._decide

    def then_appended(*arguments):
        decided = decide(*arguments)
        with path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"key": "f" * 32, **row("late", ORIGINAL)}) + "\n")
        return decided

    monkeypatch.setattr(module, "_decide", then_appended)
    summary = select(tmp_path, path)
    assert (summary.read, summary.kept) == (1, 1)
    monkeypatch.undo()
    assert select(tmp_path, path).kept == 2


def test_reasoning_counts_in_a_rows_length_when_it_will_be_written(tmp_path):
    path = write_rows(tmp_path / "rows.jsonl", [row("long", "int main() {}", reasoning="because " * 2000)])
    assert select(tmp_path, path, drop_long=True).kept == 1
    assert select(tmp_path, path, drop_long=True, reasoning=True).reasons == {"too_long": 1}
    select(tmp_path, path, reasoning=True)
    assert json.loads((tmp_path / "select" / "selection.json").read_text())["over_cutoff"] == ["long"]


@pytest.mark.slow
@pytest.mark.parametrize("stage", [deduplicate, select, export])
def test_memory_grows_by_numbers_and_not_by_rows(tmp_path, stage):
    """Counted, not measured: what Python and NumPy allocate. The rows have 4 kB each."""

    def peak(count: int) -> int:
        chance = random.Random(count)
        given = (
            row(
                f"src:folder/{i}.cu",
                f"int f[] = {{{str(chance.choices(range(10**9), k=12))[1:-1]}}};{' ' * 4000}",
                family=f"{i % 9}",
            )
            for i in range(count)
        )
        path = write_rows(tmp_path / f"{count}.jsonl", given)
        tracemalloc.start()
        assert stage(tmp_path / f"work{count}", path).kept == count
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(2)  # what is imported
    assert (peak(600) - peak(100)) / 500 < 1000
