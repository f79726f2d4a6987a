"""Small stand-ins for other task sets.

They have the keys and the folder layout of the real sets (ComputeEval, robust-kbench), and content of our own.
"""

import json
from pathlib import Path


TWICE_H = "#pragma once\nint twice(int x);\nint one();\n"
TWICE = (
    '#include "twice.h"\n#include <cstddef>\n\nint twice(int x) { std::size_t factor = 2; return int(factor) * x; }\n'
)
TEST = """\
#undef NDEBUG
#include <cassert>
#include "twice.h"

int main(int argc, char **argv) {
    assert(argc == 1 && argv[0]);
    for (int x = -3; x < 4; ++x) assert(twice(x) == x + x);
    assert(twice(one()) == 2);
}
"""


def computeeval_row(**changes) -> dict:
    """Return a problem of ComputeEval in the form of its releases 2025-1 to 2026-1, with these keys changed.

    It has all keys that we read, and some of those that we do not.
    The test's `main` returns 0 by reaching its end, without a return statement. All code is host code, and the files
    that come with the problem are C++, which nvcc compiles in a tenth of the time.
    """
    return {
        "type": "cuda_cpp",
        "schema_version": 2,
        "task_id": "CUDA/7",
        "prompt": "Write a function that doubles.",
        "metadata": {"difficulty": "easy", "tags": [], "releases": ["2026-1"], "do_not_release": False},
        "group": "cuda-runtime",
        "context_files": [
            {"path": "include/twice.h", "content": TWICE_H},
            {"path": "helpers/one.cpp", "content": '#include "twice.h"\nint one() { return 1; }\n'},
        ],
        "test_files": [{"path": "test/test_main.cpp", "content": TEST}],
        "source_references": {"all": ["twice"], "any": ["cudaMalloc", "std::size_t"]},
        "build_command": "nvcc -I include -o test.out solution.cu helpers/one.cpp test/*.cpp -arch=native",
        "test_command": "./test.out",
        "benchmark_command": None,
        "timeout_seconds": 45.0,
        "baseline_solution": {"type": "file", "files": [{"path": "solution.cu", "content": TWICE}]},
    } | changes


SCALE = """\
import torch


def forward_fn(x, weight):
    return x * weight


class AutogradFunction(torch.autograd.Function):
    backward_fn = None

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return forward_fn(x, weight)

    @staticmethod
    def backward(ctx, upstream):
        return AutogradFunction.backward_fn(upstream, *ctx.saved_tensors)


class Model(torch.nn.Module):
    def __init__(self, width=3, start=1.0):
        super(Model, self).__init__()
        self.weight = torch.nn.Parameter(torch.full((width,), start))

    def forward(self, x, fn=forward_fn):
        return fn(x, self.weight)


def get_inputs(rows=2, width=3):
    return [torch.randn(rows, width, requires_grad=True)]


input_names = ["x"]
"""


def robust_kbench(root: Path) -> Path:
    """Write a clone of robust-kbench with one task, forward and backward, in four settings, and return its root."""
    folder = root / "tasks" / "scale"
    folder.mkdir(parents=True)
    settings = {
        **{f"single_{kind}_configs": [{}] for kind in ("init", "input", "shared")},
        "multi_init_configs": [{"start": 1.0}, {"start": 3.0}],
        "multi_input_configs": [{"rows": 2}, {"rows": 4}],
        "multi_shared_configs": [{"width": 5}],
    }
    for direction in ("forward", "backward"):
        (folder / f"config_{direction}.json").write_text(json.dumps(settings))
        (folder / f"func_{direction}.py").write_text(SCALE)
    (folder / "forward.cu").write_text("// a kernel\n")
    results = {"filter_output_std": True, "filter_output_range": False, "said": ""}
    (folder / "filter_results.json").write_text(json.dumps(results))
    return root
