"""The operations in data/operations: reading them, and checking their programs on a GPU.

    python scripts/operations.py                        # every folder's format, and its reference on the smallest case; no GPU
    python scripts/operations.py --rows outputs/operations    # training rows and their dataset_info.json, for dataset_dir= of a recipe
    python scripts/operations.py --tasks outputs/develop.jsonl    # the develop split in CUDABench's format, for cuset generate and evaluate
    python scripts/operations.py --gpu --output outputs/operations.json [NAME ...]    # both programs at all five sizes; resumes in OUTPUT

An operation is one computation at five fixed sizes: task.json (title, family, inputs, outputs, cases), prompt.md with the sizes as
{placeholders}, reference.py (make_inputs, reference, TOLERANCE, as in data/kernels), simple.cu (what an engineer writes first) and kernel.cu
(another right program, faster). A program defines each size once, on a line of its own, with the first case's value; what stands above
`//@given` are helpers that a prompt may hand out.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from tqdm import tqdm

from cuset_stage.jsonl import Appender, read_objects
from cuset_stage.tasks.messages import C_TYPES
from cuset_stage.tasks.shapes import evaluate_shape
from cuset_stage.text import InputError


FOLDER = Path(__file__).parent.parent / "data" / "operations"
FRAMES = yaml.safe_load((FOLDER / "frames.yaml").read_text(encoding="utf-8"))
PROGRAMS = ("simple.cu", "kernel.cu")
GIVEN = "//@given\n"
_SIZE = re.compile(
    r"^(?P<head>[ \t]*(?:#define[ \t]+(?P<macro>\w+)[ \t]+|(?:(?:static|inline|constexpr|const)[ \t]+)+[\w: \t]*?(?P<constant>\w+)[ \t]*=[ \t]*))"
    r"\(?(?P<value>\d[\d'.]*)(?P<suffix>[uUlLfF]*)\)?(?P<rest>[ \t]*;?[^\n]*)$",
    re.MULTILINE,
)


def plain(name: str) -> str:
    """A size's name without what people add to it: kRows, ROWS and rows are the same."""
    return re.sub(r"^k(?=[A-Z])", "", name).replace("_", "").lower()


class Operation:
    """A folder of data/operations.

    Raises:
        InputError: the folder breaks the format; the message names the file and what was expected.
    """

    def __init__(self, folder: Path) -> None:
        self.name, self.folder = folder.name, folder
        task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
        self.title, self.family, self.inputs, self.outputs = (
            task[key] for key in ("title", "family", "inputs", "outputs")
        )
        self.cases: list[dict[str, int]] = [case["parameters"] for case in task["cases"]]
        if (
            len({json.dumps(case, sort_keys=True) for case in self.cases}) != 5
            or len({tuple(case) for case in self.cases}) != 1
        ):
            raise InputError(f"{self.name}/task.json: expected five different cases of the same parameters.")
        self.prompt = (folder / "prompt.md").read_text(encoding="utf-8")
        self.programs = {file: (folder / file).read_text(encoding="utf-8") for file in PROGRAMS}
        self.names: dict[str, Any] = {}
        exec(
            compile((folder / "reference.py").read_text(encoding="utf-8"), f"{self.name}/reference.py", "exec"),
            self.names,
        )

    def description(self, case: int) -> str:
        """The prompt at the sizes of a case."""
        try:
            return self.prompt.format(**self.cases[case])
        except (LookupError, ValueError) as error:
            raise InputError(
                f"{self.name}/prompt.md: {error!r}; placeholders are {', '.join(self.cases[0])}."
            ) from None

    def program(self, file: str, case: int, given: bool = False) -> str:
        """A program at the sizes of a case, without the mark below the given helpers unless `given`."""
        seen: Counter[str] = Counter()

        def at_size(match: re.Match[str]) -> str:
            for size, value in self.cases[case].items():
                if plain(size) == plain(match["macro"] or match["constant"]):
                    seen[size] += 1
                    if float(match["value"].replace("'", "")) != self.cases[0][size]:
                        raise InputError(
                            f"{self.name}/{file}: {match[0].strip()!r}: expected {self.cases[0][size]}, as in the first case."
                        )
                    return f"{match['head']}{value}{match['suffix']}{match['rest']}"
            return match[0]

        text = _SIZE.sub(at_size, self.programs[file])
        if wrong := [size for size in self.cases[case] if seen[size] != 1]:
            raise InputError(
                f"{self.name}/{file}: {', '.join(wrong)}: expected one definition of each, on a line of its own."
            )
        return text if given else text.replace(GIVEN, "")

    def data(self, case: int, seed: int = 0) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Inputs and right outputs of a case, with dtypes and shapes checked."""
        inputs = self.names["make_inputs"](np.random.default_rng([seed, case]), **self.cases[case])
        outputs = self.names["reference"]({name: value.copy() for name, value in inputs.items()})
        for declared, made in ((self.inputs, inputs), (self.outputs, outputs)):
            expected = {
                one["name"]: (one["dtype"], evaluate_shape(one["shape"], self.cases[case])) for one in declared
            }
            found = {name: (str(value.dtype), value.shape) for name, value in made.items()}
            if found != expected:
                raise InputError(f"{self.name}/reference.py: case {case} gives {found}, task.json says {expected}.")
        return inputs, outputs

    def wrong_outputs(self, folder: Path, outputs: Mapping[str, np.ndarray]) -> Iterator[str]:
        """What is wrong with the files that a program has written below `folder`."""
        for name, right in outputs.items():
            file = folder / "data" / f"{name}.bin"
            values = np.fromfile(file, dtype=right.dtype) if file.is_file() else np.empty(0)
            if values.size != right.size:
                yield f"{name}: {values.size} values, expected {right.size}"
                continue
            relative, absolute = self.names["TOLERANCE"][name]
            found, expected = values.reshape(right.shape).astype(np.float64), right.astype(np.float64)
            is_wrong = ~(np.abs(found - expected) <= absolute + relative * np.abs(expected))
            if is_wrong.any():
                yield f"{name}: {is_wrong.mean():.2%} wrong, by {np.nanmax(np.abs(found - expected)):.3g} at most"


def share(*parts: object) -> float:
    """A number in [0, 1) that depends on the parts alone."""
    digest = hashlib.sha256(json.dumps(["operations, edition 1", *parts]).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def split_of(name: str) -> str:
    """train (two thirds of all operations), develop or mini (a sixth each): by the name alone, so more operations move none."""
    place = share("split", name)
    return "train" if place < 2 / 3 else "develop" if place < 5 / 6 else "mini"


def row_of(operation: Operation, file: str, case: int) -> dict[str, str]:
    """A training row: a task at one size in one of the frames, and a program as its answer."""
    program = operation.program(file, case, given=True)
    given = program.partition(GIVEN)[0].rstrip() + "\n" if GIVEN in program else None
    frames = [one for one in FRAMES if given or not one.get("given")]
    frame = frames[int(share("frame", operation.name, file, case) * len(frames))]

    def tensors(declared: list[dict[str, Any]]) -> str:
        lines = []
        for one in declared:
            shape = evaluate_shape(one["shape"], operation.cases[case])
            c_type, size = C_TYPES[one["dtype"]], np.dtype(one["dtype"]).itemsize
            lines.append(
                frame["tensor"].format(name=one["name"], dtype=one["dtype"], shape=shape, c_type=c_type, bytes=size)
            )
        return "\n".join(lines)

    filled = {"title": operation.title, "description": operation.description(case).strip(), "given": given}
    filled |= {"inputs": tensors(operation.inputs), "outputs": tensors(operation.outputs)}
    return {
        "system": frame["system"].replace("{given}", given or "").strip(),
        "instruction": frame["user"].format(**filled).strip(),
        "output": f"```cpp\n{program.replace(GIVEN, '').strip()}\n```",
        "operation": operation.name,
        "program": file,
    }


def write_rows(operations: list[Operation], folder: Path) -> None:
    """operations.json, ten rows for each training operation, and the dataset_info.json that names it."""
    rows = [
        row_of(one, file, case)
        for one in operations
        if split_of(one.name) == "train"
        for case in range(5)
        for file in PROGRAMS
    ]
    columns = {"prompt": "instruction", "response": "output", "system": "system"}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "operations.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    info = {"operations": {"file_name": "operations.json", "columns": columns}}
    (folder / "dataset_info.json").write_text(json.dumps(info, indent=1) + "\n", encoding="utf-8")
    print(f"{folder / 'operations.json'}: {len(rows)} rows of {len(rows) // 10} operations")


GENERATE = """
import pathlib
pathlib.Path("data").mkdir(exist_ok=True)
inputs = make_inputs(np.random.default_rng([0, {case}]), **{parameters})
for name, values in inputs.items():
    values.tofile(f"data/{{name}}.bin")
for name, values in reference(inputs).items():
    np.save(f"data/{{name}}_ref.npy", values)
"""
COMPARE = """
def is_right(name, rtol, atol):
    right = np.load(f"data/{name}_ref.npy")
    values = np.fromfile(f"data/{name}.bin", dtype=right.dtype)
    if values.size != right.size:
        return False
    found, right = values.reshape(right.shape).astype(np.float64), right.astype(np.float64)
    return bool((np.abs(found - right) <= atol + rtol * np.abs(right)).all())


print("T" if all(is_right(name, *bounds) for name, bounds in TOLERANCE.items()) else "F")
"""


def task_of(operation: Operation, case: int) -> dict[str, Any]:
    """A task at one size as CUDABench writes its rows, so that its own prompts fit."""
    reference = (operation.folder / "reference.py").read_text(encoding="utf-8")
    parameters, description = operation.cases[case], operation.description(case).strip()
    tensors = {
        key: [
            one | {"shape": str(evaluate_shape(one["shape"], parameters))}
            for one in declared
        ]
        for key, declared in (("inputs", operation.inputs), ("outputs", operation.outputs))
    }
    return {
        "id": f"{operation.name}_{'abcde'[case]}",
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
        raise InputError(f"{operation.name}/prompt.md: expected the sizes as placeholders.")
    for file in PROGRAMS:
        for case in range(5):
            operation.program(file, case)
        for one in (*operation.inputs, *operation.outputs):
            if f"data/{one['name']}.bin" not in operation.programs[file]:
                raise InputError(f"{operation.name}/{file}: expected data/{one['name']}.bin in it.")
    operation.data(0)


def run_case(operation: Operation, file: str, case: int) -> str:
    """ "passed", or why a program is not right at a case. It is the repository's own program: it runs without a sandbox."""
    inputs, outputs = operation.data(case)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "data").mkdir()
        (folder / "program.cu").write_text(operation.program(file, case))
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
    parser.add_argument("--rows", type=Path, metavar="FOLDER", help="write the training rows into this folder")
    parser.add_argument("--tasks", type=Path, metavar="FILE", help="write the tasks of the develop split into this file")
    parser.add_argument("--gpu", action="store_true", help="compile and run both programs at all five sizes")
    parser.add_argument("--output", type=Path, default=Path("outputs/operations.jsonl"))
    options = parser.parse_args()
    folders = [path.parent for path in sorted(FOLDER.glob("*/task.json"))]
    operations = [Operation(folder) for folder in folders if not options.names or folder.name in options.names]
    if options.rows:
        write_rows(operations, options.rows)
        return
    if options.tasks:
        tasks = [task_of(one, case) for one in operations if split_of(one.name) == "develop" for case in range(5)]
        options.tasks.write_text("".join(json.dumps(task) + "\n" for task in tasks), encoding="utf-8")
        print(f"{options.tasks}: {len(tasks)} tasks")
        return
    if not options.gpu:
        for operation in tqdm(operations):
            check(operation)
        print(f"{len(operations)} operations, {dict(Counter(one.family for one in operations).most_common())}")
        return
    options.output.parent.mkdir(parents=True, exist_ok=True)
    done = (
        {(row["operation"], row["file"], row["case"]) for _, row in read_objects(options.output)}
        if options.output.exists()
        else set()
    )
    todo = [
        (one, file, case)
        for case in range(5)
        for one in operations
        for file in PROGRAMS
        if (one.name, file, case) not in done
    ]
    with Appender(options.output) as output, ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for (one, file, case), verdict in tqdm(
            zip(todo, pool.map(lambda job: run_case(*job), todo), strict=True), total=len(todo)
        ):
            output.append({"operation": one.name, "file": file, "case": case, "verdict": verdict})
    wrong = [row for _, row in read_objects(options.output) if row["verdict"] != "passed"]
    print(*(f"{row['operation']}/{row['file']}, case {row['case']}: {row['verdict']}" for row in wrong), sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
