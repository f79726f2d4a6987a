"""What holds for every text: nothing raises, spans are sane, time is bounded, cuts and prose change nothing else."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
import tree_sitter_cuda
from growth import grows_linearly
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tree_sitter import Language, Query, QueryCursor

from cuset_stage.cuda_source import answer_code
from cuset_stage.cuda_source.source import parse_tree
from cuset_stage.spans import DEFAULT_KINDS, KINDS, find_spans


CODE = """#include <cstdio>
#define CHECK(x) do { if ((x) != 0) { abort(); } } while (0)

template <typename T, int N>
__global__ void __launch_bounds__(N) reduce(const T *__restrict__ in, T *out, int n) {
    __shared__ T s[N];  // one '{' for each thread
    T sum = 0;
    for (int i = blockIdx.x * N + threadIdx.x; i < n; i += gridDim.x * N) { sum += in[i]; }
#pragma unroll
    for (int o = 16; o > 0; o >>= 1) sum += __shfl_down_sync(0xffffffff, sum, o);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) { printf("}%c", '}'); atomicAdd(out, s[0]); }
}

__global__ void fill(float *x, float v) { x[threadIdx.x] = v; }

void run(float *in, float *out, int n, cudaStream_t stream) {
    dim3 grid((n + 255) / 256);
    fill<<<1, 32>>>(out, 0.f);
    reduce<float, 256><<<grid, 256, (n >> 4) * sizeof(float), stream>>>(in, out, n);
    CHECK(cudaGetLastError());
}
"""
PIECES = [
    "__global__ void k(", ") {", "}", "{", "(", ")", "<<<", ">>>", "k<<<1, 2>>>(x);", "```", "```cuda\n", "~~~", "\n", "\r\n",
    " ", "'", '"', '"""', "'''", 'R"x(', ')x"', "/*", "*/", "//", "\\", "#if A\n", "#else\n", "#endif\n", "#define K \\\n",
    "#define K __global__ void\n", "K", "<think>", "</think>", "<|im_end|>", "import torch\n", 's = f"""', "RAFT_KERNEL",
    "__attribute__((global))", "__device__", "__shared__", "dim3", "atomicAdd(", "threadIdx.x", "é", "\0", "\ud800", ";", "`", "> ",
    "<< <", ">> >", "{{ x }}", "${x}", "{% if x %}", "{% endif %}\n", "<%= x %>", "% if x:\n", "P<Q<", "#undef ", "GPU_KERNEL", "case ",
    "@triton.jit\n", "def k(x):\n", "    f(x)\n", "k[grid](x)\n", "triton.jit(k)", "[", "]", ":", "\t", "#", "```python\n", "lambda", "->",
    "import triton\n",
]  # fmt: skip
ALL = tuple(KINDS)
anything = st.text() | st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


def check(text: str, found) -> None:
    assert found == sorted(found)
    assert all(0 <= start < end <= len(text) for start, end, _ in found)
    for kind in {span.kind for span in found}:
        same = [span for span in found if span.kind == kind]
        assert all(one.end <= two.start for one, two in pairwise(same))


@settings(max_examples=600, deadline=None)
@given(anything | st.builds(lambda at, text: CODE[:at] + text + CODE[at:], st.integers(0, len(CODE)), anything))
@example("__global__ void k() {\ud800\0é")
def test_no_text_raises(text):
    for kinds, language in ((DEFAULT_KINDS, "cuda"), (ALL, "cuda"), (ALL, "triton"), (ALL, "auto")):
        check(text, find_spans(text, kinds, language=language))


@pytest.mark.parametrize("head", ["", "Text.\n\n```cuda\n", 'import torch\ns = r"""'])
def test_every_cut_has_the_spans_of_the_whole_up_to_it(head):
    whole = find_spans(head + CODE)
    assert len(whole) == 4
    for cut in range(len(head), len(head + CODE) + 1):
        text = (head + CODE)[:cut]
        expected = [(start, min(end, cut)) for start, end, _ in whole if start < cut]
        if expected and text[expected[-1][0] :] in ("<", "<<"):
            expected.pop()  # not yet a launch
        assert [(start, end) for start, end, _ in find_spans(text)] == expected, cut


prose = st.text(st.characters(exclude_characters="`~<[◁|", exclude_categories=["Cs"]), max_size=60)


@settings(max_examples=200, deadline=None)
@given(prose, prose)
@example("Here's __global__ { and it's k", "don't {")
def test_prose_around_a_fenced_block_changes_nothing(before, after):
    block = f"```cuda\n{CODE}```\n"
    text = f"{before}\n{block}{after}"
    shift = len(before) + 1
    assert [(a - shift, b - shift) for a, b, _ in find_spans(text)] == [(a, b) for a, b, _ in find_spans(block)]


@pytest.mark.parametrize("quarter", [0, *(pytest.param(quarter, marks=pytest.mark.slow) for quarter in (1, 2, 3))])
def test_the_lexer_finds_what_tree_sitter_finds(quarter):
    """The bundled programs: a parser with a grammar, which knows nothing of the lexer, gives the same spans."""
    rows = json.loads((Path(__file__).parents[2] / "data" / "cuset_kernels.json").read_text(encoding="utf-8"))
    query = Query(
        Language(tree_sitter_cuda.language()),
        """(function_definition "__global__" body: (_) @kernel_body)
           (kernel_call_syntax) @launch_config""",
    )
    for output in sorted({row["output"] for row in rows})[quarter::4]:
        found = QueryCursor(query).captures(parse_tree(answer_code(output)))
        expected = {(node.start_byte, node.end_byte, kind) for kind, nodes in found.items() for node in nodes}
        assert expected and set(find_spans(output)) == expected


UNITS = [
    "<", "{", "(", "`", "'", '"', "/*", "//", "\\", "[", "}", ">", "<<<", "a<<<", "a<<<1>>>(", "```\n", "```cuda\n", "~~~\n",
    "__global__ ", "__global__ void k(", "__global__ void k() {", "__global__ void k() {\n#if A\n", "#if A\n", "#else\n",
    "#if A\n__global__ void k() {\n#else\n", "#define A \\\n", "#define A __global__\n", "<think>\n", "</think>", 'R"x(', '"""',
    "\0", "\ud800", "é", "\r", "\n", " ", "__device__ int f() {", "extern ", "__shared__ ", "dim3 a", "atomicAdd(", "word ",
    "don't ", "- ", "> ", "1'", "cat << A\n", "``` ", "```cpp ", "a<think> ", "# ", "; {", 'x = """', "x = ''.format(", 'f<1', "dim3 a(", "{{[(", "\n}\n", "<|im_end|>", 'f"{',
    "< ", "> ", "a<<<P<", "{{", "{{ x }}", "${", "{%", "<%", "% if ", "{% if x %}\n", "__global__ {x} ", "GPU_KERNEL(", "#define A <<<\n",
    "k[", ":", ";", "@triton.jit\ndef k(x):\n", "k[1](", "@triton.jit\ndef k(x):\n    x\n", "import triton\n", "lambda",
    "#define A __global__\n#define B A\n",
]  # fmt: skip
LEADS = [
    "", "```cuda\n__global__ void k() {\n", 'import torch\nx = """__global__ void k() {\n', "import triton\n@triton.jit\n__global__ void\n",
]  # fmt: skip
HARDEST = ["{", "<<<", "```cuda\n", "__global__ void k() {\n#if A\n", "<think>\n", '"""', "a<<<1>>>("]
HARDEST_TRITON = ["```python\n", "```cuda\n", "(", "[", "k[", "@triton.jit\ndef k(x):\n"]


def find_all(text: str) -> list:
    return find_spans(text, ALL, language="auto")


@pytest.mark.parametrize("unit", UNITS, ids=repr)
@pytest.mark.parametrize("lead", LEADS)
def test_any_unit_repeated_gives_sane_spans(unit, lead):
    text = lead + unit * (5_000 // len(unit))
    check(text, find_all(text))


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS, ids=repr)
@pytest.mark.parametrize("lead", LEADS)
def test_time_grows_with_the_length_and_not_with_its_square(unit, lead):
    assert grows_linearly(find_all, *(lead + unit * (size // len(unit)) for size in (25_000, 200_000)))


@pytest.mark.parametrize(
    "make",
    [
        *(lambda size, unit=unit: unit * (size // len(unit)) for unit in HARDEST),
        *(lambda size, unit=unit: LEADS[3] + unit * (size // len(unit)) for unit in HARDEST_TRITON),
        # what stands outside of blocks is read with the blocks as one long line of spaces
        lambda size: "```cpp\n" + "int x;\n" * (size // 20) + "```\nk<<<1, 2>>>(x)\n",
        # the macros that stand for `__global__` are looked for together, and 50 of a round at most
        lambda size: "".join(f"#define A{i} __global__\n" for i in range(size // 20)),
    ],
    ids=[*map(repr, HARDEST + HARDEST_TRITON), "a block without kernels", "macros by the thousand"],
)
def test_time_grows_with_the_length_for_the_hardest(make):
    assert grows_linearly(find_all, make(10_000), make(80_000))
