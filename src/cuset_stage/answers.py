"""Which part of an answer is the code: one rule, the same for every model. Standard library only.

The rule `first` (the default), in order:

1. Line ends become `\\n`. Reasoning is taken out (`reasoning.strip_reasoning`): a tag that opens a line up to the ending
   that balances it. Tags inside closed blocks are code; what is opened and never ends takes all that follows with it.
2. The rest is read for fenced blocks (`fences.split_blocks`): a line that opens with three or more backticks or tildes,
   with any indentation or list marker before them and any info string behind. A block ends at a line of at least as
   many of the same character, or at a line of code with that many backticks glued to its end, or at the end of the text
   when the answer was cut off. A markdown fence is looked into, up to its own closing fence. The width before the fence
   is taken off the block's lines, as far as the first of them is indented.
3. Of the blocks that are not empty, the first one whose tag does not name another kind of text (bash, json, output;
   python for a CUDA task, C++ and CUDA for a Python task) is the code; a missing or unknown tag counts as right. When
   every block is tagged as something else, the first block is the code.
4. Without any block that holds something, the text without its fence lines is the code when it looks like code:
   `main(` or `__global__` for CUDA, `class ModelNew` for Python. Otherwise there is no code.
5. When what this gives holds three backticks or does not look like code, steps 2 to 4 are tried with fences that stand in
   other text: behind some ("Here it is: ```cpp", when the tag ends the line), or with a closing tag or two words behind them
   ("```</answer>", "``` This kernel ..."). What that gives is the code when it looks like it and holds no three backticks.

`last` takes the last such block in step 3. `first-any` is CUDABench's own rule, for comparison with numbers made by
it: no reasoning is taken out; the code is what stands between the first two runs of three backticks anywhere, without
a leading `cpp` or `c++`; every other tag stays in the code, and a block that never closes is no code.
"""

import re
from enum import StrEnum

from .answer_fences import Block, open_fence, split_blocks
from .answer_reasoning import REASONING_TAGS, open_reasoning, strip_reasoning


__all__ = [
    "OTHER_LANGUAGES",
    "REASONING_TAGS",
    "ExtractRule",
    "extract_code",
    "fenced_blocks",
    "open_reasoning",
    "strip_reasoning",
]


class ExtractRule(StrEnum):
    """See the module's description."""

    FIRST = "first"
    LAST = "last"
    FIRST_ANY = "first-any"


_C_FAMILY = """
    c h cc cpp c++ cxx hpp hxx cu cuh cuda cuda-c cuda-c++ cuda-cpp cudac cudacpp objc hip
"""
_PYTHON = "python py python3 py3 pycon ipython triton"
_NEITHER = """
    bash sh shell zsh fish console terminal shellsession powershell cmd bat text txt plain plaintext output log stdout
    cmake makefile make dockerfile json jsonc yaml yml toml ini xml html css csv diff patch latex tex math mermaid dot
    asm ptx sass llvm java javascript js typescript ts rust go fortran julia matlab glsl hlsl opencl verilog
"""
OTHER_LANGUAGES = {
    "cuda": frozenset(f"{_PYTHON} {_NEITHER}".split()),
    "python": frozenset(f"{_C_FAMILY} {_NEITHER}".split()),
}
_LOOKS_LIKE = {
    "cuda": re.compile(r"\b__global__\b|\bmain\s*+\("),
    "python": re.compile(r"\bclass\s++ModelNew\b"),
}

_BEHIND_TEXT = re.compile(r"^([^`\n]++)(`{3,}+[\w+#.-]++)[ \t]*+$", re.MULTILINE)
_BEFORE_TEXT = re.compile(r"^([ \t]*+`{3,}+)((?:</|[ \t]++[^\s`]++[ \t]++[^\s`])[^\n]*+)$", re.MULTILINE)


def extract_code(answer: str, *, rule: ExtractRule | str = ExtractRule.FIRST, language: str = "cuda") -> str | None:
    """The code of an answer, or None when there is none.

    Args:
        answer: the whole text a model wrote, reasoning included.
        rule: first, last or first-any; see the module's description.
        language: cuda or python, what the task asks for.

    Raises:
        ValueError: no such rule or language. No answer raises, and the time grows linearly with its length.
    """
    try:
        rule = ExtractRule(rule)
    except ValueError:
        raise ValueError(f"extraction rule {str(rule)!r}: one of {', '.join(ExtractRule)}.") from None
    if language not in OTHER_LANGUAGES:
        raise ValueError(f"language {language!r}: one of {', '.join(OTHER_LANGUAGES)}.")
    if rule is ExtractRule.FIRST_ANY:
        return _cudabench_rule(answer)
    text = strip_reasoning(answer.replace("\r\n", "\n"))
    code = _chosen(text, rule, language)
    if "```" not in text or (code and "```" not in code and _LOOKS_LIKE[language].search(code)):
        return code
    loose = _chosen(_BEHIND_TEXT.sub(_on_its_own_line, _BEFORE_TEXT.sub(r"\1\n\2", text)), rule, language)
    return loose if loose and "```" not in loose and _LOOKS_LIKE[language].search(loose) else code


def _chosen(text: str, rule: ExtractRule, language: str) -> str | None:
    """Steps 2 to 4 of the rule."""
    blocks, outside = split_blocks(text)
    blocks = [block for block in blocks if block.code.strip()]
    if blocks:
        blocks = [block for block in blocks if block.tag not in OTHER_LANGUAGES[language]] or blocks[:1]
        return blocks[-1 if rule is ExtractRule.LAST else 0].code
    return outside if _LOOKS_LIKE[language].search(outside) else None


def _on_its_own_line(line: re.Match[str]) -> str:
    return line[0] if open_fence(line[0]) else f"{line[1]}\n{line[2]}"


def fenced_blocks(text: str) -> list[Block]:
    """All fenced blocks of a text, in its order; lines end with `\\n`."""
    return split_blocks(text)[0]


def _cudabench_rule(answer: str) -> str | None:
    start = answer.find("```")
    if start < 0:
        return None
    start += 3
    for tag in ("cpp", "c++"):
        if answer.startswith(tag, start):
            start += len(tag)
            break
    end = answer.find("```", start)
    return answer[start:end].strip() or None if end >= 0 else None
