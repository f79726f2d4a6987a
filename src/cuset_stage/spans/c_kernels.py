"""Kernels and launches of OpenCL and Metal, with the lexer that reads CUDA. What counts as one: `languages.LANGUAGES`.

Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .kinds import Extents
from .lexer import Lexed, kernels, lex
from .patterns import signature


# A kernel returns void, and what stands between may be attributes.
_OPENCL = r"(?<!\w)(?:__kernel\b|kernel(?=\s+(?:void|__attribute__)\b))"
_METAL = r"(?<!\w)kernel(?=\s+(?:void\b|\[\[|__attribute__\b))|\[\[(?=[^\[\]{};]{0,200}\bkernel\b)"
OPENCL_ALIASES = ("KERNEL_FQ", "__KERNEL__", "OCL_KERNEL", "CL_KERNEL")
_ENQUEUE = re.compile(r"(?<![\w.>])clEnqueue(?:NDRangeKernel|Task)\s*(?=\()|(?:\.|->)\s*enqueueNDRangeKernel\s*(?=\()")
_DISPATCH = re.compile(r"(?:\.|->)\s*dispatch(?:Thread|_thread)\w*\s*(?=\()|(?<=\s)dispatchThread\w*(?=:)")
_BRACKET = re.compile(r"[()\[\]{};]")
_NAME_BEFORE = re.compile(r"(\w+)\s*\Z")
_NO_TYPE = frozenset({"return", "else", "do"})
_CALL_LIMIT = 8192  # characters; the bound keeps brackets that never close cheap


def opencl(text: str, aliases: Iterable[str] = ()) -> Extents:
    lexed = lex(text, aliases, known=OPENCL_ALIASES, keyword=_OPENCL)
    return _extents(lexed, _ENQUEUE)


def metal(text: str, aliases: Iterable[str] = ()) -> Extents:
    lexed = lex(text, aliases, known=(), keyword=_METAL)
    return _extents(lexed, _DISPATCH)


def _extents(lexed: Lexed, launch: re.Pattern[str]) -> Extents:
    bodies = kernels(lexed)
    full = lexed.full
    launches = []
    for match in launch.finditer(full):
        before = _NAME_BEFORE.search(full, max(0, match.start() - 100), match.start())
        if before and match[0][0] == "c" and before[1] not in _NO_TYPE:
            continue  # a declaration: a type stands before the name
        start = match.end() if full[match.end()] == "(" else match.start()
        if end := _call_end(full, match.end()):
            launches.append((start, end))
    return {
        "kernel_body": [piece for body in bodies for piece in body.pieces],
        "kernel_signature": [signature(lexed, body.head, body.pieces[0][0]) for body in bodies],
        "launch_config": launches,
    }


def _call_end(text: str, position: int) -> int:
    """One past the parenthesis that closes the one here, or the `]` of the message whose colon is here; the end of a text cut off before."""
    message = text[position] == ":"
    depth = 0
    for match in _BRACKET.finditer(text, position, position + _CALL_LIMIT):
        if match[0] in "([{":
            depth += 1
        elif match[0] in ")]}":
            depth -= 1
            if depth < 0 or (depth == 0 and not message):
                return match.start() if message else match.end()
        elif depth <= 0:
            return 0
    return len(text) if position + _CALL_LIMIT >= len(text) else 0
