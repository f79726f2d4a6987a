"""Errors of the launch: blocks and grids of the wrong size, dimensions exchanged."""

from __future__ import annotations

from collections.abc import Iterator

from .edits import Edit
from .indexing import partners
from .program import Extent, Function, Launch, Program


_LOOSE = frozenset({"+", "-", "?", "<<", ">>", "%", "&", "|"})
_INTEGERS = frozenset(
    {"int", "unsigned", "unsigned int", "size_t", "long", "int32_t", "uint32_t", "int64_t", "long long"}
)


def wrong_launch_size(program: Program) -> Iterator[Edit]:
    """Half or twice the threads, a block too few, no shared memory, grid and block exchanged."""
    for launch in program.launches:
        words = _kernel_words(program, launch)
        strides = "gridDim" in words  # such a kernel works with any grid
        block, grid = _dimensions(program, launch.block), _dimensions(program, launch.grid)
        shared_size = launch.shared is not None and program.text(launch.shared) != "0"
        if shared_size:
            yield program.edit(launch.shared, "0", "no shared memory", 0, _config(launch))
        if program.text(launch.grid) != program.text(launch.block):
            swapped = f"{program.text(launch.block)}, {program.text(launch.grid)}"
            tier = 1 if strides and "__shared__" not in words else 0
            yield program.edit(Extent(launch.grid.first, launch.block.last), swapped, "swapped", tier)
        flexible = "blockDim" in words and (strides or not words & {"blockIdx"})
        for part in block[:2]:
            smaller = _scaled(program, part, "/")
            if smaller:
                yield program.edit(
                    part, smaller, "half the block", 2 if flexible else 0, _shown(program, launch.block, part)
                )
            guarded = "blockDim" in words and "__shared__" not in words
            larger = _scaled(program, part, "*")
            if larger:
                tier = 2 if guarded or flexible else 1
                yield program.edit(part, larger, "twice the block", tier, _shown(program, launch.block, part))
        for part in grid:
            if program.text(part) in ("0", "1"):
                continue
            loose = any(program.at(at) in ("?", "<<", ">>") for at in range(part.first, part.last + 1))
            text = program.text(part)
            fewer = f"({text}) - 1" if loose else f"{text} - 1"
            yield program.edit(part, fewer, "a block too few", 2 if strides else 0, _shown(program, launch.grid, part))


def _config(launch: Launch) -> Extent:
    return Extent(launch.grid.first, (launch.shared or launch.block).last)


def _shown(program: Program, whole: Extent, part: Extent) -> Extent:
    """What a description quotes: the launch's own argument, or the declaration of the dim3 it names."""
    if whole.first <= part.first <= whole.last:
        return whole
    first = part.first
    while program.at(first - 1) not in (";", "{", "}", ""):
        first -= 1
    return Extent(first, program.statement_end(part.first) - 1)


def _kernel_words(program: Program, launch: Launch) -> set[str]:
    """The identifiers of a kernel and of the device functions it calls."""
    function = program.function(launch.kernel)
    if function is None:
        return set()
    words = program.words(function.body)
    for other in program.functions:
        if not other.is_kernel and other.name in words:
            words |= program.words(other.body)
    return words


def _dimensions(program: Program, extent: Extent) -> tuple[Extent, ...]:
    """The components of a launch dimension: of `dim3(a, b)`, of the variable that holds one, or the expression itself."""
    if program.at(extent.first) == "dim3" and program.pairs.get(extent.first + 1) == extent.last:
        return program.arguments(extent.first + 1)
    if extent.first == extent.last and program.kind(extent.first) == "word":
        for at in program.places.get(program.at(extent.first), []):
            if program.at(at - 1) == "dim3" and at < extent.first:
                return _declared(program, at)
    return (extent,)


def _declared(program: Program, name: int) -> tuple[Extent, ...]:
    """The components in `dim3 name(a, b)`, `dim3 name{a, b}`, `dim3 name = dim3(a, b)` and `dim3 name = {a, b}`."""
    at = name + 1
    if program.at(at) == "=":
        at += 2 if program.at(at + 1) == "dim3" else 1
    close = program.pairs.get(at, -1)
    if program.at(at) not in ("(", "{") or close <= at + 1:
        return ()
    return program.split(Extent(at + 1, close - 1))


def _scaled(program: Program, extent: Extent, sign: str) -> str | None:
    """An expression halved or doubled; a literal is computed."""
    text = program.text(extent)
    if text.isdigit():
        value = int(text) // 2 if sign == "/" else int(text) * 2
        return str(value) if value > 0 and int(text) > 1 else None
    if any(program.at(at) in _LOOSE for at in range(extent.first, extent.last + 1)):
        return f"({text}) {sign} 2"
    return f"{text} {sign} 2"


def swapped_dims(program: Program) -> Iterator[Edit]:
    """x and y of a dim3, rows and columns in a kernel's arguments, one dimension's name where the other belongs."""
    yield from _swapped_dim3(program)
    for launch in program.launches:
        yield from _swapped_arguments(program, launch)
    for index, function in program.device.items():
        yield from _other_dimension(program, index, function)


def _swapped_dim3(program: Program) -> Iterator[Edit]:
    for index in program.places.get("dim3", []):
        parts = program.arguments(index + 1) if program.at(index + 1) == "(" else _declared(program, index + 1)
        texts = [program.text(part) for part in parts]
        for at in range(len(texts) - 1):
            if texts[at] != texts[at + 1]:
                pair = Extent(parts[at].first, parts[at + 1].last)
                shown = Extent(index, parts[-1].last + 1)
                yield program.edit(pair, f"{texts[at + 1]}, {texts[at]}", "dim3", 0, shown)


def _swapped_arguments(program: Program, launch: Launch) -> Iterator[Edit]:
    """Neighbouring integers of a kernel's parameters, exchanged in the call."""
    function = program.function(launch.kernel)
    if function is None:
        return
    types = [type_name for type_name, _ in program.parameters(function)]
    if len(types) != len(launch.arguments):
        return
    for at in range(len(types) - 1):
        one, other = launch.arguments[at], launch.arguments[at + 1]
        if types[at] in _INTEGERS and types[at + 1] in _INTEGERS and program.text(one) != program.text(other):
            swapped = f"{program.text(other)}, {program.text(one)}"
            shown = Extent(launch.arguments[0].first, launch.arguments[-1].last)
            yield program.edit(Extent(one.first, other.last), swapped, "arguments", 0, shown)


def _other_dimension(program: Program, index: int, function: Function) -> Iterator[Edit]:
    """`row < m` as `row < n`, where both names are known at this place and neither is declared here."""
    name = program.at(index)
    if program.kind(index) != "word" or program.at(index + 1) in ("[", "(", "::") or program.declares(index):
        return
    types = {parameter: type_name for type_name, parameter in program.parameters(function)}
    member = program.at(index - 1) in (".", "->")
    if program.at(index - 1) == "::" or types.get(name, "").endswith("*") or (member and len(name) == 1):
        return
    for other in partners(name):
        # The letters of dimensions are capitals or integer parameters; others are running variables and vectors.
        letters = len(name) == 1 and name not in "xyij" and not (name.isupper() or types.get(name) in _INTEGERS)
        if letters or types.get(other, "").endswith("*"):
            continue
        if any(program.known(at, index, function, member) for at in program.places.get(other, [])):
            # Two index variables have the same values; two extents do not.
            tier = 1 if name in program.indices(function) or index in program.loop_heads else 0
            yield program.edit(Extent(index, index), other, "dimension", tier, _clause(program, index))
            return


def _clause(program: Program, index: int) -> Extent:
    stops = frozenset({"=", "?", ":", "&&", "||"})
    first, last = program.operand_before(index, stops).first, program.operand_after(index, stops).last
    return Extent(min(first, index), max(last, index))
