"""Mutants: correct CUDA programs with one error put in, of the kinds that language models make.

Mutants test a judge: a reliable judge fails them. `make_mutants` is deterministic and never runs anything.

This package may import only `cuset_stage.cuda_source` and `cuset_stage.spans`.
"""

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
_CHANGED, _CONTEXT = 100, 50  # most characters of code in a description: of the change, and on each side of it


@dataclass(frozen=True)
class Mutant:
    """A correct program with one error put in.

    Attributes:
        operator: name of the mutation operator, a key of `OPERATORS`.
        line: 1-based line where the edit begins.
        description: the change in readable form, with the code before and after it.
        source: the whole text of the mutant.
    """

    operator: str
    line: int
    description: str
    source: str


def make_mutants(source: str, *, per_operator: int = 2) -> list[Mutant]:
    """Return wrong versions of a correct program, each made by a single edit of its code.

    The operators take turns in the order of `OPERATORS`, so that the first few mutants are always spread over them. No
    two mutants have the same tokens, and none has the tokens of `source`. Errors that a run is likely to show are
    preferred. Some mutants are still equivalent to the program, for example if a removed barrier was not needed.

    Args:
        source: a CUDA program, or any text that `find_spans` reads. A text without CUDA code has no mutants.
        per_operator: largest number of mutants of each operator of `OPERATORS`. An operator that applies nowhere gives
            none.

    Raises:
        ValueError: per_operator is less than 1. No `source` makes the function raise.
    """
    if per_operator < 1:
        raise ValueError(f"per_operator={per_operator}: at least 1")
    program = Program(source)
    seen = {_signature(source)}
    chosen = [_choose(program, name, edits(program), per_operator, seen) for name, edits in OPERATORS.items()]
    return [mutant for turn in zip_longest(*chosen) for mutant in turn if mutant is not None]


def _choose(program: Program, operator: str, given: Iterable[Edit], count: int, seen: set[str]) -> list[Mutant]:
    """Make up to `count` mutants from an operator's edits.

    Edits of a lower tier come first. Within a tier, variants and then lines that were used less often come first.
    Edits of tier 2 are only used if there are no others. Between places that are equally good, random numbers decide
    that are the same on every machine.
    """
    edits = sorted({edit for edit in given if in_code(program, edit)})
    if any(edit.tier < 2 for edit in edits):
        edits = [edit for edit in edits if edit.tier < 2]
    random.Random(f"0/{operator}").shuffle(edits)
    lines = {edit: program.source.count("\n", 0, edit.start) for edit in edits}
    uses: Counter[str | int] = Counter()  # of each variant, and in each line

    def rank(edit: Edit) -> tuple[int, int, int]:
        return (edit.tier, uses[edit.variant], uses[lines[edit]])

    mutants: list[Mutant] = []
    while edits and len(mutants) < count:
        edit = min(edits, key=rank)
        edits.remove(edit)
        mutant = apply_edit(program, edit, operator)
        signature = _signature(mutant.source)
        if signature not in seen:
            seen.add(signature)
            uses.update([edit.variant, lines[edit]])
            mutants.append(mutant)
    return mutants


def in_code(program: Program, edit: Edit) -> bool:
    """Return True if an edit changes only code.

    An edit that removes a call may remove its string literals, but no edit may change a comment.
    """
    source, code = program.source[edit.start : edit.end], program.code[edit.start : edit.end]
    return code.split() in (source.split(), _LITERAL.sub(" ", source).split())


def _signature(source: str) -> str:
    """Return the code without comments, literals and blanks, to recognise mutants that differ in nothing else."""
    return "".join(scrub(source).split())


def _shown(code: str, most: int) -> str:
    """Return code on one line, cut off to at most `most` characters."""
    code = _SPACES.sub(" ", code)
    return code if len(code) <= most else code[: most - 3] + "..."


def apply_edit(program: Program, edit: Edit, operator: str) -> Mutant:
    """Apply an edit and return the mutant. A line that becomes empty is removed."""
    source, (start, end, replacement, _, _), (first, last) = program.source, edit, program.clause(edit)
    line = source.count("\n", 0, start) + 1
    head = _shown(source[first:start][::-1], _CONTEXT)[::-1]  # reversed, so that the end of the text is kept
    tail = _shown(source[end:last], _CONTEXT)
    changes = (_shown(code, _CHANGED) for code in (source[start:end], replacement))
    before, after = (f"{head}{code}{tail}".strip() for code in changes)
    change = f"`{before}` becomes `{after}`" if after else f"`{before}` removed"
    if not replacement:
        whole_lines = source.rfind("\n", 0, start) + 1, source.find("\n", end) + 1 or len(source)
        if not source[whole_lines[0] : start].strip() and not source[end : whole_lines[1]].strip():
            start, end = whole_lines
    return Mutant(operator, line, f"line {line}: {change}", source[:start] + replacement + source[end:])
