"""What a function of a source needs of it: the functions it calls, and the types, constants and macros that they name.

By words alone: a function is kept when one that is kept mentions its name. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..spans.scrub import scrub
from .ctext import Function, blank_directives, functions, matching


_WORD = re.compile(r"[A-Za-z_]\w*")
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:[^\\\n]|\\(?:\r\n|[\s\S]))*", re.MULTILINE)
_DEFINES = (
    re.compile(r"\b(?:struct|class|enum|union)\s+(\w+)"),
    re.compile(r"\busing\s+(\w+)\s*="),
    re.compile(r"\btypedef\b.*?(\w+)\s*;\Z", re.DOTALL),
    re.compile(r"\b(?:const|constexpr|static)\b.*?(\w+)\s*(?:\[[^=]*\]\s*)?(?:=|\{|;)", re.DOTALL),
)


def without_unused(code: str, roots: Iterable[str]) -> str:
    """`code` without the functions that neither `roots` nor what is left needs: its `main`, other kernels, CPU versions of them."""
    found = functions(code)
    rest = scrub(code)
    for function in reversed(found):
        rest = rest[: function.head] + rest[function.body[1] :]
    # Declarations of what goes must not keep it: only what stands in an initialiser, a type or a macro counts.
    statements = re.split(r"[;{}]", blank_directives(rest))
    used = [each for each in statements if not each.rstrip().endswith(")") or "=" in each] + [
        match[0] for match in _MACRO.finditer(code)
    ]
    kept = _closure(code, found, {*roots, *_WORD.findall(" ".join(used))} - {"main"})
    for function in reversed(found):
        if function.name not in kept:
            code = code[: function.head] + code[function.body[1] :]
    return re.sub(r"\n{3,}", "\n\n", code)


def called_by_kernels(code: str) -> set[str]:
    """The names of the functions that the kernels of a source call, and of those that these call."""
    found = functions(code)
    return _closure(code, found, {each.name for each in found if each.is_kernel})


def host_part(code: str, function: Function) -> str:
    """A host function with what it needs of its source, as C++ without CUDA: helpers, constants, types and macros."""
    found = functions(code)
    kept = _closure(code, found, {function.name})
    bodies = [each for each in found if each.name in kept and not each.is_kernel]
    words = set().union(*(_WORD.findall(scrub(each.source(code))) for each in bodies))
    pieces = [(each.head, each.source(code)) for each in bodies]
    pending = [*_macro_pieces(code), *_declarations(code, found)]
    grew = True
    while grew:  # a constant may be written with another one
        grew = False
        for piece in list(pending):
            start, name, text = piece
            if name in words:
                pieces.append((start, text))
                words |= set(_WORD.findall(scrub(text)))
                pending.remove(piece)
                grew = True
    text = ""
    for _, piece in sorted(pieces):
        piece = piece.strip()
        text += (
            "\n" if "\n" not in piece and text and "\n" not in text.rsplit("\n\n", 1)[-1].strip() else "\n\n"
        ) + piece
    text = text.strip()
    return re.sub(r"\b__(?:host|device|forceinline|noinline|inline)__\b", "", text).replace("__restrict__", "")


def _closure(code: str, found: list[Function], wanted: set[str]) -> set[str]:
    names = {function.name for function in found}
    kept: set[str] = set()
    todo = wanted & names
    while todo:
        kept |= todo
        mentioned: set[str] = set()
        for function in found:
            if function.name in todo:
                mentioned |= set(_WORD.findall(scrub(function.source(code))))
        todo = (mentioned & names) - kept
    return kept


def _macro_pieces(code: str) -> list[tuple[int, str, str]]:
    return [(match.start(), match[1], match[0]) for match in _MACRO.finditer(code)]


def _declarations(code: str, found: list[Function]) -> list[tuple[int, str, str]]:
    """(place, name, text) of the types and constants at file level."""
    text = blank_directives(scrub(code))
    for function in found:
        text = (
            text[: function.head]
            + re.sub(r"[^\n]", " ", text[function.head : function.body[1]])
            + text[function.body[1] :]
        )
    pieces, start, index = [], 0, 0
    while index < len(text):
        if text[index] in "{(":
            index = matching(text, index)
            continue
        if text[index] == ";":
            statement = text[start : index + 1]
            place = start + len(statement) - len(statement.lstrip())
            for pattern in _DEFINES:
                match = pattern.search(statement)
                if (
                    match
                    and "__global__" not in statement
                    and "__device__" not in statement
                    and "__constant__" not in statement
                ):
                    pieces.append((place, match[1], code[place : index + 1]))
                    break
            start = index + 1
        index += 1
    return pieces
