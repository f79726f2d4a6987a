"""Errors in host code: wrong launch sizes, swapped dimensions, missing or wrong copies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from tree_sitter import Node

from ..cuda_source.tree import arguments, child, declarators, items
from .indexing import INTEGERS, other_dimension
from .program import Edit, Launch, Program, remove_statement


_LISTS = ("argument_list", "initializer_list", "parameter_list")
_TRANSFER = re.compile(r"(?:cuda|hip)Mem(?:cpy(?:(?:To|From)Symbol)?|(?P<set>set))(?:Async)?")
_DIRECTION = re.compile(r"(cuda|hip)Memcpy(HostToDevice|DeviceToHost)")
_OTHER_WAY = {"HostToDevice": "DeviceToHost", "DeviceToHost": "HostToDevice"}
_BYTES = re.compile(r"(?P<count>.+?)\s*\*\s*sizeof\s*\([^()]*\)|sizeof\s*\([^()]*\)\s*\*\s*(?P<times>.+)", re.DOTALL)


def wrong_launch_size(program: Program) -> Iterator[Edit]:
    """Half or twice the threads, one block too few, no shared memory, grid and block swapped."""
    for launch in program.launches:
        words = _kernel_words(program, launch)
        strides, shares = "gridDim" in words, "__shared__" in words  # with a stride, a kernel works with any grid
        flexible = "blockDim" in words and (strides or "blockIdx" not in words)
        if launch.shared is not None and program.text(launch.shared) != "0":
            yield program.edit(launch.shared, "0", "no shared memory")
        yield from _exchanged(program, [launch.grid, launch.block], "swapped", 1 if strides and not shares else 0)
        for part in _dimensions(program, launch.block)[:2]:
            text = program.text(part)
            if not text.isdigit():
                half, twice = (f"{program.operand(part)} {sign} 2" for sign in "/*")
            else:
                half, twice = str(int(text) // 2), str(int(text) * 2)
            if text not in ("0", "1"):
                guarded = "blockDim" in words and not shares
                yield program.edit(part, half, "half the block", 2 if flexible else 0)
                yield program.edit(part, twice, "twice the block", 2 if guarded or flexible else 1)
        for part in _dimensions(program, launch.grid):
            if program.text(part) not in ("0", "1"):
                fewer = f"{program.operand(part, '+-*/%')} - 1"
                yield program.edit(part, fewer, "a block too few", 2 if strides else 0)


def _kernel_words(program: Program, launch: Launch) -> set[str]:
    """The identifiers of a kernel and of the device functions it calls."""
    function = program.kernel(launch.kernel)
    words = program.words(function.body) if function else set()
    for other in program.functions if function else ():
        if not other.is_kernel and other.name in words:
            words |= program.words(other.body)
    return words


def _dimensions(program: Program, node: Node) -> list[Node]:
    """The components of a launch dimension: of `dim3(a, b)`, of the variable that holds one, or the expression itself."""
    if node.type == "call_expression" and program.text(child(node, "function")) == "dim3":
        return arguments(node)
    name, found = program.text(node), [node]
    for declared, components in _dim3_variables(program):
        if program.text(declared) == name and declared.start_byte < node.start_byte:
            found = components
    return found


def _dim3_variables(program: Program) -> Iterator[tuple[Node, list[Node]]]:
    """The name and the components in `dim3 a(x, y), b{x, y}, c = dim3(x, y), d = {x, y}`."""
    for declaration in program.nodes("declaration"):
        if program.text(child(declaration, "type")) == "dim3":
            for node in declarators(declaration):
                value = child(node, "value") or child(node, "parameters")  # `dim3 a(x, y)` reads as a function, too
                if value is not None and value.type == "call_expression":
                    value = child(value, "arguments")
                yield child(node, "declarator") or node, items(value) if value and value.type in _LISTS else []


def swapped_dims(program: Program) -> Iterator[Edit]:
    """x and y of a dim3, rows and columns in a kernel's arguments, one dimension's name for the other's."""
    for _, components in _dim3_variables(program):
        yield from _exchanged(program, components, "dim3")
    for call in program.nodes("call_expression"):
        if program.text(child(call, "function")) == "dim3":
            yield from _exchanged(program, arguments(call), "dim3")
    for launch in program.launches:
        function = program.kernel(launch.kernel)
        if function and len(function.parameters) == len(launch.arguments):
            pairs = zip(launch.arguments, function.parameters, strict=True)
            integers = [argument if parameter.type in INTEGERS else None for argument, parameter in pairs]
            yield from _exchanged(program, integers, "arguments")
    yield from other_dimension(program)


def _exchanged(program: Program, nodes: list[Node | None], variant: str, tier: int = 0) -> Iterator[Edit]:
    """Swap each two neighbours that differ."""
    for one, other in pairwise(nodes):
        if one and other and program.text(one) != program.text(other):
            both = (one.start_byte, other.end_byte)
            yield program.edit(both, f"{program.text(other)}, {program.text(one)}", variant, tier)


def _transfers(program: Program) -> Iterator[tuple[Node, re.Match[str]]]:
    """The copies and fills of host code, and the name of each."""
    for call in program.nodes("call_expression"):
        name = _TRANSFER.fullmatch(program.text(child(call, "function")))
        if name and program.device_function(call) is None:
            yield call, name


def dropped_memcpy_or_memset(program: Program) -> Iterator[Edit]:
    """A copy or a fill left out, with its error check; or the check is given success."""
    for call, name in _transfers(program):
        # Fresh memory is often zero by luck.
        variant, tier = ("memset", 1) if name["set"] else ("memcpy", 0)
        outer = call
        while outer.parent.type == "argument_list" and items(outer.parent)[0] == outer:
            outer = outer.parent.parent
        if outer.parent.type == "expression_statement":
            yield remove_statement(program, outer.parent, variant, tier)
        else:
            yield program.edit(call, "hipSuccess" if name[0].startswith("hip") else "cudaSuccess", variant, tier)


def wrong_memcpy_size_or_direction(program: Program) -> Iterator[Edit]:
    """Half of the bytes, a count of elements for one of bytes, device and host swapped."""
    for call, name in _transfers(program):
        for at, argument in enumerate(arguments(call)[2:]):
            text = program.text(argument)
            if at == 0:
                if product := _BYTES.fullmatch(text):
                    yield program.edit(argument, product["count"] or product["times"], "elements for bytes")
                yield program.edit(
                    argument, f"{program.operand(argument)} / 2", "half the bytes", 1 if name["set"] else 0
                )
            elif direction := _DIRECTION.fullmatch(text):
                yield program.edit(argument, f"{direction[1]}Memcpy{_OTHER_WAY[direction[2]]}", "direction")
