"""The operations in data/operations: checking their programs, and the develop split as a benchmark's tasks.

    python scripts/operations.py                        # every folder's format, and its reference on the smallest case; no GPU
    python scripts/operations.py --tasks outputs/develop.jsonl    # the develop split in CUDABench's format, for cuset generate and evaluate
    python scripts/operations.py --gpu --output outputs/operations.jsonl [NAME ...]    # all programs at all five sizes; resumes in OUTPUT

scripts/build_data.py says what an operation is, and makes the training rows.
"""

import argparse
import hashlib
import inspect
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import build_data
import numpy as np
from tqdm import tqdm

from cuset_stage.jsonl import Appender, read_objects


FOLDER = build_data.DATA / "operations"


def is_close(actual: np.ndarray, expected: np.ndarray, rtol: float, atol: float) -> bool:
    """The contract of data/README.md on arrays; cuset_stage.judge.comparison is the judge's, on files."""
    if rtol == 0 and atol == 0:  # float64 does not hold every int64
        return np.array_equal(actual, expected)
    want = expected.astype(np.float64)
    return bool((np.abs(actual.astype(np.float64) - want) <= atol + rtol * np.abs(want)).all())


class Operation(build_data.Operation):
    """A folder of data/operations whose reference can run.

    Raises:
        ValueError: the folder breaks the format; the message names the file and what was expected.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.names: dict[str, Any] = {}
        exec(compile(self.reference, f"{self.name}/reference.py", "exec"), self.names)

    def sha256(self, file: str) -> str:
        """Twelve digits that change with the program or with what decides its verdict."""
        texts = [self.programs[file], self.reference, (self.folder / "task.json").read_text(encoding="utf-8")]
        if file == "given.cu":
            texts.append(json.dumps(build_data.FRAMES["helpers"]))
        return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]

    def data(self, case: int, seed: int = 0) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Inputs and right outputs of a case, with dtypes and shapes checked."""
        inputs = self.names["make_inputs"](np.random.default_rng([seed, case]), **self.cases[case])
        outputs = self.names["reference"]({name: value.copy() for name, value in inputs.items()})
        for declared, made in zip(self.tensors(case).values(), (inputs, outputs), strict=True):
            expected = {tensor["name"]: (tensor["dtype"], tensor["shape"]) for tensor in declared}
            found = {name: (str(value.dtype), value.shape) for name, value in made.items()}
            if found != expected:
                raise ValueError(f"{self.name}/reference.py: case {case} gives {found}, task.json says {expected}.")
        return inputs, outputs

    def wrong_outputs(self, folder: Path, outputs: Mapping[str, np.ndarray]) -> Iterator[str]:
        """What is wrong with the files that a program has written below `folder`."""
        for name, right in outputs.items():
            file = folder / "data" / f"{name}.bin"
            values = np.fromfile(file, dtype=right.dtype) if file.is_file() else np.empty(0)
            if values.size != right.size:
                yield f"{name}: {values.size} values, expected {right.size}"
                continue
            found = values.reshape(right.shape)
            if not is_close(found, right, *self.names["TOLERANCE"][name]):
                apart = np.abs(found.astype(np.float64) - right.astype(np.float64))
                yield f"{name}: outside of the tolerance, by {np.nanmax(apart):.3g} at most"


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
    """A task at one size as CUDABench writes its rows, so that its own prompts fit."""
    reference, parameters, description = operation.reference, operation.cases[case], operation.description(case)
    tensors = {
        key: [tensor | {"shape": str(tensor["shape"])} for tensor in declared]
        for key, declared in operation.tensors(case).items()
    }
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
    """The format of an operation at all sizes, and its reference on the smallest one."""
    if len({operation.description(case) for case in range(5)}) != 5:
        raise ValueError(f"{operation.name}/prompt.md: expected the sizes as placeholders.")
    for file in operation.programs:
        for case in range(5):
            operation.answer(file, case)
        for one in (*operation.inputs, *operation.outputs):
            if f"data/{one['name']}.bin" not in operation.programs[file]:
                raise ValueError(f"{operation.name}/{file}: expected data/{one['name']}.bin in it.")
    operation.data(0)


def run_case(operation: Operation, file: str, case: int) -> str:
    """ "passed", or why a program is not right at a case. It is the repository's own program: it runs without a sandbox."""
    inputs, outputs = operation.data(case)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "data").mkdir()
        (folder / "program.cu").write_text(operation.answer(file, case)[0])
        for tensor, values in inputs.items():
            values.tofile(folder / "data" / f"{tensor}.bin")
        for command in (["nvcc", "-arch=native", "-o", "program", "program.cu"], ["./program"]):
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, errors="replace")
            if done.returncode:
                return f"{command[0]} ended with {done.returncode}: {(done.stderr or done.stdout)[:400]}"
        return "; ".join(operation.wrong_outputs(folder, outputs)) or "passed"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="operations; without names all")
    parser.add_argument("--tasks", type=Path, metavar="FILE", help="write the tasks of the develop split here")
    parser.add_argument("--gpu", action="store_true", help="compile and run all programs at all five sizes")
    parser.add_argument("--output", type=Path, default=Path("outputs/operations.jsonl"))
    options = parser.parse_args()
    folders = [path.parent for path in sorted(FOLDER.glob("*/task.json"))]
    operations = [Operation(folder) for folder in folders if not options.names or folder.name in options.names]
    if options.tasks:
        split = build_data.splits([folder.name for folder in folders])
        tasks = [task_of(one, case) for one in operations if split[one.name] == "develop" for case in range(5)]
        options.tasks.write_text("".join(json.dumps(task) + "\n" for task in tasks), encoding="utf-8")
        print(f"{options.tasks}: {len(tasks)} tasks")
        return
    if not options.gpu:
        for operation in tqdm(operations):
            check(operation)
        print(f"{len(operations)} operations, {dict(Counter(one.family for one in operations).most_common())}")
        return
    options.output.parent.mkdir(parents=True, exist_ok=True)
    known = [row for _, row in read_objects(options.output)] if options.output.exists() else []
    done = {(row["operation"], row["file"], row["sha256"]) for row in known if len(row["passed"]) == 5}
    programs = [(operation, file) for operation in operations for file in operation.programs]
    todo = [(one, file) for one, file in programs if (one.name, file, one.sha256(file)) not in done]
    wrong = 0
    with Appender(options.output) as output, ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        verdicts = pool.map(lambda job: [run_case(*job, case) for case in range(5)], todo)
        for (operation, file), said in tqdm(zip(todo, verdicts, strict=True), total=len(todo)):
            passed = [case for case in range(5) if said[case] == "passed"]
            output.append(
                {"operation": operation.name, "file": file, "sha256": operation.sha256(file), "passed": passed}
            )
            for case in sorted({*range(5)} - {*passed}):
                wrong += 1
                tqdm.write(f"{operation.name}/{file}, case {case}: {said[case]}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
