"""Find kernels and launches by matching brackets in scrubbed text.

The lexer has no grammar. It is exact on real code because it reads preprocessor branches one at a time and macro
bodies separately. A body without a closing brace ends at the likeliest place.

Time is linear: no input makes the lexer read a character more than a few times. Standard library only.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from .kinds import KERNEL_ALIASES
from .scrub import DIRECTIVE, line_before, scrub
from .templates import field_end, plain


_ATTRIBUTE = r"__attribute__\s*\(\(\s*(?:__)?global(?:__)?\s*\)\)"
_DEVICE = re.compile(r"__device__(?<!\w__device__)\b")
_HEADER = re.compile(r"[(){};#]")
_BODY = re.compile(r"[{}#]")
_DIRECTIVE = re.compile(r"#[ \t]*(if|el|endif)")
_MACRO = re.compile(r"[ \t]+(\w+)(\([^()]*\))?")
# Text before or behind a name for `__global__` which shows that the name is used as a value, a type, a label or a
# function's name, so that no kernel starts there.
_USED_BEFORE = re.compile(
    r"(?:->|::|~|(?<=\w)\.|\b(?:case|class|struct|union|enum|namespace|goto|new|return|using|typename|sizeof|operator)\s+)\Z"
)
_USED_BEHIND = re.compile(r"[\s\\]*(?:[:,>=.?|+\-/&\])};!^~*<]|\[(?!\[))")
# A head that ends so returns a value. Kernels return nothing, so the macro before it expanded to a whole kernel, and
# this head belongs to the next, ordinary function.
_RETURNS = re.compile(
    r"\b(?:int|float|double|bool|char|long|short|unsigned|size_t|cudaError_t)\s[\s*&]*\w+\s*\([^()]*\)\s*\Z"
)
_TYPE_BEFORE = re.compile(r"\b(?:void|int|float|double|bool|auto)\s+\Z")
_FUNCTION_BEHIND = re.compile(r"\s*\([^(){};]*\)\s*\{")
_NEXT_BRANCH_BODY = re.compile(r"\s*#[ \t]*el[^\n]*\n\s*(?=\{)")
# An unclosed body followed by this was not cut off. One of its braces is missing or comes from a macro.
_CLOSED_ANYWAY = re.compile(
    r"\n\}[^\n]*\n\s*(?=(?:template\s*<|__global__|__device__|__host__|static\s|inline\s|extern\s|namespace\s|struct\s"
    r"|class\s|typedef\s|using\s|#[ \t]*(?:include|define)|(?:int|void|float|double|bool|auto|cudaError_t)\s+\w+\s*\())"
)
_ALIAS_LIMIT = 50  # macros of one text that are taken for `__global__`, per round
OPENING = re.compile(r"<(?<!<<)[\s\\]*<[\s\\]*<(?![\s\\]*<)")  # some formatters write `<< <`
_CONFIG = re.compile(r"[()\[\]{};<>](?:(?<=<)[<=]+|(?<=>)(?:[\s\\]*>)+)?")
_AFTER_CONFIG = re.compile(r"[\s\\]*(?:[(#\w]|\Z)")
_CONFIG_LIMIT = 8192  # characters; real configurations are far shorter, and the bound keeps a stray <<< cheap
# A diff marks its lines by + or -, and the line itself is indented.
_STATEMENT_END = re.compile(r"\n[+-](?=\t|  )|[\n;{}]")
_BREAK = re.compile(r"\n[+-](?=\t|  )|[\n;{}(),=?:&|!]")
_NO_PROSE = frozenset({"else", "do", "return", "co_await", "template"})


class Body(NamedTuple):
    """A function that a specifier such as `__global__` introduces.

    Attributes:
        head: index at which the specifier starts.
        pieces: (start, end) ranges of its body. Preprocessor branches can split one function into several pieces.
    """

    head: int
    pieces: list[tuple[int, int]]


class Lexed(NamedTuple):
    """A scrubbed region, ready to be searched.

    Attributes:
        full: the scrubbed text.
        code: the same text with macro definitions blanked.
        macros: (start, end) ranges of the macro bodies in `full`.
        finder: pattern that matches `__global__` and everything that stands for it in this region.
    """

    full: str
    code: str
    macros: list[tuple[int, int]]
    finder: re.Pattern[str]

    def stretches(self) -> list[tuple[str, int, int]]:
        """Return the parts that are read separately: the code, then the body of each macro.

        Each part is a text with the (start, end) range to read in it.
        """
        return [(self.code, 0, len(self.code)), *((self.full, start, end) for start, end in self.macros)]


def lex(text: str, aliases: Iterable[str] = ()) -> Lexed:
    """Scrub a region, separate its macros and find out which of them stand for `__global__`.

    Args:
        text: source code of one region.
        aliases: the user's macros for `__global__`.
    """
    full = scrub(plain(text))
    macros: list[tuple[int, int]] = []
    definitions: list[tuple[str, str]] = []

    def set_apart(directive: re.Match[str]) -> str:
        start, end = directive.span()
        if line_before(full, start).strip():
            return directive[0]
        if directive[1] != "define":
            return full[start : directive.end(1)] + " " * (end - directive.end(1))
        macro = _MACRO.match(full, directive.end(1), end)
        body = macro.end() if macro else end
        macros.append((body, end))
        if macro:
            definitions.append((macro[1], full[body:end]))
        return " " * (end - start)

    code = DIRECTIVE.sub(set_apart, full) if "#" in full else full
    defined = {name for name, _ in definitions}  # a definition in the text takes precedence over the built-in list
    # Every built-in alias contains one of these two words.
    known_aliases = KERNEL_ALIASES if "KERNEL" in full or "GLOBAL" in full else ()
    words = [*(name for name in known_aliases if name in full and name not in defined), *aliases]
    finder = _kernel_finder(tuple(words))
    candidates = [(name, body) for name, body in definitions if "{" not in body and ";" not in body]
    for _ in range(3):  # a macro may be defined by another macro
        new_words = dict.fromkeys(name for name, body in candidates if _heads(body, finder, 0, len(body)))
        if not new_words:
            break
        words += list(new_words)[:_ALIAS_LIMIT]
        finder = _kernel_finder(tuple(words))
        candidates = [(name, body) for name, body in candidates if name not in new_words]
    return Lexed(full, code, macros, finder)


def kernels(lexed: Lexed) -> list[Body]:
    """Return every kernel that has a body, including those in macro bodies."""
    return [body for stretch in lexed.stretches() for body in _functions(*stretch, lexed.finder, strict=True)]


def device_functions(lexed: Lexed) -> list[Body]:
    """Return every `__device__` function or lambda that has a body."""
    return [body for stretch in lexed.stretches() for body in _functions(*stretch, _DEVICE, strict=False)]


def _kernel_finder(words: tuple[str, ...]) -> re.Pattern[str]:
    # `re` caches compiled patterns itself. A pattern that begins with a literal is searched by memchr.
    if not words:
        return re.compile(rf"__(?:global__\b|{_ATTRIBUTE[2:]})")
    longest_first = map(re.escape, sorted(("__global__", *words), key=len, reverse=True))
    return re.compile("|".join([*(rf"{word}(?<!\w{word})\b" for word in longest_first), _ATTRIBUTE]))


def _heads(text: str, finder: re.Pattern[str], start: int, end: int) -> list[tuple[int, int]]:
    """Return the (start, end) of each name for `__global__` that can start a kernel."""
    heads = []
    for match in finder.finditer(text, start, end):
        before = text[max(0, match.start() - 40) : match.start()]
        if not (
            _USED_BEHIND.match(text, match.end(), end)
            or _USED_BEFORE.search(before)
            or (_FUNCTION_BEHIND.match(text, match.end(), end) and _TYPE_BEFORE.search(before))
        ):
            heads.append(match.span())
    return heads


def _functions(text: str, start: int, end: int, finder: re.Pattern[str], *, strict: bool) -> list[Body]:
    """Return the functions that a specifier introduces in a range of scrubbed text.

    Args:
        text: scrubbed text.
        start: where the range begins.
        end: where the range ends.
        finder: pattern of the specifier.
        strict: the specifier cannot occur inside a body, so an open body ends before the next specifier.
    """
    heads = (
        _heads(text, finder, start, end) if strict else [match.span() for match in finder.finditer(text, start, end)]
    )
    starts = [head for head, _ in heads]
    bodies: list[Body] = []
    done = start  # everything before is settled, except for the branches that a body jumped over
    jumped: list[tuple[int, int]] = []  # preprocessor branches that are alternatives to the one a body opened in
    at_gap = 0
    for index, (head, after) in enumerate(heads):
        limit = end
        inside = head < done
        if inside:
            while at_gap < len(jumped) and jumped[at_gap][1] <= head:
                at_gap += 1
            if at_gap == len(jumped) or head < jumped[at_gap][0]:
                continue
            limit = jumped[at_gap][1]
        stop = starts[index + 1] if index + 1 < len(starts) else end
        opening, in_branch = _find_body(text, after, min(stop, limit))
        if opening >= 0 and strict and text[head] != "_" and _RETURNS.search(text, max(after, opening - 400), opening):
            continue
        pieces: list[tuple[int, int]] = []
        while opening >= 0:
            close, gaps = _find_close(text, opening, limit, starts if strict else None, one_branch=inside)
            if close < 0:
                close, strict = _recover(text, gaps[-1][1] if gaps else opening, limit, starts), True
            last = opening
            for gap_start, gap_end in gaps:
                if gap_start < close:
                    pieces.append((last, gap_start))
                    last = min(gap_end, close)
            pieces.append((last, close))
            if not inside:
                jumped += gaps
                done = close
            again = _NEXT_BRANCH_BODY.match(text, close, limit) if in_branch else None
            opening = again.end() if again else -1
        if pieces:
            bodies.append(Body(head, [piece for piece in pieces if piece[0] < piece[1]]))
    return bodies


def _directive(text: str, position: int) -> str:
    """Return `if`, `el` or `endif` where such a directive begins its line, else an empty string."""
    match = _DIRECTIVE.match(text, position)
    return match[1] if match and not line_before(text, position).strip() else ""


def _depth_behind(directive: str, depth: int, branches: list[list[int]]) -> int:
    """Return the bracket depth behind a preprocessor directive.

    Each branch begins at the depth of its `#if`. After `#endif` the depth at the end of the first branch counts.

    Args:
        directive: `if`, `el` or `endif`. Anything else leaves the depth as it is.
        depth: bracket depth before the directive.
        branches: for each open `#if`, the depth at the `#if` and the depth at the end of its first branch (-1 before
            its first `#else`). Updated in place.
    """
    if directive == "if":
        branches.append([depth, -1])
    elif branches and directive == "el":
        if branches[-1][1] < 0:
            branches[-1][1] = depth
        depth = branches[-1][0]
    elif branches and directive == "endif":
        _, first = branches.pop()
        depth = first if first >= 0 else depth
    return depth


def _find_body(text: str, position: int, stop: int) -> tuple[int, bool]:
    """Find the `{` behind a specifier's parameter list.

    Returns:
        Its index, or -1 if there is none, and whether an `#if` that began in the head is still open there.
    """
    depth = settled = 0
    seen = False
    branches: list[list[int]] = []
    skip = 0
    for match in _HEADER.finditer(text, position, stop):
        at = match.start()
        char = text[at]
        if at < settled:  # inside a template engine's placeholder
            continue
        if char == "#":
            directive = _directive(text, at)
            if skip:
                skip += (directive == "if") - (directive == "endif")
            elif directive == "el" and not branches:
                skip = 1
            else:
                depth = _depth_behind(directive, depth, branches)
        elif skip:
            continue
        elif char == "(":
            depth += 1
            seen = True
        elif char == ")":
            depth -= 1
            if depth < 0:
                return -1, False
        elif depth == 0:
            settled = field_end(text, at, seen) if char == "{" else 0
            if not settled:
                return (at, bool(branches)) if char == "{" and seen else (-1, False)
    return -1, False


def _find_close(
    text: str, opening: int, limit: int, heads: list[int] | None, *, one_branch: bool
) -> tuple[int, list[tuple[int, int]]]:
    """Find the end of the body that opens at `opening`.

    Args:
        text: scrubbed text.
        opening: index of the opening brace.
        limit: where to stop.
        heads: sorted starts of specifiers, none of which can lie inside the body. None: they can.
        one_branch: the body ends with the preprocessor branch it opened in, because the code after that branch is part
            of another body.

    Returns:
        One past the closing brace, or -1 if there is none before `limit` or the next head, and the (start, end) ranges
        of the preprocessor branches that were jumped over.
    """
    depth = 0
    end = -1
    branches: list[list[int]] = []
    gaps: list[tuple[int, int]] = []
    skip = skip_from = 0
    stop = _next_head(heads, opening, limit)
    for match in _BODY.finditer(text, opening, limit):
        at = match.start()
        char = text[at]
        directive = _directive(text, at) if char == "#" else ""
        if skip:
            skip += (directive == "if") - (directive == "endif")
            if not skip:
                gaps.append((skip_from, at))
                stop = _next_head(heads, at, limit)
            continue
        if at > stop:
            break
        if end >= 0 and not (directive == "el" and text[end:at].isspace()):
            return end, gaps
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth <= 0:
                end = at + 1
                if not branches:
                    return end, gaps
        elif directive in ("el", "endif") and one_branch and not branches:
            return at, gaps
        else:
            end = -1 if directive == "el" else end
            if directive == "el" and not branches:
                skip, skip_from = 1, at  # the branch in which the body opened ends here; the others are alternatives
            depth = _depth_behind(directive, depth, branches)
    if skip:
        gaps.append((skip_from, limit))
    return end, gaps


def _next_head(heads: list[int] | None, position: int, limit: int) -> int:
    """Return the first head behind `position`, or `limit` if there is none."""
    if heads is None:
        return limit
    index = bisect_right(heads, position)
    return heads[index] if index < len(heads) else limit


def _recover(text: str, position: int, limit: int, heads: list[int]) -> int:
    """Return where a body without a closing brace ends.

    It is the end of the region if the text was cut off, else the likeliest brace.
    """
    stop = _next_head(heads, position, limit)
    guess = _CLOSED_ANYWAY.search(text, position, min(stop + 64, limit))
    if guess and guess.start() + 2 <= stop:
        return guess.start() + 2
    if stop == limit:
        return limit
    last = text.rfind("}", position, stop)
    return last + 1 if last > 0 else stop


def launches(lexed: Lexed) -> list[tuple[int, int]]:
    """Return the (start, end) of every `<<<...>>>`.

    A configuration that is cut off by the end of the region or of a macro runs to that end.
    """
    configs = []
    for number, (text, start, end) in enumerate(lexed.stretches()):
        openings = [*(match.span() for match in OPENING.finditer(text, start, end)), (end, end)]
        for (opening, inside), (stop, _) in pairwise(openings):
            # A macro whose body begins with a configuration is used behind a kernel's name.
            is_whole = number > 0 and not text[start:opening].strip(" \t\r\n\\")
            if (is_whole or is_callee(text, opening, start)) and (close := _close_config(text, inside, end, stop)):
                configs.append((opening, close))
    return configs


def _close_config(text: str, position: int, end: int, stop: int) -> int:
    """Return the end of the launch configuration that begins before `position`.

    Angle brackets of template arguments and comparisons look alike. A `>>>` is read as the end of template arguments
    if at least as many `<` are open. It closes the configuration after all if nothing else does.

    Returns:
        One past the closing `>>>`, the end of the text where the configuration is cut off there, or 0 when this is not
        a launch.
    """
    depth = braces = angles = passed = 0
    limit = min(stop, position + _CONFIG_LIMIT)
    for match in _CONFIG.finditer(text, position, limit):
        token = match[0]
        char = token[0]
        if char == "<":
            before = text[max(position, match.start() - 2) : match.start()].rstrip()[-1:]
            angles += not depth and token == "<" and (before.isalnum() or before == "_")
        elif char == ">":
            if depth or text[match.start() - 1] == "-" or text.startswith("=", match.end()):
                continue  # inside brackets, or part of `->` or `>=`
            count = token.count(">")
            if count >= 3 and _AFTER_CONFIG.match(text, match.end(), end):
                if angles < count:
                    return match.end()
                passed = match.end()
            elif count >= 3 and angles < count:
                return passed
            angles = max(0, angles - count)
        elif char in "([{":
            depth += 1
            braces += char == "{"
        elif char == ";":
            if not braces:  # inside braces it ends a statement of a lambda
                return passed
        else:
            depth -= 1
            braces -= char == "}"
            if depth < 0:
                return passed
    if limit == end:
        return position + len(text[position:end].rstrip()) if end < len(text) else end
    return passed


def is_callee(text: str, position: int, start: int = 0) -> bool:
    """Check that the text before `<<<` can be the name of a kernel.

    `the kernel<<<` is part of a sentence, `else kernel<<<` is code.
    """
    before = text[max(start, position - 400) : position].rstrip(" \t\r\n\\")
    last = before[-1:]
    if last in (")", "]", "}"):
        return True
    if last == ">":  # template arguments
        before = _STATEMENT_END.split(before)[-1].split("<", 1)[0]
    elif not last.isalnum() and last not in ("_", "@"):
        return False
    words = _BREAK.split(before[-200:])[-1].split()
    return words[-1:] != ["operator"] and all(word in _NO_PROSE for word in words[:-1])
