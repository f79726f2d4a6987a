"""Errors between threads: a barrier or an atomic left out, a shuffle that reaches the wrong lane."""

from __future__ import annotations

from collections.abc import Iterator

from .edits import Edit
from .program import Extent, Program


_BARRIERS = frozenset({"__syncthreads", "__syncwarp", "__barrier_sync", "sync", "barrier_wait", "arrive_and_wait"})
_SHUFFLES = {
    "__shfl_down_sync": "__shfl_up_sync",
    "__shfl_up_sync": "__shfl_down_sync",
    "__shfl_xor_sync": "__shfl_down_sync",
    "shfl_down": "shfl_up",
    "shfl_up": "shfl_down",
    "shfl_xor": "shfl_down",
}
_ATOMICS = {"atomicAdd": "+=", "atomicSub": "-=", "atomicOr": "|=", "atomicAnd": "&=", "atomicXor": "^="}
_ATOMIC_CHOICES = {"atomicMax": "max", "atomicMin": "min"}


def barrier_statements(program: Program) -> Iterator[tuple[int, Extent]]:
    """The token of each barrier's name and its statement, the semicolon included."""
    for index in program.device:
        if program.at(index) not in _BARRIERS or program.at(index + 1) != "(":
            continue
        close = program.pairs.get(index + 1, -1)
        first = index
        while program.at(first - 1) in (".", "->", "::"):
            before = first - 2
            if program.at(before) == ")" and before in program.pairs:  # this_thread_block().sync()
                before = program.pairs[before] - 1
            if program.kind(before) != "word":
                break
            first = before
        if close < 0 or program.at(close + 1) != ";" or (first == index and program.at(index) == "sync"):
            continue
        yield index, Extent(first, close + 1)


def drop_syncthreads(program: Program) -> Iterator[Edit]:
    """A barrier removed: `__syncthreads()`, `__syncwarp()`, the `sync()` of a cooperative group."""
    for index, statement in barrier_statements(program):
        tier = 0 if _after_write(program, statement.first) else 1
        yield remove_statement(program, statement, program.at(index), tier)


def remove_statement(program: Program, statement: Extent, variant: str, tier: int) -> Edit:
    """A statement taken out; where it is the whole body of an `if` or a loop, an empty one stays."""
    if program.at(statement.first - 1) in (";", "{", "}"):
        start = program.tokens[statement.first - 1].end
        between = program.source[start : program.tokens[statement.first].start]
        if "\n" in between or not between.strip():
            return program.edit(statement, "", variant, tier)
    return program.edit(statement, ";", variant, tier)


def _after_write(program: Program, index: int) -> bool:
    """Whether threads stored to an array since the last barrier, so that others now read what may not be there yet."""
    function = program.device[index]
    for at in range(index - 1, function.body.first, -1):
        if program.at(at) in _BARRIERS:
            return False
        if program.at(at) == "]" and program.at(at + 1) in ("=", "+="):
            return True
    return False


def atomic_to_plain(program: Program) -> Iterator[Edit]:
    """`atomicAdd(&x[i], v);` as `x[i] += v;`, so that threads overwrite each other."""
    for index in program.device:
        name = program.at(index)
        if name not in _ATOMICS and name not in _ATOMIC_CHOICES:
            continue
        close, arguments = program.pairs.get(index + 1, -1), program.arguments(index + 1)
        alone = program.at(index - 1) in (";", "{", "}", ")", "else") and program.at(close + 1) == ";"
        if len(arguments) != 2 or not alone:
            continue
        target = program.text(arguments[0])
        if program.at(arguments[0].first) == "&":
            target = target[1:].lstrip()
        elif arguments[0].first == arguments[0].last:
            target = f"*{target}"
        else:
            target = f"*({target})"
        value = program.text(arguments[1])
        if name in _ATOMICS:
            replacement = f"{target} {_ATOMICS[name]} {value}"
        else:
            replacement = f"{target} = {_ATOMIC_CHOICES[name]}({target}, {value})"
        yield program.edit(Extent(index, close), replacement, "atomic", 0)


def wrong_shuffle_distance(program: Program) -> Iterator[Edit]:
    """A reduction over half a warp, or a shuffle in the other direction."""
    for index in program.device:
        name = program.at(index)
        if name not in _SHUFFLES or program.at(index + 1) != "(":
            continue
        close = program.pairs.get(index + 1, -1)
        arguments = program.arguments(index + 1)
        distance = arguments[2:3] if name.startswith("__") else arguments[1:2]
        if not distance:
            continue
        shown = Extent(index, close)
        # An exchange with lane ^ d and a shift by d agree in lane 0, where most sums are read.
        tier = 1 if "xor" in name else 0
        yield program.edit(Extent(index, index), _SHUFFLES[name], "direction", tier, shown)
        text = program.text(distance[0])
        if distance[0].first != distance[0].last:
            continue
        if text.isdigit() and int(text) > 1:
            yield program.edit(distance[0], str(int(text) // 2), "distance", 0, shown)
        elif program.kind(distance[0].first) == "word":
            yield program.edit(distance[0], f"{text} / 2", "distance", 0, shown)
    for loop in program.loops:
        last = loop.init.last
        shuffles = any(program.at(at) in _SHUFFLES for at in range(loop.body.first, loop.body.last + 1))
        if (
            shuffles
            and loop.keyword in program.device
            and program.at(last - 1) == "="
            and program.at(last) in ("16", "32")
        ):
            yield program.edit(Extent(last, last), str(int(program.at(last)) // 2), "first distance", 0, loop.init)
