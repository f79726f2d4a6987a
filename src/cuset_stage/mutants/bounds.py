"""Errors at the edges of an array: one too many, one too few, the remainder forgotten, the check left out."""

from __future__ import annotations

from collections.abc import Iterator

from .edits import Edit
from .program import Extent, Function, Loop, Program


_LOGICAL = frozenset({"&&", "||", "?", ":", "=", "==", "!=", "<", ">", "<=", ">=", "<<", ">>", "&", "|", "^"})
_CONDITIONS = frozenset({"&&", "||", "?", ":", "="})
_LOOSER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_CLAMPS = frozenset({"min", "max", "clamp", "fminf", "fmaxf", "fmin", "fmax"})


def bound_off_by_one(program: Program) -> Iterator[Edit]:
    """`i < n` as `i <= n` or `i < n - 1`, a loop that starts late or ends early, `(n + 255) / 256` as `n / 256`."""
    heads = program.loop_heads
    for loop in program.loops:
        if loop.keyword in program.device or _holds_launch(program, loop):
            yield from _loop_bounds(program, loop)
    for index, function in program.device.items():
        if index not in heads and program.is_comparison(index):
            yield from _guard(program, index, function)
        if program.at(index) == "-" and program.at(index + 1) == "1" and program.kind(index - 1) == "word":
            yield from _last_element(program, index)
    yield from _ceil_divisions(program)


def _holds_launch(program: Program, loop: Loop) -> bool:
    return any(program.at(at) == "<<<" for at in range(loop.body.first, loop.body.last + 1))


def _loop_bounds(program: Program, loop: Loop) -> Iterator[Edit]:
    step = {program.at(at) for at in range(loop.step.first, loop.step.last + 1)}
    halving, doubling = bool(step & {"/=", ">>="}), bool(step & {"*=", "<<="})
    from_zero = program.at(loop.init.last) == "0" and program.at(loop.init.last - 1) == "="
    strided = not step & {"++", "--"} and not halving and not doubling
    for index in range(loop.condition.first, loop.condition.last + 1):
        if not program.is_comparison(index):
            continue
        sign = program.at(index)
        left, right = program.operand_before(index, _LOGICAL), program.operand_after(index, _LOGICAL)
        if left.last < left.first or right.last < right.first:
            continue
        shown, bound = Extent(left.first, right.last), program.text(right)
        here = Extent(index, index)
        if halving:
            if sign == ">" and bound == "0":
                yield program.edit(right, "1", "last round", 0, shown)
            elif sign == ">=":
                yield program.edit(here, ">", "last round", 0, shown)
        elif doubling:
            if sign == "<=":
                yield program.edit(here, "<", "last round", 0, shown)
            elif sign == "<":
                yield program.edit(right, f"{bound} / 2", "last round", 0, shown)
        elif strided and from_zero:
            if sign == "<" and left.first == left.last and program.at(loop.step.first + 1) == "+=":
                tile = program.text(Extent(loop.step.first + 2, loop.step.last))
                yield program.edit(shown, f"{program.text(left)} + {tile} <= {bound}", "last tile", 0, shown)
            yield program.edit(here, _LOOSER[sign], "loop relation", 2, shown)
        else:
            yield program.edit(here, _LOOSER[sign], "loop relation", 1 if strided else 0, shown)
            if sign == "<":
                yield program.edit(right, f"{bound} - 1", "loop end", 0, shown)
    if from_zero and "++" in step:
        yield program.edit(Extent(loop.init.last, loop.init.last), "1", "loop start", 0, loop.init)


def _guard(program: Program, index: int, function: Function) -> Iterator[Edit]:
    left, right = program.operand_before(index, _LOGICAL), program.operand_after(index, _LOGICAL)
    if left.last < left.first or right.last < right.first or not is_bound(program, index, function):
        return
    shown, sign, bound = Extent(left.first, right.last), program.at(index), program.text(right)
    indexed = bool(program.words(right) & program.indices(function))
    relation = 0 if sign == "<=" or bound == "0" or indexed else 1
    yield program.edit(Extent(index, index), _LOOSER[sign], "relation", relation, shown)
    if sign in ("<", ">=") and program.kind(right.last) == "word" and not indexed:
        yield program.edit(right, f"{bound} - 1", "bound", 0, shown)


def is_bound(program: Program, index: int, function: Function) -> bool:
    """Whether a comparison holds a position against an edge: a position on the left, no floating-point value."""
    left, right = program.operand_before(index, _LOGICAL), program.operand_after(index, _LOGICAL)
    if left.last < left.first or right.last < right.first:
        return False
    if not _outside_subscripts(program, left) & program.indices(function):
        return False
    if (
        left.first == left.last
        and right.first == right.last
        and _siblings(program.at(left.first), program.at(right.first))
    ):
        return False
    return not any(
        program.kind(at) == "number" and ("." in program.at(at) or program.at(at)[-1] in "fF")
        for at in range(left.first, right.last + 1)
        if not program.at(at).lower().startswith("0x")
    )


def _outside_subscripts(program: Program, extent: Extent) -> set[str]:
    """The identifiers of an expression that are not inside [ ] and no members."""
    found, at = set(), extent.first
    while at <= extent.last:
        if program.at(at) == "[":
            at = program.pairs.get(at, at)
        elif program.kind(at) == "word" and program.at(at - 1) not in (".", "->"):
            found.add(program.at(at))
        at += 1
    return found


def _siblings(one: str, other: str) -> bool:
    """`indexA` and `indexB`: two values of a kind, not a position and its bound."""
    return len(one) == len(other) > 3 and one[:-1] == other[:-1]


def _last_element(program: Program, index: int) -> Iterator[Edit]:
    """`n - 1` as the end of a clamp or of an array, written `n`."""
    after = program.at(index + 2)
    if after == "]" and program.at(index - 2) == "[":
        opening = index - 2
    elif after in (")", ","):
        opening = program.operand_before(index - 1, _LOGICAL).first - 1
        while program.at(opening) == ",":
            opening = program.operand_before(opening, _LOGICAL).first - 1
        if program.at(opening - 1) not in _CLAMPS:
            return
    else:
        return
    word = Extent(index - 1, index - 1)
    shown = Extent(opening - 1, index + 2)
    yield program.edit(Extent(index - 1, index + 1), program.text(word), "last element", 1, shown)


def _ceil_divisions(program: Program) -> Iterator[Edit]:
    """`(n + b - 1) / b`, `(n + 255) / 256` and `(n - 1) / b + 1`, written `n / b`."""
    for close in range(len(program.tokens)):
        if program.at(close) != ")" or program.at(close + 1) != "/" or close not in program.pairs:
            continue
        opening, divisor = program.pairs[close], _factor(program, close + 2)
        inner = Extent(opening + 1, close - 1)
        if divisor is None or opening in program.checks or inner.last - inner.first < 2:
            continue
        number = program.at(inner.last)
        whole = Extent(opening, divisor.last)
        count = None
        if number == "1" and program.at(inner.last - 1) == "-":
            if program.at(divisor.last + 1) == "+" and program.at(divisor.last + 2) == "1":
                count, whole = Extent(inner.first, inner.last - 2), Extent(opening, divisor.last + 2)
            else:
                width = divisor.last - divisor.first + 1
                plus = inner.last - 2 - width
                addend = Extent(plus + 1, inner.last - 2)
                if plus > inner.first and program.at(plus) == "+" and _same(program, addend, divisor):
                    count = Extent(inner.first, plus - 1)
        elif (
            program.at(inner.last - 1) == "+" and number.isdecimal() and program.text(divisor) == str(int(number) + 1)
        ):
            count = Extent(inner.first, inner.last - 2)
        if count is None:
            continue
        text = program.text(count)
        sum_of = any(program.at(at) in ("+", "-", "?", "<<", ">>") for at in range(count.first, count.last + 1))
        replacement = f"({text}) / {program.text(divisor)}" if sum_of else f"{text} / {program.text(divisor)}"
        yield program.edit(whole, replacement, "remainder", 0)


def _factor(program: Program, index: int) -> Extent | None:
    if program.kind(index) == "number":
        return Extent(index, index)
    if program.at(index) == "(" and index in program.pairs:
        return Extent(index, program.pairs[index])
    if program.kind(index) != "word":
        return None
    last = index
    while program.at(last + 1) in (".", "->", "::") and program.kind(last + 2) == "word":
        last += 2
    return None if program.at(last + 1) == "(" else Extent(index, last)


def _same(program: Program, one: Extent, other: Extent) -> bool:
    return [program.at(at) for at in range(one.first, one.last + 1)] == [
        program.at(at) for at in range(other.first, other.last + 1)
    ]


def drop_boundary_check(program: Program) -> Iterator[Edit]:
    """A guard left out: the whole `if`, one half of `row < m && col < n`, or the choice of 0 outside the array."""
    for index, function in program.device.items():
        text = program.at(index)
        if text == "if" and program.at(index + 1) == "(":
            yield from _whole_if(program, index, function)
        elif text in ("&&", "||") and index not in program.loop_heads:
            yield from _half(program, index, function)
        elif text == "?":
            yield from _choice(program, index, function)


def _bounds_in(program: Program, extent: Extent, function: Function) -> bool:
    """Whether some tokens are nothing but checks of positions."""
    signs = [at for at in range(extent.first, extent.last + 1) if program.is_comparison(at)]
    return (
        bool(signs)
        and all(is_bound(program, at, function) for at in signs)
        and not any(program.at(at) in ("==", "!=", "[") for at in range(extent.first, extent.last + 1))
    )


def _whole_if(program: Program, index: int, function: Function) -> Iterator[Edit]:
    close = program.pairs.get(index + 1, -1)
    if close < 0 or close + 1 not in program.device:
        return
    condition = Extent(index + 2, close - 1)
    end = program.statement_end(index)
    if (
        condition.last < condition.first
        or not _bounds_in(program, condition, function)
        or program.at(end + 1) == "else"
    ):
        return
    if program.at(index - 1) not in (";", "{", "}"):
        return
    leaves = program.at(close + 1) == "return" or [program.at(close + 1), program.at(close + 2)] == ["{", "return"]
    if leaves:
        yield program.cut(Extent(index, end), "return", 0, Extent(index, end))
    else:
        yield program.cut(Extent(index, close), "if", 0, Extent(index, min(close + 1, end)))


def _half(program: Program, index: int, function: Function) -> Iterator[Edit]:
    left, right = program.operand_before(index, _CONDITIONS), program.operand_after(index, _CONDITIONS)
    if left.last < left.first or right.last < right.first:
        return
    shown = Extent(left.first, right.last)
    if _bounds_in(program, right, function):
        yield program.cut_from(left.last, right.last, "right half", 0, shown)
    if _bounds_in(program, left, function):
        yield program.cut(Extent(left.first, index), "left half", 0, shown)


def _choice(program: Program, index: int, function: Function) -> Iterator[Edit]:
    """`i < n ? a[i] : 0` as `a[i]`."""
    stops = frozenset({"=", "?", ":", "+=", "-=", "*="})
    condition, taken = program.operand_before(index, stops), program.operand_after(index, stops)
    colon = taken.last + 1
    if program.at(colon) != ":" or condition.last < condition.first or taken.last < taken.first:
        return
    other = program.operand_after(colon, stops)
    if other.last < other.first or program.at(other.last + 1) in ("?", ":"):
        return
    if not any(program.at(at) == "[" for at in range(taken.first, taken.last + 1)):
        return
    plain = condition.first == condition.last and program.kind(condition.first) == "word"
    if plain or _bounds_in(program, condition, function):
        yield program.edit(Extent(condition.first, other.last), program.text(taken), "choice", 0)
