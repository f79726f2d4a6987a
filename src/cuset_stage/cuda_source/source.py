"""A program as tree-sitter-cuda reads it: its tokens, its syntax tree, and its functions as ranges of the text.

A node's offsets are str indices of the text. Use `text_of` rather than `Node.text`, which crashes when the source was read
through a callback (tree-sitter 0.26).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import NamedTuple

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser, Query, QueryCursor

from ..spans.lexer import Body, device_functions, kernels, lex
from ..spans.patterns import signature
from ..spans.regions import find_regions
from ..spans.scrub import scrub


# ------------------------------------------------------------------------------------------------------------- tokens

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
    words, found = tokens(code), []
    before, in_library = "", False
    for index, (kind, text, _) in enumerate(words):
        is_chosen = False  # by the program: no word of `is_kept`, of a library's namespace, no vector lane
        if kind == "word":
            if not in_library or before not in ("::", "."):
                is_dotted = text in _IN_PYTHON and index + 1 < len(words) and words[index + 1].text == "."
                in_library = text in _LIBRARIES or is_dotted
            is_lane = before == "." and text in ("x", "y", "z", "w")
            is_chosen = not (in_library or is_lane or is_kept(text))
        else:
            in_library = in_library and text in ("::", ".")
        found.append(names[text] if is_chosen else text)
        before = text
    return " ".join(found)


# ---------------------------------------------------------------------------------------------------- the syntax tree

Range = tuple[int, int]  # str indices, half-open

# tree-sitter calls back once every 100 operations: 6 to 13 times for 1 kB of code, also where it recovers from errors
# (measured on real files). On text that is not code it takes hundreds of times as many. The limit counts calls rather
# than seconds, because what is read must not depend on how busy the machine is. A call is slow where brackets nest deeply.
_CALLS_BASE = 100
_CALLS_PER_KB = 16
_DEPTH_LIMIT = 200  # of brackets within each other: more than in code that people write
_BRACKET = re.compile(r"[(){}\[\]]")
_NO_ASCII = re.compile(r"[^\x00-\x7f]")
_LANGUAGE = Language(tree_sitter_cuda.language())
_DEFINITIONS = Query(_LANGUAGE, "[(function_definition) (lambda_expression)] @found")


def parse_tree(text: str) -> Node | None:
    """The root of the syntax tree; None when the text takes too long to parse.

    Characters outside ASCII are parsed as `_`, one byte each: they occur in comments and literals, and this makes
    byte offsets equal to str indices.
    """
    source = _NO_ASCII.sub("_", text).replace("\0", " ").encode()
    left = _CALLS_BASE + _CALLS_PER_KB * (len(source) >> 10)

    def stop(_offset: int, _has_error: bool) -> bool:
        nonlocal left
        left -= 1
        return left < 0

    views: list[memoryview] = []

    def read(offset: int, _point: object) -> memoryview:
        views.append(memoryview(source)[offset:])
        return views[-1]

    try:
        tree = Parser(_LANGUAGE).parse(read, progress_callback=stop)
    except ValueError:  # what the binding raises when the callback ends the parse
        return None
    finally:
        for view in views:  # the binding never lets go of what it was given: the source goes with its views
            view.release()
    return tree.root_node


def span(where: Node | Range) -> Range:
    """The range of a node."""
    return (where.start_byte, where.end_byte) if isinstance(where, Node) else where


def text_of(text: str, node: Node) -> str:
    """The text of a node."""
    return text[node.start_byte : node.end_byte]


def walk(node: Node | None, below: Callable[[Node], list[Node]] = lambda node: node.children) -> Iterator[Node]:
    """A node and all below it, in the order of the text; `below` gives what of a node is walked into."""
    waiting = [] if node is None else [node]
    while waiting:
        at = waiting.pop()
        yield at
        waiting.extend(reversed(below(at)))


def child(node: Node, field: str) -> Node | None:
    """What stands in a field of a node, as `left` of a binary expression."""
    return node.child_by_field_name(field)


def sides(node: Node) -> tuple[Node, Node]:
    """The operands of a binary expression or an assignment."""
    return child(node, "left"), child(node, "right")


def items(node: Node | None) -> list[Node]:
    """The arguments, subscripts or components in a list."""
    return [each for each in node.named_children if each.type != "comment"] if node else []


def arguments(call: Node) -> list[Node]:
    return items(child(call, "arguments"))


def last_name(name: Node) -> Node:
    """A name without namespaces, template arguments and the object before it."""
    while inner := child(name, "name") or child(name, "field"):
        name = inner
    return name


def callee(call: Node) -> Node:
    """The name of what is called."""
    return last_name(child(call, "function"))


def declarators(declaration: Node) -> list[Node]:
    """What a declaration introduces, with the values."""
    return declaration.children_by_field_name("declarator")


def declared(node: Node) -> Node | None:
    """The name that a declarator, or a declaration's first one, introduces; None where there is none."""
    names = ("identifier", "operator_name", "destructor_name", "template_function")
    at: Node | None = node
    while at is not None and not at.type.endswith(names):
        following = child(at, "declarator") or child(at, "name")
        if following is None and at.type.endswith("declarator"):  # a reference's has no field
            inner = (each for each in at.named_children if each.type.endswith(("declarator", "identifier")))
            following = next(inner, None)
        at = following
    return at


# ---------------------------------------------------------------------------------------------------------- functions

_DIRECTIVE = re.compile(r"^[ \t]*#[^\\\n]*+(?:\\(?:\r\n|[\s\S])?[^\\\n]*+)*+", re.MULTILINE)
_PARENTHESIS = re.compile(r"[()]")
_CALLED = re.compile(r"(\w+)\s*(?:<[^<>]*>\s*)?\Z")
_NO_TYPE = frozenset({"const", "volatile", "__restrict__", "__restrict", "restrict", "std", "::", "("})


class Parameter(NamedTuple):
    """A parameter of a function. type: without const, restrict and `std::`; a pointer's ends in `*`, a reference's in `&`."""

    type: str
    name: str


@dataclass(frozen=True)
class Function:
    """A function definition or a device lambda.

    head, body: str indices; from `template` or the first specifier, and of the body with its braces. A body that is cut off
    ends with the text. name: without its namespace; empty for a lambda. parameters: empty, too, where the tree has no definition.
    """

    name: str
    head: int
    body: Range
    is_kernel: bool
    is_device: bool
    parameters: tuple[Parameter, ...] = field(default=(), compare=False)


class Source:
    """A program.

    text: what was given. code: the same with comments, literals and preprocessor lines blank, character for character.
    root: the tree, whose byte offsets are str indices of `text`; None where the text takes too long to parse, or its
    brackets nest deeper than in code that people write.
    functions: in the order of their bodies; kernels in macro bodies included.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.code = _DIRECTIVE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), scrub(text))
        depths = accumulate(1 if match[0] in "([{" else -1 for match in _BRACKET.finditer(self.code))
        self.root = parse_tree(text) if max(depths, default=0) <= _DEPTH_LIMIT else None

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        lexed = lex(self.text)
        # far quicker than `walk`
        nodes = QueryCursor(_DEFINITIONS).captures(self.root).get("found", ()) if self.root else ()
        definitions = {body.start_byte: node for node in nodes if (body := child(node, "body"))}
        found: dict[int, Function] = {}
        for bodies, is_kernel in ((kernels(lexed), True), (device_functions(lexed), False)):
            for body in bodies:
                head = signature(lexed, body.head, body.pieces[0][0])[0] if body.pieces else 0
                for start, end in _whole_bodies(self.text, body):
                    node = definitions.pop(start, None)
                    name = self._name(node) if node else _name_in(lexed.full[body.head : start])
                    function = Function(name, head, (start, end), is_kernel, not is_kernel, self._parameters(node))
                    found.setdefault(start, function)
        heads = [function.head for function in found.values() if function.is_kernel]
        for start, node in definitions.items():
            if node.type == "function_definition":
                # Where a brace is missing, the tree includes the following functions in this one.
                end = min((head for head in heads if start < head < node.end_byte), default=node.end_byte)
                outer = node.parent if node.parent.type == "template_declaration" else node
                parameters = self._parameters(node)
                found[start] = Function(self._name(node), outer.start_byte, (start, end), False, False, parameters)
        return tuple(found[start] for start in sorted(found))

    def _name(self, definition: Node) -> str:
        """The last word of the name, as `bar` of `Foo<3>::bar`; `operator()` and its kind in full."""
        at = declared(definition) if definition.type == "function_definition" else None
        return text_of(self.text, last_name(at)) if at else ""

    def _parameters(self, definition: Node | None) -> tuple[Parameter, ...]:
        found = []
        below = walk(definition and child(definition, "declarator"))
        for each in items(next((node for node in below if node.type == "parameter_list"), None)):
            if (name := child(each, "declarator") and declared(child(each, "declarator"))) is not None:
                words = [token.text for token in tokens(self.code[each.start_byte : name.start_byte])]
                kind = " ".join(word for word in words if word not in _NO_TYPE)
                array = self.code[name.end_byte : each.end_byte].lstrip().startswith("[")
                found.append(Parameter(f"{kind} *" if array else kind, text_of(self.text, name)))
        return tuple(found)


def _whole_bodies(text: str, body: Body) -> list[Range]:
    """The bodies of a function: each preprocessor branch can have one, in pieces around other branches."""
    found: list[Range] = []
    for start, end in body.pieces:
        if text[start] == "{" or not found:
            found.append((start, end))
        else:
            found[-1] = (found[-1][0], end)
    return found


def _name_in(head: str) -> str:
    """The name in the head of a function: what stands before its last parentheses, or before the first where branches mix them."""
    depth, opening = 0, head.find("(")
    for match in reversed([*_PARENTHESIS.finditer(head)]):
        depth += 1 if match[0] == ")" else -1
        if depth == 0:
            opening = match.start()
            break
    named = _CALLED.search(head[max(0, opening - 300) : max(0, opening)])
    return named[1] if named and named[1] != "__device__" else ""  # a lambda has none


def answer_code(answer: str) -> str:
    """An answer with everything but its CUDA source replaced by spaces, character for character; see `spans.regions`."""

    def has_code(text: str) -> bool:
        return "__global__" in text or "<<<" in text or "__device__" in text

    pieces, done = [], 0
    for region in find_regions(answer, has_code) if has_code(answer) else []:
        if region.start >= done:
            pieces += [" " * (region.start - done), region.text]
            done = region.start + len(region.text)
    return "".join(pieces).ljust(len(answer))
