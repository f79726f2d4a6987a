"""The operations of data/operations: their format at all sizes, and none that a benchmark has."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from cuset_stage.text import InputError


ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import operations  # noqa: E402 - scripts are no package


FOLDERS = [path.parent for path in sorted(operations.FOLDER.glob("*/task.json"))]


def test_every_operation_has_its_sizes_and_its_reference():
    assert len(FOLDERS) > 300
    for folder in FOLDERS:
        operations.check(operations.Operation(folder))


def test_none_is_an_operation_of_a_benchmark():
    lines = (operations.FOLDER / "avoided.txt").read_text().splitlines()
    avoided = {re.sub(r"[^a-z0-9]", "", line.lower()) for line in lines if line and not line.startswith("#")}
    assert len(avoided) > 300
    names = {re.sub(r"[^a-z0-9]", "", folder.name) for folder in FOLDERS}
    titles = {re.sub(r"[^a-z0-9]", "", operations.Operation(folder).title.lower()) for folder in FOLDERS}
    assert not avoided & (names | titles)


def test_another_seed_has_other_inputs_and_the_same_one_has_the_same():
    for folder in FOLDERS[::20]:
        operation = operations.Operation(folder)
        (first, _), (again, right), (other, _) = (operation.data(0, seed) for seed in (0, 0, 1))
        assert all(np.array_equal(first[name], again[name]) for name in first)
        assert not all(np.array_equal(first[name], other[name]) for name in first)
        for name, values in right.items():
            assert not list(operation.wrong_outputs(write(folder.name, right), {name: values}))
            assert list(operation.wrong_outputs(write(folder.name, {name: np.zeros_like(values)}), {name: values}))


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
    with pytest.raises(InputError, match=re.escape(said)):
        operation.program("simple.cu", 1)


def test_training_rows_name_every_file_and_begin_with_the_code_that_is_given(tmp_path):
    every = [operations.Operation(folder) for folder in FOLDERS]
    operations.write_rows(every, tmp_path)
    rows = json.loads((tmp_path / "operations.json").read_text())
    trained = {one.name: one for one in every if operations.split_of(one.name) == "train"}
    assert len(rows) == 10 * len(trained) and {row["operation"] for row in rows} == trained.keys()
    assert 0.6 < len(trained) / len(every) < 0.73
    given = 0
    for row in rows:
        asked = row["system"] + row["instruction"]
        assert all(one["name"] in row["instruction"] for one in trained[row["operation"]].inputs)
        assert operations.GIVEN.strip() not in asked + row["output"]
        helpers = trained[row["operation"]].programs[row["program"]].partition(operations.GIVEN)
        if helpers[1] and helpers[0].strip() in row["system"]:
            given += 1
            assert row["output"].startswith("```cpp\n" + helpers[0].strip())
        else:
            assert "#include" not in row["system"]
    assert 0.1 < given / len(rows) < 0.5
    assert len({row["system"] for row in rows}) > 5
