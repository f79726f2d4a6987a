"""find_spans on every shape of answer: where the code is, and what must not count."""

import pytest

from cuset_stage.spans import find_spans


CODE = """#include <cuda_runtime.h>

// Don't count __global__ here { or k<<<1, 2>>>(x);
__global__ void scale(float *x, float s, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { x[i] *= s; }  // it's done
}

int main() {
    printf("scale<<<grid, block>>>()\\n");
    scale<<<dim3(n >> 8), 256, 0, stream>>>(x, 2.f, n);
    return 0;
}
"""
BODY = CODE[CODE.index("{\n    int i") : CODE.index("\n\nint main")]
LAUNCH = "<<<dim3(n >> 8), 256, 0, stream>>>"
BOTH = [BODY, LAUNCH]
PROSE = "Here's the kernel, launched as `scale<<<g, b>>>(x)`; it's a `__global__ void` { fast.\n\n"
INDENTED = "".join("   " + line for line in CODE.splitlines(keepends=True))


def labelled(text: str) -> list[str]:
    return [text[start:end] for start, end, _ in find_spans(text)]


WHOLE = {
    "bare": CODE,
    "bare, end of turn": f"{CODE}<|im_end|>\n",
    "fenced": f"{PROSE}```cuda\n{CODE}```\n\nDon't forget `scale<<<1, 1>>>(y);`",
    "no language": f"{PROSE}```\n{CODE}```\n",
    "cpp": f"```cpp\n{CODE}```",
    "upper case with attributes": f"```CUDA title=kernel.cu\n{CODE}```",
    "tildes": f"{PROSE}~~~cuda\n{CODE}~~~\n{PROSE}",
    "four backticks": f"````cuda\n{CODE}````\n",
    "unclosed": f"{PROSE}```cuda\n{CODE}",
    "unclosed, end of turn": f"{PROSE}```cuda\n{CODE}<|eot_id|>",
    "closed after the code": f"{PROSE}```cuda\n{CODE.rstrip()}```\n{PROSE}",
    "opened after text": f"**scale.cu**```cuda\n{CODE}```\n",
    "missing opening fence": f"{CODE}```\n\nThis launches scale<<<1, 2>>>(x).",
    "language left over": f"cuda\n{CODE}```\n",
    "in a markdown block": f"````markdown\n# Title\n```cuda\n{CODE}```\nThe kernel k<<<1, 2>>>(x); ends.\n````\n",
    "after a shell block": f"```bash\nnvcc a.cu && cat <<< b\n```\n\n```cuda\n{CODE}```\n",
    "bare beside a shell block": f"{CODE}\n\nBuild it:\n\n```bash\nnvcc -o k k.cu\n```\n",
    "bare after prose": f"{PROSE}{CODE}",
    "after reasoning": f"<think>\n```cuda\n{CODE}```\n</think>\n\n```cuda\n{CODE}```",
    "reasoning without its opening": f"First k<<<1, 2>>>(x);\n{CODE}\nOkay.\n</think>\n\n```cuda\n{CODE}```",
    "reasoning in a channel": f"<|channel|>analysis<|message|>{CODE}<|channel|>final<|message|>```cuda\n{CODE}```",
    "empty reasoning": f"<think>\n\n</think>\n\n```cuda\n{CODE}```",
    "the tag in a string": CODE.replace("return 0", 'puts("</think>"); return 0'),
    "answer tag": f"<answer>\n{CODE}</answer>",
    "here-document": f"```bash\ncat > k.cu << 'EOF'\n{CODE}EOF\nnvcc k.cu\n```",
    "notebook cell": f"```python\n%%cu\n{CODE}```",
    "mislabelled as python": f"```python\n{CODE}```",
}


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_the_code_is_found_and_nothing_else(text):
    assert labelled(text) == BOTH


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_line_ends_of_windows(text):
    assert labelled(text.replace("\n", "\r\n")) == [BODY.replace("\n", "\r\n"), LAUNCH]


def test_indented_and_quoted_fences():
    assert labelled(f"1. First:\n\n   ```cuda\n{INDENTED}   ```\n") == [BODY.replace("\n", "\n   "), LAUNCH]
    quoted = "".join("> " + line for line in f"```cuda\n{CODE}```\n".splitlines(keepends=True))
    assert labelled(quoted) == [BODY.replace("\n", "\n> "), LAUNCH]


@pytest.mark.parametrize("inside", ["/*\n```cpp\nx<<<1, 1>>>();\n```\n*/\n", "int y;```\n"])
def test_shorter_fences_are_content_of_a_longer_one(inside):
    assert labelled(f"````cpp\n{inside}{CODE}````\nThe end of it.\n") == BOTH


def test_several_blocks():
    assert labelled(f"A:\n```cuda\n{CODE}```\nB:\n```cpp\n{CODE}```\n") == BOTH * 2
    assert labelled(f"A, not closed:\n```cuda\n{CODE}\nB:\n```cuda\n{CODE}```\n") == BOTH * 2


def escape(code: str, quote: str = '"') -> str:
    return code.replace("\\", "\\\\").replace(quote, "\\" + quote).replace("\n", "\\n")


LINES = "\n".join(f'    "{escape(line)}"' for line in CODE.splitlines(keepends=True))
HEAD = "import torch\nfrom torch.utils.cpp_extension import load_inline\n\n"
PLAIN = CODE.replace("\\n", "")
PYTHON = {
    "raw, triple": (f'{HEAD}source = r"""\n{CODE}"""\n', BOTH),
    "triple": (f'{HEAD}source = """\n{PLAIN}"""\n', BOTH),
    "single quotes": (f"{HEAD}source = '''\n{PLAIN}'''\n", BOTH),
    "argument": (f'{HEAD}module = load_inline(\n    "k",\n    cuda_sources=[r"""{CODE}"""],\n)\n', BOTH),
    "fenced": (f'{PROSE}```python\n{HEAD}source = r"""\n{CODE}"""\n```\n', BOTH),
    "fenced, not closed": (f'```python\n{HEAD}source = r"""\n{CODE}', BOTH),
    "labelled cpp": (f'```cpp\n{HEAD}source = r"""\n{CODE}"""\n```', BOTH),
    "escaped": (f'{HEAD}source = "{escape(CODE)}"\n', [escape(BODY), LAUNCH]),
    "json": (f'```json\n{{"code": "{escape(CODE)}"}}\n```', [escape(BODY), LAUNCH]),
    "f-string": (
        HEAD + 'source = f"""\n__global__ void {name}(int *x) {{ if (x) {{ x[{i}] = 1; }} }}\n"""\n',
        ["{{ if (x) {{ x[{i}] = 1; }} }}"],
    ),
    "format": (
        HEAD + 'T = """\n__global__ void {name}(int *x) {{ x[0] = {v}; }}\n"""\ns = T.format(name="k", v=1)\n',
        ["{{ x[0] = {v}; }}"],
    ),
    "docstring and message": (
        f'def f():\n    """Launch as\n\n    k<<<g, b>>>(x);\n    """\n    print("k<<<g, b>>>(x);")\n# k<<<1, 2>>>(x);\n\n\ns = r"""{CODE}"""\n',
        BOTH,
    ),
}


@pytest.mark.parametrize(("text", "expected"), PYTHON.values(), ids=PYTHON)
def test_cuda_in_string_literals(text, expected):
    assert labelled(text) == expected


def test_adjacent_literals_are_one_source():
    spans = labelled(f"{HEAD}source = (\n{LINES}\n)\n")
    assert len(spans) == 2
    assert spans[0].startswith('{\\n"\n') and spans[0].endswith('"}')
    assert spans[1] == LAUNCH


def test_an_open_literal_runs_to_its_end():
    text = f'{HEAD}source = r"""\n{CODE[:170]}'
    assert labelled(text) == [text[text.index("(float") :][text[text.index("(float") :].index("{") :]]


NVRTC = {
    "raw": ('auto s = R"(\n{})";', ["{ a[0] = 1; }"]),
    "raw, with a delimiter": ('auto s = u8R"CUDA(\n// ")" )x" \n{})CUDA";', ["{ a[0] = 1; }"]),
    "an argument": ('nvrtcCreateProgram(&p, R"({})", "k.cu", 0, 0, 0);', ["{ a[0] = 1; }"]),
    "Jitify": ('auto s =\n"my_program\\n"\n"template<int N>\\n"\n"__global__\\n"\n"void k(int *a) {\\n" // head, open\n"}\\n";', ['{\\n" // head, open\n"}']),
    "escapes": ('auto s = "extern \\"C\\" __global__ void k() {\\n\\\n  f(\'\\"\');\\n}\\n";', ["{\\n\\\n  f('\\\"');\\n}"]),
    "one line": ('auto s = "__global__ void k() { f(); }";', ["{ f(); }"]),
    "with a name": ('auto s = "__global__ void k(" + type + "* a) {\\n" + std::to_string(n) + ";\\n}";', ['{\\n" + std::to_string(n) + ";\\n}']),
    "with a macro": ('auto s = "__global__ void k(" TYPE "* a) { f(" STR(N) "); }";', ['{ f(" STR(N) "); }']),
    "with branches": ('auto s = "__global__ void k() {\\n"\n#if A\n"f();\\n"\n#endif\n"}\\n";', ['{\\n"\n#if A\n"f();\\n"\n#endif\n"}']),
    "in pieces": ('s += "__global__ void k() {\\n";\ns += "}\\n";\nint i;\nss << "__global__ void g() {\\n";\nss << "}\\n";', ['{\\n";\ns += "}', '{\\n";\nss << "}']),
    "lines": ('const char *s[] = {"__global__ void k() {\\n", "// it\'s }\\n", "}\\n"};', ['{\\n", "// it\'s }\\n", "}']),
    "made by a macro": ("#define STRINGIFY(...) #__VA_ARGS__\nauto s = STRINGIFY({});", ["{ a[0] = 1; }"]),
    "cut": ('auto s = R"(\n__global__ void k() {\n f();\n', ["{\n f();\n"]),
    "a launch in it": ('auto s = R"(\n__global__ void k() { k<<<1, 2>>>(); })";', ["{ k<<<1, 2>>>(); }", "<<<1, 2>>>"]),
    "in a kernel": ('__global__ void k() { f("__global__ void g() { h(); }"); }', ['{ f("__global__ void g() { h(); }"); }']),
    "in a comment": ('// "__global__ void k() { f(); }"\n/* R"(\n__global__ void k() { f(); })" */', []),
    "a launch alone": ('auto s = R"(\nk<<<1, 2>>>();\n// __global__\n)";', []),
    "a mention": ('throw error("use __global__ here");\nputs("__global__ void k(int);\\nis no { f(); }");', []),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), NVRTC.values(), ids=NVRTC)
@pytest.mark.parametrize("head", ["", "It is\n```cpp\n", f"{HEAD}s = r'''\n"], ids=["bare", "fenced", "in Python"])
def test_kernels_in_string_literals_of_cpp(head, text, expected):
    host = text.replace("{}", 'extern "C" __global__ void k(int *a) { a[0] = 1; }\n')
    assert labelled(f'{head}#include "x.h"\n{host}') == expected
    if not text.endswith("f();\n"):  # cut off: what follows would be part of it
        assert labelled(f'{head}#include "x.h"\n{host}\nint main() {{ k<<<3, 4>>>(); }}\n') == [
            *expected,
            "<<<3, 4>>>",
        ]


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
    xnumel = 10
    tl.store(x, "a\\\\n")
''', device_str='cuda')

def call(args):
    add_0.run(args, 10, stream=stream0)
"""
TRITON = {
    "Inductor": (INDUCTOR, ['xnumel = 10\n    tl.store(x, "a\\\\n")']),
    "no line before": ("k = async_compile.triton('k', '''@triton.jit\ndef k(x):\n    f(x)\n''')\n", ["f(x)"]),
    "escaped": ('source = "@triton.jit\\ndef k(x):\\n    f(x)\\n"\nexec(source)\n', ["f(x)"]),
    "adjacent": ('source = (\n  "@triton.jit\\n"\n  "def k(x):\\n"\n  "    f(x)\\n"\n)\n', ["f(x)"]),
    "lines": ('source = "\\n".join([\n  "@triton.jit",\n    "def k(x):",\n  "    f(x)",\n])\n', ["f(x)"]),
    "indented": ('source = dedent("""\n    @triton.jit\n    def k(x):\n        f(x)\n    k[(1,)](x)\n""")\n', ["f(x)", "[(1,)]"]),
    "format string": ('source = f"""\n@triton.jit\ndef {name}(x):\n    y = {{1: {v}}}\n"""\n', ["y = {{1: {v}}}"]),
    "in a kernel": ('@triton.jit\ndef k(x):\n    y = """\n@triton.jit\ndef g(x):\n    f(x)\n"""\n', ['y = """\n@triton.jit\ndef g(x):\n    f(x)\n"""']),
    "a statement behind": ('y = """\n@triton.jit\ndef g(x):\n"""\n"f(x)"\n', []),
    "a mention": ('raise ValueError("decorate it with @triton.jit\\nand call k[grid](x)")\n', []),
    "docstring": ('def f():\n    """Like\n    @triton.jit\n    def k(x):\n        f(x)\n    """\n', []),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), TRITON.values(), ids=TRITON)
@pytest.mark.parametrize("language", ["triton", "auto"])
def test_triton_in_string_literals_of_python(text, expected, language):
    for answer in (f"import triton\n{text}", f"It is\n```python\nimport triton\n{text}```\n"):
        assert [answer[start:end] for start, end, _ in find_spans(answer, language=language)] == expected


NOTHING = {
    "empty": "",
    "prose": "To launch a kernel, write kernel<<<grid, block>>>(args); then mark it __global__ (it runs on the device).",
    "inline code": "Use `__global__ void k() { f(); }` and `k<<<1, 2>>>();`.",
    "unfinished reasoning": f"<think>\nLet me write it.\n```cuda\n{CODE}```\n",
    "host code": "```cpp\nint main() { std::cout << 1 << 2; return 0; }\n```",
    "shell": "```bash\ncat <<< word\nkernel<<<1,2>>>(x);\n```",
    "list of a book": "1. The kernel<<<g, b>>>(x) syntax\n2. The __global__ keyword\n",
}


@pytest.mark.parametrize("text", NOTHING.values(), ids=NOTHING)
def test_nothing_to_label(text):
    assert labelled(text) == []


@pytest.mark.parametrize(
    "marker", ["<|im_end|>", "<|im_end|>\n", "<|eot_id|>", "</s>", "<end_of_turn>\n", "<｜end▁of▁sentence｜>"]
)
@pytest.mark.parametrize("fence", ["", "```cuda\n"])
def test_no_span_reaches_into_an_end_of_turn_marker(marker, fence):
    text = f"{fence}{CODE[:190]}"
    (whole,) = find_spans(text)
    (marked,) = find_spans(text + marker)
    assert whole.end == len(text)
    assert whole.start == marked.start and marked.end <= len(text) and text[marked.end :].strip() == ""
