"""A kernel's subtrees and a program's tokens stay the same under changes that leave its computation, and only under those."""

from pathlib import Path

import pytest
import yaml

from cuset_stage.cuda_source import Source, excerpts, kernel_features, normalised, tokens


CASES = yaml.safe_load(Path(__file__).with_name("cases.yaml").read_text(encoding="utf-8"))
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


@pytest.mark.parametrize(("old", "new"), CASES["same"].values(), ids=CASES["same"])
def test_a_change_that_means_nothing_changes_nothing(old, new):
    assert old in KERNEL and features(KERNEL.replace(old, new)) == features(KERNEL)


def test_a_guard_around_the_rest_is_the_early_return():
    before, rest = KERNEL.split("if (i >= n) return;")
    early, around = "if (i >= n || n < 1) return;" + rest, "if (i < n && n >= 1) {" + rest + "}"
    assert features(before + early) == features(before + around)


@pytest.mark.parametrize(("old", "new"), CASES["other"].values(), ids=CASES["other"])
def test_another_computation_has_other_subtrees(old, new):
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


def test_the_field_of_a_product_is_one_factor():
    code = "__global__ void k(complex* x, float* y, float s) {{ y[0] = {}; }}"
    assert features(code.format("s * (x[0] * x[1]).re")) == features(code.format("(x[1] * x[0]).re * s"))
    assert features(code.format("s * (x[0] * x[1]).re")) != features(code.format("s * x[0] * x[1]"))


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
    kept = ("#include <cstdio>", "SIZE 8", "using real", "{ real x, y; };", "table[SIZE];", "template <int N>")
    assert all(text in first for text in kept)
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


# ---- tokens


def test_tokens_have_kinds_and_places():
    code = 'x+=1.5e-3f; // no\n/* no */ k<<<2, 3>>>(u8"a\\"b", \'c\', R"t()"; )t"); a->b::c'
    found = tokens(code)
    texts = """x|+=|1.5e-3f|;|k|<<<|2|,|3|>>>|(|u8"a\\"b"|,|'c'|,|R"t()"; )t"|)|;|a|->|b|::|c"""
    assert [token.text for token in found] == texts.split("|")
    kinds = [found[at].kind for at in (0, 1, 2, 5, 11, 13, 15)]
    assert kinds == ["word", "sign", "number", "launch", "string", "char", "string"]
    assert all(code.startswith(token.text, token.start) for token in found)


SUM = "__global__ void sum(const float* x, int n) { int i = threadIdx.x; atomicAdd(&x[i], sqrtf(n)); }"


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("__global__ void total(const float* in, int count) {\n  // each\n  int at1 = threadIdx.x; atomicAdd(&in[at1], sqrtf(count));\n}", True),
        (SUM.replace("sqrtf", "rsqrtf"), False),
        (SUM.replace("threadIdx.x", "threadIdx.y"), False),
        (SUM.replace("[i]", "[n]"), False),
        (SUM.replace("float", "double"), False),
    ],
)  # fmt: skip
def test_names_comments_and_layout_are_not_compared(other, same):
    assert (normalised(SUM) == normalised(other)) is same


def test_names_of_libraries_stay():
    code = "cg::plus<T>() + mine::plus(v.x, v.mine, F.relu, nn.Linear)"
    expected = "cg :: plus < v0 > ( ) + v1 :: v2 ( v3 . x , v3 . v1 , F . relu , nn . Linear )"
    assert normalised(code) == expected
