"""The functions of a program: none is invisible, and every range is exact."""

from pathlib import Path

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cuset_stage import find_spans
from cuset_stage.cuda_source import Function, Source, answer_code


CASES = yaml.safe_load(Path(__file__).with_name("cases.yaml").read_text(encoding="utf-8"))
KERNELS = sorted((Path(__file__).parents[2] / "data" / "kernels").glob("*/kernel.cu"))
BODY = "{ a[threadIdx.x] = 1; }"


def functions(source: str) -> tuple[Function, ...]:
    return Source(source).functions


@pytest.mark.parametrize("head", CASES["heads"])
def test_a_kernel_is_found_however_it_is_written(head):
    source = f"int before() {{ return 0; }}\n{head} {BODY}\nint after() {{ return 1; }}\n"
    kernel = next(function for function in functions(source) if function.is_kernel)
    assert kernel.name == "k"
    assert source[slice(*kernel.body)] == BODY
    assert "k" in source[kernel.head : kernel.body[0]] and "before" not in source[kernel.head : kernel.body[0]]
    assert {"before", "after"} <= {function.name for function in functions(source)}


@pytest.mark.parametrize("body", CASES["bodies"])
def test_the_body_is_whole_where_the_tree_has_errors(body):
    source = f"__global__ void k(int* a) {body}\n__global__ void next(int* a) {BODY}\n"
    assert [(each.name, source[slice(*each.body)]) for each in functions(source)] == [("k", body), ("next", BODY)]


@pytest.mark.parametrize(
    ("source", "bodies"),
    [
        ("#define MAKE(T) \\\n  __global__ void k(T* a) { a[0] = 1; }\nMAKE(int)\n", ["{ a[0] = 1; }"]),
        ("__global__ void k(int* a) { if (a[0] > 1) { a[0]", ["{ if (a[0] > 1) { a[0]"]),  # cut off
        ("__global__ void k(int* a)\n#ifdef A\n{ a[0] = 1; }\n#else\n{ a[0] = 2; }\n#endif\n", ["{ a[0] = 1; }", "{ a[0] = 2; }"]),
    ],
)  # fmt: skip
def test_bodies_of_macros_of_cut_off_programs_and_of_branches(source, bodies):
    assert [source[slice(*each.body)] for each in functions(source)] == bodies


def test_a_missing_brace_does_not_hide_what_follows():
    source = f"void host() {{ if (x) {{ f(); }}\n__global__ void k(int* a) {BODY}\nint main() {{ return 0; }}"
    found = {each.name: each for each in functions(source)}
    assert found["k"].is_kernel and source[slice(*found["k"].body)] == BODY


def test_functions_and_their_parameters():
    source = """
template <int N>
__device__ __forceinline__ float4 mix(const float* __restrict__ x, std::size_t n = 3, float (&sums)[N]) { return x[n]; }
struct Adder {
    __host__ __device__ float operator()(float a, unsigned int b[]) const { return a; }
    int size() const { return 0; }
};
float Adder2::value(int) { auto twice = [=] __device__(int i) { return 2 * i; }; return twice(1); }
template <class T> const T& first(const T* a) { return *a; }
"""
    found = [(each.name, each.is_kernel, each.is_device, each.parameters) for each in functions(source)]
    assert found == [
        ("mix", False, True, (("float *", "x"), ("size_t", "n"), ("float &", "sums"))),
        ("operator()", False, True, (("float", "a"), ("unsigned int *", "b"))),
        ("size", False, False, ()),
        ("value", False, False, ()),
        ("", False, True, ()),
        ("first", False, False, (("T *", "a"),)),
    ]
    assert source.startswith("template <int N>", functions(source)[0].head)
    assert source.startswith("template <class T>", functions(source)[-1].head)


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.parent.name)
def test_bundled_programs(path):
    source = path.read_text(encoding="utf-8")
    found = Source(source).functions
    bodies = [each.body for each in found if each.is_kernel]
    assert bodies == [(span.start, span.end) for span in find_spans(source, ["kernel_body"])]
    assert {"main"} <= {each.name for each in found}
    for each in found:
        assert each.name.isidentifier() or each.name.startswith(("operator", "~")) or not each.parameters
        assert source[slice(*each.body)].startswith(("{", "try ")) and source[slice(*each.body)].endswith("}")
        assert each.name in source[each.head : each.body[0]] and source[each.head] not in " \n};"


def test_code_keeps_its_length_and_loses_what_is_no_code():
    source = '#define A(x) \\\n  f(x)\nint s = 1; // "ä"\nf("x", \'c\'); /* 漢 */ g();\n'
    code = Source(source).code
    assert len(code) == len(source) and code.split() == ["int", "s", "=", "1;", "f(", ",", ");", "g();"]


def test_answer_code():
    kernel = f"__global__ void k(int* a) {BODY}\n"
    blocks = f"```cuda\n{kernel}```\nNote that i < n.\n```cpp\nk<<<1, 2>>>(a);\n```\n"
    answer = f"The `__global__` kernel `a<<<b`:\n{blocks}"
    code = answer_code(answer)
    assert len(code) == len(answer) and code.split() == f"{kernel} k<<<1, 2>>>(a);".split()
    assert answer_code("for (;;) {}").strip() == "" and answer_code(kernel) == kernel


SIGNS = """__global__ __device__ void k ( ) { } [ ] < > ; , = #if // /* */ " ' template struct ä 漢"""
PIECES = st.sampled_from([*SIGNS.split(), "#else\n", "#endif\n", "#define\\\n", "\n"])


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=60).map(" ".join) | st.text(max_size=60))
@example("\ud800 __global__ void k() {")
@example("__global__ void () {}\0")
def test_any_text_is_read(text):
    for each in Source(text).functions:
        assert 0 <= each.head <= each.body[0] < each.body[1] <= len(text)
    assert len(answer_code(text)) == len(text)


@pytest.mark.parametrize(
    "head", ["k" + "(" * 20_000 + ")" * 20_000, "k" * 40_000 + "()", "k" + "<" * 40_000 + "()", "(" * 40_000]
)
def test_strange_heads_take_no_longer_than_long_ones(head):
    assert len(functions(f"__global__ void {head} {{ }}")) <= 1


def test_a_long_program_is_read_once_through():
    names = [f"k{i}" for i in range(2000)]
    source = "".join(f"__global__ void {name}(float* a) {{ if (a[0] > 0) {{ a[0] = 1; }} }}\n" for name in names)
    assert [each.name for each in functions(source)] == names
