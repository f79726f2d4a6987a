"""Pair files: what is read, what is refused, and the bundled one."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from cuset_stage.pairs.rows import PairsError, evenly, read_pairs


ROOT = Path(__file__).parents[2]
MINI = ROOT / "data" / "cuset_mini.jsonl"
ROW = {"task": "row_argmax", "right": "a", "wrong": "b", "kind": "wrong_index"}


def written(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_a_pair_s_prompt_is_the_row_s_own_or_the_task_s(tmp_path):
    asked = {**ROW, "prompt": "Write it.", "system": "Be brief."}
    first, second = read_pairs(written(tmp_path / "pairs.jsonl", asked, ROW), MINI)
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
    with pytest.raises(PairsError, match=re.escape(message)):
        read_pairs(str(path), tasks)


def test_files_that_cannot_be_used(tmp_path):
    with pytest.raises(PairsError, match=r"no such file.*cuset_mini"):
        read_pairs("nowhere.jsonl")
    with pytest.raises(PairsError, match="no pairs in this file"):
        read_pairs(written(tmp_path / "empty.jsonl"))


def test_evenly_takes_as_many_of_each_task(tmp_path):
    rows = [{**ROW, "task": task, "wrong": f"b{n}", "prompt": "p"} for task in "ab" for n in range(10)]
    rows += [{**ROW, "task": "c", "prompt": "p"}]
    pairs = read_pairs(written(tmp_path / "pairs.jsonl", *rows))
    chosen = evenly(pairs, 9)
    assert Counter(pair.task for pair in chosen) == {"a": 4, "b": 4, "c": 1}
    assert chosen == evenly(pairs, 9) and [pairs.index(one) for one in chosen] == sorted(map(pairs.index, chosen))
    assert evenly(pairs, None) == evenly(pairs, 100) == pairs
