"""`make_mutants`: from a program to a handful of wrong ones, spread over kinds of error and over the program."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from itertools import zip_longest

from ..spans.scrub import scrub
from .bounds import bound_off_by_one, drop_boundary_check
from .edits import Edit, Mutant, apply
from .indexing import wrong_index
from .launches import swapped_dims, wrong_launch_size
from .memory import dropped_memcpy_or_memset, wrong_memcpy_size_or_direction
from .program import Program, tokens_of
from .synchronisation import atomic_to_plain, drop_syncthreads, wrong_shuffle_distance
from .values import wrong_initial_value, wrong_operator


# In the order in which make_mutants takes turns.
OPERATORS: dict[str, Callable[[Program], Iterator[Edit]]] = {
    "bound_off_by_one": bound_off_by_one,
    "drop_syncthreads": drop_syncthreads,
    "wrong_index": wrong_index,
    "wrong_launch_size": wrong_launch_size,
    "swapped_dims": swapped_dims,
    "wrong_operator": wrong_operator,
    "drop_boundary_check": drop_boundary_check,
    "wrong_initial_value": wrong_initial_value,
    "atomic_to_plain": atomic_to_plain,
    "wrong_shuffle_distance": wrong_shuffle_distance,
    "dropped_memcpy_or_memset": dropped_memcpy_or_memset,
    "wrong_memcpy_size_or_direction": wrong_memcpy_size_or_direction,
}
_LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'')


def make_mutants(source: str, *, per_operator: int = 2, seed: int = 0) -> list[Mutant]:
    """Wrong programs made from a right one, each by a single edit of its code.

    source: a CUDA program, or any text that `find_spans` reads; one without CUDA code has no mutants.
    per_operator: at most this many of each operator of `OPERATORS`; an operator without a place gives none.
    seed: decides among places that are equally good. The same arguments give the same mutants on every machine.

    The operators take turns in the order of `OPERATORS`, so any first few mutants are spread over them. No two have the
    same tokens, and none has the tokens of `source`. An error that a run is likely to show is preferred; some mutants
    are equivalent all the same, as with a barrier that nothing needs. Never raises on `source`.

    Raises:
        ValueError: per_operator is less than 1.
    """
    if per_operator < 1:
        raise ValueError(f"per_operator={per_operator}: at least 1")
    program = Program(source)
    seen = {_signature(source)}
    chosen = [
        _choose(program, name, operator, per_operator, random.Random(f"{seed}/{name}"), seen)
        for name, operator in OPERATORS.items()
    ]
    return [mutant for turn in zip_longest(*chosen) for mutant in turn if mutant is not None]


def _choose(
    program: Program,
    name: str,
    operator: Callable[[Program], Iterator[Edit]],
    count: int,
    rng: random.Random,
    seen: set[tuple[str, ...]],
) -> list[Mutant]:
    """The best edits of one operator: by tier, then other kinds of error and other statements before the same again."""
    edits = sorted(
        {edit for edit in operator(program) if _in_code(program, edit)},
        key=lambda edit: (edit.start, edit.end, edit.replacement),
    )
    if any(edit.tier < 2 for edit in edits):
        edits = [edit for edit in edits if edit.tier < 2]
    rng.shuffle(edits)
    variants: dict[str, int] = {}
    lines: dict[int, int] = {}
    mutants: list[Mutant] = []
    while edits and len(mutants) < count:
        edit = min(
            edits, key=lambda one: (one.tier, variants.get(one.variant, 0), lines.get(program.line(one.start), 0))
        )
        edits.remove(edit)
        mutant = apply(program.source, edit, name)
        signature = _signature(mutant.source)
        if signature in seen:
            continue
        seen.add(signature)
        variants[edit.variant] = variants.get(edit.variant, 0) + 1
        lines[mutant.line] = lines.get(mutant.line, 0) + 1
        mutants.append(mutant)
    return mutants


def _in_code(program: Program, edit: Edit) -> bool:
    """Whether an edit touches code alone. A call that goes may take its string literals along, but no comment."""
    blank = [
        at for at in range(edit.start, edit.end) if program.code[at].isspace() and not program.source[at].isspace()
    ]
    literals = {
        at
        for match in _LITERAL.finditer(program.source, edit.start, edit.end)
        for at in range(match.start(), match.end())
    }
    return all(at in literals for at in blank)


def _signature(source: str) -> tuple[str, ...]:
    """What two programs must share to be the same text to a compiler."""
    return tuple(token.text for token in tokens_of(scrub(source)))
