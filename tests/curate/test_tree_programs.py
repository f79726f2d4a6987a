"""Programs as repositories have them: headers beside them, several kernels, a `main` that says sizes and launches."""

import json

import pytest

from cuset_stage.curate.adapt import adapt_row, run_adapt
from cuset_stage.curate.attempts import embedded_function
from cuset_stage.curate.callsite import read_call
from cuset_stage.curate.cases import run_cases
from cuset_stage.curate.ctext import functions
from cuset_stage.curate.importing import Source, run_import
from cuset_stage.curate.input_spec import parse_spec
from cuset_stage.curate.parallel import Executor
from cuset_stage.curate.prompts import leading_comment, task_prompt
from cuset_stage.curate.reachable import host_part, without_unused
from cuset_stage.curate.signature import Signature
from cuset_stage.curate.similarity import code_print, compared_code
from cuset_stage.curate.stage import Kept, stage_files


HEADER = """#pragma once
const double FLOOR = 0.25;
static double raised(double value) { return value > FLOOR ? value : FLOOR; }
void reference(const double* in, double* out, int rows, int columns) {
    for (int i = 0; i < rows * columns; ++i) out[i] = log(raised(in[i])) + i %% columns;
}
""".replace("%%", "%")
PROGRAM = """#include <cstdio>
#include <cstdlib>
#include "shared/reference.h"
#include "shared/reference.h"
#include "not_here.h"
#define THREADS 128

__device__ double floored(double value) { return value > FLOOR ? value : FLOOR; }

__global__ void slow(const double* in, double* out, const int rows, const int columns) {
    for (int i = 0; i < rows * columns; ++i) out[i] = log(floored(in[i])) + i % columns;
}

template <typename T, int Step>
__global__ void fast(const T* in, T* out, const int rows, const int columns) {
    for (int i = blockIdx.x * Step + threadIdx.x; i < rows * columns; i += gridDim.x * Step) out[i] = log(floored(in[i])) + i % columns;
}

int main(int argc, char** argv) {
    const int h = atoi(argv[1]), w = atoi(argv[2]);
    const size_t count = (size_t)h * w, bytes = sizeof(double) * count;
    double *a, *b;
    cudaMalloc((void**)&a, bytes);
    cudaMalloc((void**)&b, bytes);
    dim3 grid((count + THREADS - 1) / THREADS), block(THREADS);
    slow<<<1, 1>>>(a, b, h, w);
    fast<double, 128><<<(h * w + THREADS - 1) / THREADS, THREADS>>>(a, b, h, w);
    return 0;
}
"""


@pytest.fixture
def work(tmp_path):
    """A tree with the program above and its header, imported and adapted."""
    root = tmp_path / "tree"
    (root / "shared").mkdir(parents=True)
    (root / "shared" / "reference.h").write_text(HEADER, encoding="utf-8")
    (root / "app").mkdir()
    (root / "app" / "main.cu").write_text(PROGRAM, encoding="utf-8")
    run_import(tmp_path / "work", Source(root, licence="MIT", revision="1"))
    run_adapt(tmp_path / "work", stage_files(tmp_path / "work", "import"))
    return tmp_path / "work"


def rows_of(work, stage):
    path = next(work.glob(f"{stage}/**/rows.jsonl"))
    return {row["id"]: row for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())}


def test_every_kernel_is_a_row_with_the_headers_of_its_tree(work):
    rows = rows_of(work, "import")
    assert set(rows) == {"tree:app/main.cu#slow", "tree:app/main.cu#fast"}
    code = rows["tree:app/main.cu#slow"]["code"]
    assert code.count("void reference(") == 1 and "#pragma once" not in code
    assert '#include "not_here.h"' in code  # the compiler's to complain about


def test_the_programs_own_call_gives_lengths_launch_and_template_arguments(work):
    row = rows_of(work, "adapt")["tree:app/main.cu#fast"]
    assert row["lengths"] == {"in": "rows * columns", "out": "rows * columns"}
    assert row["signature"]["launch"]["block"] == ["128"]
    assert row["signature"]["launch"]["grid"] == ["(rows * columns + 128 - 1) / 128"]
    assert row["signature"]["template"] == "<double, 128>" and {a["dtype"] for a in row["signature"]["arrays"]} == {
        "float64"
    }
    assert "floored(double" in row["program"] and "FLOOR" in row["program"]
    for gone in ("atoi", "void slow", "void reference"):
        assert gone not in row["program"]


def test_the_reference_comes_with_its_helpers_and_values_it_can_take(work):
    summary = run_cases(work, stage_files(work, "adapt"), executor=Executor.INLINE)
    rows = rows_of(work, "cases")
    assert summary.kept == 2, (work / "cases" / "dropped.jsonl").read_text(encoding="utf-8")
    row = rows["tree:app/main.cu#fast"]
    assert row["provenance"][-1]["reference"] == "a CPU function of the source"
    prompt = row["task"]["prompt"]
    assert "raised(double" in prompt and "FLOOR = 0.25" in prompt and "__global__" not in prompt


def test_kernels_of_one_file_are_compared_without_each_other(work):
    rows = rows_of(work, "adapt")
    slow, fast = (compared_code(rows[f"tree:app/main.cu#{name}"]) for name in ("slow", "fast"))
    assert "void fast" not in slow and "void slow" not in fast and code_print(slow).exact != code_print(fast).exact


def test_a_reference_that_is_not_finite_gets_positive_inputs(tmp_path):
    root = tmp_path / "tree"
    root.mkdir()
    source = """__global__ void root(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = sqrtf(x[i]) + i;
}
void root_cpu(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = sqrtf(x[i]) + i; }
"""
    (root / "root.cu").write_text(source, encoding="utf-8")
    work = tmp_path / "work"
    run_import(work, Source(root, licence="MIT", revision="1"))
    run_adapt(work, stage_files(work, "import"))
    summary = run_cases(work, stage_files(work, "adapt"), executor=Executor.INLINE)
    assert summary.kept == 1, (work / "cases" / "dropped.jsonl").read_text(encoding="utf-8")
    assert '"uniform"' in rows_of(work, "cases")["tree:root.cu"]["task"]["reference"]


def test_of_several_cpu_functions_the_one_for_the_kernels_types_is_the_reference(tmp_path):
    code = """__global__ void twice(const short* x, short* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
void twice_ref_f(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }
void twice_ref_s(const short* x, short* y, int n) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }
"""
    from cuset_stage.curate.attempts import embedded_function
    from cuset_stage.curate.signature import Signature

    kept = adapt_row({"id": "x", "code": code})
    assert isinstance(kept, Kept)
    assert "twice_ref_s" in embedded_function(code, Signature.from_record(kept.row["signature"]))


@pytest.mark.parametrize(
    ("size", "length"),
    [
        ("n * sizeof(float)", "n"),
        ("sizeof(float) * count * 3", "n * 3"),
        ("bytes", "n"),
        ("(count + 1) * sizeof(float)", "n + 1"),
        ("other() * sizeof(float)", None),
        ("640", None),
    ],
)
def test_lengths_are_followed_to_the_parameters_or_left_unknown(size, length):
    code = f"""__global__ void k(float* x, int n) {{ x[threadIdx.x] = n; }}
int main() {{
    int count = read();
    size_t bytes = count * sizeof(float);
    float* d;
    cudaMalloc(&d, {size.replace("n *", "count *")});
    k<<<1, count>>>(d, count);
}}
"""
    kernel = next(each for each in functions(code) if each.is_kernel)
    assert read_call(code, kernel).lengths.get("x") == length


def test_a_launch_that_leads_elsewhere_is_not_guessed():
    code = "__global__ void k(float* x, int n) { x[0] = n; }\nint main() { k<<<blocks_for(3), 64>>>(d, 5); }\n"
    site = read_call(code, next(each for each in functions(code) if each.is_kernel))
    assert site.grid is None and site.block == ("64",)


def test_what_nothing_needs_goes_and_what_is_mentioned_stays():
    code = """struct Pair { int a; };
const int LIMIT = 4;
__device__ int helper(int v) { return v < LIMIT ? v : LIMIT; }
__device__ int unused(int v) { return v; }
#define USE(v) used_by_macro(v)
__device__ int used_by_macro(int v) { return v; }
__global__ void k(int* x) { x[0] = helper(USE(x[1])); }
int cpu(int v) { return v + LIMIT; }
int main() { return 0; }
"""
    left = without_unused(code, ["k"])
    assert "helper" in left and "int used_by_macro" in left
    assert "unused(" not in left and "main" not in left and "cpu" not in left
    cpu = next(each for each in functions(code) if each.name == "cpu")
    assert host_part(code, cpu).splitlines() == ["const int LIMIT = 4;", "int cpu(int v) { return v + LIMIT; }"]


SHARED = """__host__ __device__ void add_all(int n, const float* x, float* y) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }
__global__ void add(int n, const float* x, float* y) { add_all(n, x, y); }
"""


def test_a_function_that_the_kernel_calls_is_no_reference_for_it():
    signature = adapt_row({"id": "t:a", "code": SHARED, "launch": {"grid": ["1"], "block": ["1"]}}).row["signature"]
    signature = Signature.from_record(signature)
    assert embedded_function(SHARED, signature) is None
    own = "void add_cpu(int n, const float* x, float* y) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }\n"
    assert "add_cpu" in embedded_function(SHARED + own, signature)


@pytest.mark.parametrize(
    "prompt",
    ["Double it.", "Double all of the data/measurements.", "Double data/x.bin.", "Read data/x.bin, write data/y.bin."],
)
def test_a_sources_own_prompt_gets_the_files_it_does_not_name(prompt):
    array = {"dtype": "float32", "shape": ["n"]}
    spec = parse_spec({"sizes": {"n": {}}, "inputs": {"x": array}, "outputs": {"y": array}})
    made = task_prompt({"id": "t:a", "prompt": prompt}, spec, None)
    assert made.startswith(prompt) and "data/y.bin" in made and ("float32" in made) == ("data/y.bin" not in prompt)


@pytest.mark.parametrize(
    "head",
    [
        "/* Copyright (c) 2020 The Authors. All rights reserved. */",
        "// Licensed under the Apache License, Version 2.0 (the License); you may not use this file",
    ],
)
def test_a_licence_above_a_kernel_does_not_say_what_it_computes(head):
    kernel = "__global__ void add(float* x) { x[0] += 1; }\n"
    assert leading_comment(f"{head}\n{kernel}", "add") is None
    assert leading_comment(f"// Adds one to the first number.\n{kernel}", "add") == "Adds one to the first number."
