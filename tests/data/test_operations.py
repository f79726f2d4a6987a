"""The operations of data/operations: their format at all sizes, and none that a benchmark has."""

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import build_data
import numpy as np
import operations
import pytest

from cuset_stage import bundled
from cuset_stage.tasks import load_tasks


ROOT = Path(__file__).parents[2]


ROWS = json.loads((bundled.data() / "cuset_kernels.json").read_text(encoding="utf-8"))
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
    rows = ROWS
    assert {split[row["name"][:-2]] for row in rows} == {"train"} and len(rows) == 10 * Counter(split.values())[
        "train"
    ]
    mini = [
        json.loads(line) for line in (bundled.data() / "cuset_mini_2.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert [Counter(task["split"] for task in mini)[level] for level in ("level1", "level2")] == [100, 100]
    assert {split[task["name"]] for task in mini if task["split"] == "level1"} == {"mini"}
    assert not {row["instruction"] for row in rows} & {task["prompt"] for task in mini}


def test_rows_name_every_tensor_and_begin_with_the_code_that_is_given():
    every = {folder.name: build_data.Operation(folder) for folder in FOLDERS}
    begins = Counter()
    for row in ROWS:
        asked, operation = row["system"] + row["instruction"], every[row["name"][:-2]]
        assert not re.search(r"\{(title|description|inputs|outputs|given|example|read|write)\}", asked), row["name"]
        assert all(tensor["name"] in row["instruction"] for tensor in operation.inputs + operation.outputs)
        assert row["output"].startswith("```cpp\n") and row["output"].endswith("\n```")
        assert "//@given" not in asked + row["output"]
        if "#include" in asked:
            given, program = (text[text.index("#include") :] for text in (asked, row["output"]))
            assert given[:300] == program[:300], row["name"]
        assert (row["wording"] == "given") <= ("#include" in asked)
        begins[row["wording"], "#include" in asked] += 1
    assert begins["given", True] > len(ROWS) / 3 and min(begins["simple", True], begins["kernel", True]) > 0
    assert len({row["system"] for row in ROWS}) > 100


def test_another_seed_has_other_inputs_and_the_same_one_has_the_same():
    for folder in FOLDERS[::20]:
        operation = operations.Operation(folder)
        (first, _), (again, right), (other, _) = (operation.data(0, seed) for seed in (0, 0, 1))
        assert all(np.array_equal(first[name], again[name]) for name in first)
        assert not all(np.array_equal(first[name], other[name]) for name in first)
        for name, values in right.items():
            assert not list(operation.wrong_outputs(write(folder.name, right), {name: values}))
            assert list(operation.wrong_outputs(write(folder.name, {name: np.zeros_like(values)}), {name: values}))


def test_a_develop_task_is_one_that_cudabench_s_reader_takes_and_tells_right_from_wrong(tmp_path):
    operation = operations.Operation(operations.FOLDER / "square_nonlinearity")
    row = operations.task_of(operation, 0)
    (tmp_path / "tasks.jsonl").write_text(json.dumps(row) + "\n")
    (task,) = load_tasks(tmp_path / "tasks.jsonl")
    assert (task.id, task.solution) == ("square_nonlinearity_a", operation.program("simple.cu", 0))

    def run(script):
        return subprocess.run(
            [sys.executable, "-c", row[script]], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout

    run("gen.py")
    for name, right in operation.data(0)[1].items():
        right.tofile(tmp_path / "data" / f"{name}.bin")
    assert run("compare.py") == "T\n"
    (right + 1).tofile(tmp_path / "data" / f"{name}.bin")
    assert run("compare.py") == "F\n"


@pytest.fixture(autouse=True)
def _written(tmp_path):
    write.folder = tmp_path


def write(name, outputs):
    """A folder with these output files, as a program leaves them."""
    data = write.folder / name / "data"
    data.mkdir(parents=True, exist_ok=True)
    for output, values in outputs.items():
        values.tofile(data / f"{output}.bin")
    return data.parent


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
    assert "#define ROWS 2048" in operation.program("simple.cu", 4) and "kCols = 1536;" in operation.program(
        "kernel.cu", 4
    )
    assert "//@given" not in operation.program("kernel.cu", 4) and "//@given" in operation.program(
        "kernel.cu", 4, given=True
    )
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
