"""Which part of an answer is the code: one rule, the same for every model. Standard library only.

The rule `first` (the default), in order:

1. Line ends become `\\n`. Reasoning is taken out (`strip_reasoning`); reasoning that never ends leaves no code.
2. The rest is read for fenced blocks: a line that opens with three or more backticks or tildes, with any indentation
   or list marker before them and any info string behind. A block ends at a line of at least as many of the same
   character, or at a line of code with that many backticks glued to its end, or at the end of the text when the answer
   was cut off. A block tagged markdown is looked into. The fence's own indentation is taken off the block's lines.
3. Of the blocks that are not empty, the first one whose tag does not name another kind of text (bash, json, output;
   python for a CUDA task, C++ and CUDA for a Python task) is the code; a missing or unknown tag counts as right. When
   every block is tagged as something else, the first block is the code.
4. Without any block that holds something, the text without its fence lines is the code when it looks like code:
   `main(` or `__global__` for CUDA, `class ModelNew` for Python. Otherwise there is no code.

`last` takes the last such block in step 3. `first-any` is CUDABench's own rule, for comparison with numbers made by
it: no reasoning is taken out; the code is what stands between the first two runs of three backticks anywhere, without
a leading `cpp` or `c++`; every other tag stays in the code, and a block that never closes is no code.
"""

import re
from dataclasses import dataclass
from enum import StrEnum


class ExtractRule(StrEnum):
    """See the module's description."""

    FIRST = "first"
    LAST = "last"
    FIRST_ANY = "first-any"


# How a reasoning part opens, and how it ends.
REASONING_TAGS: tuple[tuple[str, str], ...] = (
    *((f"<{name}>", f"</{name}>") for name in ("think", "thinking", "thought", "thoughts", "reasoning", "seed:think")),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
)
_OPENING = {opening.lower(): ending.lower() for opening, ending in REASONING_TAGS}
# An opening counts at the start of a line only: code and prose that mention a tag are left alone.
_TAG = re.compile(
    "(?m:^[ \\t]*+)(?P<opening>" + "|".join(re.escape(opening) for opening, _ in REASONING_TAGS) + ")"
    "|(?P<ending>" + "|".join(re.escape(ending) for _, ending in REASONING_TAGS) + ")",
    re.IGNORECASE,
)

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
_MARKDOWN = frozenset(("markdown", "md"))
_LOOKS_LIKE = {
    "cuda": re.compile(r"\b__global__\b|\bmain\s*+\("),
    "python": re.compile(r"\bclass\s++ModelNew\b"),
}

_MARKERS = r"[ \t]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)*+"
_OPEN_FENCE = re.compile(rf"(?P<before>{_MARKERS})(?P<fence>`{{3,}}+|~{{3,}}+)(?P<info>.*)")
_INFO_TAG = re.compile(r"[ \t]*+\{?+[ \t]*+\.?+(?:lang(?:uage)?-)?+(?P<tag>[\w+#.-]*+)")


@dataclass(frozen=True)
class Block:
    """A fenced block: `tag` is the first word of the info string in lower case, "" without one."""

    tag: str
    code: str
    closed: bool


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
    if text is None:
        return None
    blocks, outside = _split(text)
    blocks = [block for block in blocks if block.code.strip()]
    if blocks:
        blocks = [block for block in blocks if block.tag not in OTHER_LANGUAGES[language]] or blocks[:1]
        return blocks[-1 if rule is ExtractRule.LAST else 0].code
    return outside if _LOOKS_LIKE[language].search(outside) else None


def strip_reasoning(text: str) -> str | None:
    """The text without its reasoning parts; None when one never ends.

    A part opens with a tag at the start of a line and ends at the first ending of its own kind. An ending before any
    opening closes what the prompt had opened (DeepSeek-R1's and QwQ's chat templates do that), so all before it goes.
    """
    kept = []
    start = 0  # of the text that is kept
    awaited = None
    seen = False
    for match in _TAG.finditer(text):
        if awaited is not None:
            if match["ending"] is not None and match["ending"].lower() == awaited:
                start, awaited = match.end(), None
        elif match["opening"] is not None:
            kept.append(text[start : match.start()])
            awaited = _OPENING[match["opening"].lower()]
        elif not seen:
            start = match.end()
        seen = True
    if awaited is not None:
        return None
    return "".join((*kept, text[start:]))


def open_reasoning(prompt: str) -> str:
    """The reasoning tag that a chat template opens at the end of the prompt, or "".

    What the model writes after such a prompt has no opening tag of its own; without one, reasoning that is cut off
    could not be told from an answer.
    """
    tail = prompt.rstrip()
    for opening, _ in REASONING_TAGS:
        if tail.endswith(opening):
            return opening
    return ""


def fenced_blocks(text: str) -> list[Block]:
    """All fenced blocks of a text, in its order; lines end with `\\n`."""
    return _split(text)[0]


def _split(text: str) -> tuple[list[Block], str]:
    """Blocks, and the text without fence lines and blocks that hold something."""
    blocks: list[Block] = []
    outside: list[str] = []
    inside: list[str] = []
    fence, tag, indent = "", "", 0

    def finish(closed: bool) -> None:
        nonlocal fence
        blocks.append(Block(tag, "\n".join(inside) + ("\n" if inside and closed else ""), closed))
        inside.clear()
        fence = ""

    for line in text.split("\n"):
        if fence:
            bare = line.strip()
            if len(bare) >= len(fence) and not bare.strip(fence[0]):
                finish(closed=True)
            elif fence[0] == "`" and bare.endswith(fence):
                inside.append(_dedent(line.rstrip().rstrip("`"), indent))
                finish(closed=True)
            else:
                inside.append(_dedent(line, indent))
            continue
        match = _OPEN_FENCE.match(line)
        if match is None or (match["fence"][0] == "`" and "`" in match["info"]):  # the latter is inline code
            outside.append(line)
            continue
        found = _INFO_TAG.match(match["info"])["tag"].lower()
        if found not in _MARKDOWN:
            fence, tag, indent = match["fence"], found, len(match["before"])
    if fence:
        finish(closed=False)
    return blocks, "\n".join(outside)


def _dedent(line: str, indent: int) -> str:
    """The line without up to `indent` blanks at its start."""
    head = line[:indent]
    return head.lstrip(" \t") + line[indent:]


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
