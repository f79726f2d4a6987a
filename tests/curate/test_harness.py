"""The harness around right code compiles: names that meet its own, namespaces, functions called as those of std."""

import ast
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from cuset_stage.curate.adapt import adapt_row
from cuset_stage.curate.ctext import functions
from cuset_stage.curate.extension import model_new
from cuset_stage.curate.harness import cpu_program
from cuset_stage.curate.modules import kernelbench_form
from cuset_stage.curate.signature import Signature
from cuset_stage.curate.stage import Kept


INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n)"
WRAPPER = "void run(const float* x, float* y, int n) { copy<<<(n + 255) / 256, 256>>>(x, y, n); }"
COPY = f"__global__ void copy(const float* x, float* y, int n) {{ {INDEX} y[i] = x[i]; }}"
KERNELS = {
    "as its parameter": f"__global__ void scale(float* x, float scale, int n) {{ {INDEX} x[i] *= scale; }}",
    "in namespaces": f"namespace q {{ namespace {{ }} namespace r::s {{ {COPY} }} }}",
    "after a namespace": f"namespace q {{ int f(); }}\n{COPY}",
    "in one without a name": f"namespace {{ {COPY} }}",
    "wrapper in a namespace": f"namespace q {{ {COPY}\n{WRAPPER} }}",
    "device names": f"__global__ void f(const float* x, float* d_x, float* dev_x_, int n) {{ {INDEX} {{ d_x[i] = x[i]; dev_x_[i] = x[i]; }} }}",
    "the harness's own names": f"__global__ void f(const float* sizes_, float* grid_, float scalars_, int block_) {{ {INDEX.replace('n)', 'block_)')} grid_[i] = sizes_[i] * scalars_; }}",
    "template": f"namespace q {{ template <typename T> __global__ void f(T* f, int n) {{ {INDEX} f[i] *= 2; }} }}",
}


def adapted(code: str) -> dict:
    outcome = adapt_row({"id": "a:1", "source": {}, "code": code})
    assert isinstance(outcome, Kept), outcome
    return outcome.row


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc on this machine")
def test_right_kernels_compile_in_the_harness(tmp_path: Path):
    broken = {}
    for name, code in KERNELS.items():
        path = tmp_path / "program.cu"
        path.write_text(adapted(code)["program"], encoding="utf-8")
        command = ["nvcc", "-std=c++17", "-cuda", str(path), "-o", str(tmp_path / "program.ii")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            broken[name] = done.stderr
    assert not broken


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("as its parameter", "::scale<<<"),
        ("in namespaces", "::q::r::s::copy<<<"),
        ("after a namespace", "::copy<<<"),
        ("in one without a name", "::copy<<<"),
        ("wrapper in a namespace", "::q::run("),
        ("template", "::q::f<float><<<"),
    ],
)
def test_a_function_is_called_from_the_outermost_scope(name, called):
    row = adapted(KERNELS[name])
    assert f"    {called}" in row["program"]
    assert Signature.from_record(row["signature"]).called == re.split(r"<|\(", called)[0]


def test_a_signature_of_an_earlier_run_has_no_namespace():
    record = adapted(COPY)["signature"]
    del record["namespace"]
    assert Signature.from_record(record).called == "::copy"


GUESSED = {
    "stride": "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = x[i];",
    "lane": f"{INDEX} y[i] = x[i] * (threadIdx.x % 32);",
}
NOT_GUESSED = {
    "shared": f"__shared__ float s[128]; s[threadIdx.x % 32] = 0; {INDEX} y[i] = x[i] + s[0];",
    "thread": f"{INDEX} y[i] = x[threadIdx.x];",
    "block": f"{INDEX} y[blockIdx.x] = x[i];",
    "helper": f"{INDEX} y[i] = helper(x[i]);",
}


@pytest.mark.parametrize("name", [*GUESSED, *NOT_GUESSED, "launch bounds"])
def test_a_launch_is_guessed_only_where_any_block_does(name):
    helper = "__device__ float helper(float v) { __shared__ float s[32]; s[0] = v; return s[0]; }\n"
    body = {**GUESSED, **NOT_GUESSED}.get(name, f"{INDEX} y[i] = x[i];")
    bounds = (
        "__launch_bounds__(128) " if name == "launch bounds" else "__launch_bounds__(1024) " if name == "lane" else ""
    )
    code = f"{helper}__global__ void {bounds}k(const float* x, float* y, int n) {{ {body} }}"
    outcome = adapt_row({"id": "a:1", "source": {}, "code": code})
    if name in GUESSED:
        assert isinstance(outcome, Kept) and outcome.row["signature"]["launch"]["block"] == ("256",)
        return
    assert outcome.reason == "launch_unknown" and "declare `launch`" in outcome.detail
    declared = adapt_row(
        {"id": "a:1", "source": {}, "code": code, "launch": {"grid": ["(n + 127) / 128"], "block": [128]}}
    )
    assert isinstance(declared, Kept)


CPU = {
    "negate": "void negate(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = -x[i]; }",
    "run": "float minus(float a) { return -a; }\nfloat rank(float a) { return minus(a); }\n"
    "void run(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = rank(x[i]) + 0 * abs(x[i] / 3); }",
    "halve": "void halve(const float* x, float* y, int n) { vector<float> v(x, x + n); for (int i = 0; i < n; ++i) y[i] = min(-v[i], v[i] * 9); }",
    "absolute": "static float one(float a) { return abs(a); }\nvoid absolute(const float* x, float* y, int n) "
    "{ for (int i = 0; i < n; ++i) y[i] = x[i] < 0 ? one(x[i]) : -one(x[i]); }",
    "inside": "namespace q { void inside(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = -x[i]; } }",
}


@pytest.mark.parametrize("name", CPU)
@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++ on this machine")
def test_cpu_functions_compile_and_give_what_they_say(tmp_path, name):
    signature = Signature.from_record(adapted(COPY)["signature"])
    order = [each.name for each in next(f for f in functions(CPU[name]) if f.name == name).parameters]
    (tmp_path / "program.cpp").write_text(cpu_program(CPU[name], name, order, signature), encoding="utf-8")
    command = ["g++", "-std=c++17", "-fpermissive", "-w", "program.cpp", "-o", "program"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    x = np.array([0.25, 1.5, 0.75], np.float32)  # whole numbers would hide the abs of integers
    (tmp_path / "data").mkdir()
    x.tofile(tmp_path / "data" / "x.bin")
    np.array([3, 3], np.int64).tofile(tmp_path / "data" / "sizes.bin")
    subprocess.run([str(tmp_path / "program")], cwd=tmp_path, check=True)
    assert np.array_equal(np.fromfile(tmp_path / "data" / "y.bin", np.float32), -x)


MODEL = """import torch


class Model(torch.nn.Module):
    def __init__(self, size, scale=2):
        super().__init__()
        self.size, self.scale = size, scale


get_inputs = lambda: [torch.rand(4)]
"""


@pytest.mark.parametrize(
    ("given", "returned"),
    [
        ("get_init_inputs = lambda: [64]\n", [64]),
        ("get_init_inputs = lambda: [[64], {'scale': 3}]\n", [64, 3]),
        ("def get_init_inputs():\n    return [[], {'size': 5}]\n", [5]),
        ("def _of():\n    return [7]\n\n\nget_init_inputs = _of\n", [7]),
        ("", []),
    ],
)
def test_get_init_inputs_that_is_assigned_is_not_overridden(given, returned):
    module = kernelbench_form(MODEL + given, None)
    scope: dict = {}
    exec(module.replace("import torch\n", "").replace("torch.nn.Module", "object"), scope)
    assert scope["get_init_inputs"]() == returned


BREAKS = "# a comment with \x0c, \x0b, \x1c, \x85 and \u2028 in it\r\n"


def test_lines_are_split_where_python_splits_them():
    module = BREAKS + MODEL + "def get_init_inputs():\n    return [[], {'size': 5}]\n"
    scope: dict = {}
    exec(kernelbench_form(module, None).replace("import torch\n", "").replace("torch.nn.Module", "object"), scope)
    assert scope["get_init_inputs"]() == [5]
    functional = f"import torch\n{BREAKS}\nclass Model(torch.nn.Module):\n    def forward(self, x, fn=abs):\n        return fn(x)\n"
    answer = model_new("torch::Tensor forward(torch::Tensor x) { return x; }", functional)
    assert (
        "class _Model(torch.nn.Module):\n    def forward(self, x, fn=abs):\n        return fn(x)\n\ncuda_source"
        in answer
    )
    ast.parse(answer)


def test_a_module_with_assigned_functions_is_kept():
    row = {"id": "a:1", "source": {}, "module_code": MODEL + "get_init_inputs = lambda: [64]\n"}
    assert isinstance(adapt_row(row), Kept)
