"""A program as tree-sitter-cuda reads it: its tokens, its syntax tree, and its functions as ranges of the text.

The offsets of a node are str indices of the text. Use `text_of` instead of `Node.text`, which crashes if the source
was read through a callback (tree-sitter 0.26).
"""

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

# Words of C++, CUDA and common libraries. They are kept where the names of a program are replaced.
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
# A name after one of these and `::` belongs to the library and is kept, so that cg::plus and cg::greater differ.
_LIBRARIES = {"std", "cg", "cooperative_groups", "cub", "thrust", "cuda", "nvcuda", "wmma", "torch", "at", "c10"}
_IN_PYTHON = {"nn", "F"}  # the usual names of torch.nn and torch.nn.functional


@lru_cache(maxsize=4096)
def is_kept(word: str) -> bool:
    """Return True for a word of C++, CUDA or a common library, and False for a name that the program chose."""
    return _KEPT_WORDS.match(word) is not None


class Token(NamedTuple):
    """A token of a program.

    Attributes:
        kind: `string`, `char`, `number`, `word`, `launch` (`<<<` or `>>>`) or `sign`.
        text: the token itself.
        start: str index of its first character.
    """

    kind: str
    text: str
    start: int


def tokens(code: str) -> list[Token]:
    """Return the tokens of a program without its comments. Never raises."""
    result: list[Token] = []
    for match in _TOKEN.finditer(code):
        kind = match.lastgroup or "sign"
        if kind != "comment":
            result.append(Token("string" if kind == "raw" else kind, match[0], match.start()))
    return result


def normalised(code: str) -> str:
    """Return a program without comments, spaces and the names that it chose.

    Two programs that differ in nothing else give the same result. Names are replaced by numbers in the order of their
    first occurrence. Words of the language, of CUDA and of the mathematics library stay. Literals stay, too, because
    other numbers make another program.
    """
    names: dict[str, str] = defaultdict(lambda: f"v{len(names)}")
    code_tokens, parts = tokens(code), []
    previous, in_library = "", False
    for index, (kind, text, _) in enumerate(code_tokens):
        # The program chose a name if it is no word of `is_kept`, in no library's namespace, and no vector component.
        is_chosen = False
        if kind == "word":
            if not in_library or previous not in ("::", "."):
                is_dotted = text in _IN_PYTHON and index + 1 < len(code_tokens) and code_tokens[index + 1].text == "."
                in_library = text in _LIBRARIES or is_dotted
            is_lane = previous == "." and text in ("x", "y", "z", "w")
            is_chosen = not (in_library or is_lane or is_kept(text))
        else:
            in_library = in_library and text in ("::", ".")
        parts.append(names[text] if is_chosen else text)
        previous = text
    return " ".join(parts)


# ---------------------------------------------------------------------------------------------------- the syntax tree

Range = tuple[int, int]  # str indices, half-open

# tree-sitter calls back once every 100 operations. This makes 6 to 13 calls for 1 kB of code, also where it recovers
# from errors (measured on real files). Text that is not code takes hundreds of times as many. The limit counts calls
# rather than seconds, because the result must not depend on how busy the machine is. Depth has its own limit, because
# the time between two calls is long where brackets nest deeply.
_CALLS_BASE = 100
_CALLS_PER_KB = 16
_DEPTH_LIMIT = 200  # depth of nested brackets, more than in code that people write
_BRACKET = re.compile(r"[(){}\[\]]")
_NO_ASCII = re.compile(r"[^\x00-\x7f]")
_LANGUAGE = Language(tree_sitter_cuda.language())
_DEFINITIONS = Query(_LANGUAGE, "[(function_definition) (lambda_expression)] @found")


def parse_tree(text: str) -> Node | None:
    """Parse a text and return the root of its syntax tree, or None if the parse takes too long.

    Characters outside ASCII are parsed as `_`, one byte each. They occur in comments and literals, and this makes byte
    offsets equal to str indices.
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
    except ValueError:  # the binding raises it when the callback ends the parse
        return None
    finally:
        for view in views:  # the binding keeps the views forever, so release them to free the source
            view.release()
    return tree.root_node


def span(where: Node | Range) -> Range:
    """Return the range of a node, or a range unchanged."""
    return (where.start_byte, where.end_byte) if isinstance(where, Node) else where


def text_of(text: str, node: Node) -> str:
    """Return the text of a node. `text` is the text that was parsed."""
    return text[node.start_byte : node.end_byte]


def walk(node: Node | None, below: Callable[[Node], list[Node]] = lambda node: node.children) -> Iterator[Node]:
    """Yield a node and all nodes below it, in the order of the text.

    Args:
        node: the root of the walk. None yields nothing.
        below: function that returns the children of a node to walk into. The default is all of them.
    """
    waiting = [] if node is None else [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(reversed(below(current)))


def child(node: Node, field: str) -> Node | None:
    """Return the child in a field of a node, such as `left` of a binary expression, or None."""
    return node.child_by_field_name(field)


def sides(node: Node) -> tuple[Node, Node]:
    """Return the two operands of a binary expression or an assignment."""
    return child(node, "left"), child(node, "right")


def items(node: Node | None) -> list[Node]:
    """Return the arguments, subscripts or components in a list, without comments."""
    return [each for each in node.named_children if each.type != "comment"] if node else []


def arguments(call: Node) -> list[Node]:
    """Return the arguments of a call."""
    return items(child(call, "arguments"))


def last_name(name: Node) -> Node:
    """Return the node of a name without namespaces, template arguments and the object before it."""
    while inner := child(name, "name") or child(name, "field"):
        name = inner
    return name


def callee(call: Node) -> Node:
    """Return the node of the name that is called."""
    return last_name(child(call, "function"))


def declarators(declaration: Node) -> list[Node]:
    """Return the declarators of a declaration, with their initial values."""
    return declaration.children_by_field_name("declarator")


def declared(node: Node | None) -> Node | None:
    """Return the node of the name that a declarator, or a declaration's first declarator, introduces, or None."""
    names = ("identifier", "operator_name", "destructor_name", "template_function")
    current = node
    while current is not None and not current.type.endswith(names):
        following = child(current, "declarator") or child(current, "name")
        if following is None and current.type.endswith("declarator"):  # the declarator of a reference has no field
            inner = (each for each in current.named_children if each.type.endswith(("declarator", "identifier")))
            following = next(inner, None)
        current = following
    return current


# ---------------------------------------------------------------------------------------------------------- functions

_DIRECTIVE = re.compile(r"^[ \t]*#[^\\\n]*+(?:\\(?:\r\n|[\s\S])?[^\\\n]*+)*+", re.MULTILINE)
_PARENTHESIS = re.compile(r"[()]")
_CALLED = re.compile(r"(\w+)\s*(?:<[^<>]*>\s*)?\Z")
_NO_TYPE = frozenset({"const", "volatile", "__restrict__", "__restrict", "restrict", "std", "::", "("})


class Parameter(NamedTuple):
    """A parameter of a function.

    Attributes:
        type: the type without const, restrict and `std::`. It ends in `*` for a pointer and in `&` for a reference.
        name: the name.
    """

    type: str
    name: str


@dataclass(frozen=True)
class Function:
    """A function definition or a device lambda.

    Attributes:
        name: the name without its namespace. Empty for a lambda.
        head: str index where the function begins, at `template` or at the first specifier.
        body: str indices of the body with its braces. A body that is cut off ends with the text.
        is_kernel: True for a `__global__` function.
        is_device: True for a device function or a device lambda.
        parameters: the parameters. Also empty if the syntax tree has no definition of the function.
    """

    name: str
    head: int
    body: Range
    is_kernel: bool
    is_device: bool
    parameters: tuple[Parameter, ...] = field(default=(), compare=False)


class Source:
    """A program with its code, its syntax tree and its functions.

    Attributes:
        text: the text of the program.
        code: the text with comments, literals and preprocessor lines replaced by spaces, character for character.
        root: root of the syntax tree, whose byte offsets are str indices of `text`. None if the text takes too long to
            parse, or if its brackets nest deeper than in code that people write.
        functions: the functions in the order of their bodies, with kernels in macro bodies.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.code = _DIRECTIVE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), scrub(text))
        depths = accumulate(1 if match[0] in "([{" else -1 for match in _BRACKET.finditer(self.code))
        self.root = parse_tree(text) if max(depths, default=0) <= _DEPTH_LIMIT else None

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        lexed = lex(self.text)
        # A query is far quicker than `walk`.
        nodes = QueryCursor(_DEFINITIONS).captures(self.root).get("found", ()) if self.root else ()
        definitions = {body.start_byte: node for node in nodes if (body := child(node, "body"))}
        by_start: dict[int, Function] = {}
        for bodies, is_kernel in ((kernels(lexed), True), (device_functions(lexed), False)):
            for body in bodies:
                head = signature(lexed, body.head, body.pieces[0][0])[0] if body.pieces else 0
                for start, end in _whole_bodies(self.text, body):
                    node = definitions.pop(start, None)
                    name = self._name(node) if node else _name_in(lexed.full[body.head : start])
                    function = Function(name, head, (start, end), is_kernel, not is_kernel, self._parameters(node))
                    by_start.setdefault(start, function)
        heads = [function.head for function in by_start.values() if function.is_kernel]
        for start, node in definitions.items():
            if node.type == "function_definition":
                # If a brace is missing, the tree includes the following functions in this one. End it at the next
                # kernel.
                end = min((head for head in heads if start < head < node.end_byte), default=node.end_byte)
                outer = node.parent if node.parent.type == "template_declaration" else node
                parameters = self._parameters(node)
                by_start[start] = Function(self._name(node), outer.start_byte, (start, end), False, False, parameters)
        return tuple(by_start[start] for start in sorted(by_start))

    def _name(self, definition: Node) -> str:
        """Return the last word of the name, such as `bar` for `Foo<3>::bar`. Names like `operator()` stay whole."""
        name = declared(definition) if definition.type == "function_definition" else None
        return text_of(self.text, last_name(name)) if name else ""

    def _parameters(self, definition: Node | None) -> tuple[Parameter, ...]:
        parameters = []
        below = walk(definition and child(definition, "declarator"))
        for parameter in items(next((node for node in below if node.type == "parameter_list"), None)):
            if (name := declared(child(parameter, "declarator"))) is not None:
                words = [token.text for token in tokens(self.code[parameter.start_byte : name.start_byte])]
                type_name = " ".join(word for word in words if word not in _NO_TYPE)
                array = self.code[name.end_byte : parameter.end_byte].lstrip().startswith("[")
                parameters.append(Parameter(f"{type_name} *" if array else type_name, text_of(self.text, name)))
        return tuple(parameters)


def _whole_bodies(text: str, body: Body) -> list[Range]:
    """Join the pieces of a function's bodies.

    Each preprocessor branch can have a body of its own, in pieces around other branches. A piece that begins with `{`
    starts a new body.
    """
    bodies: list[Range] = []
    for start, end in body.pieces:
        if text[start] == "{" or not bodies:
            bodies.append((start, end))
        else:
            bodies[-1] = (bodies[-1][0], end)
    return bodies


def _name_in(head: str) -> str:
    """Return the name in the head of a function.

    It stands before the last pair of parentheses, or before the first one where preprocessor branches mix them up.
    """
    depth, opening = 0, head.find("(")
    for match in reversed([*_PARENTHESIS.finditer(head)]):
        depth += 1 if match[0] == ")" else -1
        if depth == 0:
            opening = match.start()
            break
    name_match = _CALLED.search(head[max(0, opening - 300) : max(0, opening)])
    return name_match[1] if name_match and name_match[1] != "__device__" else ""  # a lambda has none


def answer_code(answer: str) -> str:
    """Return an answer in which all text except its CUDA source is replaced by spaces, character for character.

    `spans.regions` says which parts of an answer are source.
    """

    def has_code(text: str) -> bool:
        return "__global__" in text or "<<<" in text or "__device__" in text

    pieces, end = [], 0
    for region in find_regions(answer, has_code) if has_code(answer) else []:
        if region.start >= end:
            pieces += [" " * (region.start - end), region.text]
            end = region.start + len(region.text)
    return "".join(pieces).ljust(len(answer))
