"""The tokens of C++ code, and programs compared without the names that they chose. Reads any text, whether it compiles or not.

Standard library only.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple


_TOKEN = re.compile(
    r"""[(){}\[\];,]
      | (?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))
      | (?P<raw>R"(?P<tag>[^()\\\s"]{0,16})\(.*?\)(?P=tag)")
      | (?P<string>(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*+"?)
      | (?P<char>'(?:[^'\\\n]|\\.){1,10}')
      | (?P<number>\.?\d(?:[eEpP][+-]|'\d|[\w.])*)
      | (?P<word>[A-Za-z_]\w*)
      | (?P<launch><<<|>>>)
      | ::|->\*?|\+\+|--|<<=|>>=|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#|\.\.\.|[^\s\w]
    """,
    re.VERBOSE | re.DOTALL,
)

# Words of C++, CUDA and common libraries, which are kept when the names of a program are replaced.
_KEPT_WORDS = re.compile(
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
# A name after one of these and `::` belongs to the library: cg::plus is not cg::greater.
_LIBRARIES = {"std", "cg", "cooperative_groups", "cub", "thrust", "cuda", "nvcuda", "wmma", "torch", "at", "c10"}
_IN_PYTHON = {"nn", "F"}  # the usual names of torch.nn and torch.nn.functional


@lru_cache(maxsize=4096)
def is_kept(word: str) -> bool:
    """Whether it is a word of C++, CUDA or a common library, and no name that a program chose."""
    return _KEPT_WORDS.match(word) is not None


class Token(NamedTuple):
    """A token with its kind (`string`, `char`, `number`, `word`, `launch`, `sign`) and its place."""

    kind: str
    text: str
    start: int


def tokens(code: str) -> list[Token]:
    """The tokens of a program, comments left out. Never raises."""
    found: list[Token] = []
    for match in _TOKEN.finditer(code):
        kind = match.lastgroup or "sign"
        if kind != "comment":
            found.append(Token("string" if kind == "raw" else kind, match[0], match.start()))
    return found


def normalised(code: str) -> str:
    """A program without comments, spaces and the names it chose: two that differ in nothing else are equal.

    Names are numbered in the order of their first occurrence; words of the language, of CUDA and of the mathematics library
    stay, and so do literals: other numbers are another program.
    """
    names: dict[str, str] = defaultdict(lambda: f"v{len(names)}")
    words = tokens(code)
    return " ".join(
        [names[text] if own else text for (_, text, _), own in zip(words, chosen_names(words), strict=True)]
    )


def chosen_names(words: Sequence[Token]) -> list[bool]:
    """For each token whether it is a name that the program chose: no word of `is_kept`, of a library's namespace, no vector lane."""
    found: list[bool] = []
    before, in_library = "", False
    for index, (kind, text, _) in enumerate(words):
        if kind == "word":
            if not in_library or before not in ("::", "."):
                is_dotted = text in _IN_PYTHON and index + 1 < len(words) and words[index + 1].text == "."
                in_library = text in _LIBRARIES or is_dotted
            is_lane = before == "." and text in ("x", "y", "z", "w")
            found.append(not (in_library or is_lane or is_kept(text)))
        else:
            in_library = in_library and text in ("::", ".")
            found.append(False)
        before = text
    return found
