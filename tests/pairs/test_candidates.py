"""The choice among candidates: even over tasks, lengths and kinds."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from cuset_stage.cuda_source import tokens
from cuset_stage.pairs.make import MOST_LONGER, Candidate, choose, find_candidates, pair_row, sign
from cuset_stage.pairs.rows import ALTERNATIVE
from cuset_stage.sandbox import Verdict
from cuset_stage.tasks import ProgramTask, load_tasks


ROOT = Path(__file__).parents[2]


def task(name):
    return ProgramTask(name, name, "f", {1: "p"}, None, (), None, "code", "tests")


TASKS = {name: task(name) for name in "abc"}
candidates = st.builds(
    lambda name, kind, longer, code: Candidate(TASKS[name], kind, "", code, longer),
    st.sampled_from("abc"), st.sampled_from(["x", "y", "z"]), st.integers(-3, 3), st.text("01", min_size=8, max_size=8),
)  # fmt: skip
several = st.lists(candidates, max_size=40, unique_by=lambda one: (one.task.id, one.code))


@settings(max_examples=60, deadline=None)
@given(several, st.integers(1, 50))
def test_tasks_come_before_everything(found, count):
    chosen = choose(found, count, seed=0)
    assert len(chosen) == min(count, len(found)) == len({(one.task.id, one.code) for one in chosen})
    there, taken = (Counter(one.task.id for one in group) for group in (found, chosen))
    most = max(taken.values(), default=0)
    assert all(taken[name] >= min(there[name], most - 1) for name in there)


@settings(max_examples=60, deadline=None)
@given(several)
def test_the_order_of_candidates_does_not_matter(found):
    assert choose(found, 10, seed=3) == choose(list(reversed(found)), 10, seed=3)


def test_as_many_are_longer_as_shorter_where_there_are_both():
    found = [Candidate(TASKS["a"], "x", "", f"{n}", longer) for n, longer in enumerate([1] * 20 + [-1] * 6 + [0] * 4)]
    lengths = Counter(sign(one.longer) for one in choose(found, 16, seed=0))
    assert lengths == {1: 6, -1: 6, 0: 4}
    assert Counter(sign(one.longer) for one in choose(found, 30, seed=0)) == {1: 20, -1: 6, 0: 4}


def test_exchanges_go_both_ways_where_they_can():
    found = [
        Candidate(TASKS["a"], "x", "", f"{exchange}{n}", 0, exchange)
        for exchange, many in ((("0", "1"), 20), (("1", "0"), 4), (("<", "<="), 9))
        for n in range(many)
    ]
    assert Counter(one.exchange for one in choose(found, 12, seed=0))[("1", "0")] == 4
    chosen = Counter(one.exchange for one in choose(found, 16, seed=0))
    assert abs(chosen["0", "1"] - chosen["1", "0"] - chosen["<", "<="]) <= 1


def test_what_is_judged_comes_first():
    found = [Candidate(TASKS["a"], kind, "", f"{kind}{n}", 0) for kind in "xy" for n in range(5)]
    judged = {one.sha256: one.code for one in found if one.kind == "x"}
    assert {one.code for one in choose(found, 5, 0, judged)} == set(judged.values())


def test_kinds_are_even_where_tasks_and_lengths_allow():
    found = [
        Candidate(TASKS["a"], kind, "", f"{kind}{n}", 0)
        for kind, many in (("x", 20), ("y", 20), ("z", 2))
        for n in range(many)
    ]
    assert Counter(one.kind for one in choose(found, 12, seed=0)) == {"x": 5, "y": 5, "z": 2}


def test_what_a_candidate_exchanges_is_read_from_the_programs():
    (one,) = load_tasks(ROOT / "data" / "cuset_mini.jsonl", only=("row_argmax",))

    def texts(code):
        return f" {' '.join(token.text for token in tokens(code))} "

    right = texts(one.solution)
    found = [candidate for candidate in find_candidates([one], seed=0) if candidate.kind != ALTERNATIVE]
    assert ("0", "1") in {candidate.exchange for candidate in found}
    for candidate in found:
        before, after = (f" {part} " if part else " " for part in candidate.exchange)
        places = [at for at in range(len(right)) if right.startswith(before, at)]
        assert texts(candidate.code) in {right[:at] + after + right[at + len(before) :] for at in places}


def test_candidates_are_about_as_long_as_the_program_and_alike_each_time():
    tasks = list(load_tasks(ROOT / "data" / "cuset_mini.jsonl", only=("row_argmax", "lcg_skip_ahead")))
    found = find_candidates(tasks, seed=0)
    assert found == find_candidates(tasks, seed=0)
    assert all(abs(one.longer) <= MOST_LONGER for one in found)
    assert {one.task.id for one in found if not one.is_floor} == {"row_argmax", "lcg_skip_ahead"}
    assert len({one.key for one in found}) == len(found)


def test_two_programs_of_a_task_are_a_floor_pair_in_either_order():
    tasks = [replace(task(f"{n}"), solution="long program", alternative=f"other {n}") for n in range(200)]
    found = find_candidates(tasks, seed=0)
    assert {(one.kind, one.is_floor) for one in found} == {(ALTERNATIVE, True)} and len(found) == 200
    rows = [pair_row(one, Verdict.PASSED) for one in found]
    assert all({"long program" in row["right"], "long program" in row["wrong"]} == {True, False} for row in rows)
    assert 70 < sum("long program" in row["right"] for row in rows) < 130
