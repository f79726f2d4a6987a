"""The languages that blocks are tagged with, and what code looks like."""

import re


_C_FAMILY = "c h cc cpp c++ cxx hpp hxx cu cuh cuda cuda-c cuda-c++ cuda-cpp cudac cudacpp objc hip"
_PYTHON = "python py python3 py3 pycon ipython triton"
_SHELLS = "bash sh shell zsh fish console terminal shellsession shell-session powershell cmd bat"
_NO_CODE = f"""
    {_SHELLS} text txt plain plaintext output log stdout cmake makefile make dockerfile json jsonc yaml yml toml ini xml html
    css csv diff patch sql latex tex math mermaid dot asm ptx sass llvm java javascript js typescript ts rust go lua fortran
    julia matlab glsl hlsl opencl verilog md markdown rst
"""
SHELLS, NO_CODE = (frozenset(tags.split()) for tags in (_SHELLS, _NO_CODE))
OTHER_LANGUAGES = {"cuda": NO_CODE.union(_PYTHON.split()), "python": NO_CODE.union(_C_FAMILY.split())}
KNOWN_TAGS = frozenset().union(*OTHER_LANGUAGES.values())
# Each pattern starts with a literal word, because a search for a literal is fast. The lookbehind after the word checks
# the boundary before it.
_LOOKS_LIKE = {"cuda": re.compile(r"main(?<!\wmain)\s*+\("), "python": re.compile(r"class(?<!\wclass)\s++ModelNew\b")}
_C_NOISE = re.compile(
    r'//[^\n]*|/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/)?|R"([^()\\\s"]{0,16})\((?:[^)]++|\)(?!\1"))*+(?:\)\1")?'
    r'|"(?:[^"\\\n]|\\.)*+"?'
)
_DEFINES_MAIN = re.compile(r"(?<![\w.>])(?<!fn )(?<!func )(?<!function )main\s*+\([^(){};]*+\)[^(){};]*+\{")
CODE_LINE = re.compile(
    r"^[ \t]*(?:#[ \t]*(?:include|define|pragma|if|ifdef|ifndef|undef|else|endif)\b|//|/\*|template\s*<|extern\s|__\w+__\b"
    r"|static\s|inline\s|constexpr\s|const\s|using\s|typedef\s|namespace\b|struct\s|class\s|enum\s|(?:void|int|float|double|dim3)\s"
    r"|import\s+\w|from\s+\w[\w.]*\s+import\b|\w+(?:<[^<\n]*>)?<<<|[{}])",
    re.MULTILINE,
)
FIRST_LINE = re.compile(r"\s*+(?:(?:cuda|cpp|c\+\+|cu|c|hip)[ \t]*\r?\n\s*+)?+(?=\S)", re.IGNORECASE)


def looks_like_code(text: str, language: str = "cuda") -> bool:
    """Return whether a text may be a whole program or module, and not only a line of one."""
    return (language == "cuda" and "__global__" in text) or _LOOKS_LIKE[language].search(text) is not None


def is_any_code(text: str) -> bool:
    return any(looks_like_code(text, language) for language in _LOOKS_LIKE)


def starts_as_code(text: str) -> bool:
    """Return whether the first line is one that code has and prose has not.

    The name of a language, left over from a fence, may stand before it.
    """
    first = FIRST_LINE.match(text)
    return bool(first and CODE_LINE.match(text, first.end()))


def defines_main(text: str) -> bool:
    """Return whether a C++ text has a `main` with a body, outside of comments and string literals."""
    return _DEFINES_MAIN.search(_C_NOISE.sub(" ", text)) is not None


def file_tag(name: str) -> str:
    """Return a file's suffix, or its name where it has none: "cu" for `src/k.cu`, "makefile" for `Makefile`."""
    return name.strip("\"'").rsplit("/", 1)[-1].rsplit(".", 1)[-1].lower()
