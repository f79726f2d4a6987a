"""`find_spans`: which characters of an answer are CUDA-sensitive (CuSeT, arXiv 2606.16231, Eq. 3).

regions.py finds the source in the answer. In each region lexer.py finds kernels and launches, and patterns.py finds
the kinds that are not among the default ones. This file combines them. languages.py handles Triton and functions of
the user's own.
"""

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
    """Return the spans of the chosen kinds in a whole answer of a language model, sorted by (start, end).

    Spans are half-open str indices of `text` and never empty. Spans of one kind do not overlap. No `text` makes this
    raise, but a function of your own may.

    Args:
        text: prose with fenced blocks, bare code, or Python with CUDA in string literals. It may begin with reasoning
            or be cut off by the token limit. An end-of-turn marker after the code is left out of every span.
        kinds: see `KINDS`. The default is the paper's mask.
        aliases: macros that stand for `__global__`, beyond the built-in ones and those that the text defines.
        language: `cuda` (HIP too), `hip`, `triton`, several separated by commas, or `auto` for every language that the
            text shows signs of. `my_module:my_function` or `path.py:my_function` names a function that finds spans of
            your own.

    Raises:
        ValueError: an unknown kind or language, an alias that is not an identifier, or a function of your own that is
            not found, fails or returns no spans.
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
        # Spans of one kind must not overlap, even where both languages find some.
        spans = spans_at({kind: [(a, b) for a, b, span_kind in spans if span_kind == kind] for kind in chosen}, chosen)
    return sorted(spans)


def _cuda_spans(text: str, chosen: tuple[str, ...], extra: tuple[str, ...]) -> set[Span]:
    """Return the spans of CUDA and HIP in an answer."""
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

    # Two passes, so that asking for further kinds can never change the spans of the paper's two kinds.
    paper = tuple(kind for kind in chosen if kind in DEFAULT_KINDS)
    analysis = tuple(kind for kind in chosen if kind not in DEFAULT_KINDS)
    spans: set[Span] = set()
    for wanted, test in ((paper, has_kernel), (analysis, has_code)):
        if wanted and test(text):
            for region in find_regions(text, test):
                spans |= _region_spans(region, wanted, extra)
    return spans


def _region_spans(region: Region, kinds: tuple[str, ...], aliases: tuple[str, ...]) -> set[Span]:
    """Return the spans in one region, as indices of the answer."""
    lexed = lex(region.text, aliases)
    extents = _extents(lexed, kinds)
    # Where scrubbing removed some, they are in comments or in source for NVRTC.
    if region.text.count("__global__") > lexed.full.count("__global__"):
        literals = c_literals(region.text, lambda literal: "__global__" in literal)
        add_quoted(extents, literals, lambda source: _extents(lex(source, aliases), kinds))
    return spans_at(extents, kinds, region.start)


def _extents(lexed: Lexed, kinds: tuple[str, ...]) -> Extents:
    bodies = kernels(lexed)
    extents: Extents = {"kernel_body": [piece for body in bodies for piece in body.pieces]}
    if "kernel_signature" in kinds:
        extents["kernel_signature"] = [signature(lexed, body.head, body.pieces[0][0]) for body in bodies]
    if "launch_config" in kinds:
        extents["launch_config"] = launches(lexed)
    if "device_function" in kinds:
        extents["device_function"] = [(body.head, body.pieces[-1][1]) for body in device_functions(lexed)]
    return extents | {kind: pattern_spans(lexed.full, kind) for kind in kinds if kind not in extents}
