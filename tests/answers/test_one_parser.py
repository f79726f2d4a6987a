"""The labels and the judge read an answer alike: what is judged is what was labelled, and never a draft."""

import re
from textwrap import indent

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from marked_spans import check_marks, labelled, unmarked

from cuset_stage.answers import REASONING_TAGS, extract_code, looks_like_code, read_answer
from cuset_stage.spans import find_spans
from cuset_stage.spans.regions import find_regions


DRAFT = "__global__ void draft(int *a) {\n    a[0] = 1;\n}\nint main() {\n    draft<<<1, 2>>>(0);\n}\n"
MARKED = "#include <cstdio>\n__global__ void last(float *x) «{\n    x[0] = 2;\n}»\nint main() {\n    last«<<<3, 4>>>»(0);\n}\n"
FINAL = unmarked(MARKED)[0]
MODULE = f'import torch\n\nsource = r"""\n{FINAL}"""\n\n\nclass ModelNew(torch.nn.Module):\n    pass\n'
LABELS = ["{\n    x[0] = 2;\n}", "<<<3, 4>>>"]


def squeezed(code: str) -> str:
    """Without the blanks and quote marks that a fence adds, and inline code, which is no code."""
    return "".join(re.sub(r"(?<!`)`[^`\n]+`(?!`)", "", code).replace(">", "").split())


def has_cuda(stretch: str) -> bool:
    return "__global__" in stretch or "<<<" in stretch


def check(text: str) -> None:
    """The judge's code is one of the regions that labels look at; of Python they look at the literals inside it."""
    regions = [squeezed(region.text) for region in find_regions(text, has_cuda)]
    for code in (extract_code(text), extract_code(text, rule="last"), extract_code(text, language="python")):
        if code is not None and "import torch" in code and "__global__" in code:
            # A fence inside is one that neither reads as a fence: such a text is no module.
            assert "```" in code or any(region in squeezed(code) for region in regions), text
        elif code is not None and has_cuda(squeezed(code)) and looks_like_code(code):
            assert any(squeezed(code) in region for region in regions), text


FENCED = {
    "plain": "```cuda\nCODE```\n",
    "no tag": "```\nCODE```\n",
    "tildes": "~~~cpp\nCODE~~~\n",
    "longer": "`````c++\nCODE`````\n",
    "wrapped": "````markdown\nThe kernel:\n```cu\nCODE```\n````\n",
    "glued": "Here it is: ```cuda\nCODE```\n",
    "text behind": "```cuda\nCODE``` This kernel is fast.\n",
    "answer tags": "<answer>\n```cuda\nCODE```</answer>\n",
    "wrong tag": "```text\nCODE```\n",
    "cut": "```cuda\nCODE",
    "bare": "CODE",
    "bare in tags": "<answer>\nCODE</answer>",
    "prompt's fence": "CODE```\n",
    "end of turn": "```cuda\nCODE```<|im_end|>\n",
}


@pytest.mark.parametrize("draft", [*FENCED, "prose"])
@pytest.mark.parametrize(("opening", "ending"), REASONING_TAGS, ids=[opening for opening, _ in REASONING_TAGS])
@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_a_draft_in_reasoning_is_neither_judged_nor_labelled(opening, ending, draft, every):
    """Any two of tags, draft and answer together; in the slow tier all three."""
    turn = REASONING_TAGS.index((opening, ending)) + [*FENCED, "prose"].index(draft)
    draft = FENCED.get(draft, "Let me think.\n").replace("CODE", DRAFT)
    is_channel = ending.startswith("<|channel|>")  # one ending for all parts before it: nothing is nested
    for name, final in [*FENCED.items()][turn % every :: every]:
        left_open = name in ("no tag", "prompt's fence") and draft.rstrip(" \n")[-1] not in "`~"
        for reasoning in (
            f"Text first.\n{opening}\n{draft}\n{ending}\n",
            f"{opening.upper()}{draft}{ending.upper()}\n",
            f"{opening}\n{opening}\n{DRAFT}{'' if is_channel else ending}\n{draft}\n{ending}\n",
            f"{DRAFT if left_open else draft}\n{ending}\n",  # opened by the prompt
        ):
            answer = reasoning + final.replace("CODE", FINAL)
            assert extract_code(answer).strip() == FINAL.strip(), answer
            assert labelled(answer) == LABELS, answer
            check(answer)
    for answer in (f"{opening}\n{draft}", f"{opening}\n{draft}\n{ending}\nNothing else."):
        assert extract_code(answer) is None and labelled(answer) == []


MENTIONS = ('"<think>"', "`</think>`", "'</think>'", 'puts("</think>\\n");', '"<think>\\n"')
MENTIONS += ("`</think> first`", "its'</think>'")


@pytest.mark.parametrize("mention", MENTIONS)
def test_a_tag_in_quotes_is_a_mention(mention):
    answer = f"// prints {mention}\n{FINAL}"
    assert extract_code(answer) == answer
    assert labelled(answer) == LABELS
    assert extract_code(f"It prints {mention}.\n```cuda\n{FINAL}```\n") == FINAL


KERNEL = MARKED[MARKED.index("__global__") : MARKED.index("int main")]
PLACES = {"CODE": MARKED, "KERNEL": KERNEL, "DRAFT": DRAFT, "ANALYSIS": "<|channel|>analysis<|message|>"}
PLACES |= {
    name: indent(MARKED, by) for name, by in [("BULLET", "  "), ("LISTED", "   "), ("TABBED", "\t"), ("QUOTED", "> ")]
}
# Forms of an answer with one of PLACES for each of these words: CODE is what is judged, and nothing is labelled but it and KERNEL.
CONTAINERS = {
    **FENCED,
    "mentions around": "It's launched as `last<<<g, b>>>(x)`; a `__global__ void` { is.\n\n```cuda\nCODE```\n\nDon't forget `last<<<1, 1>>>(y);`",
    "mentions before": "It's launched as `last<<<g, b>>>(x)`.\n\nCODE",
    "bare, end of turn": "CODE<|im_end|>\n",
    "cut, end of turn": "```cuda\nCODE<|eot_id|>",
    "language left over": "cuda\nCODE```\n",
    "mislabelled as python": "```python\nCODE```",
    "two blocks": "A:\n```cuda\nCODE```\nB:\n```cpp\nCODE```\n",
    "list": "1. First\n   ```cpp\nLISTED   ```\n",
    "bullet": "- ```cpp\nBULLET  ```\n",
    "tab": "\t```cpp\nCODE\t```\n",
    "blanks": "```cpp   \nCODE```   \n",
    "closed by a longer run": "```cpp\nCODE````\n",
    "markdown": "```markdown\n```cpp\nCODE```\n```\n",
    "markdown before": "```markdown\nA plan.\n```\n```cpp\nCODE```\n",
    "markdown, prose behind": "```markdown\n```cpp\nCODE```\n```\nProse.\n",
    "longer markdown, mention behind": "````markdown\n# Title\n```cuda\nCODE```\nThe kernel k<<<1, 2>>>(x); ends.\n````\n",
    "an empty block first": "```\n```\n```cpp\nCODE```\n",
    "inline": "Use ```nvcc``` to build.\n```cpp\nCODE```\n",
    "heading": "### ```c++\nCODE```\n",
    "byte-order mark": "\ufeff```cpp\nCODE```\n",
    "prose behind": "```cpp\nCODE``` This kernel does nothing.\n\nAnd a word on ```nvcc```.",
    "prose before, no code": "It begins with ```cpp\nas asked:\n```cpp\nCODE```\n",
    "another language in prose": "Not this: ```python\nimport torch\n```\n```cpp\nCODE```\n",
    "a word of Mistral's as prose": "[Think] of tiles.\n```cpp\nCODE```\n",
    "reasoning, empty": "<think>\n\n</think>\n\n```cuda\nCODE```",
    "reasoning before tags": "<think>\nA kernel.\n</think>\n\n<answer>```cpp\nCODE```</answer>",
    "reasoning without its opening": "First k<<<1, 2>>>(x);\nDRAFT\nOkay.\n</think>\n\n```cuda\nCODE```",
    "reasoning without its opening, bare": "Let me see.\n```cuda\nDRAFT```\n</think>\nCODE",
    "reasoning left open behind": "```cpp\nCODE```\n<think>\nor rather\n```cpp\nDRAFT```\n",
    "reasoning nested": "<think>\na\n<think>\nb\n</think>\n```cpp\nDRAFT```\n</think>\n```cpp\nCODE```\n",
    "reasoning nested in a line": "<think>a <think>b</think>\n```cpp\nDRAFT```\n</think>\n```cpp\nCODE```\n",
    "reasoning again": "<think>a</think> Now <think>\n```cpp\nDRAFT```\n</think>\n```cpp\nCODE```\n",
    "reasoning again, adjacent": "<think>a</think><think>\n```cpp\nDRAFT```\n</think>```cpp\nCODE```\n",
    "reasoning with a mention": "<think>use <think> tags</think>\n```cpp\nCODE```\n",
    "reasoning opened twice": "<think>\n<think>\na\n</think>\n```cpp\nCODE```\n",
    "reasoning in channels": "ANALYSIS```cpp\nDRAFT```\n\nANALYSIS```cpp\nDRAFT```\n\n<|channel|>final<|message|>```cpp\nCODE```\n",
    "draft left open": "a\n```cpp\nDRAFT</think>\n\n```cpp\nCODE```\n",
    "fence behind reasoning in its block": "~~~cpp\nCODE<think>\nhm\n</think>~~~\nDone.\n",
    "fence and text behind reasoning in its block": "```cpp\nCODE<think>\nhm\n</think>``` This kernel does nothing.\n",
    "fence and ending": "a\n```cpp\nDRAFT```</think>\n\n```cpp\nCODE```\n",
    "fence and ending, no tag": "a\n```cpp\nDRAFT``` </think>\n\n```\nCODE```\n",
    "fence and ending, glued": "a\n```cpp\nDRAFTint x;```</think>\n```\nCODE```\n",
    "fence and ending, tildes": "a\n~~~cpp\nDRAFT~~~</think>\n\n~~~cpp\nCODE~~~\n",
    "fence, ending, fence": "a\n```cpp\nDRAFT```</think>```cpp\nCODE```\n",
    "prototype first": "It is\n```cuda\n__global__ void last(float *x);\n```\nand\n```cuda\nCODE```\n",
    "kernel first": "```cuda\nKERNEL```\nAll of it:\n```cuda\nCODE```\n",
    "kernel behind": "```cuda\nCODE```\nIts kernel:\n```cuda\nKERNEL```\n",
    "kernel that speaks of main": "```cuda\nKERNEL// called by main()\n/* int main() { } */\n```\n```cuda\nCODE```\n",
    "main in a literal": '```cuda\nKERNELconst char *s = "int main() {";\n```\n```cuda\nCODE```\n',
    "header first": "`last.cuh`:\n```cuda\n#pragma once\nKERNEL```\n`main.cu`:\n```cuda\nCODE```\n",
    "another language's main": "```rust\nfn main() { __global__(); }\n```\n```cuda\nCODE```\n",
    "here-document": "```bash\ncat > a.cu <<'EOF'\nCODEEOF\nnvcc a.cu && ./a.out\n```\n",
    "here-document, file behind": '```sh\ncat << "END_OF" > src/a.cu\nCODEEND_OF\nnvcc a.cu\n```\n',
    "here-document, tabs": "```bash\ncat <<-EOF > a.cu\nTABBED\tEOF\nnvcc a.cu\n```\n",
    "here-document, tee": "```bash\nmkdir x\nsudo tee -a x/a.cu > /dev/null <<\\EOF\nCODEEOF\nnvcc a.cu\n```\n",
    "here-document, pipe": "```shell\ncat <<EOF | tee a.cu\nCODEEOF\n```\n",
    "here-document, compiler": "```bash\nnvcc -x cu - -o a <<'EOF'\nCODEEOF\n./a\n```\n",
    "here-document, prompt": "```console\n$ cat > a.cu << EOF\nCODEEOF\n$ nvcc a.cu\n```\n",
    "here-document, no tag": "```\ncat > a.cu << EOF\nCODEEOF\nnvcc a.cu\n```\n",
    "here-document, no fence": "Run:\n\ncat > a.cu << 'EOF'\nCODEEOF\nnvcc a.cu && ./a.out\n",
    "here-document, cut": "```bash\ncat > a.cu << 'EOF'\nCODE",
    "here-documents": "```bash\nx=$((1 << 3))\ncat > Makefile << EOF\nall: # main(\n\tnvcc main.cu\nEOF\ncat > README.md << EOF\n"
    "a main() { }\nEOF\ncat > k.cuh << EOF\nKERNELEOF\ncat > main.cu << EOF\nCODEEOF\nmake\n```\n",
    "here-document in a list": "1. Write\n   ```bash\n   cat > a.cu << 'EOF'\nLISTED   EOF\n   nvcc a.cu\n   ```\n",
    "here-document of a notebook": "```python\n!cat <<'EOF' > a.cu\nCODEEOF\n!nvcc a.cu\n```\n",
    "shell cell": "```python\n%%bash\ncat > a.cu << 'EOF'\nCODEEOF\nnvcc a.cu\n```\n",
    "file cell": "```python\n%%writefile a.cu\nCODE```\n```python\n!nvcc a.cu\n```\n",
    "file cell, then a command": "```\n%%writefile a.cu\nCODE\n!nvcc a.cu -o a && ./a\n```\n",
    "file cells": "```python\n%%writefile k.cuh\nKERNEL\n%%writefile main.cu\nCODE```\n",
    "file cell, no fence": "Put this into a cell:\n\n%%writefile a.cu\nCODE",
    "CUDA cell": "```cpp\n%%cuda -c '-O3'\nCODE```\n",
    "CUDA cell behind others": "```python\n%load_ext nvcc4jupyter\n\n%%cu\nCODE```\n",
    "tags": "<answer><code>\nCODE</code></answer>",
    "tags and prose": "In <b>code</b>: <code>CODE</code>\n\nIt calls `last<<<1, 2>>>(x)` in <kernel>.\n",
    "tags with attributes": '<solution language="cuda">\n<file name="a.cu">\nCODE</file>\n</solution>\nThat is all.\n',
    "CDATA": "<solution><![CDATA[\nCODE]]></solution>\n",
    "tags, end of turn": "<answer><code>\nCODE</code></answer><|im_end|>",
    "tags, cut": "<final_answer>\n<code>\nCODE",
    "endings alone": "CODE</code></answer>",
    "tags around a fence": "<answer><code>```cuda\nCODE```</code></answer>",
    "tags around a fence without a language": "<answer>```\nCODE```</answer>\n",
    "tags around a fence left open": "<answer>\n```cuda\nCODE</answer>\nThat is all.\n",
    "tags of two kinds": "<draft_code>\nKERNEL</draft_code>\n<final_code>\nCODE</final_code>\n",
    "fences in one run": "```bash\nnvcc a.cu\n``````cuda\nCODE```\n",
    "fences in one run, tildes": "~~~bash\nnvcc a.cu\n~~~~~~cuda\nCODE~~~\nDone.\n",
    "fences in one run, longer": "````bash\nnvcc a.cu\n```````cuda\nCODE```\nDone.\n",
    "fences in one run, no language": "```bash\nnvcc a.cu\n``````\nCODE```\nDone.\n",
    "fences in one run, behind": "```cuda\nCODE``````bash\nnvcc a.cu\n```\n",
    "fences in one run, first": "``````cuda\nCODE```\nDone.\n",
    "fences in one run, thrice": "```bash\na\n``````text\nb\n``````cuda\nCODE```\nDone.\n",
    "fences in one line": '```bash\nnvcc a.cu\n``` ```cuda title="a.cu"\nCODE```\nDone.\n',
    "fences in one line, glued": "```bash\nnvcc a.cu``` ```cuda\nCODE```\n",
    "fences in one line, tags": "```bash\na\n```</code><code>```cuda\nCODE```</code>\n",
    "fences without a blank line": "```bash\na\n```\n~~~cuda\nCODE~~~\n```bash\na\n```\n",
    "fence in a fence": "````\n```cuda\nCODE```\n````\n",
    "fence in a fence, prose": "````text\nThe program:\n```cuda\nCODE```\n````\n```bash\nnvcc a.cu\n```\n",
    "info string": '```cpp title="a.cu" {.line-numbers}\nCODE```\n',
    "info string, file": "```bash title=build\nnvcc\n```\n```src/a.cu\nCODE```\n",
    "ending of reasoning behind": "```cuda\nCODE```\n</think>\n\nIt calls `last<<<1, 2>>>(x)`.\n",
    "ending of reasoning behind, twice": "```bash\nnvcc\n```\n```cuda\nCODE```\n</think>\nBuild:\n```bash\nnvcc a.cu\n```\n</think>\n",
    "ending of reasoning, output": "```cuda\nCODE```\n</think>\n```\n./a.out\n1.0\n```\n",
    "quoted": "> The kernel:\n> ```cuda\nQUOTED> ```\n",
}
for ending in ("</thinking>", "</scratchpad>", "[/THINK]"):
    CONTAINERS[f"wrong ending {ending}"] = f"<think>\n```cuda\nDRAFT```\n{ending}\n```cuda\nCODE```\n"
for other in ("bash", "sh", "text", "python", "cmake", "json", "output", "Makefile", "{.bash}"):
    CONTAINERS[f"behind {other}"] = f"```{other}\nnvcc -o a a.cu\n```\n```cpp\nCODE```\n"
for tag in ("CUDA", "language-cuda", "lang=cu", "{.cpp .numberLines}"):
    CONTAINERS[f"{tag} behind a block left open"] = f"```bash\nnvcc a.cu\n```{tag}\nCODE```\n"


@pytest.mark.parametrize("form", CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_every_container(form, ends):
    marked = re.sub("|".join(PLACES), lambda name: PLACES[name[0]], form).replace("\n", ends)
    answer = unmarked(marked)[0]
    for rule in ("first", "last"):
        assert extract_code(answer, rule=rule).rstrip("\n") == FINAL.rstrip("\n")
    check_marks(marked)
    check(answer)


def test_a_main_counts_where_a_whole_program_is_asked_for():
    kernel = unmarked(KERNEL)[0]
    answer = f"```cuda\n{kernel}```\nTry it:\n```cuda\n{FINAL}```\n"
    assert extract_code(answer, whole_program=False) == kernel
    assert extract_code(answer) == FINAL
    assert extract_code(f"{answer}```cuda\n{DRAFT}```\n") == FINAL
    assert extract_code(f"{answer}```cuda\n{DRAFT}```\n", rule="last") == DRAFT


FENCES = tuple(f"{before}```cuda\nCODE```\n" for before in ("", "Text.\n", "<think>a</think>\n", "```markdown\n"))
ANYWHERE = (*FENCES, "CODE", "<answer>\nCODE</answer>\n")


@pytest.mark.parametrize(
    ("line", "forms"),
    [
        ('puts("done </think> now");', ANYWHERE),
        ('puts("<code>"); puts("</code>");', ANYWHERE),
        ("/// <summary>\n/// <code>y</code>", ANYWHERE),
        ("x = a[b[0]]>c;", ANYWHERE),
        ("/*\n<reasoning>\nlong\n*/", FENCES),
        ("/*\n<reasoning>\nlong\n</reasoning>\n*/", FENCES),
        ("// emits </think>", FENCES),
    ],
)
def test_tags_in_code_are_code(line, forms):
    code = FINAL.replace("int main", f"// main\nvoid f() {{\n{line}\n}}\nint main")
    for form in forms:
        answer = form.replace("CODE", code)
        assert extract_code(answer).strip() == code.strip()
        assert labelled(answer) == LABELS


@pytest.mark.parametrize("again", ["```cuda\n", "1. ```cuda\n", "So: ```cuda\n"])
def test_a_block_that_is_not_closed_ends_before_the_next(again):
    answer = f"```cuda\n{FINAL}\nOr rather:\n{again}{DRAFT}```\n"
    assert extract_code(answer).startswith(FINAL) and "draft" not in extract_code(answer)
    assert extract_code(answer, rule="last") == DRAFT
    assert labelled(answer)[:2] == LABELS and len(labelled(answer)) == 4


def test_a_module_and_the_source_inside_it():
    for answer in (f"```python\n{MODULE}```\n", MODULE, f"<think>\n{MODULE}</think>\n```python\n{MODULE}```\n"):
        assert extract_code(answer, language="python").strip() == MODULE.strip()
        assert labelled(answer) == LABELS


def test_code_beside_blocks_of_other_kinds():
    for other in ("```bash\nnvcc a.cu\n```\n", "```\n./a.out\n```\n", "```json\n{}\n```\n"):
        answer = f"The kernel:\n\n{FINAL}\n{other}"
        assert squeezed(FINAL) in squeezed(extract_code(answer))
        assert labelled(answer) == LABELS
        check(answer)


PROSE = st.sampled_from(
    ["The kernel.\n\n", "Use `k<<<1, 2>>>(x)`.\n", "It's `__global__`.\n", "1. First\n", "\n", "> So.\n"]
)
CODE = st.sampled_from([DRAFT, FINAL, "#include <cmath>\n", "k<<<g, b>>>(x);\n", 'puts("</think>");\n', "  int i;\n"])
BLOCK = st.builds(
    lambda fence, code: fence.replace("CODE", code),
    st.sampled_from([*FENCED.values(), "- ```cpp\n  CODE  ```\n", "```bash\nCODE```\n", "> ```cuda\nCODE```\n"]),
    CODE,
) | st.sampled_from([f"```python\n{MODULE}```\n", "```bash\nnvcc a.cu\n```\n", "```\n./a.out\n```\n"])
TAG = st.sampled_from([tag + end for pair in REASONING_TAGS for tag in pair for end in ("", "\n")])
PIECE = st.one_of(
    PROSE, CODE, BLOCK, TAG, st.sampled_from(["```\n", "````", "~~~", "```markdown\n", "<|im_end|>", "\r\n"])
)


@given(st.lists(PIECE, max_size=8).map("".join), st.integers(0, 400) | st.none())
@settings(max_examples=500, deadline=None)
@example(f"<scratchpad>\n```cuda\n{DRAFT}```\n</scratchpad>\n```cuda\n{FINAL}```\n", None)
def test_the_judge_and_the_labels_look_at_the_same_code(answer, cut):
    check(answer if cut is None else answer[: len(answer) - cut])


@given(st.lists(BLOCK | PROSE | CODE, max_size=4).map("".join), st.sampled_from(REASONING_TAGS), BLOCK | CODE)
@settings(max_examples=300, deadline=None)
def test_reasoning_before_an_answer_changes_nothing(reasoning, tags, answer):
    opening, ending = tags
    text = f"{opening}\n{reasoning}\n{ending}\n{answer}"
    for language in ("cuda", "python"):
        assert extract_code(text, language=language) == extract_code(f"\n{answer}", language=language)
    shift = len(text) - len(answer)
    found = [(start - shift, end - shift) for start, end, _ in find_spans(text)]
    assert found == [(start, end) for start, end, _ in find_spans(answer)]


@given(st.lists(PIECE, max_size=10).map("".join))
@settings(max_examples=300, deadline=None)
def test_what_is_found_lies_in_order_and_inside(answer):
    found = read_answer(answer)
    for ranges in (found.reasoning, found.fenced, [(block.start, block.end) for block in found.blocks]):
        flat = [place for pair in ranges for place in pair]
        assert flat == sorted(flat) and all(0 <= place <= len(answer) for place in flat)
