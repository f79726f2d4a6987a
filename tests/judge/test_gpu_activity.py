"""The library that records the work on a GPU, as far as it can be tested without one.

It is built and loaded in the sandbox, its record is read, and the part that withholds inputs is driven by simulated
calls.
"""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from host_programs import HOST_FLAGS

from cuset_stage.judge import gpu_activity
from cuset_stage.judge.gpu_activity import RECORD, Activity, Kernel, Recorder, Transfer, find_recorder, read_activity
from cuset_stage.sandbox import Compiler, Toolkit, find_toolkit, run_program


# Does what the CUDA driver does at a program's first call: it loads the library and calls its entry point.
LOADS = r"""
#include <cstdlib>
#include <dlfcn.h>

int main() {
  void* library = dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_NOW);
  if (!library) return 90;
  return ((int (*)())dlsym(library, "InitializeInjection"))() == 1 ? 0 : 91;
}
"""
RIGHT = (
    "begin\nK 100 200 2 1 1 256 1 1 _Z4axpyfPfi\nC 10 90 1 4096\nC 150 260 8 64\nS 300 350 64\nC 400 500 2 128\nend\n"
)


def read(folder: Path, text: str | bytes) -> Activity:
    path = folder / "record"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_activity(path)


def test_a_program_in_the_sandbox_loads_it(isolation, cache, monkeypatch):
    monkeypatch.setenv("CUSET_CACHE", str(cache))
    recorder = find_recorder()
    assert isinstance(recorder, Recorder), recorder
    program = Compiler(cache=cache / "programs", flags=(*HOST_FLAGS, "-ldl")).compile(LOADS).binary
    environment = recorder.environment("{folder}")
    with run_program(
        program, inputs=recorder.files, outputs={}, optional=[RECORD], environment=environment, isolation=isolation
    ) as ran:
        assert ran.verdict is None, ran.message
        assert not read_activity(ran.outputs[RECORD]).kernels


def test_without_cupti_nothing_is_recorded(tmp_path, monkeypatch):
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    toolkit = Toolkit(find_toolkit().nvcc, "13.0.0", tmp_path)
    monkeypatch.setattr("cuset_stage.judge.gpu_activity.find_toolkit", lambda: toolkit)
    assert "pip install nvidia-cuda-cupti" in find_recorder()


def test_what_a_record_says(tmp_path):
    activity = read(tmp_path, RIGHT)
    assert activity.kernels == (Kernel(100, 200, (2, 1, 1), (256, 1, 1), "_Z4axpyfPfi"),)
    assert activity.transfers[1] == Transfer(150, 260, 8, 64)
    assert (activity.bytes_to_gpu, activity.bytes_from_gpu) == (4096, 128)
    assert activity.busy_s == pytest.approx(210e-9)  # 100 to 260 (kernel and copy overlap), and the fill
    assert activity.complete
    assert read(tmp_path, RIGHT + RIGHT).complete  # records of two processes


@pytest.mark.parametrize(
    "text",
    [
        "",
        "end\n",
        RIGHT + RIGHT.removesuffix("end\n"),
        RIGHT.replace("end", "lost 3\nend"),
        RIGHT.replace("K 100 200", "K 200 100"),
        # Numbers that do not fit a results file, or that Python cannot convert to text.
        RIGHT.replace("1 4096", f"1 {2**53}"),
        RIGHT.replace("1 4096", f"1 {'9' * 4300}"),
        RIGHT.replace("100 200", f"100 {2**62}"),
        RIGHT.replace("200 2 1 1 256 1 1", "200 2"),
        RIGHT.replace("4096", "many"),
        RIGHT.replace("C 10 ", "C "),
        RIGHT.replace("end", "U 1 2 3 4 -5\nend"),
        b"begin\n\xff\x00\nend\n",
        f"begin\nK {'9' * 5000} 1 1 1 1 1 1 1 x\nend\n",
    ],
)
def test_a_record_that_is_none_is_not_complete(tmp_path, text):
    assert not read(tmp_path, text).complete


# ---- which bytes are withheld and what is counted: gpu_inputs.cpp, with the driver's calls as CUPTI reports them

CALLS = Path(__file__).parents[1] / "helpers" / "driver_calls.cpp"
X, Y, OUTPUT_BLOCKS = 400_012, 20_000, 200 * 32  # bytes


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """For each simulated scene: 1 if the GPU's memory was as it should be, and bytes of inputs, outputs, others,
    copied, shared.
    """
    folder = tmp_path_factory.mktemp("calls")
    cupti, folders = gpu_activity._find_cupti(find_toolkit())
    includes = [f"-I{path}" for path in (*folders, gpu_activity.SOURCES[0].parent)]
    for options in (
        ["-shared", "-fPIC", "-DDRIVER", CALLS, "-o", folder / "libcuda.so.1"],
        ["-std=c++17", "-O1", *includes, CALLS, cupti, f"-Wl,-rpath,{cupti.parent}", "-ldl", "-o", folder / "calls"],
    ):
        subprocess.run(["g++", *options], check=True, timeout=300)
    rng = np.random.default_rng(0)
    for name, size in (("x", X), ("y", Y)):
        rng.integers(1, 255, size, np.uint8).tofile(folder / name)  # no byte is zero
    command, environment = [folder / "calls", folder / "x", folder / "y", folder], {"LD_LIBRARY_PATH": str(folder)}
    options = {"env": os.environ | environment, "capture_output": True, "text": True, "timeout": 300, "check": True}
    done = subprocess.run(command, **options)
    lines = [line.rsplit(" ", 6) for line in done.stdout.splitlines()]
    return {name: tuple(map(int, numbers)) for name, *numbers in lines}


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("whole", (X, 0, 0, X, 0)),
        ("whole, in a stream", (X, 0, 0, X, 0)),
        ("part, shifted", (50_000, 0, 50_000, 100_000, 0)),
        ("result", (0, OUTPUT_BLOCKS, Y - OUTPUT_BLOCKS, Y, 0)),
        ("result, again", (0, 0, Y, Y, 0)),
        ("changed", (0, 0, X, X, 0)),
        ("zeros", (0, 0, 0, X, 0)),
        ("rows", (100_000, 0, 0, 100_000, 0)),
        ("managed", (0, 0, 0, 0, 2 * X)),
        ("in place", (0, 0, 0, 0, 0)),
        ("given", (0, 0, X, X, 0)),
        ("gone", (0, 0, 0, 0, 0)),
        ("managed, later", (0, OUTPUT_BLOCKS, Y - OUTPUT_BLOCKS, 0, Y)),
    ],
)
def test_inputs_are_withheld(told, name, counts):
    assert told[name] == (1, *counts)
