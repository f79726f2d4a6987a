"""Which bytes are withheld from the GPU, and what is counted: gpu_inputs.cpp with the driver's calls as CUPTI tells of them."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from cuset_stage.judge import gpu_activity
from cuset_stage.sandbox import find_toolkit


CALLS = Path(__file__).parents[1] / "helpers" / "driver_calls.cpp"
X, Y, OUTPUT_BLOCKS = 400_012, 20_000, 200 * 32  # bytes


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What the calls say, by name: whether the GPU's memory was as it should be, and inputs, outputs, others, copied, shared."""
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
    done = subprocess.run(
        [folder / "calls", folder / "x", folder / "y", folder],
        env={**os.environ, "LD_LIBRARY_PATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
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
