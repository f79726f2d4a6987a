"""Errors of arithmetic: the wrong operator, an accumulator that starts at the wrong value."""

from __future__ import annotations

from collections.abc import Iterator

from .bounds import is_bound
from .edits import Edit
from .program import Extent, Function, Program


_CALLS = {
    "max": "min",
    "min": "max",
    "fmaxf": "fminf",
    "fminf": "fmaxf",
    "fmax": "fmin",
    "fmin": "fmax",
    "atomicMax": "atomicMin",
    "atomicMin": "atomicMax",
    "__hmax": "__hmin",
    "__hmin": "__hmax",
}
_ASSIGNED = {"+=": "-=", "-=": "+=", "*=": "+=", "|=": "&=", "^=": "|="}
_BINARY = {"+": "-", "-": "+", "^": "|", "|": "&", "&": "|", "<<": ">>", ">>": "<<"}
_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_EXTREMES = frozenset({"INFINITY", "FLT_MAX", "DBL_MAX", "INT_MAX", "INT_MIN", "HUGE_VALF", "FLT_MIN", "UINT_MAX"})
_ZEROS = {"0": "1", "0.0f": "1.0f", "0.f": "1.f", "0.0": "1.0", "0u": "1u", "0.": "1.", "0ULL": "1ULL", "0f": "1f"}
_TYPES = frozenset(
    {"float", "double", "int", "unsigned", "long", "half", "__half", "uint32_t", "int32_t", "size_t", "short"}
)


def wrong_operator(program: Program) -> Iterator[Edit]:
    """`+` for `-`, `max` for `min`, `<<` for `>>`, a comparison of values turned round."""
    heads = program.loop_heads
    for index, function in program.device.items():
        text, here = program.at(index), Extent(index, index)
        if index in heads:
            continue
        if text in _CALLS and program.at(index + 1) == "(" and index + 1 in program.pairs:
            yield program.edit(here, _CALLS[text], "extreme", 0, Extent(index, program.pairs[index + 1]))
        elif text in _ASSIGNED and program.kind(index - 1) in ("word", "operator"):
            tier = 1 if text == "*=" else 0
            yield program.edit(here, _ASSIGNED[text], "assignment", tier, _clause(program, index))
        elif program.is_comparison(index) and not is_bound(program, index, function):
            yield program.edit(here, _FLIPPED[text], "comparison", 1, _clause(program, index))
        elif text in _BINARY and _is_binary(program, index) and not _is_declarator(program, index, function):
            inside = text in ("+", "-") and not _addresses(program, index) and program.at(index + 1) != "threadIdx"
            yield program.edit(here, _BINARY[text], "operator", 0 if inside else 1, _clause(program, index))


def _is_binary(program: Program, index: int) -> bool:
    before, after = program.at(index - 1), program.at(index + 1)
    operand = program.kind(index - 1) in ("word", "number") or before in (")", "]")
    follows = program.kind(index + 1) in ("word", "number") or after in ("(", "-", "!", "~")
    return operand and follows and before not in ("return", "case", "else") and not _is_cast(program, index - 1)


def _is_cast(program: Program, index: int) -> bool:
    """Whether the parenthesis that closes here is a C cast, after which `-` and `&` take one operand."""
    opening = program.pairs.get(index, -1)
    return (
        program.at(index) == ")"
        and opening >= 0
        and program.kind(opening - 1) != "word"
        and all(program.kind(at) == "word" or program.at(at) == "*" for at in range(opening + 1, index))
        and any(program.at(at) in _TYPES or program.at(at) == "*" for at in range(opening + 1, index))
    )


def _is_declarator(program: Program, index: int, function: Function) -> bool:
    """`const Best& a`: a reference, not an operation."""
    return program.at(index) == "&" and (program.at(index - 1) in _TYPES or program.at(index - 1)[:1].isupper())


def _addresses(program: Program, index: int) -> bool:
    """Whether an operator computes a subscript or a pointer, where an error of the index operators would be the same."""
    at = index
    for _ in range(60):
        at -= 1
        text = program.at(at)
        if text in (";", "{", "}", ""):
            return False
        if text in (")", "]"):
            at = program.pairs.get(at, at)
        elif text == "[" or (text == "*" and program.at(at + 2) == "="):
            return True
    return False


def _clause(program: Program, index: int, stops: frozenset[str] = frozenset({"?", ":", "&&", "||"})) -> Extent:
    """What a description quotes: the expression around an operator, an assignment with its target."""
    first, last = program.operand_before(index, stops).first, program.operand_after(index, stops).last
    return Extent(min(first, index), max(last, index))


def wrong_initial_value(program: Program) -> Iterator[Edit]:
    """A sum that starts at 1, a maximum that starts at 0, an array cleared with 1."""
    heads = program.loop_heads
    for index, function in program.device.items():
        if index in heads:
            continue
        text, here = program.at(index), Extent(index, index)
        before = program.at(index - 1)
        if text in _EXTREMES and program.at(index + 1) in (";", ",", "}", ")"):
            first = index - 1 if before == "-" else index
            if program.at(first - 1) in ("=", "{", ":", ",", "("):
                zero = "0" if text.startswith(("INT", "UINT")) else "0.0f"
                # A softmax does not change with the number that its exponents are shifted by.
                shifted = any(name in program.words(function.body) for name in ("exp", "expf", "__expf", "exp2f"))
                tier = 2 if shifted else 0
                yield program.edit(Extent(first, index), zero, "extreme", tier, _clause(program, index, frozenset()))
        elif text in _ZEROS and before == "=" and program.at(index + 1) in (";", ","):
            subscript = program.at(index - 2) == "]"
            tier = 0 if subscript or _accumulates(program, index) else 1
            yield program.edit(here, _ZEROS[text], "zero", tier, _clause(program, index))
        elif text in _ZEROS and before == ":" and program.at(index + 1) in (";", ",", ")"):
            yield program.edit(here, _ZEROS[text], "neutral element", 1, _clause(program, index, frozenset()))


def _accumulates(program: Program, index: int) -> bool:
    """Whether the variable set here is added to later in the function."""
    name = program.at(index - 2)
    end = program.device[index].body.last
    return any(
        program.at(at + 1) in ("+=", "-=", "*=", "|=", "^=")
        or program.at(at - 1) == "++"
        or program.at(at + 1) == "++"
        for at in program.places.get(name, [])
        if index < at < end
    )
