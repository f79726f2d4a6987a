"""Other right versions of a right program: one place of the device code, written the other way round.

Sums and products with their operands swapped, which IEEE arithmetic rounds alike; two bounds checks in the other order; `++i` as `i++`
where nobody reads it. An edit is as small as a mutant's and as long as what it replaces.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

from tree_sitter import Node

from ..cuda_source.tree import child, sides
from .generate import Mutant, apply_edit, in_code
from .program import COMPARISONS, Edit, Program


EQUIVALENT = "equivalent"
_NAMED = frozenset({"identifier", "field_expression", "subscript_expression"})
_PRODUCTS = ("*", "/", "%")
_EFFECTS = ("++", "--", "(")  # a call, or what changes a variable
_TRAPS = ("[", "/", "%", *_EFFECTS)  # what the check before it may guard


def make_equivalents(source: str, *, count: int, seed: int = 0) -> list[Mutant]:
    """At most `count` right versions of a right program, spread over kinds of rewriting and lines; `operator` is `EQUIVALENT`.

    Deterministic, and never runs anything: whether a version is right is for the judge to say.
    """
    program = Program(source)
    edits = sorted(edit for edit in {*_swapped(program), *_increments(program)} if in_code(program, edit))
    random.Random(f"{seed}/{EQUIVALENT}").shuffle(edits)
    taken: Counter[str | int] = Counter()  # of each variant, and in each line
    chosen = []
    while edits and len(chosen) < count:
        edit = min(edits, key=lambda one: (taken[_line(source, one)], taken[one.variant]))
        edits.remove(edit)
        taken.update([edit.variant, _line(source, edit)])
        chosen.append(apply_edit(program, edit, EQUIVALENT))
    return chosen


def _line(source: str, edit: Edit) -> int:
    return source.count("\n", 0, edit.start)


def _swapped(program: Program) -> Iterator[Edit]:
    for node, _ in program.in_device("binary_expression"):
        sign, (left, right) = program.sign(node), sides(node)
        texts = program.text(left), program.text(right)
        if sign in ("+", "*") and texts[0] != texts[1]:
            is_whole = all(_is_operand(program, side, sign) for side in (left, right))
            effects = _EFFECTS
        elif sign == "&&":
            is_whole = all(program.sign(side) in COMPARISONS for side in (left, right))
            effects = _TRAPS
        else:
            continue
        if is_whole and not any(mark in text for text in texts for mark in effects):
            between = program.source[left.end_byte : right.start_byte]
            yield program.edit(node, f"{texts[1]}{between}{texts[0]}", f"swapped {sign}")


def _is_operand(program: Program, node: Node, sign: str) -> bool:
    """Whether a side of `sign` stays what it is on the other side without parentheses, and as people write it (nobody has `1 + n`)."""
    if sign == "+":
        return node.type in _NAMED or program.sign(node) in _PRODUCTS
    return node.type in _NAMED or node.type == "number_literal"


def _increments(program: Program) -> Iterator[Edit]:
    for node, _ in program.in_device("update_expression"):
        sign, name = program.text(child(node, "operator")), program.text(child(node, "argument"))
        loop = node.parent.type == "for_statement" and child(node.parent, "update") == node
        if loop or node.parent.type == "expression_statement":
            text = f"{name}{sign}" if program.text(node).startswith(sign) else f"{sign}{name}"
            yield program.edit(node, text, "increment")
