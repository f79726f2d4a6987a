"""Mutants: correct CUDA programs with one error put in, of the kinds that language models make.

A reliable judge fails mutants. `make_mutants` is deterministic and never runs anything.
May import: `cuset_stage.cuda_source` and `cuset_stage.spans`.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest

from ..spans.scrub import scrub
from .operators import OPERATORS
from .program import Edit, Program


_LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'')
_SPACES = re.compile(r"\s+")
_CHANGED, _CONTEXT = 100, 50  # characters of code in a description: of the change, and on each side of it


@dataclass(frozen=True)
class Mutant:
    """A correct program with one error put in.

    operator: a name of `OPERATORS`. line: 1-based, where the edit begins. description: for people, with the code before
    and after. source: the whole text.
    """

    operator: str
    line: int
    description: str
    source: str


def make_mutants(source: str, *, per_operator: int = 2, seed: int = 0) -> list[Mutant]:
    """Wrong versions of a correct program, each made by a single edit of its code.

    source: a CUDA program, or any text that `find_spans` reads; one without CUDA code has no mutants.
    per_operator: at most this many of each operator of `OPERATORS`; an operator that applies nowhere gives none.
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
    chosen = [_choose(program, name, edits(program), per_operator, seed, seen) for name, edits in OPERATORS.items()]
    return [mutant for turn in zip_longest(*chosen) for mutant in turn if mutant is not None]


def _choose(
    program: Program, operator: str, given: Iterable[Edit], count: int, seed: int, seen: set[str]
) -> list[Mutant]:
    """The best of the edits by tier; then other kinds and other lines come before the same again."""
    edits = sorted({edit for edit in given if in_code(program, edit)})
    if any(edit.tier < 2 for edit in edits):
        edits = [edit for edit in edits if edit.tier < 2]
    random.Random(f"{seed}/{operator}").shuffle(edits)
    lines = {edit: program.source.count("\n", 0, edit.start) for edit in edits}
    taken: Counter[str | int] = Counter()  # of each variant, and in each line

    def rank(edit: Edit) -> tuple[int, int, int]:
        return (edit.tier, taken[edit.variant], taken[lines[edit]])

    mutants: list[Mutant] = []
    while edits and len(mutants) < count:
        edit = min(edits, key=rank)
        edits.remove(edit)
        mutant = apply_edit(program, edit, operator)
        signature = _signature(mutant.source)
        if signature not in seen:
            seen.add(signature)
            taken.update([edit.variant, lines[edit]])
            mutants.append(mutant)
    return mutants


def in_code(program: Program, edit: Edit) -> bool:
    """Whether an edit changes code alone. An edit that removes a call may remove its string literals, but no comment."""
    source, code = program.source[edit.start : edit.end], program.code[edit.start : edit.end]
    return code.split() in (source.split(), _LITERAL.sub(" ", source).split())


def _signature(source: str) -> str:
    """The code without comments, literals and blanks: equal for programs that are the same to a compiler."""
    return "".join(scrub(source).split())


def _shown(code: str, most: int) -> str:
    """Code on one line, cut off behind `most` characters."""
    code = _SPACES.sub(" ", code)
    return code if len(code) <= most else code[: most - 3] + "..."


def apply_edit(program: Program, edit: Edit, operator: str) -> Mutant:
    """The mutant that an edit makes; a line that becomes empty is removed."""
    source, (start, end, replacement, _, _), (first, last) = program.source, edit, program.clause(edit)
    line = source.count("\n", 0, start) + 1
    head = _shown(source[first:start][::-1], _CONTEXT)[::-1]  # its end is kept
    tail = _shown(source[end:last], _CONTEXT)
    changes = (_shown(code, _CHANGED) for code in (source[start:end], replacement))
    before, after = (f"{head}{code}{tail}".strip() for code in changes)
    change = f"`{before}` becomes `{after}`" if after else f"`{before}` removed"
    if not replacement:
        whole = source.rfind("\n", 0, start) + 1, source.find("\n", end) + 1 or len(source)
        if not source[whole[0] : start].strip() and not source[end : whole[1]].strip():
            start, end = whole
    return Mutant(operator, line, f"line {line}: {change}", source[:start] + replacement + source[end:])
