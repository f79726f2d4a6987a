"""`find_spans`: which characters of an answer are CUDA-sensitive (CuSeT, arXiv 2606.16231, Eq. 3).

regions.py finds the source in the answer; lexer.py finds the spans in each region, and patterns.py those of the kinds that only
the analysis uses. This file combines them. Triton and functions of the user's own: languages.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..named_functions import is_function_name
from .kinds import DEFAULT_KINDS, KERNEL_ALIASES, Extents, Span, check_aliases, check_kinds, spans_at
from .languages import CUDA, check_language, own_spans, triton_spans
from .lexer import OPENING, Lexed, device_functions, kernels, launches, lex
from .patterns import might_match, pattern_spans, signature
from .regions import Region, add_quoted, c_literals, find_regions


def find_spans(
    text: str, kinds: Sequence[str] = DEFAULT_KINDS, *, aliases: Iterable[str] = (), language: str = "cuda"
) -> list[Span]:
    """The spans of the chosen kinds in a whole answer of a language model, sorted by (start, end).

    text: prose with fenced blocks, bare code, Python with CUDA in string literals, with reasoning before it or cut off
        by the token limit. An end-of-turn marker after the code is left out of every span.
    kinds: see `KINDS`. The default is the paper's mask.
    aliases: macros that stand for `__global__` beyond those that are known and those the text defines.
    language: `cuda` (HIP too), `hip`, `triton`, several separated by commas, `auto` for all of which the text shows signs, or
        `my_module:my_function` or `path.py:my_function` for spans of your own.

    Spans are half-open str indices of `text`, not empty, and spans of one kind do not overlap. Never raises on `text`; a function of
    your own may.

    Raises:
        ValueError: an unknown kind or language, an alias that is not an identifier, or a function of your own that is not found, fails
            or returns no spans.
    """
    chosen = check_kinds(kinds)
    extra = check_aliases(aliases)
    languages = check_language(language)
    if is_function_name(languages[0]):
        return own_spans(text, languages[0], chosen)
    auto = languages == ("auto",)
    spans = set() if set(CUDA).isdisjoint(languages) and not auto else _cuda_spans(text, chosen, extra)
    if auto or "triton" in languages:
        spans |= triton_spans(text, chosen, sure=not auto)
        # Spans of one kind must not overlap, also where both languages have some.
        spans = spans_at({kind: [(a, b) for a, b, found in spans if found == kind] for kind in chosen}, chosen)
    return sorted(spans)


def _cuda_spans(text: str, chosen: tuple[str, ...], extra: tuple[str, ...]) -> set[Span]:
    names = (*KERNEL_ALIASES, *extra)

    def has_kernel(stretch: str) -> bool:
        return (
            "__global__" in stretch
            or OPENING.search(stretch) is not None
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
    return spans


def _region_spans(region: Region, kinds: tuple[str, ...], aliases: tuple[str, ...]) -> set[Span]:
    lexed = lex(region.text, aliases)
    found = _extents(lexed, kinds)
    if region.text.count("__global__") > lexed.full.count("__global__"):  # one in a comment, or in source for NVRTC
        literals = c_literals(region.text, lambda literal: "__global__" in literal)
        add_quoted(found, literals, lambda source: _extents(lex(source, aliases), kinds))
    return spans_at(found, kinds, region.start)


def _extents(lexed: Lexed, kinds: tuple[str, ...]) -> Extents:
    bodies = kernels(lexed)
    found: Extents = {"kernel_body": [piece for body in bodies for piece in body.pieces]}
    if "kernel_signature" in kinds:
        found["kernel_signature"] = [signature(lexed, body.head, body.pieces[0][0]) for body in bodies]
    if "launch_config" in kinds:
        found["launch_config"] = launches(lexed)
    if "device_function" in kinds:
        found["device_function"] = [(body.head, body.pieces[-1][1]) for body in device_functions(lexed)]
    return found | {kind: pattern_spans(lexed.full, kind) for kind in kinds if kind not in found}
