"""A CUDA program as tokens: what the operators of this package look at to find a place for an edit.

The text is scrubbed by `cuset_stage.spans`, so comments, literals, macros and preprocessor lines hold no tokens and
can never be edited. Nothing here parses C++: brackets are matched, statements end at semicolons, and whatever does not fit
is left out, because a place that is not understood is no place for an edit.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ..spans.launches import launches
from ..spans.lexer import device_functions, kernels, lex
from ..spans.regions import find_regions
from .edits import Edit


_TOKEN = re.compile(
    r"(?P<word>[A-Za-z_]\w*)"
    r"|(?P<number>(?:0[xX][\da-fA-F']+|(?:\d[\d']*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[uUlLfF]*)"
    r"|(?P<operator><<<|>>>|<<=|>>=|->|::|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[^\s\w])"
)
_PREPROCESSOR = re.compile(r"^[ \t]*#[^\\\n]*+(?:\\(?:\r\n|[\s\S])?[^\\\n]*+)*+", re.MULTILINE)
_OPENERS = {"(": ")", "[": "]", "{": "}"}
_ANGLE_INSIDE = frozenset({"::", ",", "*", "&", "..."})
_ANGLE_AFTER = frozenset({"(", ")", "::", "{", "}", ",", "*", "&", ">", ">>", ">>>", "<<<", ";", "..."})
_ANGLE_LIMIT = 40  # tokens of a template argument list
_COMPARISONS = frozenset({"<", ">", "<=", ">="})
_CONTROL = frozenset({"if", "for", "while", "switch"})
# Their arguments are messages and checks, not computation.
_CHECKS = frozenset({"printf", "fprintf", "assert", "static_assert", "snprintf"})
_TYPES = frozenset({"int", "unsigned", "float", "double", "char", "long", "short", "void", "auto", "bool", "float4"})
_FLOATS = frozenset(
    {"float", "double", "half", "__half", "__half2", "half2", "float2", "float3", "float4", "nv_bfloat16"}
)


class Token(NamedTuple):
    """A token with its place in the source: str indices, half-open."""

    text: str
    start: int
    end: int
    kind: str  # word, number or operator


class Extent(NamedTuple):
    """Tokens from `first` to `last` inclusive; empty when last < first."""

    first: int
    last: int


@dataclass(frozen=True)
class Function:
    """A kernel or device function; the extents include the parentheses and the braces."""

    name: str
    is_kernel: bool
    parameters: Extent
    body: Extent


@dataclass(frozen=True)
class Loop:
    """A `for` with its three parts and its body."""

    keyword: int
    init: Extent
    condition: Extent
    step: Extent
    body: Extent


@dataclass(frozen=True)
class Launch:
    """A kernel launch, as `k<<<...>>>(...)` or through cudaLaunchKernel and its cooperative form."""

    kernel: str
    grid: Extent
    block: Extent
    shared: Extent | None
    arguments: tuple[Extent, ...]


def tokens_of(code: str) -> tuple[Token, ...]:
    """The tokens of scrubbed code."""
    return tuple(
        Token(match[0], match.start(), match.end(), match.lastgroup or "operator") for match in _TOKEN.finditer(code)
    )


def _has_code(text: str) -> bool:
    return "__global__" in text or "<<<" in text or "__device__" in text


class Program:
    """One answer or source file. `code` has the length of `source` and holds only what may be edited."""

    def __init__(self, source: str) -> None:
        self.source = source
        heads: list[tuple[int, int, int, bool]] = []
        configs: list[int] = []
        pieces: list[str] = []
        done = 0
        for region in find_regions(source, _has_code) if _has_code(source) else []:
            if region.start < done:
                continue
            lexed = lex(region.text)
            code = _PREPROCESSOR.sub(lambda match: " " * len(match[0]), lexed.code)
            pieces += [" " * (region.start - done), code]
            done = region.start + len(code)
            for bodies, is_kernel in ((kernels(lexed), True), (device_functions(lexed), False)):
                heads += [
                    (region.start + body.head, region.start + start, region.start + end, is_kernel)
                    for body in bodies
                    for start, end in body.pieces
                ]
            configs += [region.start + start for start, _ in launches(lexed)]
        self.code = "".join(pieces).ljust(len(source))
        self.tokens = tokens_of(self.code)
        self._starts = [token.start for token in self.tokens]
        self.pairs = self._match_brackets()
        self.angles = self._match_angles()
        self.functions = tuple(sorted(self._functions(heads), key=lambda function: function.body))
        self._config_starts = configs

    def _match_brackets(self) -> dict[int, int]:
        pairs: dict[int, int] = {}
        stack: list[int] = []
        for index, token in enumerate(self.tokens):
            if token.text in _OPENERS:
                stack.append(index)
            elif token.text in (")", "]", "}"):
                while stack and _OPENERS[self.tokens[stack[-1]].text] != token.text and token.text == "}":
                    stack.pop()  # a brace closes whatever was left open inside it
                if stack and _OPENERS[self.tokens[stack[-1]].text] == token.text:
                    opening = stack.pop()
                    pairs[opening], pairs[index] = index, opening
        return pairs

    def _match_angles(self) -> dict[int, int]:
        """Template argument lists, opening to closing token; every other < and > compares."""
        angles: dict[int, int] = {}
        for index, token in enumerate(self.tokens):
            if token.text != "<" or index == 0 or self.tokens[index - 1].kind != "word":
                continue
            depth = 1
            for at in range(index + 1, min(index + _ANGLE_LIMIT, len(self.tokens))):
                inside = self.tokens[at]
                if inside.text == "<":
                    depth += 1
                elif inside.text in (">", ">>", ">>>"):
                    depth -= len(inside.text)
                    if depth <= 0:
                        after = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
                        if after and (after.kind == "word" or after.text in _ANGLE_AFTER):
                            angles[index] = at
                        break
                elif inside.kind == "operator" and inside.text not in _ANGLE_INSIDE:
                    break
        return angles

    def _functions(self, heads: list[tuple[int, int, int, bool]]) -> Iterator[Function]:
        for head, start, end, is_kernel in heads:
            opening, last = self.index_at(start), self.index_at(end) - 1
            if last <= opening:
                continue
            close = next((at for at in range(opening - 1, -1, -1) if self.tokens[at].text == ")"), -1)
            if close < 0 or self.tokens[close].start < head or close not in self.pairs:
                continue
            name = self.tokens[self.pairs[close] - 1].text if self.pairs[close] else ""
            yield Function(name, is_kernel, Extent(self.pairs[close], close), Extent(opening, last))

    def index_at(self, position: int) -> int:
        """The first token that starts at or after a place in the source."""
        return bisect_left(self._starts, position)

    def text(self, extent: Extent) -> str:
        """The source of some tokens."""
        return self.source[self.tokens[extent.first].start : self.tokens[extent.last].end]

    def edit(self, extent: Extent, replacement: str, variant: str, tier: int, shown: Extent | None = None) -> Edit:
        """The edit that replaces some tokens; `shown` are the tokens a description quotes, by default the same."""
        around = shown or extent
        return Edit(
            self.tokens[extent.first].start,
            self.tokens[extent.last].end,
            replacement,
            variant,
            tier,
            (self.tokens[around.first].start, self.tokens[around.last].end),
        )

    def cut(self, extent: Extent, variant: str, tier: int, shown: Extent) -> Edit:
        """The edit that takes tokens out together with the space before the token that follows."""
        end = (
            self.tokens[extent.last + 1].start if extent.last + 1 < len(self.tokens) else self.tokens[extent.last].end
        )
        gap = self.source[self.tokens[extent.last].end : end]
        if gap.strip() or "\n" in gap:
            end = self.tokens[extent.last].end
        start = self.tokens[extent.first].start
        around = (self.tokens[shown.first].start, self.tokens[shown.last].end)
        return Edit(start, end, "", variant, tier, (around[0], max(around[1], end)))

    def cut_from(self, after: int, last: int, variant: str, tier: int, shown: Extent) -> Edit:
        """The edit that takes out what follows one token up to another, the space between them included."""
        around = (self.tokens[shown.first].start, self.tokens[shown.last].end)
        return Edit(self.tokens[after].end, self.tokens[last].end, "", variant, tier, around)

    def at(self, index: int) -> str:
        """A token's text, empty outside the program."""
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def kind(self, index: int) -> str:
        """A token's kind, empty outside the program."""
        return self.tokens[index].kind if 0 <= index < len(self.tokens) else ""

    def line(self, position: int) -> int:
        """The 1-based line of a place in the source."""
        return self.source.count("\n", 0, position) + 1

    @cached_property
    def file_scope(self) -> frozenset[int]:
        """Tokens outside parentheses, template parameters and every brace but those of namespaces."""
        found: list[int] = []
        at = 0
        while at < len(self.tokens):
            text = self.at(at)
            if text == "(" or (text == "{" and "namespace" not in (self.at(at - 1), self.at(at - 2))):
                at = self.pairs.get(at, len(self.tokens))
            elif text == "<" and self.at(at - 1) == "template":
                at = self.angles.get(at, at)
            found.append(at)
            at += 1
        return frozenset(found)

    def words(self, extent: Extent) -> set[str]:
        """The identifiers among some tokens."""
        return {self.at(at) for at in range(extent.first, extent.last + 1) if self.kind(at) == "word"}

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """Where each identifier occurs."""
        found: dict[str, list[int]] = {}
        for index, token in enumerate(self.tokens):
            if token.kind == "word":
                found.setdefault(token.text, []).append(index)
        return found

    @cached_property
    def checks(self) -> frozenset[int]:
        """Tokens of messages, assertions and of declarations whose numbers are sizes."""
        found: set[int] = set()
        for name in _CHECKS:
            for index in self.places.get(name, []):
                if self.at(index + 1) == "(":
                    found.update(range(index, self.pairs.get(index + 1, index + 1) + 1))
        for name in ("__shared__", "constexpr"):
            for index in self.places.get(name, []):
                found.update(range(index, self.statement_end(index) + 1))
        return frozenset(found)

    @cached_property
    def device(self) -> dict[int, Function]:
        """Every token that device code computes with, and the innermost function it stands in."""
        found: dict[int, Function] = {}
        for function in self.functions:
            for index in range(function.body.first + 1, function.body.last + 1):
                if index not in self.checks:
                    found[index] = function
        return found

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """Every `for` with two semicolons in its head."""
        found = []
        for keyword in self.places.get("for", []):
            close = self.pairs.get(keyword + 1, -1)
            if self.at(keyword + 1) != "(" or close < 0:
                continue
            stops, at = [], keyword + 2
            while at < close:
                if self.at(at) == ";":
                    stops.append(at)
                at = self.pairs.get(at, at) + 1 if self.at(at) in _OPENERS else at + 1
            if len(stops) == 2:
                found.append(
                    Loop(
                        keyword,
                        Extent(keyword + 2, stops[0] - 1),
                        Extent(stops[0] + 1, stops[1] - 1),
                        Extent(stops[1] + 1, close - 1),
                        Extent(close + 1, self.statement_end(close + 1)),
                    )
                )
        return tuple(found)

    @cached_property
    def loop_heads(self) -> frozenset[int]:
        """Tokens between the parentheses of a `for` or a `while`."""
        found: set[int] = set()
        for word in ("for", "while"):
            for keyword in self.places.get(word, []):
                if self.at(keyword + 1) == "(":
                    found.update(range(keyword + 1, self.pairs.get(keyword + 1, keyword) + 1))
        return frozenset(found)

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """Every launch whose grid and block are given."""
        found = []
        for start in self._config_starts:
            opening = self.index_at(start)
            close = next((at for at in range(opening, len(self.tokens)) if self.at(at) == ">>>"), -1)
            if self.at(opening) != "<<<" or close < 0:
                continue
            parts = self.split(Extent(opening + 1, close - 1))
            if len(parts) < 2:
                continue
            arguments = self.arguments(close + 1) if self.at(close + 1) == "(" else ()
            shared = parts[2] if len(parts) > 2 else None
            found.append(Launch(self._callee(opening), parts[0], parts[1], shared, arguments))
        for name in ("cudaLaunchKernel", "cudaLaunchCooperativeKernel", "hipLaunchCooperativeKernel"):
            for index in self.places.get(name, []):
                parts = self.arguments(index + 1)
                if len(parts) >= 4:
                    shared = parts[4] if len(parts) > 4 else None
                    found.append(Launch(self.at(parts[0].last), parts[1], parts[2], shared, ()))
        return tuple(found)

    def _callee(self, opening: int) -> str:
        at = opening - 1
        if self.at(at) == ">":
            at = next((start for start, end in self.angles.items() if end == at), at) - 1
        return self.at(at)

    def function(self, name: str) -> Function | None:
        """The kernel of this name."""
        return next((one for one in self.functions if one.is_kernel and one.name == name), None)

    def split(self, extent: Extent) -> tuple[Extent, ...]:
        """The parts between the commas of one bracket level."""
        parts, start, at = [], extent.first, extent.first
        while at <= extent.last:
            if self.at(at) == ",":
                parts.append(Extent(start, at - 1))
                start = at + 1
            elif self.at(at) in _OPENERS:
                at = self.pairs.get(at, at)
            at = self.angles.get(at, at) + 1
        parts.append(Extent(start, extent.last))
        return tuple(parts) if all(part.first <= part.last for part in parts) else ()

    def arguments(self, opening: int) -> tuple[Extent, ...]:
        """The arguments of the call whose parenthesis opens here; empty when it is not one or never closes."""
        close = self.pairs.get(opening, -1)
        if self.at(opening) != "(" or close <= opening + 1:
            return ()
        return self.split(Extent(opening + 1, close - 1))

    def statement_end(self, index: int) -> int:
        """The last token of the statement that begins here, an `if` without its `else`."""
        at = index
        while self.at(at) in _CONTROL and self.at(at + 1) == "(" and at + 1 in self.pairs:
            at = self.pairs[at + 1] + 1
        if self.at(at) == "{":
            return self.pairs.get(at, len(self.tokens) - 1)
        while at < len(self.tokens):
            if self.at(at) in (";", "}"):
                return at
            at = self.pairs.get(at, at) + 1 if self.at(at) in _OPENERS else at + 1
        return len(self.tokens) - 1

    def is_comparison(self, index: int) -> bool:
        """Whether this token compares sizes."""
        return self.at(index) in _COMPARISONS and index not in self._angle_ends

    @cached_property
    def _angle_ends(self) -> frozenset[int]:
        return frozenset((*self.angles, *self.angles.values()))

    def operand_after(self, index: int, stops: frozenset[str]) -> Extent:
        """What stands after an operator, up to a token of `stops` or the end of the bracket."""
        at = index + 1
        while at < len(self.tokens) and self.at(at) not in stops and self.at(at) not in (")", "]", "}", ";", ","):
            at = self.pairs.get(at, at) + 1 if self.at(at) in _OPENERS else self.angles.get(at, at) + 1
        return Extent(index + 1, min(at, len(self.tokens)) - 1)

    def operand_before(self, index: int, stops: frozenset[str]) -> Extent:
        """What stands before an operator, back to a token of `stops` or the start of the bracket."""
        at = index - 1
        while at >= 0 and self.at(at) not in stops and self.at(at) not in ("(", "[", "{", "}", ";", ",", "return"):
            at = self.pairs.get(at, at) - 1 if self.at(at) in (")", "]") else at - 1
        return Extent(max(at, -1) + 1, index - 1)

    @cached_property
    def _indices(self) -> dict[Function, frozenset[str]]:
        return {function: frozenset(self._index_words(function)) for function in self.functions}

    def indices(self, function: Function) -> frozenset[str]:
        """Identifiers of a function that hold a position: of a thread, of a loop, or computed from one."""
        return self._indices[function]

    def _index_words(self, function: Function) -> set[str]:
        found = {"threadIdx", "blockIdx", "thread_rank", "meta_group_rank"}
        if not function.is_kernel:
            found |= {
                name for type_name, name in self.parameters(function) if type_name in ("int", "size_t", "unsigned")
            }
        for loop in self.loops:
            if function.body.first < loop.keyword < function.body.last:
                found |= {self.at(at - 1) for at in range(*loop.init) if self.at(at) == "="}
        for at in range(function.body.first, function.body.last):
            if self.at(at) != "=" or self.kind(at - 1) != "word" or self._declared_as(at - 1) in _FLOATS:
                continue
            index = at + 1
            while index < function.body.last and self.at(index) not in (";", ",", "?"):
                if self.at(index) in found:
                    found.add(self.at(at - 1))
                    break
                index = self.pairs.get(index, index) + 1 if self.at(index) == "[" else index + 1
        return found

    def _declared_as(self, index: int) -> str:
        """The type word before a declared name, the list it stands in included; empty when there is none."""
        at = index - 1
        for _ in range(_ANGLE_LIMIT):
            if self.at(at) in (";", "{", "}", "(", ""):
                return ""
            if self.kind(at) == "word" and (self.kind(at + 1) == "word" or self.at(at + 1) == "*"):
                return self.at(at)
            at = self.pairs.get(at, at) - 1 if self.at(at) in (")", "]") else at - 1
        return ""

    def declares(self, index: int) -> bool:
        """Whether a name is introduced or set here: after its type, in a list of declarators, or left of `=`."""
        before = self.at(index - 1)
        if self.at(index + 1) == "=" or (before == ">" and index - 1 in self.angles.values()):
            return True
        if self.kind(index - 1) == "word":
            return before not in ("return", "else", "case")
        if before in ("*", "&"):
            return self.at(index - 2) in _TYPES or self.at(index - 2).endswith("_t")
        at = index - 1
        if before != ",":
            return False
        while self.at(at) not in (";", "{", "}", "(", "[", ""):
            at = self.pairs.get(at, at) - 1 if self.at(at) in (")", "]") else at - 1
        return self.at(at) not in ("(", "[")

    @cached_property
    def _scope_ends(self) -> list[int]:
        """For each token the last token at which a name declared there is known."""
        ends: list[int] = []
        open_blocks = [len(self.tokens)]
        for at in range(len(self.tokens)):
            ends.append(open_blocks[-1])
            if self.at(at) == "{" and at in self.pairs:
                open_blocks.append(self.pairs[at])
            elif at == open_blocks[-1]:
                open_blocks.pop()
        for loop in self.loops:
            for at in range(loop.keyword, loop.step.last + 1):
                ends[at] = loop.body.last
        return ends

    def known(self, at: int, index: int, function: Function, member: bool) -> bool:
        """Whether the name that stands at one place may be used at another, as a member or by itself."""
        if member:
            return self.at(at - 1) in (".", "->") or self.declares(at)
        if at >= index or self.at(at - 1) in (".", "->", "::") or not self.declares(at):
            return False
        if function.parameters.first < at < function.parameters.last:
            return True
        if function.body.first < at < function.body.last:
            return index <= self._scope_ends[at]
        return at in self.file_scope or self._is_template_parameter(at, function)

    def _is_template_parameter(self, at: int, function: Function) -> bool:
        """Whether a name stands in the `template <...>` right before a function."""
        for start, end in self.angles.items():
            if start < at < end < function.parameters.first and self.at(start - 1) == "template":
                between = range(end + 1, function.parameters.first)
                return not any(self.at(token) in ("{", "}", ";") for token in between)
        return False

    def parameters(self, function: Function) -> list[tuple[str, str]]:
        """(type, name) of each parameter; a pointer's type ends in *, a reference's in &."""
        found = []
        for part in self.arguments(function.parameters.first):
            words = [self.at(at) for at in range(part.first, part.last + 1)]
            if self.kind(part.last) == "word":
                kept = [word for word in words[:-1] if word not in ("const", "__restrict__", "volatile", "std", "::")]
                found.append((" ".join(kept), words[-1]))
        return found
