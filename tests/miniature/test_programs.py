"""The generated programs are right: they run on a CPU, under an emulation of blocks and barriers, and are held to the NumPy references."""

import random
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from cuset_stage.miniature.program import cpu_program, cuda_program
from cuset_stage.miniature.space import FACTORS, Task, combinations, with_constants
from cuset_stage.miniature.style import FLAWS, Style
from cuset_stage.miniature.wordings import reference, task_row
from cuset_stage.tasks.native import read_task
from cuset_stage.tasks.task_rows import Row


EMULATION = Path(__file__).parent
SIZES = ((37, 53), (3, 5), (1, 40), (66, 1), (16, 32))
LAUNCH = re.compile(r"(\w+)<<<(.*), (\w+)>>>(\(.*\));")
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


def cover(count: int, seed: int) -> list[Task]:
    """Tasks of every depth that have every value of every factor, as evenly as a random choice of the rarest gives."""
    rng = random.Random(seed)
    seen = dict.fromkeys((pair for name, values in FACTORS.items() for pair in ((name, value) for value in values)), 0)
    chosen = []
    for _ in range(count):
        some = rng.sample(combinations(), 300)
        best = min(some, key=lambda task: sorted(seen[pair] for pair in zip(FACTORS, task.factors, strict=True)))
        chosen.append(with_constants(best, rng, (0, 1, 2)))
        for pair in zip(FACTORS, best.factors, strict=True):
            seen[pair] += 1
    assert all(seen.values()), seen
    return chosen


def outcomes(task: Task, program: str, folder: Path) -> list[bool]:
    """Whether a program is right, for each of SIZES; it is compiled for the CPU."""
    (folder / "data").mkdir(parents=True)
    (folder / "program.cpp").write_text(LAUNCH.sub(r"emulate(\2, \3, [&]{ \1\4; });", program), encoding="utf-8")
    subprocess.run(
        ["g++", "-O0", "-std=c++17", f"-I{EMULATION}", "program.cpp", "-o", "program"], cwd=folder, check=True
    )
    space: dict = {}
    exec(reference(task), space)
    found = []
    for rows, cols in SIZES:
        pitch = {"pitch": cols + 7} if task.layout == "padded" else {}
        inputs = space["make_inputs"](np.random.default_rng(0), rows, cols, **pitch)
        for name, values in inputs.items():
            values.tofile(folder / "data" / f"{name}.bin")
        expected = space["reference"](inputs)["out"]
        ended = subprocess.run([folder / "program"], cwd=folder, capture_output=True)
        output = folder / "data" / "out.bin"
        written = np.fromfile(output, dtype=expected.dtype) if ended.returncode == 0 else None
        found.append(written is not None and np.array_equal(written, expected.ravel()))
        output.unlink(missing_ok=True)
    return found


@needs_compiler
@pytest.mark.parametrize("count", [6, pytest.param(120, marks=pytest.mark.slow)])
def test_programs_are_right(count, tmp_path):
    for number, task in enumerate(cover(count, seed=count)):
        program = cuda_program(task, Style(random.Random(number)))
        assert all(outcomes(task, program, tmp_path / str(number))), f"{task.id}\n{program}"


@needs_compiler
@pytest.mark.slow
def test_programs_for_the_cpu_are_right(tmp_path):
    for number, task in enumerate(cover(20, seed=3)):
        program = cpu_program(task, Style(random.Random(number)))
        assert all(outcomes(task, program, tmp_path / str(number))), f"{task.id}\n{program}"


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize(
    "flaw", [flaw for flaw in FLAWS if flaw != "sync"]
)  # contexts are switched at barriers: all see all
def test_a_flaw_is_one(flaw, tmp_path):
    """A program with it differs from the right one, and most such programs fail somewhere."""
    tasks = [task for task in cover(12, seed=5) if task.block != "256" or flaw != "bound"]
    wrong = 0
    for number, task in enumerate(tasks):
        program = cuda_program(task, Style(random.Random(number), flaw))
        wrong += not all(outcomes(task, program, tmp_path / str(number)))
    assert wrong > len(tasks) / 3


def test_the_files_of_a_task_are_those_of_its_reference():
    for task in cover(12, seed=1):
        read = read_task(Row("row", task_row(task, random.Random(0), "within")))
        assert len(read.cases) == 5
        space: dict = {}
        exec(read.oracle.source, space)
        for case in read.cases:
            inputs = space["make_inputs"](np.random.default_rng(0), **case.parameters)
            outputs = space["reference"](inputs)
            for tensors, values in ((case.inputs, inputs), (case.outputs, outputs)):
                declared = {tensor.name: (tensor.dtype, tensor.shape) for tensor in tensors}
                assert declared == {name: (array.dtype.name, array.shape) for name, array in values.items()}
