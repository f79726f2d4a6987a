"""Pair files: what is read, what is refused, and the bundled one: verified, of held-out tasks, and even over tasks and lengths."""

import gzip
import hashlib
import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from task_factory import write_lines

from cuset_stage.cuda_source import tokens
from cuset_stage.mutants import OPERATORS
from cuset_stage.pairs.rows import ALTERNATIVE, PairsError, evenly, read_pairs
from cuset_stage.text import InputError


ROOT = Path(__file__).parents[2]
WRONG = {"mismatch", "missing_output", "runtime_error", "timeout", "race", "memory_error", "undefined"}
MINI = ROOT / "data" / "cuset_mini.jsonl"


@pytest.fixture(scope="module")
def bundled():
    return read_pairs("cuset_mini")


@pytest.mark.parametrize("name", ["data/cuset_pairs.jsonl", str(ROOT / "data/cuset_pairs.jsonl"), "copy.jsonl"])
def test_a_path_works_as_the_name_does(bundled, name, tmp_path, monkeypatch):
    """From an empty folder: the path in the package, the whole path, and a copy of the file; also with the path of the tasks."""
    monkeypatch.chdir(tmp_path)
    if name == "copy.jsonl":
        shutil.copy(ROOT / "data/cuset_pairs.jsonl", name)
    assert read_pairs(name) == read_pairs(name, Path("data/cuset_mini.jsonl")) == bundled


def code(response):
    return response.removeprefix("```cpp\n").removesuffix("\n```")


def test_the_bundled_pairs_are_verified_and_of_held_out_tasks(bundled):
    rows = {row["id"]: row for row in map(json.loads, MINI.read_text().splitlines())}
    record = map(json.loads, gzip.decompress((ROOT / "benchmarks" / "pairs_h200.jsonl.gz").read_bytes()).splitlines())
    recorded = {(row["task"], row["sha256"]): row["verdict"] for row in record}
    wrong = [pair for pair in bundled if not pair.is_floor]
    assert len(wrong) == 600 and len({(pair.task, pair.wrong) for pair in bundled}) == len(bundled)
    assert Counter(pair.task for pair in wrong) == dict.fromkeys(rows, 6)
    assert {pair.kind for pair in wrong} <= set(OPERATORS)
    for pair in bundled:
        own = [(rows[pair.task][key] or "").rstrip() for key in ("solution", "alternative")]
        assert code(pair.right) == own[0] or {code(pair.right), code(pair.wrong)} == set(own)
        assert (code(pair.wrong) in own) is (pair.kind == ALTERNATIVE)
        assert (pair.verdict == "passed") if pair.is_floor else (pair.verdict in WRONG)
        sha256 = hashlib.sha256((code(pair.wrong) + "\n").encode()).hexdigest()
        assert recorded[pair.task, sha256] == pair.verdict


def test_the_bundled_pairs_are_even_over_tasks_and_lengths(bundled):
    wrong = [pair for pair in bundled if not pair.is_floor]
    longer = [len(tokens(code(pair.wrong))) - len(tokens(code(pair.right))) for pair in wrong]
    signs = Counter((one > 0) - (one < 0) for one in longer)
    assert abs(signs[1] - signs[-1]) <= 2 and signs[1] > 20
    assert abs(sum(longer)) < len(longer)  # below one token in the mean


# ---- other files


ROW = {"task": "row_argmax", "right": "a", "wrong": "b", "kind": "wrong_index"}


def test_a_pair_s_prompt_is_the_row_s_own_or_the_task_s(tmp_path):
    asked = {**ROW, "prompt": "Write it.", "system": "Be brief."}
    first, second = read_pairs(write_lines(tmp_path / "pairs.jsonl", asked, ROW), MINI)
    assert first.messages == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Write it."}]
    prompts = {row["id"]: row["prompt"] for row in map(json.loads, MINI.read_text().splitlines())}
    assert [message["content"] for message in second.messages] == [prompts["row_argmax"]]


@pytest.mark.parametrize(
    ("line", "tasks", "message"),
    [
        ({**ROW, "wrong": None}, MINI, "pairs.jsonl:2: wrong is None; expected text"),
        ({**ROW, "right": " \n"}, MINI, "pairs.jsonl:2: right is empty"),
        ({**ROW, "right": "b"}, MINI, "pairs.jsonl:2: right and wrong are the same text"),
        ({**ROW, "task": "row_argmin"}, MINI, "no task 'row_argmin'; did you mean row_argmax"),
        (ROW, None, "pairs.jsonl:2: prompt is missing"),
        ('{"task": "ro', MINI, "pairs.jsonl:2: not JSON"),
    ],
)
def test_a_row_that_is_no_pair_is_named(tmp_path, line, tasks, message):
    path = tmp_path / "pairs.jsonl"
    last = line if isinstance(line, str) else json.dumps(line)
    path.write_text(json.dumps({**ROW, "prompt": "Write it."}) + "\n" + last)
    with pytest.raises(InputError, match=re.escape(message)):
        read_pairs(str(path), tasks)


def test_files_that_cannot_be_used(tmp_path):
    with pytest.raises(PairsError, match=r"no such file.*cuset_mini"):
        read_pairs("nowhere.jsonl")
    with pytest.raises(PairsError, match="no pairs in this file"):
        read_pairs(write_lines(tmp_path / "empty.jsonl"))


def test_evenly_takes_as_many_of_each_task(tmp_path):
    rows = [{**ROW, "task": task, "wrong": f"b{n}", "prompt": "p"} for task in "ab" for n in range(10)]
    rows += [{**ROW, "task": "c", "prompt": "p"}]
    pairs = read_pairs(write_lines(tmp_path / "pairs.jsonl", *rows))
    chosen = evenly(pairs, 9)
    assert Counter(pair.task for pair in chosen) == {"a": 4, "b": 4, "c": 1}
    assert chosen == evenly(pairs, 9) and [pairs.index(one) for one in chosen] == sorted(map(pairs.index, chosen))
    assert evenly(pairs, None) == evenly(pairs, 100) == pairs
