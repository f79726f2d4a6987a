"""The labels and the judge read an answer alike: what is judged is what was labelled, and never a draft."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cuset_stage.answers import REASONING_TAGS, extract_code, looks_like_code, read_answer
from cuset_stage.spans import find_spans
from cuset_stage.spans.regions import find_regions


DRAFT = "__global__ void draft(int *a) {\n    a[0] = 1;\n}\nint main() {\n    draft<<<1, 2>>>(0);\n}\n"
FINAL = (
    "#include <cstdio>\n__global__ void last(float *x) {\n    x[0] = 2;\n}\nint main() {\n    last<<<3, 4>>>(0);\n}\n"
)
MODULE = f'import torch\n\nsource = r"""\n{FINAL}"""\n\n\nclass ModelNew(torch.nn.Module):\n    pass\n'
LABELS = ["{\n    x[0] = 2;\n}", "<<<3, 4>>>"]


def labelled(text: str) -> list[str]:
    return [text[start:end] for start, end, _ in find_spans(text)]


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
    "plain": "```cuda\n{}```\n",
    "no tag": "```\n{}```\n",
    "tildes": "~~~cpp\n{}~~~\n",
    "longer": "`````c++\n{}`````\n",
    "wrapped": "````markdown\nThe kernel:\n```cu\n{}```\n````\n",
    "glued": "Here it is: ```cuda\n{}```\n",
    "text behind": "```cuda\n{}``` This kernel is fast.\n",
    "answer tags": "<answer>\n```cuda\n{}```</answer>\n",
    "wrong tag": "```text\n{}```\n",
    "cut": "```cuda\n{}",
    "bare": "{}",
    "bare in tags": "<answer>\n{}</answer>",
    "prompt's fence": "{}```\n",
    "end of turn": "```cuda\n{}```<|im_end|>\n",
}


@pytest.mark.parametrize("draft", [*FENCED, "prose"])
@pytest.mark.parametrize(("opening", "ending"), REASONING_TAGS, ids=[opening for opening, _ in REASONING_TAGS])
@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_a_draft_in_reasoning_is_neither_judged_nor_labelled(opening, ending, draft, every):
    """Any two of tags, draft and answer together; in the slow tier all three."""
    turn = REASONING_TAGS.index((opening, ending)) + [*FENCED, "prose"].index(draft)
    draft = FENCED.get(draft, "Let me think.\n").replace("{}", DRAFT)
    is_channel = ending.startswith("<|channel|>")  # one ending for all parts before it: nothing is nested
    for name, final in [*FENCED.items()][turn % every :: every]:
        left_open = name in ("no tag", "prompt's fence") and draft.rstrip(" \n")[-1] not in "`~"
        for reasoning in (
            f"{opening}\n{draft}\n{ending}\n",
            f"{opening}{draft}{ending}\n",
            f"{opening}\n{opening}\n{DRAFT}{'' if is_channel else ending}\n{draft}\n{ending}\n",
            f"{DRAFT if left_open else draft}\n{ending}\n",  # opened by the prompt
        ):
            answer = reasoning + final.replace("{}", FINAL)
            assert extract_code(answer).strip() == FINAL.strip(), answer
            assert labelled(answer) == LABELS, answer
            check(answer)
    assert extract_code(f"{opening}\n{draft}") is None
    assert labelled(f"{opening}\n{draft}") == []


MENTIONS = (
    '"<think>"',
    "`</think>`",
    "'</think>'",
    'puts("</think>\\n");',
    '"<think>\\n"',
    "`</think> first`",
    "its'</think>'",
)


@pytest.mark.parametrize("mention", MENTIONS)
def test_a_tag_in_quotes_is_a_mention(mention):
    answer = f"// prints {mention}\n{FINAL}"
    assert extract_code(answer) == answer
    assert labelled(answer) == LABELS
    assert extract_code(f"It prints {mention}.\n```cuda\n{FINAL}```\n") == FINAL


KERNEL = FINAL[FINAL.index("__global__") : FINAL.index("int main")]
# Each holds FINAL in place of {}, and nothing else that is labelled but KERNEL.
CONTAINERS = {
    "prototype first": "It is\n```cuda\n__global__ void last(float *x);\n```\nand\n```cuda\n{}```\n",
    "kernel first": f"```cuda\n{KERNEL}```\nAll of it:\n```cuda\n{{}}```\n",
    "kernel behind": f"```cuda\n{{}}```\nIts kernel:\n```cuda\n{KERNEL}```\n",
    "kernel that speaks of main": f"```cuda\n{KERNEL}// called by main()\n/* int main() {{{{ }} */\n```\n```cuda\n{{}}```\n",
    "main in a literal": f'```cuda\n{KERNEL}const char *s = "int main() {{{{";\n```\n```cuda\n{{}}```\n',
    "header first": f"`last.cuh`:\n```cuda\n#pragma once\n{KERNEL}```\n`main.cu`:\n```cuda\n{{}}```\n",
    "another language's main": "```rust\nfn main() { __global__(); }\n```\n```cuda\n{}```\n",
    "here-document": "```bash\ncat > a.cu <<'EOF'\n{}EOF\nnvcc a.cu && ./a.out\n```\n",
    "here-document, file behind": '```sh\ncat << "END_OF" > src/a.cu\n{}END_OF\nnvcc a.cu\n```\n',
    "here-document, tabs": "```bash\ncat <<-EOF > a.cu\n{tabs}\tEOF\nnvcc a.cu\n```\n",
    "here-document, tee": "```bash\nmkdir x\nsudo tee -a x/a.cu > /dev/null <<\\EOF\n{}EOF\nnvcc a.cu\n```\n",
    "here-document, pipe": "```shell\ncat <<EOF | tee a.cu\n{}EOF\n```\n",
    "here-document, compiler": "```bash\nnvcc -x cu - -o a <<'EOF'\n{}EOF\n./a\n```\n",
    "here-document, prompt": "```console\n$ cat > a.cu << EOF\n{}EOF\n$ nvcc a.cu\n```\n",
    "here-document, no tag": "```\ncat > a.cu << EOF\n{}EOF\nnvcc a.cu\n```\n",
    "here-document, no fence": "Run:\n\ncat > a.cu << 'EOF'\n{}EOF\nnvcc a.cu && ./a.out\n",
    "here-document, cut": "```bash\ncat > a.cu << 'EOF'\n{}",
    "here-documents": "```bash\nx=$((1 << 3))\ncat > Makefile << EOF\nall: # main(\n\tnvcc main.cu\nEOF\ncat > README.md << EOF\n"
    f"a main() {{{{ }}\nEOF\ncat > k.cuh << EOF\n{KERNEL}EOF\ncat > main.cu << EOF\n{{}}EOF\nmake\n```\n",
    "here-document in a list": "1. Write\n   ```bash\n   cat > a.cu << 'EOF'\n{list}   EOF\n   nvcc a.cu\n   ```\n",
    "here-document of a notebook": "```python\n!cat <<'EOF' > a.cu\n{}EOF\n!nvcc a.cu\n```\n",
    "shell cell": "```python\n%%bash\ncat > a.cu << 'EOF'\n{}EOF\nnvcc a.cu\n```\n",
    "file cell": "```python\n%%writefile a.cu\n{}```\n```python\n!nvcc a.cu\n```\n",
    "file cell, then a command": "```\n%%writefile a.cu\n{}\n!nvcc a.cu -o a && ./a\n```\n",
    "file cells": f"```python\n%%writefile k.cuh\n{KERNEL}\n%%writefile main.cu\n{{}}```\n",
    "file cell, no fence": "Put this into a cell:\n\n%%writefile a.cu\n{}",
    "CUDA cell": "```cpp\n%%cuda -c '-O3'\n{}```\n",
    "CUDA cell behind others": "```python\n%load_ext nvcc4jupyter\n\n%%cu\n{}```\n",
    "tags": "<answer><code>\n{}</code></answer>",
    "tags and prose": "In <b>code</b>: <code>{}</code>\n\nIt calls `last<<<1, 2>>>(x)` in <kernel>.\n",
    "tags with attributes": '<solution language="cuda">\n<file name="a.cu">\n{}</file>\n</solution>\nThat is all.\n',
    "CDATA": "<solution><![CDATA[\n{}]]></solution>\n",
    "tags, end of turn": "<answer><code>\n{}</code></answer><|im_end|>",
    "tags, cut": "<final_answer>\n<code>\n{}",
    "endings alone": "{}</code></answer>",
    "tags around a fence": "<answer><code>```cuda\n{}```</code></answer>",
    "tags around a fence without a language": "<answer>```\n{}```</answer>\n",
    "tags around a fence left open": "<answer>\n```cuda\n{}</answer>\nThat is all.\n",
    "tags of two kinds": f"<draft_code>\n{KERNEL}</draft_code>\n<final_code>\n{{}}</final_code>\n",
    "fences in one run": "```bash\nnvcc a.cu\n``````cuda\n{}```\n",
    "fences in one run, tildes": "~~~bash\nnvcc a.cu\n~~~~~~cuda\n{}~~~\nDone.\n",
    "fences in one run, longer": "````bash\nnvcc a.cu\n```````cuda\n{}```\nDone.\n",
    "fences in one run, no language": "```bash\nnvcc a.cu\n``````\n{}```\nDone.\n",
    "fences in one run, behind": "```cuda\n{}``````bash\nnvcc a.cu\n```\n",
    "fences in one run, first": "``````cuda\n{}```\nDone.\n",
    "fences in one run, thrice": "```bash\na\n``````text\nb\n``````cuda\n{}```\nDone.\n",
    "fences in one line": '```bash\nnvcc a.cu\n``` ```cuda title="a.cu"\n{}```\nDone.\n',
    "fences in one line, glued": "```bash\nnvcc a.cu``` ```cuda\n{}```\n",
    "fences in one line, tags": "```bash\na\n```</code><code>```cuda\n{}```</code>\n",
    "fences without a blank line": "```bash\na\n```\n~~~cuda\n{}~~~\n```bash\na\n```\n",
    "fence in a fence": "````\n```cuda\n{}```\n````\n",
    "fence in a fence, prose": "````text\nThe program:\n```cuda\n{}```\n````\n```bash\nnvcc a.cu\n```\n",
    "info string": '```cpp title="a.cu" {.line-numbers}\n{}```\n',
    "info string, file": "```bash title=build\nnvcc\n```\n```src/a.cu\n{}```\n",
    "ending of reasoning behind": "```cuda\n{}```\n</think>\n\nIt calls `last<<<1, 2>>>(x)`.\n",
    "ending of reasoning behind, twice": "```bash\nnvcc\n```\n```cuda\n{}```\n</think>\nBuild:\n```bash\nnvcc a.cu\n```\n</think>\n",
    "ending of reasoning, output": "```cuda\n{}```\n</think>\n```\n./a.out\n1.0\n```\n",
    "quoted": "> The kernel:\n> ```cuda\n{quoted}> ```\n",
}
for ending in ("</thinking>", "</scratchpad>", "[/THINK]"):
    CONTAINERS[f"wrong ending {ending}"] = f"<think>\n```cuda\n{{draft}}```\n{ending}\n```cuda\n{{}}```\n"


@pytest.mark.parametrize("form", CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_every_container(form, ends):
    places = {"{}": FINAL, "{draft}": DRAFT}
    for name, margin in (("tabs", "\t"), ("list", "   "), ("quoted", "> ")):
        places[f"{{{name}}}"] = re.sub("^", margin, FINAL, flags=re.M)[: -len(margin)]
    for place, code in places.items():
        form = form.replace(place, code)
    answer = form.replace("{{", "{").replace("\n", ends)
    for rule in ("first", "last"):
        assert extract_code(answer, rule=rule).strip() == FINAL.strip()
    assert {squeezed(label) for label in labelled(answer)} == {squeezed(label) for label in LABELS}
    check(answer)


def test_a_main_counts_where_a_whole_program_is_asked_for():
    answer = f"```cuda\n{KERNEL}```\nTry it:\n```cuda\n{FINAL}```\n"
    assert extract_code(answer, whole_program=False) == KERNEL
    assert extract_code(answer) == FINAL
    assert extract_code(f"{answer}```cuda\n{DRAFT}```\n") == FINAL
    assert extract_code(f"{answer}```cuda\n{DRAFT}```\n", rule="last") == DRAFT


@pytest.mark.parametrize(
    "line",
    [
        'puts("done </think> now");',
        'puts("<code>"); puts("</code>");',
        "/// <summary>\n/// <code>y</code>",
        "x = a[b[0]]>c;",
    ],
)
def test_tags_in_code_are_code(line):
    code = FINAL.replace("int main", f"// main\nvoid f() {{\n{line}\n}}\nint main")
    for answer in (code, f"```cuda\n{code}```\n", f"<answer>\n{code}</answer>\n"):
        assert extract_code(answer).strip() == code.strip()
        assert labelled(answer) == LABELS


def test_a_draft_that_ends_with_the_reasoning_is_dropped():
    assert extract_code(f"Let me see.\n```cuda\n{DRAFT}```\n</think>\n{FINAL}") == FINAL
    assert extract_code(f"```cuda\n{DRAFT}```\n</think>\n```python\nimport triton\n```\n") == "import triton\n"


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
    lambda fence, code: fence.replace("{}", code),
    st.sampled_from([*FENCED.values(), "- ```cpp\n  {}  ```\n", "```bash\n{}```\n", "> ```cuda\n{}```\n"]),
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
