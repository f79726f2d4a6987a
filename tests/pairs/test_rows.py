"""Pair files: what is read, what is refused, and the bundled one."""

import json
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
    (message,) = second.messages
    assert message["content"] == next(
        row["prompt"] for row in map(json.loads, MINI.read_text().splitlines()) if row["id"] == "row_argmax"
    )


@pytest.mark.parametrize(
    "change, message",
    [
        ({"wrong": None}, "wrong is None; expected text"),
        ({"kind": 3}, "kind is 3; expected text"),
        ({"right": " \n"}, "right is empty"),
        ({"right": "b"}, "right and wrong are the same text"),
        ({"task": "row_argmin"}, "no task 'row_argmin'; did you mean row_argmax"),
    ],
)
def test_a_row_that_is_no_pair_is_named(tmp_path, change, message):
    path = written(tmp_path / "pairs.jsonl", ROW, {**ROW, **change})
    with pytest.raises(PairsError, match=r"pairs\.jsonl:2: ") as caught:
        read_pairs(path, MINI)
    assert message in str(caught.value)


def test_files_that_cannot_be_used(tmp_path):
    with pytest.raises(PairsError, match=r"no such file.*cuset_mini"):
        read_pairs("nowhere.jsonl")
    with pytest.raises(PairsError, match="no pairs in this file"):
        read_pairs(written(tmp_path / "empty.jsonl"))
    with pytest.raises(PairsError, match=r"pairs\.jsonl:1: prompt is missing; .* tasks=FILE"):
        read_pairs(written(tmp_path / "pairs.jsonl", ROW))
    (tmp_path / "torn.jsonl").write_text(json.dumps(ROW) + '\n{"task": "ro')
    with pytest.raises(PairsError, match=r"torn\.jsonl:2: not JSON"):
        read_pairs(str(tmp_path / "torn.jsonl"), MINI)


def test_evenly_takes_as_many_of_each_task(tmp_path):
    rows = [{**ROW, "task": task, "wrong": f"b{n}", "prompt": "p"} for task in "ab" for n in range(10)]
    rows += [{**ROW, "task": "c", "prompt": "p"}]
    pairs = read_pairs(written(tmp_path / "pairs.jsonl", *rows))
    chosen = evenly(pairs, 9)
    assert Counter(pair.task for pair in chosen) == {"a": 4, "b": 4, "c": 1}
    assert chosen == evenly(pairs, 9) and [pairs.index(one) for one in chosen] == sorted(map(pairs.index, chosen))
    assert evenly(pairs, None) == evenly(pairs, 100) == pairs
