"""C++ as a row of tokens: enough to normalise a program, and to read functions, parameters and how an array is used.

No grammar: brackets and words. What it cannot read it does not guess. Standard library and `sensitivity.scrub`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from ..spans.scrub import scrub


_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))
      | (?P<raw>R"(?P<tag>[^()\\\s"]{0,16})\(.*?\)(?P=tag)")
      | (?P<string>(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*+"?)
      | (?P<char>'(?:[^'\\\n]|\\.){1,10}')
      | (?P<number>\.?\d(?:[eEpP][+-]|'\d|[\w.])*)
      | (?P<word>[A-Za-z_]\w*)
      | (?P<launch><<<|>>>)
      | (?P<sign>::|->\*?|\+\+|--|<<=|>>=|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#|\.\.\.|[^\s\w])
    """,
    re.VERBOSE | re.DOTALL,
)

# Words that are the language's or CUDA's and keep their meaning when a program is renamed.
KEPT_WORDS = re.compile(
    r"(?:alignas|asm|auto|bool|break|case|catch|char|class|const|const_cast|constexpr|continue|decltype|default|define|delete|do"
    r"|double|dynamic_cast|elif|else|endif|enum|explicit|extern|false|float|for|friend|goto|half|if|ifdef|ifndef|include|inline"
    r"|int|long|namespace|new|noexcept|nullptr|operator|pragma|private|protected|public|reinterpret_cast|restrict|return|short"
    r"|signed|sizeof|static|static_cast|struct|switch|template|this|throw|true|try|typedef|typename|undef|union|unroll|unsigned"
    r"|using|virtual|void|volatile|while|dim3|u?int(?:8|16|32|64)_t|size_t|std|main|printf|NULL"
    r"|threadIdx|blockIdx|blockDim|gridDim|warpSize|__\w+|atomic[A-Z]\w*|cuda[A-Z]\w*|cublas\w+|hip[A-Z]\w*|torch|at|c10"
    r"|(?:float|double|int|uint|char|uchar|short|ushort|long|ulong|half|bfloat16)[1234]|f?(?:abs|max|min|ma)f?"
    # the CUDA Math API, but for the few that variables are called after (norm, remainder, y0)
    r"|(?:a?(?:sin|cos|tan)h?|atan2|sincos|(?:sin|cos|sincos)pi|exp(?:2|10|m1)?|log(?:2|10|1p|b)?|ilogb|r?sqrt|r?cbrt|r?hypot|powi?"
    r"|erf(?:c|cx|inv|cinv)?|normcdf(?:inv)?|[lt]gamma|floor|ceil|l?l?rint|l?l?round|trunc|nearbyint|fmod|modf|remquo|frexp|ldexp"
    r"|scalbl?n|copysign|nextafter|fdim|fdivide)f?|normf|rnorm[34]?d?f?|isnan|isinf|isfinite|signbit"
    r"|h2?(?:exp|exp2|exp10|log|log2|log10|sin|cos|sqrt|rsqrt|rcp|floor|ceil|rint|trunc|tanh)"
    r"|shfl(?:_up|_down|_xor)?|(?:curand|cufft|cusparse|cusolver|cudnn)\w+|cooperative_groups|cg|cub|thrust|cuda|nvcuda|wmma)\Z"
)
# What stands behind these and `::` is the library's: cg::plus is not cg::greater.
_LIBRARIES = {"std", "cg", "cooperative_groups", "cub", "thrust", "cuda", "nvcuda", "wmma", "torch", "at", "c10"}
_IN_PYTHON = {"nn", "F"}  # of torch, as everybody calls them


class Token(NamedTuple):
    """A token with its kind (`string`, `char`, `number`, `word`, `launch`, `sign`) and its place."""

    kind: str
    text: str
    start: int


def tokens(code: str) -> list[Token]:
    """The tokens of a program, comments left out. Never raises."""
    found: list[Token] = []
    for match in _TOKEN.finditer(code):
        kind = match.lastgroup if match.lastgroup != "tag" else "raw"
        if kind != "comment":
            found.append(Token("string" if kind == "raw" else str(kind), match[0], match.start()))
    return found


def normalised(code: str) -> str:
    """A program without comments, spaces and the names it chose: two that differ in nothing else are equal.

    Names are numbered in the order of their first occurrence; words of the language, of CUDA and of the mathematics library
    stay, and so do literals: other numbers are another program.
    """
    names: dict[str, str] = {}
    words = tokens(code)
    return " ".join(
        names.setdefault(token.text, f"v{len(names)}") if own else token.text
        for token, own in zip(words, chosen_names(words), strict=True)
    )


def chosen_names(words: Sequence[Token]) -> list[bool]:
    """For each token whether it is a name that the program chose: no word of `KEPT_WORDS`, of a library's namespace, no vector lane."""
    found: list[bool] = []
    before, in_library = "", False
    for index, token in enumerate(words):
        if token.kind == "word":
            if not in_library or before not in ("::", "."):
                is_dotted = index + 1 < len(words) and words[index + 1].text == "."
                in_library = token.text in _LIBRARIES or (is_dotted and token.text in _IN_PYTHON)
            is_lane = before == "." and token.text in ("x", "y", "z", "w")
            found.append(not (in_library or is_lane or KEPT_WORDS.match(token.text)))
        else:
            in_library = in_library and token.text in ("::", ".")
            found.append(False)
        before = token.text
    return found


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function.

    type: the base type without const, restrict and references, such as `float` or `unsigned int`; stars: how many `*`.
    """

    name: str
    type: str
    stars: int
    is_const: bool
    text: str


@dataclass(frozen=True)
class Function:
    """A function definition: its head from the first specifier, the extent of its body with braces."""

    name: str
    returns: str
    parameters: tuple[Parameter, ...]
    head: int
    body: tuple[int, int]
    is_kernel: bool
    is_device: bool
    is_template: bool

    def source(self, code: str) -> str:
        return code[self.head : self.body[1]]

    def body_text(self, code: str) -> str:
        return code[self.body[0] : self.body[1]]


_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\\\n]|\\(?:\r\n|[\s\S]))*+", re.MULTILINE)
_ATTRIBUTE = re.compile(
    r"__launch_bounds__\s*\([^()]*(?:\([^()]*\)[^()]*)*\)|__attribute__\s*\(\(.*?\)\)|\[\[.*?\]\]", re.DOTALL
)
_PAIRS = {"(": ")", "{": "}", "[": "]"}
_BRACKETS = {opening: re.compile(rf"[{re.escape(opening + closing)}]") for opening, closing in _PAIRS.items()}
_NOT_FUNCTIONS = {"if", "for", "while", "switch", "catch", "return", "sizeof", "decltype", "alignas", "else", "do"}
_TYPE_NOISE = re.compile(r"\b(?:const|volatile|restrict|__restrict__|__restrict|register|struct|in|out)\b|[&]")


def blank_directives(text: str) -> str:
    """Preprocessor lines replaced by spaces, length kept."""
    return _DIRECTIVE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def functions(code: str) -> list[Function]:
    """The function definitions at file or namespace level, in order; extern "C" and namespaces are looked into."""
    return list(_functions(code))


@lru_cache(maxsize=16)  # a row asks for those of one source again and again, and so do the other rows of a file
def _functions(code: str) -> tuple[Function, ...]:
    text = blank_directives(scrub(code))
    text = _ATTRIBUTE.sub(lambda match: " " * len(match[0]), text)
    found: list[Function] = []
    start = index = 0
    while index < len(text):
        char = text[index]
        if char in ";}":
            start = index + 1
        elif char == "{":
            head = text[start:index]
            close = matching(text, index)
            if re.search(r"\bnamespace\b[^();]*\Z|\bextern\s*\Z", head):
                start = index + 1  # look inside
            else:
                function = _function(code, text, start, index, close)
                if function:
                    found.append(function)
                start = close
                index = close - 1
        index += 1
    return tuple(found)


def matching(text: str, opening: int) -> int:
    """One past the bracket that closes the one at `opening`; the text's length when none does."""
    open_ = text[opening]
    close = _PAIRS[open_]
    depth = 0
    for match in _BRACKETS[open_].finditer(text, opening):
        depth += 1 if match[0] != close else -1
        if not depth:
            return match.end()
    return len(text)


def _function(code: str, text: str, start: int, brace: int, close: int) -> Function | None:
    head = text[start:brace]
    start += len(head) - len(head.lstrip())
    head = text[start:brace]
    opening = head.find("(")
    if opening < 0 or "=" in re.sub(r"\([^()]*\)|<[^<>]*>|operator\S+", "", head):
        return None
    end = matching(head, opening)
    name = re.search(r"([A-Za-z_]\w*)\s*\Z", head[:opening])
    if (
        not name
        or name[1] in _NOT_FUNCTIONS
        or re.search(r"\b(?:class|struct|enum|union)\s+\w+\s*\Z", head[: name.end()])
    ):
        return None
    specifiers = head[: name.start()]
    template = re.match(r"\s*template\s*<", specifiers)
    returns = re.sub(r"\b(?:static|inline|extern|constexpr|__\w+__|__forceinline__)\b", "", specifiers)
    return Function(
        name=name[1],
        returns=" ".join(returns.split()),
        parameters=tuple(parameters(code[start + opening + 1 : start + end - 1])),
        head=start,
        body=(brace, close),
        is_kernel="__global__" in specifiers,
        is_device="__device__" in specifiers,
        is_template=bool(template),
    )


def split_list(text: str) -> list[str]:
    """The parts of a comma-separated list, brackets respected."""
    parts, depth, last = [], 0, 0
    for index, char in enumerate(text):
        if char in "([{<":
            depth += 1
        elif char in ")]}>":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[last:index])
            last = index + 1
    parts.append(text[last:])
    return [part.strip() for part in parts if part.strip()]


def parameters(text: str) -> list[Parameter]:
    """The parameters of a list between parentheses; `void` is none."""
    found = []
    for part in split_list(scrub(text)):
        if part == "void":
            continue
        declared = part.split("=")[0].strip()
        array = re.search(r"([A-Za-z_]\w*)\s*((?:\[[^\]]*\]\s*)+)\Z", declared)
        stars = declared.count("*") + (array[2].count("[") if array else 0)
        if array:
            declared = declared[: array.end(1)]
        name = re.search(r"([A-Za-z_]\w*)\s*\Z", declared)
        base = declared[: name.start()] if name else declared
        bare = " ".join(_TYPE_NOISE.sub(" ", base).replace("*", " ").split())
        # `T * const p` says that the pointer stays, not what it points at.
        pointee = base.split("*")[0]
        found.append(Parameter(name[1] if name else "", bare, stars, bool(re.search(r"\bconst\b", pointee)), part))
    return found


class Use(NamedTuple):
    """How a body uses a pointer: whether elements are read, written, or both by way of the value before."""

    reads: bool
    writes: bool
    unknown: bool  # passed on or aliased: nothing is known


def pointer_use(body: str, name: str) -> Use:
    """What a body does with the elements of the pointer `name`.

    `p[i] = ...` and `*p = ...` write; `p[i] += ...`, `atomicAdd(&p[i], ...)` read and write; `p` by itself is not followed.
    """
    text = scrub(body)
    reads = writes = unknown = False
    for match in re.finditer(rf"(?<![\w.])(?<!->){re.escape(name)}\b", text):
        after = text[match.end() :]
        skipped = len(after) - len(after.lstrip())
        position = match.end() + skipped
        before = text[: match.start()].rstrip()
        if text[position : position + 1] == "[":
            end = matching(text, position)
            while text[end:].lstrip()[:1] == "[":
                end = matching(text, end + len(text[end:]) - len(text[end:].lstrip()))
        elif before.endswith("*") and not re.search(r"[\w\])]\s*\*\Z", before):
            end = match.end()
            before = before[:-1].rstrip()
        else:
            unknown = True
            continue
        rest = text[end:].lstrip()
        rest = re.sub(r"\A\.\w+\s*", "", rest)  # a member of a vector type
        if before.endswith("&") and not before.endswith("&&"):
            reads = writes = True
        elif re.match(r"=(?!=)", rest):
            writes = True
        elif re.match(r"(?:[-+*/%&|^]|<<|>>)=|\+\+|--", rest) or before.endswith(("++", "--")):
            reads = writes = True
        else:
            reads = True
    return Use(reads, writes, unknown)
