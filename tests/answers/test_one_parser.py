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


def test_a_draft_on_the_scratchpad():
    answer = f"<scratchpad>\n```cuda\n{DRAFT}```\n</scratchpad>\n\nThe kernel:\n\n```cuda\n{FINAL}```\n"
    assert extract_code(answer) == FINAL
    assert labelled(answer) == LABELS


@pytest.mark.parametrize("ending", ["</thinking>", "</scratchpad>", "[/THINK]"])
def test_reasoning_that_ends_with_the_wrong_tag(ending):
    answer = f"<think>\n```cuda\n{DRAFT}```\n{ending}\n```cuda\n{FINAL}```\n"
    assert extract_code(answer) == FINAL
    assert labelled(answer) == LABELS


@pytest.mark.parametrize("mention", ['"<think>"', "`</think>`", "'</think>'", 'puts("</think>\\n");', '"<think>\\n"'])
def test_a_tag_in_quotes_is_a_mention(mention):
    answer = f"// prints {mention}\n{FINAL}"
    assert extract_code(answer) == answer
    assert labelled(answer) == LABELS
    assert extract_code(f"It prints {mention}.\n```cuda\n{FINAL}```\n") == FINAL


@pytest.mark.parametrize("again", ["```cuda\n", "1. ```cuda\n", "So: ```cuda\n"])
def test_a_block_that_is_not_closed_ends_before_the_next(again):
    answer = f"```cuda\n{FINAL}\nOr rather:\n{again}{DRAFT}```\n"
    assert extract_code(answer).startswith(FINAL) and "draft" not in extract_code(answer)
    assert extract_code(answer, rule="last") == DRAFT
    assert labelled(answer)[:2] == LABELS and len(labelled(answer)) == 4


def test_a_quoted_block():
    answer = "".join(f"> {line}\n" for line in f"The kernel:\n```cuda\n{FINAL}```".splitlines())
    assert extract_code(answer) == FINAL
    assert [squeezed(label) for label in labelled(answer)] == [squeezed(label) for label in LABELS]


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
    assert [(start - shift, end - shift) for start, end, _ in find_spans(text)] == [
        (start, end) for start, end, _ in find_spans(answer)
    ]


@given(st.lists(PIECE, max_size=10).map("".join))
@settings(max_examples=300, deadline=None)
def test_what_is_found_lies_in_order_and_inside(answer):
    found = read_answer(answer)
    for ranges in (found.reasoning, found.fenced, [(block.start, block.end) for block in found.blocks]):
        flat = [place for pair in ranges for place in pair]
        assert flat == sorted(flat) and all(0 <= place <= len(answer) for place in flat)
