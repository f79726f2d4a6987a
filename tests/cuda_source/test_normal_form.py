"""A kernel's subtrees stay the same under changes that leave its computation, and only under those."""

import pytest

from cuset_stage.cuda_source import Source, excerpts, kernel_features


KERNEL = """__device__ float twice(float v) { return v * 2.0f; }
__global__ void k(const float* x, float* y, int n) {
    __shared__ float part[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f, least = x[i];
    for (int j = 0; j < 8; ++j) sum += expf(x[i * 8 + j]) - least;
    part[threadIdx.x] = sum;
    __syncthreads();
    y[i] = twice(part[0]) / (sum + 1e-6f);
}
"""


def features(code: str) -> frozenset[str]:
    source = Source(code)
    return kernel_features(source, next(each for each in source.functions if each.is_kernel))


SAME = {
    "names": ("sum", "total"),
    "helper's name": ("twice", "by_two"),
    "a constant": ("1e-6f", "EPSILON"),
    "a qualifier": ("const float* x", "const float* __restrict__ x"),
    "a type": ("float sum", "double sum"),
    "launch bounds": ("__global__ void", "__global__ void __launch_bounds__(256)"),
    "a cast": ("least;", "static_cast<float>(least);"),
    "another cast": ("= sum;", "= (float)sum;"),
    "operands": ("i * 8 + j", "j + 8 * i"),
    "the order of threads": ("blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.x + blockDim.x * blockIdx.x"),
    "a comparison": ("j < 8", "8 > j"),
    "an assignment": ("sum += expf(x[i * 8 + j]) - least", "sum = sum + (expf(x[i * 8 + j]) - least)"),
    "an increment": ("++j", "j = j + 1"),
    "a loop": (
        "for (int j = 0; j < 8; ++j) sum += expf(x[i * 8 + j]) - least;",
        "int j = 0; while (j < 8) { sum += expf(x[i * 8 + j]) - least; j++; }",
    ),
    "a pointer": ("y[i] =", "*(y + i) ="),
    "a guard": ("if (i >= n) return;", "if (n <= i) { return; }"),
    "statements": ("float sum = 0.0f, least = x[i];", "float least = x[i]; float sum = 0.0f;"),
    "a comment": ("__syncthreads();", "// wait\n    __syncthreads(); /* all */"),
    "a pragma": ("for (int j", "#pragma unroll\n    for (int j"),
}


@pytest.mark.parametrize("change", SAME)
def test_a_change_that_means_nothing_changes_nothing(change):
    old, new = SAME[change]
    assert old in KERNEL and features(KERNEL.replace(old, new)) == features(KERNEL)


OTHER = {
    "a function": ("expf", "logf"),
    "an operator": ("- least", "/ least"),
    "what is subtracted from what": ("expf(x[i * 8 + j]) - least", "least - expf(x[i * 8 + j])"),
    "an index": ("i * 8 + j", "i * 8 - j"),
    "shared memory": ("__shared__ float", "float"),
    "the helper's body": ("return v * 2.0f;", "return v * v * 2.0f;"),
}


@pytest.mark.parametrize("change", OTHER)
def test_another_computation_has_other_subtrees(change):
    old, new = OTHER[change]
    one, other = features(KERNEL), features(KERNEL.replace(old, new))
    assert old in KERNEL and one != other and len(one & other) > len(one) / 3


@pytest.mark.parametrize(
    "code",
    ["__global__ void k(", "__global__ void k() { x = " + "(" * 5000, "__global__ void k() { a" + "+a" * 5000 + "; }"],
)
def test_text_that_is_no_program_has_few_subtrees_and_is_no_error(code):
    assert all(kernel_features(Source(code), each) is not None for each in Source(code).functions)


def test_the_address_of_an_elements_field_is_not_the_elements():
    code = "struct P {{ int a; }}; __global__ void k(P* t, int i) {{ int* at = {}; *at = i; }}"
    assert features(code.format("&t[i].a")) != features(code.format("&t[i]"))


def test_an_excerpt_has_what_the_kernel_needs_and_nothing_else():
    code = (
        "#include <cstdio>\n#define SIZE 8\n#define UNUSED 9\nnamespace a {\nusing real = float;\nstruct Pair { real x, y; };\n"
        "struct Other { int z; };\n__constant__ real table[SIZE];\n}\nusing namespace a;\n"
        "__device__ real inner(Pair p) { return p.x + table[0]; }\n__device__ int never() { return 1; }\n"
        "template <int N>\n__global__ void one(real* y) { y[0] = inner({1, N}); }\n__global__ void two(int* y) { *y = SIZE; }\n"
        'void host() { one<1><<<1, 1>>>(nullptr); }\nint main() { host(); std::printf("%d", UNUSED); }\n'
    )
    (one, first), (two, second) = excerpts(Source(code))
    assert (one.name, two.name) == ("one", "two")
    for word in (
        "#include <cstdio>",
        "SIZE 8",
        "using real",
        "struct Pair { real x, y; };",
        "table[SIZE];",
        "inner(Pair p)",
        "template <int N>",
    ):
        assert word in first
    assert first.count("namespace a {") == 1 and first.index("struct Pair") < first.index("inner(Pair")
    assert not any(word in first for word in ("UNUSED", "Other", "never", "two", "host", "main"))
    assert "#define SIZE 8" in second and "struct" not in second and "inner" not in second


def test_a_kernel_behind_a_macros_use_has_what_it_needs_and_a_macro_with_a_kernel_in_it_is_none():
    code = (
        "#define SIZE 8\n#define MAKE(name) __global__ void name(float* y) { y[0] = 1; }\n__device__ float inner(float x) { return x; }\n"
        "MAKE(first)\nMAKE(second)\n__global__ void third(float* y) { y[SIZE] = inner(y[0]); }\n"
    )
    ((kernel, text),) = excerpts(Source(code))
    assert kernel.name == "third" and "#define SIZE 8\n" in text and "float inner(float x)" in text
    assert text.count("third(") == 1


def test_of_the_branches_of_a_condition_one_is_taken():
    code = "#ifdef FAST\n__device__ float f(float x) { return x; }\n#else\n__device__ float f(float x) { return -x; }\n#endif\n"
    ((_, text),) = excerpts(Source(code + "__global__ void k(float* y) { *y = f(1); }\n"))
    assert text.count("float f(") == 1
