"""Errors between threads: a missing barrier or atomic, a shuffle from the wrong lane."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from ..cuda_source import Function
from ..cuda_source.tree import arguments, callee, child
from .program import Edit, Program, initial_value, remove_statement


_BARRIERS = frozenset({"__syncthreads", "__syncwarp", "__barrier_sync", "sync", "barrier_wait", "arrive_and_wait"})
_LAST_STORE_OR_BARRIER = re.compile(rf".*(?:(?P<store>\]\s*\+?=(?!=))|\b(?:{'|'.join(_BARRIERS)})\b)", re.DOTALL)
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


def barrier_statements(program: Program) -> Iterator[tuple[str, Node, Function]]:
    """Each barrier's name, its statement, the semicolon included, and its function."""
    for call, function in program.in_device("call_expression"):
        name, is_free = program.text(callee(call)), child(call, "function").type == "identifier"
        if name in _BARRIERS and call.parent.type == "expression_statement" and not (is_free and name == "sync"):
            yield name, call.parent, function


def drop_syncthreads(program: Program) -> Iterator[Edit]:
    """A barrier removed: `__syncthreads()`, `__syncwarp()`, the `sync()` of a cooperative group."""
    for name, statement, function in barrier_statements(program):
        # Threads stored to an array since the last barrier: without this one, others may read it too early.
        last = _LAST_STORE_OR_BARRIER.match(program.code, function.body[0], statement.start_byte)
        yield remove_statement(program, statement, name, 0 if last and last["store"] else 1)


def atomic_to_plain(program: Program) -> Iterator[Edit]:
    """`atomicAdd(&x[i], v);` as `x[i] += v;`, so that threads overwrite each other."""
    for call, _ in program.in_device("call_expression"):
        name, given = program.text(child(call, "function")), [program.text(each) for each in arguments(call)]
        if name not in _ATOMICS | _ATOMIC_CHOICES or len(given) != 2 or call.parent.type != "expression_statement":
            continue
        target, value = given
        if target.startswith("&"):
            target = target[1:].lstrip()
        else:
            target = f"*{target}" if target.isidentifier() else f"*({target})"
        if name in _ATOMICS:
            yield program.edit(call, f"{target} {_ATOMICS[name]} {value}", "atomic")
        else:
            yield program.edit(call, f"{target} = {_ATOMIC_CHOICES[name]}({target}, {value})", "atomic")


def wrong_shuffle_distance(program: Program) -> Iterator[Edit]:
    """A reduction over half a warp, or a shuffle in the other direction."""
    shuffles = [call for call, _ in program.in_device("call_expression") if program.calls(call, _SHUFFLES)]
    for call in shuffles:
        name = program.text(callee(call))
        distance = arguments(call)[2:3] if name.startswith("__") else arguments(call)[1:2]
        for node in distance:
            # An exchange with lane ^ d and a shift by d agree in lane 0, where most sums are read.
            yield program.edit(callee(call), _SHUFFLES[name], "direction", 1 if "xor" in name else 0)
            text = program.text(node)
            if text.isdigit() and int(text) > 1:
                yield program.edit(node, str(int(text) // 2), "distance")
            elif text.isidentifier():
                yield program.edit(node, f"{text} / 2", "distance")
    for loop, _ in program.in_device("for_statement"):
        first = initial_value(loop)
        halves = first is not None and program.text(first) in ("16", "32")
        if halves and any(loop.start_byte < call.start_byte < loop.end_byte for call in shuffles):
            yield program.edit(first, str(int(program.text(first)) // 2), "first distance")
