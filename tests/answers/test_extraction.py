"""The rule that finds the code in an answer: what it takes, what it leaves, and that nothing makes it fail or crawl."""

import random
import re

import pytest
from growth import grows_linearly
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from cuset_stage.answers import ExtractRule, extract_code, open_reasoning, read_answer


KERNEL = "#include <cstdio>\n__global__ void f() {}\nint main() { f<<<1, 1>>>(); }\n"
MODULE = "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    pass\n"


INNER = f"// usage:\n```\nnvcc kernel.cu\n```\n{KERNEL}"
SEVERAL = f"```bash\nls\n```\n```cpp\n{KERNEL}```\n```c++\nint main() {{}}\n```\n```json\n{{}}\n```\n"
CPP_FIRST = f"```cpp\n{KERNEL}```\n```python\n{MODULE}```\n"


@pytest.mark.parametrize(
    ("answer", "code", "options"),
    [
        (f"```cpp\n// built by ``` make all\n{KERNEL}```\n", f"// built by ``` make all\n{KERNEL}", {}),
        ("It begins with ```cpp\nand there is none.", None, {}),
        (f"````cpp\n{INNER}````\n", INNER, {}),
        (f"~~~cpp\n{INNER}~~~\n", INNER, {}),
        ("```cpp\nint main() { return 0; }```\nDone.", "int main() { return 0; }\n", {}),
        ("Text.\n```cpp\n" + KERNEL[:-10], KERNEL[:-10], {}),  # cut off by the token limit
        ("```bash\nint main() {}\n```\n", "int main() {}\n", {}),  # there is nothing else
        (f"```cuda\n{KERNEL}```\n</think>\n```python\nimport triton\n```\n", "import triton\n", {}),
        ("- > ```cpp\n- > int main() {}\n- > ```\n", "- > int main() {}\n- > \n", {}),  # stays quoted
        (CPP_FIRST, MODULE, {"language": "python"}),
        (CPP_FIRST, KERNEL, {}),
        (SEVERAL, KERNEL, {"rule": ExtractRule.FIRST}),
        (SEVERAL, "int main() {}\n", {"rule": "last"}),
        (SEVERAL, "ls", {"rule": "first-any"}),
        # no fence
        ("__global__ void f() {}", "__global__ void f() {}", {}),
        ("int main () {}", "int main () {}", {}),
        ("I cannot help with that.", None, {}),
        ("The domain() function", None, {}),
        (MODULE, None, {}),
        (MODULE, MODULE, {"language": "python"}),
        (KERNEL, None, {"language": "python"}),
        ("", None, {}),
        # CUDABench's rule, worked out by hand from its regular expression: an optional word, blanks, up to the next run
        ("```cpp\nint main() {}\n```", "int main() {}", {"rule": "first-any"}),
        ("```c++ int main() {}```", "++ int main() {}", {"rule": "first-any"}),
        ("text ```cuda\nint main() {}\n``` more ```cpp\nx```", "int main() {}", {"rule": "first-any"}),
        ("<think>```cpp\nbad```</think>```cpp\ngood```", "bad", {"rule": "first-any"}),
        ("```cpp\nint main() {}\n", None, {"rule": "first-any"}),
        ("int main() {}", None, {"rule": "first-any"}),
        ("``````", None, {"rule": "first-any"}),
    ],
)
def test_what_comes_out(answer, code, options):
    assert extract_code(answer, **options) == code


@pytest.mark.parametrize("before", ["10. ", "  - ", "- ", "   "])
def test_only_the_indentation_of_the_fence_is_taken_off(before):
    answer = "  ```python\n  class ModelNew:\n      def forward(self):\n          pass\n no less\n  ```\n"
    code = "class ModelNew:\n    def forward(self):\n        pass\nno less\n"
    assert extract_code(answer, language="python") == code
    code = "class ModelNew:\n    def forward(self, x):\n        if x:\n          return x\n"
    assert extract_code(f"{before}```python\n{code}```\n", language="python") == code  # not indented with its fence


def strip_reasoning(text):
    for start, end in reversed(read_answer(text).reasoning):
        text = text[:start] + text[end:]
    return text


def test_reasoning_parts_of_different_kinds():
    assert strip_reasoning("<think>a <thinking> </thinking> b</think>c\n<thought>d</thought>e") == "c\ne"
    assert strip_reasoning("<think>a</think>b</think>c") == "b</think>c"
    assert strip_reasoning("no tags") == "no tags"
    assert strip_reasoning("the tag <think> opens reasoning") == "the tag <think> opens reasoning"
    assert strip_reasoning("text\n<think>a</thinking>") == "text\n"


def test_reasoning_that_a_prompt_leaves_open():
    assert open_reasoning("<|im_start|>assistant\n<think>\n") == "<think>"
    assert open_reasoning("<|im_start|>assistant\n<think>\n\n</think>\n\n") == ""
    assert open_reasoning("<|im_start|>assistant\n") == ""


def test_unknown_rule_and_language_are_refused():
    with pytest.raises(ValueError, match=r"rule 'best': one of first, last, first-any"):
        extract_code("", rule="best")
    with pytest.raises(ValueError, match=r"language 'hip': one of cuda, python"):
        extract_code("", language="hip")


PIECES = st.sampled_from(
    ["```", "````", "~~~", "`", "cpp", "python", "markdown", "\n", "\r\n", "\r", " ", "\t", "- ", "1. ", "<think>", "</think>",
     "[THINK]", "◁/think▷", "int main() {}", "__global__", "class ModelNew", "é", "\x00", "\u2028", "\ud800"]
)  # fmt: skip
ANSWERS = st.one_of(st.text(), st.lists(PIECES, max_size=60).map("".join))


@given(ANSWERS, st.sampled_from(list(ExtractRule)), st.sampled_from(["cuda", "python"]))
@example("</think>```\n0<think></think>0", ExtractRule.FIRST, "cuda")
@example("```\n<think></think>", ExtractRule.FIRST, "cuda")
@settings(max_examples=400, deadline=None)
def test_no_answer_raises_and_code_comes_from_the_answer(answer, rule, language):
    code = extract_code(answer, rule=rule, language=language)
    if code is not None:
        assert code.strip()
        assert all(line.strip(" \t\r`") in answer for line in code.split("\n"))


@pytest.mark.parametrize("fence", ["```", "~~~", "````", "~~~~~"])
@pytest.mark.parametrize(
    "info", ["", "cpp", "c++", "CUDA", "cu", "{.cpp .numberLines}", "cpp title=kernel.cu", "language-cuda", "zig"]
)
@given(st.text(alphabet=st.characters(exclude_characters="`~\r"), max_size=300))
@example(KERNEL)
@settings(max_examples=20, deadline=None)
def test_whatever_stands_in_a_block_comes_out(fence, info, code):
    code = f"{code}x\n"
    assume(strip_reasoning(code) == code)
    assert extract_code(f"Text\n{fence}{info}\n{code}{fence}\nText") == code


# Between « and » stands what is repeated.
HOSTILE = [
    "«`»", "«```\n»", "«```\nx\n»", "«`»\n«x`\n»", "```cpp« »", "«- »```", "«1. »```", "«> »```\n> x", "«> ```\n»", "«\n<think>»", "«</think>»",
    "«<think></think>»", "«<think>\n</thought>\n»", "«```cpp\nx\n<think>\n</think>\n»", "<think></think>« x <think>»\n<think>\n<think>\n</think>",
    "«```\n<think>\n```\n»", "```cpp\n«\n<think></think>x»", "«<think></think>```x\n»", "«x ```</think>»", "«x ```cpp\n»", "«x ```cpp\nint x;\n»",
    "«```cpp\nint x;\n»", "«```markdown\n»", "«int x;\n```\n»", "« »", f"«{' ' * 1000}<think>\n»", "main« »", "«class »", "«x<»", "«`x` »", "«\n»",
    "```cpp\n«<think></think>x»", "«<think></think>x»```", "```cpp\n«<think></think>x»~~~ y\n", "~~~cpp\n«<think></think>x~~~ y»",
    "```cpp\n«<think></think>x»```«y»", "```cpp\n«<think></think>x»```cpp\n« »", "```cpp\n«<think></think>x```y»«\r»\n",
    "```bash\n«cat <<A\n__global__\nA\n»", "«```bash\ncat <<A\n```\n»", "```cpp\n«x << y;\n»«x << y »", "«%%cu\nmain()\n»",
    "«```\n%%cu\nint main() {\n!nvcc\n```\n»", "«<code>x</code>»", "«<code>\n»«</answer>»", 'x "«<code>»', "«```cpp\nint x;\n</code>\n»",
    "«<think>\n</think>\n```\nx\n```\nint x;\n</code>\n»", "«<a>»```«<a»```", "«<code »", "«```x\n``````cpp\n»", "«``````\nint x;\n»```",
    "«``` ```cpp »", "«x\n``` ```cpp\n»", "«````\nx\n```cpp\n»", "«````\n»```cpp\n", "«```\nmain()\n```\n</think>\n»",
    "```cpp\n«main(»«main() »", '```cpp\nmain() «R"(»«"»«/*»',
]  # fmt: skip


def repeated(form: str, length: int) -> str:
    parts = re.split("[«»]", form)
    share = length // (len(parts) // 2)
    return "".join(part * (share // len(part)) if number % 2 else part for number, part in enumerate(parts))


@pytest.mark.parametrize(
    "make",
    [
        *(lambda n, form=form: repeated(form, n) for form in HOSTILE),
        lambda n: "".join("`" * width + "\nx\n" for width in range(3, int((2 * n) ** 0.5))),
        lambda n: "".join("`" * width + "\nx\n" for width in range(int((2 * n) ** 0.5), 3, -1)),
        lambda n: "```sh\n" + "".join(f"cat <<A{i}\nx\nA{i}\n" for i in range(n // 20)),
        lambda n: "".join(random.Random(0).choices("`~\n<think>/ ", k=n)),
    ],
    ids=[*map(repr, HOSTILE), "longer fences", "shorter fences", "words of here-documents", "anything"],
)
def test_time_grows_with_the_length_and_not_with_its_square(make):
    assert grows_linearly(extract_code, make(10_000), make(80_000))


@pytest.mark.slow
@pytest.mark.parametrize(
    "form", ["«```\n»", "«<think></think>»", "«```cpp\nx\n<think>\n</think>\n»", "«- »```"], ids=repr
)
def test_fifty_megabytes_end(form):
    """Seconds on one core: no more than MARKS_LIMIT fences and tags are read."""
    assert len(extract_code(repeated(form, 50_000_000)) or "") < 10
