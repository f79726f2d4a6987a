"""Triton: exact places (« and »), every form of an answer, Python's own parser as the other opinion. Functions of one's own."""

import ast
import io
import re
import sys
import tokenize
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marked_spans import check_marks, labelled, unmarked

from cuset_stage.spans import DEFAULT_KINDS, find_spans
from cuset_stage.spans.languages import NAMES, check_language
from cuset_stage.text import InputError


TRITON = '''import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[triton.Config({"BLOCK": 128}, num_warps=w) for w in (4, 8)],
    key=["n"],
)
@triton.heuristics({"EVEN": lambda args: args["n"] % 128 == 0})
@triton.jit
def add_kernel(x, out, n,
               BLOCK: tl.constexpr):  # the head
    «"""Adds.

Not at the margin:
dedented text ( [
"""
    pid = tl.program_id(axis=0)  # it's [ not closed
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = (offsets <
n)  # a line of its own level
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + 1, mask=mask)
    # the end»

def add(x):
    out, n = torch.empty_like(x), x.numel()
    table["x"](n); stages[0](n)
    add_kernel«[(triton.cdiv(n, 128),)]»(x, out, n)
    return out
'''
DRAFT = unmarked(TRITON)[0]


@pytest.mark.parametrize("language", ["triton", "auto"])
def test_every_form_of_an_answer(language):
    prose = "It's launched as `k[grid](x)`, <<<with>>> (a kernel void of meaning) {:\n\n"
    for text in (
        TRITON,
        f"{prose}```\n{TRITON}```\nDone; don't run `k[g](x)`.",
        f"{prose}```python\n{TRITON}```\n",
        f"{prose}```triton\n{TRITON}",
        f"<think>\n```\n{DRAFT}```\n</think>\n```\n{TRITON}```",
        f"```bash\nls [a](b)\n```\n\n```triton\n{TRITON}```<|im_end|>",
        f"```bash\ncat > k << 'EOF'\n{TRITON}EOF\n```",
        f"```\n{TRITON}```".replace("\n", "\r\n"),
        "Here:\n\n```triton\nkernel«[grid]»(x)\n```\n",
    ):
        check_marks(text, language=language)


def test_several_languages():
    assert find_spans(DRAFT) == []  # the default reads CUDA alone
    cuda = "__global__ void k() «{ f(); }»\nvoid h() { k«<<<1, 2>>>»(); }\n"
    text = "```cuda\n{}```\n\n```python\n{}```\n"
    for languages, first, second in (
        (("auto", "cuda, triton", "hip,triton"), cuda, TRITON),
        (("triton",), unmarked(cuda)[0], TRITON),
        (("cuda", "hip"), cuda, DRAFT),
    ):
        for language in languages:
            check_marks(text.format(first, second), language=language)


@pytest.mark.parametrize("head", ["", "Text.\n\n```\n"])
def test_every_cut_has_the_spans_of_the_whole_up_to_it(head):
    text = head + DRAFT
    whole = find_spans(text, language="triton")
    for cut in range(len(head), len(text) + 1):
        found = [(start, end) for start, end, _ in find_spans(text[:cut], language="triton")]
        solid = len(text[:cut].rstrip())
        expected = [(start, min(end, solid)) for start, end, _ in whole if start < solid]
        # The name of a launch may not be there yet; behind a body, a comment or a line that is not there yet may be part of it.
        assert [(start, min(end, solid)) for start, end in found][: len(expected)] == expected or (
            len(text[:cut]) - len(text[:cut].rstrip("( \n")) and found == expected[:-1]
        ), (cut, text[:cut][-60:])


TRITON_FORMS = {
    "arguments of jit": "@triton.jit(do_not_specialize=['n'])\ndef k(x, n):\n    «f(x)»\n",
    "imported": "from triton import jit\n@jit\ndef k(x):\n    «f(x)»\n",
    "another name": "import triton as tr\n@tr.jit\ndef k(x):\n    «f(x)»\n",
    "other jits": "@jit\ndef k(x):\n    f(x)\n@numba.jit\ndef g(x):\n    f(x)\n@torch.jit.script\ndef h():\n    f()\n",
    "gluon": "@gluon.jit\ndef k(x):\n    «f(x)»\n",
    "called": "def k(x):\n    «f(x)»\nk = triton.jit(k)\nk«[1, 2]»(x)\n",
    "partial": "@partial(triton.jit, noinline=True)\ndef k(x):\n    «f(x)»\n",
    "one line": "@triton.jit\ndef k(x): «return x + 1  # one»\ny = 2\n",
    "a type of the result": "@triton.jit\ndef k(x: tl.tensor = {1: 2}) -> dict[str, int]:\n    «f(x)»\n",
    "in a class, tabs": "class A:\n\t@staticmethod\n\t@triton.jit\n\tdef k(x):\n\t\t«f(x)»\n\tdef g(x):\n\t\tpass\n",
    "comments around": "@triton.jit\n# why\ndef k(x):\n\n    «# first\n    f(x)\n# no\n    g(x)  # last»\n\n# after\ny = 1\n",
    "a bracket too many": "@triton.jit\ndef k(x):\n    «f((x)\n    g(x)»\n\ndef host(x):\n    pass\n",
    "a quote too many": "@triton.jit\ndef k(x):\n    «f('x)\n    g(x)»\ndef z():\n    g()\n",
    "a backslash": "@triton.jit\ndef k(x):\n    «y = x + \\\n1»\nz = 1\n",
    "twice": "@triton.jit\ndef a(x):\n    «f(x)»\n@triton.jit\ndef b(x):\n    «g(x)»\n",
    "in a comment": "# @triton.jit\ndef k(x):\n    f(x)\n",
    "in a docstring": '"""\n@triton.jit\ndef k(x):\n    f(x)\nk[grid](x)\n"""\n',
    "no definition": "@triton.jit\nx = 1\ndef k(x):\n    f(x)\n",
    "unknown kernels": "my_kernel«[grid]»(x)\nfwd«[grid,]»(x)\nself.fwd_kernel«[lambda m: (1,)]»(x)\n",
    "wrapped": "wrap_triton(k)«[(n,)]»(x)\n",
    "by a number": "@triton.jit\ndef k(x):\n    «f(x)»\nk«[1]»(x)\n",
    "no launches": "a['k'](x); b[0](x); c[key](x); Dict[str, int](x); d[i, j]; kernels[0](x); List[int]()\n",
    "json": '[{"code": "@triton.jit\\ndef k(x):\\n    «f(x)»\\n\\nk«[(1,)]»(x)\\n"}]',
}  # fmt: skip


@pytest.mark.parametrize("text", TRITON_FORMS.values(), ids=TRITON_FORMS)
def test_triton(text):
    check_marks(text, language="triton")


# ---- Python's own parser


names = st.sampled_from(["a", "b", "k", "add_kernel", "x1"])
expressions = st.sampled_from([
    "x", "(x,\n y)", "'it\\'s'", "f(x)[0]", '"""a\n b"""', "[\n1, # one\n2]", "{'a': '#'}", "x if y else z", "lambda q: q",
    "'''\n@triton.jit\ndef n():\n'''",
])  # fmt: skip
lines = st.sampled_from(["pass", "return", "# why", "x = \\\n 1", "assert x, 'y'  # z"])
simple = st.builds("{} = {}".format, names, expressions) | expressions | lines


def nested(body: list[str]) -> str:
    return "if x:\n" + "\n".join("  " + line for line in [*body, "pass"] if "\n" not in line)


def function(decorators: list[str], name: str, body: list[str], by: str) -> str:
    head = [*decorators, f"def {name}(x, y=(1,\n 2)) -> int:  # head"]
    return "\n".join([*head, *(by + line for line in [*body, "pass"])])


statements = st.recursive(simple, lambda inner: st.builds(nested, st.lists(inner, max_size=3)), max_leaves=6)
jits = ["@triton.jit", "@triton.jit(a=1)", "@functools.partial(triton.jit, x=1)"]
others = ["@triton.autotune(\n  configs=[],\n)", "@other", "# comment"]
decorators = st.lists(st.sampled_from(jits + others), max_size=3)
grids = st.sampled_from(["grid", "(1,)", "lambda m: (m['B'],)", "1, 2", "'a'"])
launches = st.builds("{}[{}]({})".format, names, grids, st.sampled_from(["", "x, B=1", "\n x,\n"]))
margins = st.sampled_from(["    ", "\t", " "])
functions = st.builds(function, decorators, names, st.lists(statements, max_size=5), margins)
programs = st.lists(functions | simple | launches, max_size=6).map("\n".join)


def read_by_python(text: str) -> tuple[list[tuple[int, int]], set, set]:
    """The bodies of the kernels, their launches, and the subscripts of which nobody can tell whether they launch.

    A body goes from its first statement or comment to its last, comments deeper than the `def` included.
    """
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]

    def place(line: int, column: int) -> int:
        return starts[line - 1] + column

    def has_only_comments(first: int, last: int) -> bool:
        return all(not line or line.startswith("#") for line in map(str.strip, text[first:last].split("\n")))

    nodes = list(ast.walk(ast.parse(text)))
    kernels = [
        node
        for node in nodes
        if isinstance(node, ast.FunctionDef) and "triton.jit" in "".join(map(ast.unparse, node.decorator_list))
    ]
    comments = [
        (place(*token.start), place(*token.end), token.start[1], not token.line[: token.start[1]].strip())
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
    ]
    bodies = []
    for node in kernels:
        first, last = node.body[0], node.body[-1]
        start, end = place(first.lineno, first.col_offset), place(last.end_lineno, last.end_col_offset)
        for at, _, column, is_alone in reversed(comments):
            if place(node.lineno, 0) <= at < start and is_alone and column and has_only_comments(at, start):
                start = at
        for at, stop, column, is_alone in comments:
            if at >= end and (column or not is_alone) and has_only_comments(end, at):
                end = stop
        bodies.append((start, end))
    launched, unknown = set(), set()
    for called in (node.func for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript)):
        opening = text.index("[", place(called.value.end_lineno, called.value.end_col_offset))
        extent = opening, place(called.end_lineno, called.end_col_offset)
        if called.value.id in {node.name for node in kernels}:
            launched.add(extent)
        elif not isinstance(called.slice, ast.Constant):
            unknown.add(extent)
    return sorted(bodies), launched, unknown


@settings(max_examples=400, deadline=None)
@given(programs)
def test_the_lexer_finds_what_python_finds(text):
    try:
        bodies, launched, unknown = read_by_python(text)
    except SyntaxError:
        return
    found = find_spans(f"`````\n{text}\n`````", language="triton")
    at = {kind: [(start - 6, end - 6) for start, end, of in found if of == kind] for kind in DEFAULT_KINDS}
    assert at["kernel_body"] == bodies
    assert launched <= set(at["launch_config"]) <= launched | unknown


# ---- names, and functions of one's own


def test_names():
    assert check_language("auto") == ("auto",) and check_language(" triton , cuda,triton ") == ("triton", "cuda")
    assert NAMES == ("cuda", "hip", "triton", "auto")
    for wrong, message in [
        ("tritn", "'tritn' is no language.* did you mean triton"), ("", "expected one of cuda"), (3, "cuset_language=3"),
        ("auto,cuda", "name it alone"), (None, "expected one of"),
    ]:  # fmt: skip
        with pytest.raises(InputError, match=message):
            find_spans("x", language=wrong)


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    numbers = iter(range(100))

    def write(body: str) -> str:
        name = f"own_spans_{next(numbers)}.py"
        Path(name).write_text(f"import re\n\n\ndef find(text):\n    {body}\n")
        return f"{name}:find"

    return write


def test_a_function_of_ones_own(own):
    text = "a kernel, and a launch of the kernel"
    name = own('return [m.span() for m in re.finditer("kernel", text)]')
    assert labelled(text, language=name) == ["kernel"] * 2 and labelled(text, "atomic", language=name) == []
    name = own('return ((*m.span(), "launch_config") for m in re.finditer("launch", text))')
    assert find_spans(text, language=name) == [(16, 22, "launch_config")]
    name = own("return [(0, 8), (2, 10)]")
    assert labelled(text, language=name) == ["a kernel, "]
    assert labelled("0123456789", language="own_spans_2:find") == ["0123456789"]


CUTE = """import cutlass.cute as cute

@cute.kernel
def copy_kernel(gA: cute.Tensor,
                gC: cute.Tensor):
«    tidx, _, _ = cute.arch.thread_idx()

    gC[tidx] = gA[tidx]

»class Copy:
    @cute.kernel
    def kernel(self, a):
«        f(a)
»    def __call__(self, a):
        self.kernel(a).launch«(grid=(n, 1, 1), block=[256, 1, 1])»
"""
TILELANG = """@T.prim_func
def main(A: T.Tensor((128,), "float")):
«    with T.Kernel«(T.ceildiv(N, 128), threads=128)» as bx:
        A[bx] = 1
»main(2)"""


def test_the_example_of_the_docs(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "labels.md").read_text(encoding="utf-8")
    name = tmp_path / "spans.py"
    name.write_text(page.partition("```python\n")[2].partition("```")[0], encoding="utf-8")
    for text in (CUTE, TILELANG):
        check_marks(text, language=f"{name}:find_spans")


@pytest.mark.parametrize(("body", "message"), [
    ("return [(0, 900)]", r"returned \(0, 900\) for a text of 9 characters. Return 0 <= start < end"),
    ("return [(3, 3)]", r"returned \(3, 3\)"),
    ("return [(-1, 3)]", r"returned \(-1, 3\)"),
    ("return [(4, 5), (1, 2)]", r"returned \(1, 2, 'kernel_body'\) after \(4, 5, 'kernel_body'\). Return the spans sorted"),
    ("return [(1, 2, 'kernel')]", "returned the kind 'kernel'; did you mean"),
    ("return [1]", r"returned 1; expected \(start, end\)"),
    ("return [('a', 'b')]", r"returned \('a', 'b'\); expected \(start, end\)"),
    ("return [(1.5, 2.5)]", r"returned \(1.5, 2.5\); expected \(start, end\)"),
    ("return None", "failed with TypeError: 'NoneType' object is not iterable on the text that begins 'some text'"),
    ("return {}['x']", "failed with KeyError: 'x'"),
])  # fmt: skip
def test_what_a_function_of_ones_own_gets_wrong(own, body, message):
    name = own(body)
    with pytest.raises(InputError, match=f"cuset_language='{re.escape(name)}' {message}"):
        find_spans("some text", language=name)
    with pytest.raises(InputError, match=r"cuset_language='no_such.py:find': there is no file"):
        find_spans("some text", language="no_such.py:find")
