"""Mutants: exact edits on small programs, and what holds for every edit of every bundled program."""

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cuset_stage.mutants import OPERATORS, Mutant, make_mutants


KERNELS = sorted((Path(__file__).parents[2] / "data" / "kernels").glob("*/kernel.cu"))
NAMED = ("bound_off_by_one", "drop_syncthreads", "wrong_index", "wrong_launch_size", "swapped_dims")
# Written anew here, so that what the package takes for a comment is not what judges it.
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"')
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)

SUM = """
// i < n stays: for (int i = 0; i < n; ++i)
#define CHECK(call) if ((call) != cudaSuccess) fail("i < n")
__global__ void sum(const float* in, float* out, int n) {
    __shared__ float part[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? in[i] : 0.0f;
    __syncthreads();  // all have written
    float total = 0.0f;
    if (threadIdx.x == 0) {
        for (int k = 0; k < 256; ++k) total += part[k];
        atomicAdd(out, total);
    }
}
int main() {
    if (n < 1) printf("n - 1");
    CHECK(cudaMemset(out, 0, sizeof(float)));
    CHECK(cudaMemcpy(in, host, n * sizeof(float), cudaMemcpyHostToDevice));
    sum<<<(n + 255) / 256, 256>>>(in, out, n);
    for (float* p : {in, out}) cudaFree(p);
}
"""

SUM_EDITS = {
    "bound_off_by_one": {
        "line 7: `part[threadIdx.x] = i < n ? in[i] : 0.0f` becomes `part[threadIdx.x] = i <= n ? in[i] : 0.0f`",
        "line 7: `part[threadIdx.x] = i < n ? in[i] : 0.0f` becomes `part[threadIdx.x] = i < n - 1 ? in[i] : 0.0f`",
        "line 11: `k < 256` becomes `k <= 256`",
        "line 11: `k < 256` becomes `k < 256 - 1`",
        "line 11: `int k = 0;` becomes `int k = 1;`",
        "line 19: `sum<<<(n + 255) / 256, 256>>>(in, out, n)` becomes `sum<<<n / 256, 256>>>(in, out, n)`",
    },
    "drop_syncthreads": {"line 8: `__syncthreads();` removed"},
    "wrong_index": {
        "line 6: `int i = blockIdx.x * blockDim.x + threadIdx.x;` becomes `int i = threadIdx.x * blockDim.x + threadIdx.x;`",
        "line 6: `int i = blockIdx.x * blockDim.x + threadIdx.x;` becomes `int i = blockIdx.x + threadIdx.x;`",
        "line 6: `int i = blockIdx.x * blockDim.x + threadIdx.x;` becomes `int i = blockIdx.x * blockDim.x;`",
        "line 6: `int i = blockIdx.x * blockDim.x + threadIdx.x;` becomes `int i = threadIdx.x * blockDim.x + blockIdx.x;`",
        "line 6: `int i = blockIdx.x * blockDim.x + threadIdx.x;` becomes `int i = blockIdx.x * blockDim.x + blockIdx.x;`",
        "line 7: `part[threadIdx.x] = i < n ? in[i] : 0.0f` becomes `part[blockIdx.x] = i < n ? in[i] : 0.0f`",
    },
    "wrong_launch_size": {
        "line 19: `sum<<<(n + 255) / 256, 256>>>(in, out, n)` becomes `sum<<<256, (n + 255) / 256>>>(in, out, n)`",
        "line 19: `sum<<<(n + 255) / 256, 256>>>(in, out, n)` becomes `sum<<<(n + 255) / 256, 128>>>(in, out, n)`",
        "line 19: `sum<<<(n + 255) / 256, 256>>>(in, out, n)` becomes `sum<<<(n + 255) / 256, 512>>>(in, out, n)`",
        "line 19: `sum<<<(n + 255) / 256, 256>>>(in, out, n)` becomes `sum<<<(n + 255) / 256 - 1, 256>>>(in, out, n)`",
    },
    "swapped_dims": set(),
    "wrong_operator": {
        "line 6: `int i = blockIdx.x * blockDim.x + threadIdx.x;` becomes "
        "`int i = blockIdx.x * blockDim.x - threadIdx.x;`",
        "line 11: `total += part[k]` becomes `total -= part[k]`",
    },
    "drop_boundary_check": {"line 7: `part[threadIdx.x] = i < n ? in[i] : 0.0f` becomes `part[threadIdx.x] = in[i]`"},
    "wrong_initial_value": {
        "line 7: `part[threadIdx.x] = i < n ? in[i] : 0.0f` becomes `part[threadIdx.x] = i < n ? in[i] : 1.0f`",
        "line 9: `float total = 0.0f;` becomes `float total = 1.0f;`",
    },
    "atomic_to_plain": {"line 12: `atomicAdd(out, total)` becomes `*out += total`"},
    "wrong_shuffle_distance": set(),
    "dropped_memcpy_or_memset": {
        "line 17: `CHECK(cudaMemset(out, 0, sizeof(float)));` removed",
        "line 18: `CHECK(cudaMemcpy(in, host, n * sizeof(float), cudaMemcpyHostToDevice));` removed",
    },
    "wrong_memcpy_size_or_direction": {
        "line 17: `CHECK(cudaMemset(out, 0, sizeof(float)))` becomes `CHECK(cudaMemset(out, 0, sizeof(float) / 2))`",
        "line 18: `CHECK(cudaMemcpy(in, host, n * sizeof(float), cudaMemcpyHostToDevice))` becomes "
        "`CHECK(cudaMemcpy(in, host, n, cudaMemcpyHostToDevice))`",
        "line 18: `CHECK(cudaMemcpy(in, host, n * sizeof(float), cudaMemcpyHostToDevice))` becomes "
        "`CHECK(cudaMemcpy(in, host, n * sizeof(float) / 2, cudaMemcpyHostToDevice))`",
        "line 18: `CHECK(cudaMemcpy(in, host, n * sizeof(float), cudaMemcpyHostToDevice))` becomes "
        "`CHECK(cudaMemcpy(in, host, n * sizeof(float), cudaMemcpyDeviceToHost))`",
    },
}


def descriptions(source: str, operator: str) -> set[str]:
    return {mutant.description for mutant in make_mutants(source, per_operator=100) if mutant.operator == operator}


@cache
def mutants_of(path: Path) -> list[Mutant]:
    """Of a bundled program, for all tests of a session."""
    return make_mutants(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("operator", OPERATORS)
def test_all_edits_of_a_small_program(operator):
    assert descriptions(SUM, operator) == SUM_EDITS[operator]


def test_a_loop_may_lack_its_step():
    source = "__global__ void k(int* a, int n) { for (int i = 0; i < n;) { a[i] = 0; i += 2; } }"
    assert descriptions(source, "bound_off_by_one") == {"line 1: `i < n` becomes `i <= n`"}


def test_source_is_the_original_with_the_edit():
    mutants = {mutant.description: mutant.source for mutant in make_mutants(SUM, per_operator=100)}
    assert mutants[
        "line 19: `sum<<<(n + 255) / 256, 256>>>(in, out, n)` becomes `sum<<<n / 256, 256>>>(in, out, n)`"
    ] == SUM.replace("(n + 255) / 256", "n / 256")
    # The comment behind the statement is not code and stays.
    assert mutants["line 8: `__syncthreads();` removed"] == SUM.replace("__syncthreads();", "")
    without = SUM.replace("    CHECK(cudaMemset(out, 0, sizeof(float)));\n", "")
    assert mutants["line 17: `CHECK(cudaMemset(out, 0, sizeof(float)));` removed"] == without


@pytest.mark.parametrize(
    ("operator", "code", "expected"),
    [
        # A loop that halves its variable must not get a condition that never fails.
        ("bound_off_by_one", "for (int d = n; d > 0; d /= 2) a[d] = 1;", {"`d > 0` becomes `d > 1`"}),
        ("bound_off_by_one", "for (int d = 1; d <= n; d *= 2) a[d] = 1;", {"`d <= n` becomes `d < n`"}),
        ("bound_off_by_one", "for (int d = 1; d < 32; d <<= 1) a[d] = 1;", {"`d < 32` becomes `d < 32 / 2`"}),
        ("bound_off_by_one", "for (int k = 0; k < n; k += TILE) f(k);", {"`k < n` becomes `k + TILE <= n`"}),
        ("bound_off_by_one", "a[0] = a[n - 1];", {"`a[0] = a[n - 1]` becomes `a[0] = a[n]`"}),
        ("bound_off_by_one", "b = min(i, n - 1);", {"`b = min(i, n - 1)` becomes `b = min(i, n)`"}),
        ("bound_off_by_one", "v = static_cast<float>(n) > 0.5f ? 1.0f : 0.0f;", set()),
        ("bound_off_by_one", "if (a[i] > b[i]) c = std::max<int>(1, 2);", set()),
        ("drop_boundary_check", "int i = threadIdx.x; if (i >= n) return;", {"`if (i >= n) return;` removed"}),
        ("drop_boundary_check", "int i = threadIdx.x; if (i < n) a[i] = 0; else a[0] = 1;", set()),
        (
            "drop_boundary_check",
            "int i = threadIdx.x, j = threadIdx.y; if (i < n && j < m) { a[i] = 0; }",
            {
                "`i < n && j < m` becomes `i < n`",
                "`i < n && j < m` becomes `j < m`",
                "`if (i < n && j < m) { a[i] = 0; }` becomes `{ a[i] = 0; }`",
            },
        ),
        ("drop_syncthreads", "if (x) __syncthreads();", {"`__syncthreads();` becomes `;`"}),
        (
            "drop_syncthreads",
            "cg::sync(block); g.sync(); __syncwarp(m); x.sync;",
            {"`cg::sync(block);` removed", "`g.sync();` removed", "`__syncwarp(m);` removed"},
        ),
        ("drop_syncthreads", "n = __syncthreads_count(p);", set()),
        (
            "wrong_index",
            "__shared__ int t[8][9], u[8]; v = t[i][j] + u[i + 1];",
            {
                "`v = t[i][j] + u[i + 1]` becomes `v = t[j][i] + u[i + 1]`",
                "`v = t[i][j] + u[i + 1]` becomes `v = t[i][j] + u[i - 1]`",
            },
        ),
        (
            "wrong_index",
            "int row = threadIdx.y, col = threadIdx.x; a[row * n + col] = 0;",
            {
                "`a[row * n + col] = 0` becomes `a[col * n + row] = 0`",
                "`int row = threadIdx.y, col = threadIdx.x;` becomes `int row = threadIdx.x, col = threadIdx.x;`",
                "`int row = threadIdx.y, col = threadIdx.x;` becomes `int row = threadIdx.y, col = threadIdx.y;`",
            },
        ),
        (
            "wrong_index",
            "int w = threadIdx.x / 32;",
            {
                "`int w = threadIdx.x / 32;` becomes `int w = threadIdx.x % 32;`",
                "`int w = threadIdx.x / 32;` becomes `int w = blockIdx.x / 32;`",
            },
        ),
        (
            "wrong_index",
            "size_t i = size_t(blockIdx.x) * 64 + k;",
            {
                "`size_t i = size_t(blockIdx.x) * 64 + k;` becomes `size_t i = size_t(threadIdx.x) * 64 + k;`",
                "`size_t i = size_t(blockIdx.x) * 64 + k;` becomes `size_t i = size_t(blockIdx.x) + k;`",
            },
        ),
        (
            # `rows` has a partner that is not declared, the running variables have each other.
            "swapped_dims",
            "int row = 1, col = 2; a[row] = b[col * rows];",
            {
                "`a[row] = b[col * rows]` becomes `a[col] = b[col * rows]`",
                "`a[row] = b[col * rows]` becomes `a[row] = b[row * rows]`",
            },
        ),
        ("swapped_dims", "int rows = 1, cols = 2; a[0] = rows;", {"`a[0] = rows` becomes `a[0] = cols`"}),
        # The name is known in its block only.
        ("swapped_dims", "{ int rows = 1; } int cols = 2; a[0] = cols;", set()),
        ("wrong_operator", "m = fmaxf(m, a[0]);", {"`m = fmaxf(m, a[0])` becomes `m = fminf(m, a[0])`"}),
        ("wrong_operator", "v = (float)-x; const float* p = &y; f(*p);", set()),
        ("wrong_operator", "constexpr int W = 2 + 3; static_assert(W - 1);", set()),
        (
            "wrong_initial_value",
            "float m = -INFINITY; m = fmaxf(m, x);",
            {"`float m = -INFINITY;` becomes `float m = 0.0f;`"},
        ),
        ("atomic_to_plain", "atomicMax(&top, v);", {"`atomicMax(&top, v)` becomes `top = max(top, v)`"}),
        ("atomic_to_plain", "int at = atomicAdd(&count, 1);", set()),
        (
            "wrong_shuffle_distance",
            "v += __shfl_down_sync(~0u, v, 16);",
            {
                "`v += __shfl_down_sync(~0u, v, 16)` becomes `v += __shfl_up_sync(~0u, v, 16)`",
                "`v += __shfl_down_sync(~0u, v, 16)` becomes `v += __shfl_down_sync(~0u, v, 8)`",
            },
        ),
    ],
)
def test_edits_of_a_kernel_body(operator, code, expected):
    found = descriptions(f"__global__ void k(float* a, int n) {{ {code} }}", operator)
    assert found == {f"line 1: {edit}" for edit in expected}


@pytest.mark.parametrize(
    ("operator", "code", "expected"),
    [
        (
            "wrong_launch_size",
            "k<<<g, B, bytes>>>(1);",
            {
                "`k<<<g, B, bytes>>>(1)` becomes `k<<<g, B, 0>>>(1)`",
                "`k<<<g, B, bytes>>>(1)` becomes `k<<<B, g, bytes>>>(1)`",
                "`k<<<g, B, bytes>>>(1)` becomes `k<<<g, B / 2, bytes>>>(1)`",
                "`k<<<g, B, bytes>>>(1)` becomes `k<<<g, B * 2, bytes>>>(1)`",
                "`k<<<g, B, bytes>>>(1)` becomes `k<<<g - 1, B, bytes>>>(1)`",
            },
        ),
        (
            "wrong_launch_size",
            "cudaLaunchCooperativeKernel((void*)k, g, B, args, 0, 0);",
            {
                "`cudaLaunchCooperativeKernel((void*)k, g, B, args, 0, 0)` becomes `cudaLaunchCooperativeKernel((void*)k, B, g, args, 0, 0)`",
                "`cudaLaunchCooperativeKernel((void*)k, g, B, args, 0, 0)` becomes `cudaLaunchCooperativeKernel((void*)k, g, B / 2, args, 0, 0)`",
                "`cudaLaunchCooperativeKernel((void*)k, g, B, args, 0, 0)` becomes `cudaLaunchCooperativeKernel((void*)k, g, B * 2, args, 0, 0)`",
                "`cudaLaunchCooperativeKernel((void*)k, g, B, args, 0, 0)` becomes `cudaLaunchCooperativeKernel((void*)k, g - 1, B, args, 0, 0)`",
            },
        ),
        (
            "swapped_dims",
            "dim3 block(16, 8); k<<<g, block>>>(1);",
            {"`dim3 block(16, 8);` becomes `dim3 block(8, 16);`"},
        ),
        ("swapped_dims", "dim3 block(16, 16); k<<<g, block>>>(1);", set()),
        (
            "swapped_dims",
            "two<<<1, 1>>>(p, rows, cols);",
            {"`two<<<1, 1>>>(p, rows, cols)` becomes `two<<<1, 1>>>(p, cols, rows)`"},
        ),
        ("bound_off_by_one", "int b = (n - 1) / B + 1;", {"`int b = (n - 1) / B + 1;` becomes `int b = n / B;`"}),
        (
            "bound_off_by_one",
            "int b = (n + m + B - 1) / B;",
            {"`int b = (n + m + B - 1) / B;` becomes `int b = (n + m) / B;`"},
        ),
        ("bound_off_by_one", "int b = (n + 2 * p - k) / s; if (i < n) f();", set()),
        (
            "dropped_memcpy_or_memset",
            "if (cudaMemcpy(a, b, n, d) != cudaSuccess) return 1;",
            {"`cudaMemcpy(a, b, n, d) != cudaSuccess` becomes `cudaSuccess != cudaSuccess`"},
        ),
        (
            "dropped_memcpy_or_memset",
            'check(cudaMemcpy(a, b, n, d), "copy");',
            {'`check(cudaMemcpy(a, b, n, d), "copy");` removed'},
        ),
        (
            "wrong_launch_size",
            "k<<<1'000, 1>>>(1);",
            {
                "`k<<<1'000, 1>>>(1)` becomes `k<<<1, 1'000>>>(1)`",
                "`k<<<1'000, 1>>>(1)` becomes `k<<<1'000 - 1, 1>>>(1)`",
            },
        ),
        # A comment inside the call would go with it.
        ("dropped_memcpy_or_memset", "cudaMemcpy(a, b, /* bytes */ n, d);", set()),
    ],
)
def test_edits_of_host_code(operator, code, expected):
    source = f"__global__ void k(int x) {{}} __global__ void two(int* p, int r, int c) {{}} void f() {{ {code} }}"
    assert descriptions(source, operator) == {f"line 1: {edit}" for edit in expected}


def test_grids_that_any_kernel_with_a_stride_bears_are_left_alone():
    source = """__global__ void k(float* a, int n) {
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) a[i] = 0;
    }
    void f() { k<<<64, 256>>>(a, n); }"""
    assert descriptions(source, "wrong_launch_size") == {
        "line 4: `k<<<64, 256>>>(a, n)` becomes `k<<<256, 64>>>(a, n)`"
    }


@pytest.mark.parametrize(
    ("before", "head", "expected"),
    [
        ("__global__ void other(int rows) {}", "", set()),
        ("template <int rows> __global__ void other() {}", "", set()),
        ("", "template <int rows>", {"line 1: `a[0] = cols` becomes `a[0] = rows`"}),
        ("constexpr int rows = 3;", "", {"line 1: `a[0] = cols` becomes `a[0] = rows`"}),
        ("namespace n { __device__ int rows; }", "", {"line 1: `a[0] = cols` becomes `a[0] = rows`"}),
        ("struct s { int rows; };", "", set()),
    ],
)
def test_names_of_other_functions_are_not_known(before, head, expected):
    source = f"{before} {head} __global__ void k(int* a, int cols) {{ a[0] = cols; }}"
    assert descriptions(source, "swapped_dims") == expected


def test_fenced_answers_and_cuda_in_python_strings():
    answer = f"The bound is `i < n`.\n```cuda\n{SUM}```\nNote that i < n."
    assert {m.operator for m in make_mutants(answer)} == {m.operator for m in make_mutants(SUM)}
    for mutant in make_mutants(answer):
        assert mutant.source.startswith("The bound is `i < n`.\n```cuda\n")
        assert mutant.source.endswith("```\nNote that i < n.")
    python = f"import torch\nsource = r'''{SUM}'''\nif i < n: pass\n"
    for mutant in make_mutants(python):
        assert mutant.source.endswith("'''\nif i < n: pass\n")
    assert make_mutants(python)


def test_text_without_code_has_no_mutants():
    deep = "(1 + " * 20_000 + "1" + ")" * 20_000  # no compiler takes it
    assert make_mutants(f"__global__ void k(int* a) {{ a[0] = {deep}; }}") == []
    assert make_mutants("for (int i = 0; i < n; ++i) is a loop.") == []
    assert make_mutants("") == []


def test_per_operator():
    counts = [len(make_mutants(SUM, per_operator=count)) for count in (1, 2, 100)]
    assert counts == [10, 17, sum(len(edits) for edits in SUM_EDITS.values())]
    with pytest.raises(ValueError, match="per_operator=0: at least 1"):
        make_mutants(SUM, per_operator=0)


def test_operators_take_turns():
    operators = [mutant.operator for mutant in make_mutants(SUM)]
    with_places = [name for name in OPERATORS if SUM_EDITS[name]]
    assert operators[: len(with_places)] == with_places


def test_seed_decides_and_nothing_else():
    assert make_mutants(SUM, per_operator=1, seed=1) == make_mutants(SUM, per_operator=1, seed=1)
    assert all(mutants_of(path) == make_mutants(path.read_text(encoding="utf-8")) for path in KERNELS[::60])
    assert len({tuple(make_mutants(SUM, per_operator=1, seed=seed)) for seed in range(8)}) > 1


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.parent.name, marks=[pytest.mark.slow] if number % 3 else [])
        for number, path in enumerate(KERNELS)
    ],
)
def test_mutants_of_a_bundled_program(path):
    source, mutants = path.read_text(encoding="utf-8"), mutants_of(path)
    assert len(mutants) >= 5
    assert len({mutant.operator for mutant in mutants}) >= 4
    if re.search(r"__sync(?:threads|warp)\(|\.sync\(\)", COMMENT.sub("", source)):
        assert "drop_syncthreads" in {mutant.operator for mutant in mutants}

    squeezed = {re.sub(r"\s", "", COMMENT.sub("", one)) for one in (source, *(mutant.source for mutant in mutants))}
    assert len(squeezed) == len(mutants) + 1, "a mutant equals the program or another mutant"
    for mutant in mutants:
        check_single_edit_of_code(source, mutant)


def check_single_edit_of_code(source: str, mutant) -> None:
    changed = mutant.source
    start = next(at for at in range(len(source)) if changed[at : at + 1] != source[at])
    end = 0
    while end < min(len(source), len(changed)) - start and source[-1 - end] == changed[-1 - end]:
        end += 1
    removed = source[start : len(source) - end]
    assert len(removed) <= 250, mutant.description
    # Where lines repeat, the same change can be read one line later than it was made.
    assert 0 <= source.count("\n", 0, start) + 1 - mutant.line <= 2, mutant.description
    assert mutant.description.startswith(f"line {mutant.line}: `")
    assert COMMENT.findall(LITERAL.sub("", changed)) == COMMENT.findall(LITERAL.sub("", source))
    assert DIRECTIVE.findall(changed) == DIRECTIVE.findall(source)
    literals = LITERAL.findall(source)
    for literal in LITERAL.findall(changed):
        literals.remove(literal)  # none is new
    if literals:
        assert mutant.operator == "dropped_memcpy_or_memset", mutant.description


def test_each_operator_finds_places_in_the_bundled_programs():
    programs = [mutants_of(path) for path in KERNELS[::3]]
    for operator in OPERATORS:
        having = sum(any(mutant.operator == operator for mutant in mutants) for mutants in programs)
        assert having >= (len(programs) // 4 if operator in NAMED else 1), operator


WORDS = r"""__global__ void k( ) { } [ ] < > <<< >>> ; , . -> :: = == += <= >= && || ? : + - * / % 0 1 256 i n x
threadIdx.x blockIdx.x blockDim.x dim3 for if while return __shared__ float int __syncthreads ( sync atomicAdd cudaMemcpy
cudaMemset __shfl_down_sync min max static_cast sizeof rows cols " ' // /* */ # \ ``` '''"""
PIECES = st.sampled_from([*WORDS.split(), "\n"])


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=80).map(" ".join) | st.text(max_size=80))
@example('threadIdx.x / "')
def test_any_text_gives_mutants_or_none(text):
    for source in (text, f"__global__ void k(int n) {{ {text} }}", f"k<<<{text}>>>({text}); {text}"):
        for mutant in make_mutants(source, per_operator=3):
            assert mutant.source != source
            assert 1 <= mutant.line <= source.count("\n") + 1


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(KERNELS), st.data())
def test_cut_off_programs(path, data):
    source = path.read_text(encoding="utf-8")
    cut = source[: data.draw(st.integers(0, len(source)))]
    for mutant in make_mutants(cut):
        assert mutant.source != cut


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.parent.name, marks=[pytest.mark.slow] if number else [])
        for number, path in enumerate(KERNELS[5 :: len(KERNELS) // 12])
    ],
)
def test_mutants_compile(path, tmp_path):
    """They are errors that a compiler does not see. Each has a namespace of its own, so that nvcc reads all of a program at once."""
    programs = [mutant.source for mutant in mutants_of(path)]
    includes = {line for program in programs for line in program.splitlines() if line.startswith("#include")}
    spaces = [f"namespace n{number} {{\n{program}\n}}\n" for number, program in enumerate(programs)]
    code = "".join(line for line in "".join(spaces).splitlines(keepends=True) if not line.startswith("#include"))
    (tmp_path / "all.cu").write_text("\n".join(sorted(includes)) + "\n" + code, encoding="utf-8")
    command = ["nvcc", "-std=c++17", "-arch=sm_90", "-Xcicc", "-O0", "-ptx", "all.cu", "-o", "all.ptx"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
