"""`find_spans`: which characters of an answer are CUDA-sensitive (CuSeT, arXiv 2606.16231, Eq. 3).

regions.py finds the source in the answer; lexer.py, and parser.py where the lexer had to guess, find the spans in each
region; patterns.py finds the kinds that only the analysis uses. This file combines them.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from .kinds import DEFAULT_KINDS, KERNEL_ALIASES, Span, check_aliases, check_kinds
from .lexer import Body, Lexed, device_functions, is_callee, kernels, launches, lex
from .parser import is_parsable, parse_spans
from .patterns import PATTERN_KINDS, might_match, pattern_spans, signature
from .regions import Region, find_regions


_BRANCH = re.compile(r"#[ \t]*(?:if|el)")
_CLOSER = {"(": ")", "[": "]", "{": "}"}


def find_spans(text: str, kinds: Sequence[str] = DEFAULT_KINDS, *, aliases: Iterable[str] = ()) -> list[Span]:
    """The spans of the chosen kinds in a whole answer of a language model, sorted by (start, end).

    text: prose with fenced blocks, bare code, Python with CUDA in string literals, with reasoning before it or cut off
        by the token limit. An end-of-turn marker after the code is left out of every span.
    kinds: see `KINDS`. The default is the paper's mask.
    aliases: macros that stand for `__global__` beyond `KERNEL_ALIASES` and those the text defines.

    Spans are half-open str indices of `text`, not empty, and spans of one kind do not overlap. Never raises on `text`.

    Raises:
        ValueError: an unknown kind, or an alias that is not an identifier.
    """
    chosen = check_kinds(kinds)
    extra = check_aliases(aliases)
    names = (*KERNEL_ALIASES, *extra)

    def has_kernel(stretch: str) -> bool:
        return (
            "__global__" in stretch
            or "<<<" in stretch
            or ("__attribute__" in stretch and "global" in stretch)
            or any(name in stretch for name in names)
        )

    def has_code(stretch: str) -> bool:
        return has_kernel(stretch) or might_match(stretch, analysis)

    # In separate passes, so that asking for more kinds can never change the spans of the paper's two.
    paper = tuple(kind for kind in chosen if kind in DEFAULT_KINDS)
    analysis = tuple(kind for kind in chosen if kind not in DEFAULT_KINDS)
    spans: set[Span] = set()
    for wanted, test in ((paper, has_kernel), (analysis, has_code)):
        if wanted and test(text):
            for region in find_regions(text, test):
                spans |= _region_spans(region, wanted, extra)
    return sorted(spans)


def _region_spans(region: Region, kinds: tuple[str, ...], aliases: tuple[str, ...]) -> set[Span]:
    lexed = lex(region.text, aliases)
    bodies = kernels(lexed) if "kernel_body" in kinds or "kernel_signature" in kinds else []
    configs = list(launches(lexed)) if "launch_config" in kinds else []
    devices = device_functions(lexed) if "device_function" in kinds else []
    parsed: dict[str, list[tuple[int, int]]] = {}
    if not PATTERN_KINDS.issuperset(kinds):
        parsed = _parse(region.text, lexed, bodies, configs)
    found: dict[str, list[tuple[int, int]]] = {
        "kernel_body": [piece for body in bodies for piece in body.pieces],
        "launch_config": configs,
        "device_function": [(body.head, body.pieces[-1][1]) for body in devices],
        "kernel_signature": [signature(lexed, body.head, body.pieces[0][0]) for body in bodies],
    }
    spans: set[Span] = set()
    for kind in kinds:
        if kind in PATTERN_KINDS:
            extents = _union(pattern_spans(lexed.full, kind), [])
        else:
            extents = _union(parsed.get(kind, []), found[kind])
        spans.update(Span(region.start + start, region.start + end, kind) for start, end in extents)
    return spans


def _parse(
    text: str, lexed: Lexed, bodies: list[Body], configs: list[tuple[int, int]]
) -> dict[str, list[tuple[int, int]]]:
    """tree-sitter's spans where the lexer had to guess; a region cut inside a kernel is closed first.

    On 1,315 real files the parser finds nothing that the lexer misses, contradicts it nowhere, and takes two thirds of the
    time where both run. So it runs only where brackets do not match or stand in preprocessor branches.
    """
    if _is_plain(lexed, bodies, configs) or not is_parsable(lexed.code):
        return {}
    end = len(text)
    cut = max((body.pieces[-1][0] for body in bodies if body.open), default=-1)
    safe = max(lexed.code.rfind(char, cut) for char in ";{}") + 1 if cut >= 0 else end
    source = text if cut < 0 else text[:safe] + _closers(lexed.code[cut:safe])
    checks = {"kernel_body": ("{", "}"), "launch_config": ("<<<", ">>>"), "device_function": ("__device__", "}")}
    heads = sorted(body.head for body in bodies)
    result: dict[str, list[tuple[int, int]]] = {}
    for kind, extents in parse_spans(source).items():
        opening, closing = checks[kind]
        kept = []
        for start, stop in extents:
            # What the scrubbed text does not show is a comment or a literal; a span without its closing bracket is left to the lexer.
            if stop > safe:
                if kind == "kernel_body" and start == cut:
                    kept.append((start, end))
            elif kind == "kernel_body" and bisect_right(heads, start) < bisect_left(heads, stop):
                continue  # because of a missing brace this one includes the next kernel
            elif kind == "launch_config" and not is_callee(lexed.code, start):
                continue  # the tree takes prose for a launch, too
            elif lexed.code.endswith(closing, start, stop) and (
                lexed.code.startswith(opening, start)
                if kind != "device_function"
                else opening in lexed.code[start:stop]
            ):
                kept.append((start, stop))
        result[kind] = kept
    return result


def _is_plain(lexed: Lexed, bodies: list[Body], configs: list[tuple[int, int]]) -> bool:
    """Every bracket has its partner, every <<< is a launch, and no preprocessor branch can say otherwise."""
    code = lexed.code
    return (
        code.count("<<<") <= len(configs)
        and all(code.count(opening) == code.count(closing) for opening, closing in ("{}", "()"))
        and not any(body.open or len(body.pieces) > 1 for body in bodies)
        and _BRANCH.search(code) is None
    )


def _closers(code: str) -> str:
    stack: list[str] = []
    for char in code:
        if char in "([{":
            stack.append(_CLOSER[char])
        elif char in ")]}" and stack and stack[-1] == char:
            stack.pop()
    return "".join(reversed(stack))


def _union(parsed: list[tuple[int, int]], lexed: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The parsed extents and those of the lexer that none of them overlaps; overlapping ones joined."""
    taken = sorted(parsed)
    joined: list[tuple[int, int]] = []
    index = 0
    for start, end in sorted(lexed):
        while index < len(taken) and taken[index][1] <= start:
            index += 1
        if index == len(taken) or taken[index][0] >= end:
            joined.append((start, end))
    merged: list[tuple[int, int]] = []
    for start, end in sorted(taken + joined):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        elif start < end:
            merged.append((start, end))
    return merged
