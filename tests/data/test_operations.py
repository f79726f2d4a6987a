"""The operations of data/operations: their format at all sizes, and none that a benchmark has."""

import json
import re
import subprocess
import sys
from collections import Counter

import build_data
import numpy as np
import operations
import pytest
from task_factory import load_row

from cuset_stage import bundled
from cuset_stage.tasks import load_tasks
from cuset_stage.tasks.answers_file import read_answers


FOLDERS = [path.parent for path in sorted(operations.FOLDER.glob("*/task.json"))]


def test_every_operation_has_its_sizes_and_its_reference():
    assert len(FOLDERS) >= 600
    for folder in FOLDERS:
        operations.check(operations.Operation(folder))


def test_none_is_an_operation_of_a_benchmark():
    lines = (operations.FOLDER / "avoided.txt").read_text().splitlines()
    avoided = {re.sub(r"[^a-z0-9]", "", line.lower()) for line in lines if line and not line.startswith("#")}
    assert len(avoided) > 300
    names = {re.sub(r"[^a-z0-9]", "", folder.name) for folder in FOLDERS}
    titles = {re.sub(r"[^a-z0-9]", "", operations.Operation(folder).title.lower()) for folder in FOLDERS}
    assert not avoided & (names | titles)


def test_the_split_is_by_name_and_no_prompt_of_a_held_out_operation_is_trained_on():
    split = build_data.splits([folder.name for folder in FOLDERS])
    assert Counter(split.values())["develop"] == Counter(split.values())["mini"] == 100
    more = build_data.splits([*split, *(f"operation_{number}" for number in range(6))])
    assert sum(more[name] != split[name] for name in split) < 12
    rows = json.loads((bundled.data() / "cuset_kernels.json").read_text(encoding="utf-8"))
    assert {split[row["name"][:-2]] for row in rows} == {"train"} and len(rows) == 4020
    mini = [json.loads(line) for line in (bundled.data() / "cuset_mini_2.jsonl").open(encoding="utf-8")]
    assert [Counter(task["split"] for task in mini)[level] for level in ("level1", "level2")] == [100, 100]
    assert {split[task["name"]] for task in mini if task["split"] == "level1"} == {"mini"}
    assert not {row["instruction"] for row in rows} & {task["prompt"] for task in mini}


def test_a_develop_task_is_one_that_cudabench_s_reader_takes_and_tells_right_from_wrong(tmp_path):
    operation = operations.Operation(operations.FOLDER / "square_nonlinearity")
    row = operations.task_of(operation, 0)
    task = load_row(tmp_path, row)
    assert (task.id, task.solution) == ("square_nonlinearity_a", operation.program("simple.cu", 0))

    def run(script):
        command = [sys.executable, "-c", row[script]]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    run("gen.py")
    for name, right in operation.data(0)[1].items():
        right.tofile(tmp_path / "data" / f"{name}.bin")
    assert run("compare.py") == "T\n"
    (right + 1).tofile(tmp_path / "data" / f"{name}.bin")
    assert run("compare.py") == "F\n"


def test_all_programs_are_answers_to_tasks_of_the_judge(tmp_path):
    operation = operations.Operation(operations.FOLDER / "squareplus_activation")
    operations.write_programs([operation], tmp_path)
    tasks, answers = load_tasks(tmp_path / "tasks.jsonl").tasks, read_answers(tmp_path / "answers.jsonl")
    assert [answer.task for answer in answers] == [task.id for task in tasks for _ in operation.programs]
    assert answers[-1].code == operation.answer("given.cu", 4)[0] and len(tasks) == 5


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("int rows = 32;", "rows: expected one definition of each"),
        ("const int rows = 32;\n#define ROWS 32", "rows: expected one definition of each"),
        ("const int kRows = 31;", "expected 32, as in the first case"),
    ],
)
def test_a_program_defines_each_size_once(program, said):
    operation = operations.Operation(operations.FOLDER / "squareplus_activation")
    assert "#define ROWS 2048" in operation.program("simple.cu", 4)
    assert "//@given" not in (kernel := operation.program("kernel.cu", 4)) and "kCols = 1536;" in kernel
    assert "//@given" in operation.program("kernel.cu", 4, given=True)
    operation.programs["simple.cu"] = f"const int COLS = 1000;\n{program}\n"
    with pytest.raises(ValueError, match=re.escape(said)):
        operation.program("simple.cu", 1)


def test_closeness_follows_the_contract():
    expected = np.array([0.0, 10.0], dtype=np.float32)
    assert operations.is_close(np.array([0.5, 11.0], dtype=np.float32), expected, 0.1, 0.5)
    assert not operations.is_close(np.array([0.5, 11.6], dtype=np.float32), expected, 0.1, 0.5)
    assert not operations.is_close(np.array([np.nan, 10.0], dtype=np.float32), expected, 0.1, 0.5)
    big = np.array([2**62], dtype=np.int64)
    assert not operations.is_close(big + 1, big, 0, 0)  # the same number in float64
