"""Check the operations in data/operations, or write the develop split or all programs for the judge.

    python scripts/operations.py [NAME ...]    # check each format, and the reference on the smallest case
    python scripts/operations.py --tasks outputs/develop.jsonl    # the develop split in CUDABench's format
    python scripts/operations.py --programs outputs/programs [NAME ...]    # all programs at all five sizes
    cuset evaluate outputs/programs/answers.jsonl tasks=outputs/programs/tasks.jsonl output=outputs/programs/results.jsonl

`cuset generate` and `cuset evaluate` take the file of --tasks. --programs writes answers.jsonl and tasks.jsonl.
scripts/build_data.py describes what an operation is, and makes the training rows.
"""

import argparse
import inspect
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import build_data
import numpy as np
from tqdm import tqdm

from cuset_stage.tasks.answers_file import Answer


FOLDER = build_data.DATA / "operations"


def is_close(actual: np.ndarray, expected: np.ndarray, rtol: float, atol: float) -> bool:
    """The contract of data/README.md on arrays; cuset_stage.judge.comparison is the judge's, on files."""
    if rtol == 0 and atol == 0:  # float64 does not hold every int64
        return np.array_equal(actual, expected)
    want = expected.astype(np.float64)
    return bool((np.abs(actual.astype(np.float64) - want) <= atol + rtol * np.abs(want)).all())


class Operation(build_data.Operation):
    """An operation whose reference can run.

    Attributes:
        names: the global names of reference.py, such as `make_inputs` and `reference`.

    Raises:
        ValueError: the folder breaks the format. The message names the file and what was expected.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.names: dict[str, Any] = {}
        exec(compile(self.reference, f"{self.name}/reference.py", "exec"), self.names)

    def data(self, case: int, seed: int = 0) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Return inputs and right outputs of a case.

        Raises:
            ValueError: dtypes or shapes differ from task.json.
        """
        inputs = self.names["make_inputs"](np.random.default_rng([seed, case]), **self.cases[case])
        outputs = self.names["reference"]({name: value.copy() for name, value in inputs.items()})
        for declared, made in zip(self.tensors(case).values(), (inputs, outputs), strict=True):
            expected = {tensor["name"]: (tensor["dtype"], tensor["shape"]) for tensor in declared}
            actual = {name: (str(value.dtype), value.shape) for name, value in made.items()}
            if actual != expected:
                raise ValueError(f"{self.name}/reference.py: case {case} gives {actual}, task.json says {expected}.")
        return inputs, outputs


GENERATE = """
import pathlib
pathlib.Path("data").mkdir(exist_ok=True)
inputs = make_inputs(np.random.default_rng([0, {case}]), **{parameters})
for name, values in inputs.items():
    values.tofile(f"data/{{name}}.bin")
for name, values in reference(inputs).items():
    np.save(f"data/{{name}}_ref.npy", values)
"""
COMPARE = f"""

{inspect.getsource(is_close)}

def is_right(name, rtol, atol):
    right = np.load(f"data/{{name}}_ref.npy")
    values = np.fromfile(f"data/{{name}}.bin", dtype=right.dtype)
    return values.size == right.size and is_close(values.reshape(right.shape), right, rtol, atol)


print("T" if all(is_right(name, *bounds) for name, bounds in TOLERANCE.items()) else "F")
"""


def task_of(operation: Operation, case: int) -> dict[str, Any]:
    """Return a task at one size in the format of CUDABench's rows, so that CUDABench's own prompts fit."""
    reference, parameters, description = operation.reference, operation.cases[case], operation.description(case)
    tensors = operation.tensors(case)
    for tensor in (*tensors["inputs"], *tensors["outputs"]):
        tensor["shape"] = str(tensor["shape"])
    return {
        "id": f"{operation.name}_{build_data.CASES[case]}",
        "task_name": operation.name,
        **tensors,
        **dict.fromkeys(("level1_prompt", "level2_prompt", "level3_prompt"), description),
        "gen.py": reference + GENERATE.format(case=case, parameters=parameters),
        "compare.py": reference + COMPARE,
        "bench.cu": operation.program("simple.cu", case),
    }


def check(operation: Operation) -> None:
    """Check the format of an operation at all sizes, and its reference on the first and smallest case.

    Raises:
        ValueError: the operation breaks the format.
    """
    if len({operation.description(case) for case in range(5)}) != 5:
        raise ValueError(f"{operation.name}/prompt.md: expected the sizes as placeholders.")
    for file in operation.programs:
        for case in range(5):
            operation.answer(file, case)
        for tensor in (*operation.inputs, *operation.outputs):
            if f"data/{tensor['name']}.bin" not in operation.programs[file]:
                raise ValueError(f"{operation.name}/{file}: expected data/{tensor['name']}.bin in it.")
    operation.data(0)


def write_programs(operations: Sequence[Operation], folder: Path) -> None:
    """Write every program at all five sizes as an answer, and the tasks. The programs of a task are its samples."""
    folder.mkdir(parents=True, exist_ok=True)
    tasks, answers = [], []
    for operation in operations:
        for case in range(5):
            tasks.append(task := build_data.operation_task(operation, case, "train"))
            for sample, file in enumerate(operation.programs):
                code = operation.answer(file, case)[0]
                answers.append(Answer(task["id"], sample, code, code=code).to_record())
    write_lines(folder / "tasks.jsonl", tasks)
    write_lines(folder / "answers.jsonl", answers)


def write_lines(file: Path, rows: Sequence[dict[str, Any]]) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    print(f"{file}: {len(rows)} lines")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="operations; without names all")
    parser.add_argument("--tasks", type=Path, metavar="FILE", help="write the tasks of the develop split here")
    parser.add_argument("--programs", type=Path, metavar="FOLDER", help="write all programs as answers, with tasks")
    options = parser.parse_args()
    names = [path.parent.name for path in sorted(FOLDER.glob("*/task.json"))]
    operations = [Operation(FOLDER / name) for name in names if not options.names or name in options.names]
    if options.tasks:
        split = build_data.splits(names)
        develop = [operation for operation in operations if split[operation.name] == "develop"]
        write_lines(options.tasks, [task_of(operation, case) for operation in develop for case in range(5)])
    elif options.programs:
        write_programs(operations, options.programs)
    else:
        for operation in tqdm(operations):
            check(operation)
        print(f"{len(operations)} operations, {dict(Counter(item.family for item in operations).most_common())}")


if __name__ == "__main__":
    main()
