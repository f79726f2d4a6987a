"""The rule that finds the code in an answer: what it takes, what it leaves, and that nothing makes it fail or crawl."""

import random

import pytest
from growth import cpu_seconds, grows_linearly
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from cuset_stage.answers import REASONING_TAGS, ExtractRule, extract_code, open_reasoning, read_answer


KERNEL = "#include <cstdio>\n__global__ void f() {}\nint main() { f<<<1, 1>>>(); }\n"
MODULE = "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    pass\n"


@pytest.mark.parametrize("fence", ["```", "````", "~~~", "~~~~~"])
@pytest.mark.parametrize(
    "info", ["", "cpp", "c++", "CUDA", "cu", "{.cpp .numberLines}", "cpp title=kernel.cu", "language-cuda", "zig"]
)
def test_fenced_block_with_prose_around(fence, info):
    assert extract_code(f"Here it is:\n\n{fence}{info}\n{KERNEL}{fence}\n\nIt is fast.") == KERNEL


@pytest.mark.parametrize(
    "answer",
    [
        f"1. First\n   ```cpp\n{''.join(f'   {line}' for line in KERNEL.splitlines(True))}   ```\n",
        f"- ```cpp\n{''.join(f'  {line}' for line in KERNEL.splitlines(True))}  ```\n",
        f"\t```cpp\n{KERNEL}\t```\n",
        f"```cpp\r\n{KERNEL}```\r\n".replace("\n", "\r\n").replace("\r\r", "\r"),
        f"```cpp   \n{KERNEL}```   \n",
        f"```cpp\n{KERNEL}````\n",  # closed by a longer run
        f"```markdown\n```cpp\n{KERNEL}```\n```\n",
        f"````md\nText\n```cpp\n{KERNEL}```\n````\n",
        f"```\n```\n```cpp\n{KERNEL}```\n",  # an empty block first
        f"Use ```nvcc``` to build.\n```cpp\n{KERNEL}```\n",
    ],
    ids=["list", "bullet", "tab", "crlf", "blanks", "longer", "markdown", "longer-markdown", "empty", "inline"],
)  # fmt: skip
def test_fences_in_all_their_forms(answer):
    assert extract_code(answer) == KERNEL


@pytest.mark.parametrize(
    "answer",
    [
        f"Here it is: ```cpp\n{KERNEL}```\nThis works.",
        f"Answer:```cuda\n{KERNEL}```",
        f"### ```c++\n{KERNEL}```\n",
        f"\ufeff```cpp\n{KERNEL}```\n",
        f"<answer>```cpp\n{KERNEL}```</answer>",
        f"<answer>\n```cpp\n{KERNEL}```</answer>\n",
        f"<think>\nA kernel.\n</think>\n\n<answer>```cpp\n{KERNEL}```</answer>",
        f"```cpp\n{KERNEL}``` This kernel does nothing.\n\nAnd a word on ```nvcc```.",
    ],
    ids=["prose", "glued", "heading", "byte-order-mark", "tags", "closing-tag", "reasoning", "prose-behind"],
)
def test_fences_in_other_text(answer):
    """CUDABench's rule finds these, and prose is no program."""
    assert extract_code(answer) == KERNEL == extract_code(answer, rule="last")


def test_fences_in_other_text_are_the_last_resort():
    block = f"```cpp\n{KERNEL}```\n"
    assert extract_code(f"It begins with ```cpp\nas asked:\n{block}") == KERNEL
    assert extract_code(f"```cpp\n// built by ``` make all\n{KERNEL}```\n") == f"// built by ``` make all\n{KERNEL}"
    assert extract_code("It begins with ```cpp\nand there is none.") is None
    assert extract_code(f"Not this: ```python\nimport torch\n```\n{block}") == KERNEL


def test_only_the_indentation_of_the_fence_is_taken_off():
    answer = "  ```python\n  class ModelNew:\n      def forward(self):\n          pass\n no less\n  ```\n"
    assert (
        extract_code(answer, language="python") == "class ModelNew:\n    def forward(self):\n        pass\nno less\n"
    )


def test_longer_fence_holds_a_shorter_one():
    inner = f"// usage:\n```\nnvcc kernel.cu\n```\n{KERNEL}"
    assert extract_code(f"````cpp\n{inner}````\n") == inner
    assert extract_code(f"~~~cpp\n{inner}~~~\n") == inner


def test_closing_fence_glued_to_the_last_line():
    assert extract_code("```cpp\nint main() { return 0; }```\nDone.") == "int main() { return 0; }\n"


def test_answer_cut_off_by_the_token_limit():
    found = read_answer("```cpp\n" + KERNEL[:-10])
    assert [(block.tag, found.code(block)) for block in found.blocks] == [("cpp", KERNEL[:-10])]
    assert extract_code("Text.\n```cpp\n" + KERNEL[:-10]) == KERNEL[:-10]


@pytest.mark.parametrize("other", ["bash", "sh", "text", "python", "cmake", "json", "output", "Makefile", "{.bash}"])
def test_blocks_of_other_languages_are_passed_over(other):
    answer = f"```{other}\nnvcc -o a a.cu\n```\n```cpp\n{KERNEL}```\n"
    assert extract_code(answer) == KERNEL
    assert extract_code(f"```{other}\nint main() {{}}\n```\n") == "int main() {}\n"  # unless there is nothing else


def test_python_tasks_pass_over_cpp_blocks():
    answer = f"```cpp\n{KERNEL}```\n```python\n{MODULE}```\n"
    assert extract_code(answer, language="python") == MODULE
    assert extract_code(answer, language="cuda") == KERNEL


def test_first_last_and_first_any():
    answer = f"```bash\nls\n```\n```cpp\n{KERNEL}```\n```c++\nint main() {{}}\n```\n```json\n{{}}\n```\n"
    assert extract_code(answer) == extract_code(answer, rule=ExtractRule.FIRST) == KERNEL
    assert extract_code(answer, rule="last") == "int main() {}\n"
    assert extract_code(answer, rule="first-any") == "ls"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("```cpp\nint main() {}\n```", "int main() {}"),
        ("```c++ int main() {}```", "++ int main() {}"),
        ("text ```cuda\nint main() {}\n``` more ```cpp\nx```", "int main() {}"),
        ("<think>```cpp\nbad```</think>```cpp\ngood```", "bad"),
        ("```cpp\nint main() {}\n", None),
        ("int main() {}", None),
        ("``````", None),
    ],
)
def test_first_any_is_cudabenchs_rule(answer, code):
    """Expected values worked out by hand from its regular expression: an optional word, blanks, up to the next run."""
    assert extract_code(answer, rule="first-any") == code


@pytest.mark.parametrize(("opening", "ending"), REASONING_TAGS, ids=[opening for opening, _ in REASONING_TAGS])
def test_code_inside_reasoning_is_no_answer(opening, ending):
    draft = "```cpp\nint main() { return 1; }\n```\n"
    assert extract_code(f"{opening}\n{draft}{ending}\n\n```cpp\n{KERNEL}```\n") == KERNEL
    assert extract_code(f"{opening.upper()}{draft}{ending.upper()}{KERNEL}") == KERNEL
    assert extract_code(f"Text first.\n{opening}\n{draft}{ending}\n```cpp\n{KERNEL}```\n") == KERNEL
    assert extract_code(f"{opening}\n{draft}{ending}\nNothing else.") is None
    assert extract_code(f"{opening}\n{draft}") is None  # cut off
    assert extract_code(f"{draft}{ending}\n```cpp\n{KERNEL}```\n") == KERNEL  # opened by the prompt


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


DRAFT = "```cpp\nint main() { return 1; }\n```\n"
ANALYSIS = "<|channel|>analysis<|message|>"


@pytest.mark.parametrize(
    "code",
    [
        f"/*\n<reasoning>\nlong\n*/\n{KERNEL}",
        f"/*\n<reasoning>\nlong\n</reasoning>\n*/\n{KERNEL}",
        f"#include <cstdio>\n// emits </think>\n{KERNEL}",
    ],
    ids=["opening", "both", "ending"],
)
@pytest.mark.parametrize("before", ["", "Text.\n", "<think>a</think>\n", "```markdown\n"])
def test_tags_in_a_closed_block_are_code(before, code):
    assert extract_code(f"{before}```cpp\n{code}```\n") == code


@pytest.mark.parametrize(
    "answer",
    [
        f"[Think] of tiles.\n```cpp\n{KERNEL}```\n",
        f"```cpp\n{KERNEL}```\n<think>\nor rather\n{DRAFT}",
        f"<think>\na\n<think>\nb\n</think>\n{DRAFT}</think>\n```cpp\n{KERNEL}```\n",
        f"<think>a <think>b</think>\n{DRAFT}</think>\n```cpp\n{KERNEL}```\n",
        f"<think>a</think> Now <think>\n{DRAFT}</think>\n```cpp\n{KERNEL}```\n",
        f"<think>a</think><think>\n{DRAFT}</think>```cpp\n{KERNEL}```\n",
        f"<think>use <think> tags</think>\n```cpp\n{KERNEL}```\n",
        f"<think>\n<think>\na\n</think>\n```cpp\n{KERNEL}```\n",
        f"a\n```cpp\nint main() {{}}\n</think>\n\n```cpp\n{KERNEL}```\n",
        f"{ANALYSIS}{DRAFT}\n{ANALYSIS}{DRAFT}\n<|channel|>final<|message|>```cpp\n{KERNEL}```\n",
        f"a\n```cpp\nint main() {{}}\n```</think>\n\n```cpp\n{KERNEL}```\n",
        f"a\n```cpp\nint main() {{}}\n``` </think>\n\n```\n{KERNEL}```\n",
        f"a\n```cpp\nint main() {{}}\n```</think>```cpp\n{KERNEL}```\n",
        f"a\n```cpp\nint main() {{}}```</think>\n```\n{KERNEL}```\n",
        f"a\n~~~cpp\nint main() {{}}\n~~~</think>\n\n~~~cpp\n{KERNEL}~~~\n",
    ],
    ids=["prose", "dangling", "nested", "nested-in-line", "second", "second-adjacent", "mention", "doubled", "draft-left-open",
         "channels", "fence-and-ending", "fence-and-ending-no-tag", "fence-ending-fence", "glued-fence-and-ending", "tildes"],
)  # fmt: skip
def test_reasoning_in_all_its_forms(answer):
    assert extract_code(answer) == KERNEL


def test_a_markdown_fence_ends_at_its_own():
    assert extract_code(f"```markdown\nA plan.\n```\n```cpp\n{KERNEL}```\n") == KERNEL
    assert extract_code(f"```markdown\n```cpp\n{KERNEL}```\n```\nProse.\n", rule="last") == KERNEL


@pytest.mark.parametrize("before", ["10. ", "  - ", "- ", "   "])
def test_code_that_is_not_indented_with_its_fence_stays_as_it_is(before):
    code = "class ModelNew:\n    def forward(self, x):\n        if x:\n          return x\n"
    assert extract_code(f"{before}```python\n{code}```\n", language="python") == code


def test_reasoning_that_a_prompt_leaves_open():
    assert open_reasoning("<|im_start|>assistant\n<think>\n") == "<think>"
    assert open_reasoning("<|im_start|>assistant\n<think>\n\n</think>\n\n") == ""
    assert open_reasoning("<|im_start|>assistant\n") == ""


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        (KERNEL, "cuda", True),
        ("__global__ void f() {}", "cuda", True),
        ("int main () {}", "cuda", True),
        ("I cannot help with that.", "cuda", False),
        ("The domain() function", "cuda", False),
        (MODULE, "cuda", False),
        (MODULE, "python", True),
        (KERNEL, "python", False),
        ("", "cuda", False),
    ],
)
def test_answer_without_fences(text, language, found):
    assert extract_code(text, language=language) == (text if found else None)


def test_stray_fence_after_bare_code():
    assert extract_code(f"{KERNEL}```\n") == KERNEL


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


@given(
    st.text(alphabet=st.characters(exclude_characters="`~\r"), max_size=300), st.sampled_from(["```", "~~~~", "`````"])
)
@settings(max_examples=200, deadline=None)
def test_whatever_stands_in_a_block_comes_out(code, fence):
    code = f"x{code}\n"
    assume(strip_reasoning(code) == code)
    assert extract_code(f"Text\n{fence}cpp\n{code}{fence}\nText") == code


def test_a_quoted_block_in_a_list():
    assert extract_code("- > ```cpp\n- > int main() {}\n- > ```\n") is not None


HOSTILE = {
    "backticks": lambda n: "`" * n,
    "fences": lambda n: "```\n" * (n // 4),
    "blocks": lambda n: "```\nx\n" * (n // 6),
    "a long fence and short ones": lambda n: "`" * (n // 2) + "\n" + "x`\n" * (n // 6),
    "longer and longer fences": lambda n: "".join("`" * width + "\nx\n" for width in range(3, int((2 * n) ** 0.5))),
    "shorter and shorter fences": lambda n: "".join("`" * w + "\nx\n" for w in range(int((2 * n) ** 0.5), 3, -1)),
    "blanks behind a tag": lambda n: "```cpp" + " " * n,
    "bullets": lambda n: "- " * (n // 2) + "```",
    "numbers": lambda n: "1. " * (n // 3) + "```",
    "quote marks": lambda n: "> " * (n // 2) + "```\n> x",
    "quoted fences": lambda n: "> ```\n" * (n // 6),
    "openings": lambda n: "\n<think>" * (n // 8),
    "endings": lambda n: "</think>" * (n // 8),
    "pairs": lambda n: "<think></think>" * (n // 15),
    "wrong pairs": lambda n: "<think>\n</thought>\n" * (n // 19),
    "tags in blocks": lambda n: "```cpp\nx\n<think>\n</think>\n" * (n // 26),
    "mentions": lambda n: "<think></think>" + " x <think>" * (n // 10) + "\n<think>\n<think>\n</think>",
    "openings in blocks": lambda n: "```\n<think>\n```\n" * (n // 16),
    "pairs in a block": lambda n: "```cpp\n" + "\n<think></think>x" * (n // 16),
    "pairs and fences": lambda n: "<think></think>```x\n" * (n // 19),
    "fences and endings": lambda n: "x ```</think>" * (n // 12),
    "fences behind text": lambda n: "x ```cpp\n" * (n // 9),
    "blocks behind text": lambda n: "x ```cpp\nint x;\n" * (n // 16),
    "blocks left open": lambda n: "```cpp\nint x;\n" * (n // 14),
    "wrappers": lambda n: "```markdown\n" * (n // 12),
    "heads": lambda n: "int x;\n```\n" * (n // 11),
    "blanks": lambda n: " " * n,
    "blanks before tags": lambda n: (" " * 1000 + "<think>\n") * (n // 1008),
    "blanks behind a word": lambda n: "main" + " " * n,
    "words": lambda n: "class " * (n // 6),
    "brackets": lambda n: "x<" * (n // 2),
    "inline code": lambda n: "`x` " * (n // 4),
    "lines": lambda n: "\n" * n,
    "pairs in a line of a block": lambda n: "```cpp\n" + "<think></think>x" * (n // 16),
    "pairs in a line before a fence": lambda n: "<think></think>x" * (n // 16) + "```",
    "pairs and a fence that closes nothing": lambda n: "```cpp\n" + "<think></think>x" * (n // 16) + "~~~ y\n",
    "pairs and fences that close nothing": lambda n: "~~~cpp\n" + "<think></think>x~~~ y" * (n // 21),
    "pairs before a long word": lambda n: "```cpp\n" + "<think></think>x" * (n // 32) + "```" + "y" * (n // 2),
    "pairs before blanks": lambda n: "```cpp\n" + "<think></think>x" * (n // 32) + "```cpp\n" + " " * (n // 2),
    "pairs and line endings": lambda n: "```cpp\n" + "<think></think>x```y" * (n // 40) + "\r" * (n // 2) + "\n",
    "here-documents": lambda n: "```bash\n" + "cat <<A\n__global__\nA\n" * (n // 22),
    "here-documents left open": lambda n: "```bash\ncat <<A\n```\n" * (n // 20),
    "shifts": lambda n: "```cpp\n" + "x << y;\n" * (n // 16) + "x << y " * (n // 16),
    "words of here-documents": lambda n: "```sh\n" + "".join(f"cat <<A{i}\nx\nA{i}\n" for i in range(n // 20)),
    "cells": lambda n: "%%cu\nmain()\n" * (n // 12),
    "cells in blocks": lambda n: "```\n%%cu\nint main() {\n!nvcc\n```\n" * (n // 32),
    "tags around code": lambda n: "<code>x</code>" * (n // 14),
    "tags around code, left open": lambda n: "<code>\n" * (n // 14) + "</answer>" * (n // 18),
    "tags in a literal": lambda n: 'x "' + "<code>" * (n // 6),
    "tags in blocks left open": lambda n: "```cpp\nint x;\n</code>\n" * (n // 22),
    "tags, blocks and reasoning": lambda n: "<think>\n</think>\n```\nx\n```\nint x;\n</code>\n" * (n // 42),
    "tags before fences": lambda n: "<a>" * (n // 6) + "```" + "<a" * (n // 4) + "```",
    "openings that never end": lambda n: "<code " * (n // 6),
    "runs of six": lambda n: "```x\n``````cpp\n" * (n // 15),
    "runs of six without a language": lambda n: "``````\nint x;\n" * (n // 14) + "```",
    "fences in one line": lambda n: "``` ```cpp " * (n // 11),
    "fences in lines": lambda n: "x\n``` ```cpp\n" * (n // 13),
    "longer fences around blocks": lambda n: "````\nx\n```cpp\n" * (n // 14),
    "longer fences": lambda n: "````\n" * (n // 10) + "```cpp\n",
    "endings behind blocks": lambda n: "```\nmain()\n```\n</think>\n" * (n // 24),
    "mains": lambda n: "```cpp\n" + "main(" * (n // 10) + "main() " * (n // 14),
    "literals": lambda n: "```cpp\nmain() " + 'R"(' * (n // 6) + '"' * (n // 4) + "/*" * (n // 8),
    "anything": lambda n: "".join(random.Random(0).choices("`~\n<think>/ ", k=n)),
}


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_time_grows_with_the_length_and_not_with_its_square(make):
    assert grows_linearly(extract_code, make(10_000), make(80_000))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["fences", "pairs", "tags in blocks", "bullets"])
def test_fifty_megabytes_end(kind):
    """Seconds on one core: no more than MARKS_LIMIT fences and tags are read."""
    assert len(extract_code(HOSTILE[kind](50_000_000)) or "") < 10


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in HOSTILE if kind.startswith("pairs ")])
def test_fifty_megabytes_of_reasoning_in_one_line_take_as_long_as_their_length(kind):
    small, large = (cpu_seconds(extract_code, HOSTILE[kind](length)) for length in (6_250_000, 50_000_000))
    assert large < 30 * small + 0.05
