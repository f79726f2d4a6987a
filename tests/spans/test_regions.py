"""find_spans on code in string literals, and on what must not count; forms of an answer: tests/answers. « and » stand around what is labelled."""

import pytest
from marked_spans import check_marks

from cuset_stage.spans import find_spans


CODE = """#include <cuda_runtime.h>

// Don't count __global__ here { or k<<<1, 2>>>(x);
__global__ void scale(float *x, float s, int n) «{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { x[i] *= s; }  // it's done
}»

int main() {
    printf("scale<<<grid, block>>>()\\n");
    scale«<<<dim3(n >> 8), 256, 0, stream>>>»(x, 2.f, n);
    return 0;
}
"""


def escape(code: str) -> str:
    return code.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


LINES = "\n".join(f'    "{escape(line)}"' for line in CODE.splitlines(keepends=True))
HEAD = "import torch\nfrom torch.utils.cpp_extension import load_inline\n\n"
PLAIN = CODE.replace("\\n", "")
PYTHON = {
    "raw, triple": f'{HEAD}source = r"""\n{CODE}"""\n',
    "triple": f'{HEAD}source = """\n{PLAIN}"""\n',
    "single quotes": f"{HEAD}source = '''\n{PLAIN}'''\n",
    "argument": f'{HEAD}module = load_inline(\n    "k",\n    cuda_sources=[r"""{CODE}"""],\n)\n',
    "fenced": f'It is launched as `scale<<<g, b>>>(x)`.\n\n```python\n{HEAD}source = r"""\n{CODE}"""\n```\n',
    "fenced, not closed": f'```python\n{HEAD}source = r"""\n{CODE}',
    "labelled cpp": f'```cpp\n{HEAD}source = r"""\n{CODE}"""\n```',
    "escaped": f'{HEAD}source = "{escape(CODE)}"\n',
    "json": f'```json\n{{"code": "{escape(CODE)}"}}\n```',
    "adjacent": f"{HEAD}source = (\n{LINES}\n)\n",
    "cut": f'{HEAD}source = r"""\n{CODE[: CODE.index("x[i] *")]}»',
    "f-string": HEAD + 'source = f"""\n__global__ void {name}(int *x) «{{ if (x) {{ x[{i}] = 1; }} }}»\n"""\n',
    "format": HEAD + 'T = """\n__global__ void {name}(int *x) «{{ x[0] = {v}; }}»\n"""\ns = T.format(name="k", v=1)\n',
    "docstring and message": 'def f():\n    """Launch as\n\n    k<<<g, b>>>(x);\n    """\n    print("k<<<g, b>>>(x);")\n'
    f'# k<<<1, 2>>>(x);\n\n\ns = r"""{CODE}"""\n',
}


@pytest.mark.parametrize("text", PYTHON.values(), ids=PYTHON)
def test_cuda_in_string_literals(text):
    check_marks(text)


NVRTC = {
    "raw": 'auto s = R"(\n{})";',
    "raw, with a delimiter": 'auto s = u8R"CUDA(\n// ")" )x" \n{})CUDA";',
    "an argument": 'nvrtcCreateProgram(&p, R"({})", "k.cu", 0, 0, 0);',
    "Jitify": 'auto s =\n"my_program\\n"\n"template<int N>\\n"\n"__global__\\n"\n"void k(int *a) «{\\n" // head, open\n"}»\\n";',
    "escapes": 'auto s = "extern \\"C\\" __global__ void k() «{\\n\\\n  f(\'\\"\');\\n}»\\n";',
    "one line": 'auto s = "__global__ void k() «{ f(); }»";',
    "with a name": 'auto s = "__global__ void k(" + type + "* a) «{\\n" + std::to_string(n) + ";\\n}»";',
    "with a macro": 'auto s = "__global__ void k(" TYPE "* a) «{ f(" STR(N) "); }»";',
    "with branches": 'auto s = "__global__ void k() «{\\n"\n#if A\n"f();\\n"\n#endif\n"}»\\n";',
    "in pieces": 's += "__global__ void k() «{\\n";\ns += "}»\\n";\nint i;\nss << "__global__ void g() «{\\n";\nss << "}»\\n";',
    "lines": 'const char *s[] = {"__global__ void k() «{\\n", "// it\'s }\\n", "}»\\n"};',
    "made by a macro": "#define STRINGIFY(...) #__VA_ARGS__\nauto s = STRINGIFY({});",
    "cut": 'auto s = R"(\n__global__ void k() «{\n f();\n»',
    "a launch in it": 'auto s = R"(\n__global__ void k() «{ k«<<<1, 2>>>»(); }»)";',
    "in a kernel": '__global__ void k() «{ f("__global__ void g() { h(); }"); }»',
    "in a comment": '// "__global__ void k() { f(); }"\n/* R"(\n__global__ void k() { f(); })" */',
    "a launch alone": 'auto s = R"(\nk<<<1, 2>>>();\n// __global__\n)";',
    "a mention": 'throw error("use __global__ here");\nputs("__global__ void k(int);\\nis no { f(); }");',
}  # fmt: skip


@pytest.mark.parametrize("text", NVRTC.values(), ids=NVRTC)
@pytest.mark.parametrize("head", ["", "It is\n```cpp\n", f"{HEAD}s = r'''\n"], ids=["bare", "fenced", "in Python"])
def test_kernels_in_string_literals_of_cpp(head, text):
    host = text.replace("{}", 'extern "C" __global__ void k(int *a) «{ a[0] = 1; }»\n')
    check_marks(f'{head}#include "x.h"\n{host}')
    if not text.endswith("f();\n»"):  # cut off: what follows would be part of it
        check_marks(f'{head}#include "x.h"\n{host}\nint main() {{ k«<<<3, 4>>>»(); }}\n')


INDUCTOR = """from torch._inductor.async_compile import AsyncCompile
async_compile = AsyncCompile()
# it's for a graph
add_0 = async_compile.triton('add_0', '''
import triton
@triton_heuristics.pointwise(
    size_hints={'x': 16}, filename=__file__,
)
@triton.jit
def add_0(x, XBLOCK : tl.constexpr):
    «xnumel = 10
    tl.store(x, "a\\\\n")»
''', device_str='cuda')

def call(args):
    add_0.run(args, 10, stream=stream0)
"""
TRITON = {
    "Inductor": INDUCTOR,
    "no line before": "k = async_compile.triton('k', '''@triton.jit\ndef k(x):\n    «f(x)»\n''')\n",
    "escaped": 'source = "@triton.jit\\ndef k(x):\\n    «f(x)»\\n"\nexec(source)\n',
    "adjacent": 'source = (\n  "@triton.jit\\n"\n  "def k(x):\\n"\n  "    «f(x)»\\n"\n)\n',
    "lines": 'source = "\\n".join([\n  "@triton.jit",\n    "def k(x):",\n  "    «f(x)»",\n])\n',
    "indented": 'source = dedent("""\n    @triton.jit\n    def k(x):\n        «f(x)»\n    k«[(1,)]»(x)\n""")\n',
    "format string": 'source = f"""\n@triton.jit\ndef {name}(x):\n    «y = {{1: {v}}}»\n"""\n',
    "in a kernel": '@triton.jit\ndef k(x):\n    «y = """\n@triton.jit\ndef g(x):\n    f(x)\n"""»\n',
    "a statement behind": 'y = """\n@triton.jit\ndef g(x):\n"""\n"f(x)"\nz = "@triton.jit\\ndef k(x):\\n    «f(x)»\\n"\n',
    "a mention": 'raise ValueError("decorate it with @triton.jit\\nand call k[grid](x)")\n',
    "docstring": 'def f():\n    """Like\n    @triton.jit\n    def k(x):\n        f(x)\n    """\n',
}  # fmt: skip


@pytest.mark.parametrize("text", TRITON.values(), ids=TRITON)
@pytest.mark.parametrize("language", ["triton", "auto"])
def test_triton_in_string_literals_of_python(text, language):
    check_marks(f"import triton\n{text}", language=language)
    check_marks(f"It is\n```python\nimport triton\n{text}```\n", language=language)


NOTHING = {
    "empty": "",
    "prose": "To launch a kernel, write kernel<<<grid, block>>>(args); then mark it __global__ (it runs on the device).",
    "inline code": "Use `__global__ void k() { f(); }` and `k<<<1, 2>>>();`.",
    "host code": "```cpp\nint main() { std::cout << 1 << 2; return 0; }\n```",
    "shell": "```bash\ncat <<< word\nkernel<<<1,2>>>(x);\n```",
    "list of a book": "1. The kernel<<<g, b>>>(x) syntax\n2. The __global__ keyword\n",
}


@pytest.mark.parametrize("text", NOTHING.values(), ids=NOTHING)
def test_nothing_to_label(text):
    assert find_spans(text) == []


@pytest.mark.parametrize(
    "marker",
    ["<|im_end|>", "<|im_end|>\n", "<|eot_id|>", "</s>", "<end_of_turn>\n", "<｜end▁of▁sentence｜>", "<eod>", "[e~["],
)
@pytest.mark.parametrize("fence", ["", "```cuda\n"])
def test_no_span_reaches_into_an_end_of_turn_marker(marker, fence):
    check_marks(f"{fence}{CODE[: CODE.index('x[i] *')].rstrip()}»{marker}")
