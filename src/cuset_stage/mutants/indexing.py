"""Errors in index computations: the wrong thread component, a missing stride, row and column swapped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from tree_sitter import Node

from ..cuda_source import Function
from ..cuda_source.tree import child, sides
from .program import COMPARISONS, Edit, Program, covers


INTEGERS = frozenset(
    {"int", "unsigned", "unsigned int", "size_t", "long", "int32_t", "uint32_t", "int64_t", "long long"}
)
_SWAP = {"x": "y", "y": "x"}
_RANKS = {"/": "%", "%": "/"}
_PLANAR = re.compile(r"\bthreadIdx\s*\.\s*y\b")
_LANE = re.compile(r"(?:.*\W)?threadIdx\s*\.\s*[xy]", re.DOTALL)
_SHARED = re.compile(r"\b__shared__[^;]*")
_PLANE = re.compile(r"(\w+)\s*\[[^][]*\]\s*\[")
_CASTS = frozenset({"static_cast", "size_t", "int", "long", "int64_t"})


def wrong_index(program: Program) -> Iterator[Edit]:
    """`threadIdx.y` for `threadIdx.x`, a block's offset without its size, `tile[x][y]` for `tile[y][x]`, and the like."""
    for node, function in program.in_device("field_expression"):
        name = program.text(child(node, "argument"))
        if name in ("threadIdx", "blockIdx"):
            yield from _component(program, node, name, function)
            if name == "blockIdx":
                yield from _block_offset(program, node)
    for node, function in program.in_device("binary_expression"):
        sign = program.sign(node)
        if sign == "+" and not covers(program.loop_heads, node):
            yield from _row_major(program, node, function)
        if sign in ("+", "-"):
            yield from _neighbour(program, node, sign)
        elif sign in _RANKS and _LANE.fullmatch(program.text(child(node, "left"))):
            yield program.edit(child(node, "operator"), _RANKS[sign], "lane and warp")
    planes = {name for declaration in _SHARED.findall(program.code) for name in _PLANE.findall(declaration)}
    for node, _ in program.in_device("subscript_expression"):
        inner = child(node, "argument")
        if inner.type == "subscript_expression" and program.text(child(inner, "argument")) in planes:
            first, second = child(inner, "indices"), child(node, "indices")
            if program.text(first) != program.text(second):
                both = (first.start_byte, second.end_byte)
                yield program.edit(both, program.text(second) + program.text(first), "transposed")


def _component(program: Program, node: Node, name: str, function: Function) -> Iterator[Edit]:
    """The other component where the function has two, the other built-in where it has one."""
    component, planar = program.text(child(node, "field")), _PLANAR.search(program.code, *function.body)
    if component in _SWAP and (planar or (name == "blockIdx" and component == "y")):
        yield program.edit(child(node, "field"), _SWAP[component], "component")
    if name == "blockIdx":
        yield program.edit(child(node, "argument"), "threadIdx", "built-in", 1 if component == "z" else 0)
    elif not planar and component == "x":
        compared = program.after(node.end_byte) in COMPARISONS | {"==", "%"}
        yield program.edit(child(node, "argument"), "blockIdx", "built-in", 2 if compared else 1)


def _block_offset(program: Program, node: Node) -> Iterator[Edit]:
    """`blockIdx.x * blockDim.x + threadIdx.x` without the factor, or without the thread."""
    while (outer := node.parent).type in ("parenthesized_expression", "cast_expression", "argument_list"):
        if outer.type == "argument_list":  # static_cast<size_t>(blockIdx.x), size_t(blockIdx.x)
            outer = outer.parent
            if outer.type != "call_expression" or not program.calls(outer, _CASTS):
                break
        node = outer
    if program.sign(product := node.parent) == "*":
        left, right = sides(product)
        if left == node and program.after(product.end_byte) in ("+", "-", "*"):
            yield program.edit((node.end_byte, right.end_byte), "", "no stride")
            node = product
        elif right == node and program.after(product.end_byte) in ("+", "-"):
            while left.type == "binary_expression":
                left = child(left, "right")
            yield program.cut((left.start_byte, node.start_byte), "no stride")
    while program.sign(node.parent) in ("+", "-") and child(node.parent, "right") == node:
        node = node.parent
    if program.sign(node.parent) == "+" and program.text(added := child(node.parent, "right")).startswith("threadIdx"):
        yield program.edit((node.end_byte, added.end_byte), "", "no thread", 1)


def _row_major(program: Program, node: Node, function: Function) -> Iterator[Edit]:
    """`row * n + col` as `col * n + row`."""
    product, column = sides(node)
    if program.sign(product) != "*" or program.before(node.start_byte) not in ("[", "=", "(", ","):
        return
    row, stride = sides(product)
    positions = program.indices[function]
    if program.text(node).count("*") == 1 and program.words(row) & positions and program.words(column) & positions:
        replacement = f"{program.operand(column)} * {program.text(stride)} + {program.text(row)}"
        tier = 1 if program.text(column).startswith("threadIdx") else 0
        yield program.edit(node, replacement, "row-major", tier)


def _neighbour(program: Program, node: Node, sign: str) -> Iterator[Edit]:
    """`a[i + 1]` as `a[i - 1]`."""
    outer = node.parent
    if outer.type != "subscript_argument_list" or program.text(child(node, "right")) != "1":
        return
    if child(outer.parent, "argument").type in ("identifier", "field_expression"):
        yield program.edit(child(node, "operator"), "-" if sign == "+" else "+", "neighbour", 1)


def other_dimension(program: Program) -> Iterator[Edit]:
    """`row < m` as `row < n`, where both names are known at this place and neither is declared here."""
    for node, function in program.in_device("identifier", "field_identifier"):
        name, is_member = program.text(node), node.type == "field_identifier"
        if not partners(name) or program.declares(node) or (is_member and len(name) == 1):
            continue
        if program.after(node.end_byte) in ("[", "(", "::") or program.before(node.start_byte) == "::":
            continue
        types = {parameter.name: parameter.type for parameter in function.parameters}
        # The letters of dimensions are capitals or integer parameters; others are running variables and vectors.
        is_letter = len(name) == 1 and name not in "xyij" and not (name.isupper() or types.get(name) in INTEGERS)
        if is_letter or types.get(name, "").endswith("*"):
            continue
        for other in partners(name):
            if not types.get(other, "").endswith("*") and program.known(other, node):
                # Two index variables have the same values; two extents do not.
                is_index = name in program.indices[function] or covers(program.loop_heads, node)
                yield program.edit(node, other, "dimension", 1 if is_index else 0)
                break


_CUTS = re.compile(r"(?<=_)|(?=_)|(?<=[a-z])(?=[A-Z])")
_PARTNERS = (
    ("row", "col"), ("rows", "cols"), ("row", "column"), ("rows", "columns"), ("rows", "classes"), ("height", "width"),
    ("h", "w"), ("m", "n"), ("m", "k"), ("ny", "nx"), ("nz", "ny"), ("by", "bx"), ("ty", "tx"), ("y", "x"), ("y0", "x0"),
    ("i", "j"),
)  # fmt: skip


@lru_cache(maxsize=1024)
def partners(name: str) -> tuple[str, ...]:
    """The identifiers that name the other dimension: outWidth -> outHeight; M -> N, K."""
    found = []
    words = _CUTS.split(name)  # out, Width; NUM, _, ROWS
    for at, word in enumerate(words):
        for pair in _PARTNERS:
            if word.lower() in pair:
                other = pair[1 - pair.index(word.lower())]
                cased = other.upper() if word.isupper() else other.capitalize() if word[0].isupper() else other
                found.append("".join((*words[:at], cased, *words[at + 1 :])))
    return tuple(dict.fromkeys(found))
