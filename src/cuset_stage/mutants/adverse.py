"""The adverse form of a program: wrong results for code that relies on what CUDA leaves undefined.

The adverse form changes a program in four ways:

- At the entry of every kernel, shared memory is filled with a pattern.
- At the entry of every kernel and after every barrier, every other warp is delayed.
- A shuffle from a lane that the block does not have returns the pattern.
- An array is placed below the program's own arrays in shared memory, so that an index below 0 reads the pattern, too.

A correct program is unaffected. A program that gives right results as it is and wrong ones in its adverse form reads
memory that it never wrote, or lacks a barrier. compute-sanitizer does not report these errors: initcheck covers only
global memory, racecheck misses a store that conflicts with an atomic, and memcheck misses an index inside the block's
shared memory.

The control form takes the same memory and registers, but does none of this. A program that is wrong in the control
form, too, lacks room for the adverse form, so its result in that form says nothing.
"""

import re
from pathlib import Path
from string import Template

from .operators import barrier_statements
from .program import Program


CONTROL = -1
# (pattern, which warps are late). The first pattern is NaN as a float and -1 as an integer, the second a large number.
VARIANTS = ((0xFFFFFFFF, 0), (0x7F7F7F7F, 1))
ENTRY_DELAY, BARRIER_DELAY = 100_000, 20_000  # clock cycles
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b[^\n]*\n", re.MULTILINE)
# The array is the first declaration in the kernel itself, because nvcc 13 gives shared memory to a kernel's own
# variables in their order.
_ENTRY = "__shared__ __align__(1024) unsigned cuset_adverse_below[256]; cuset_adverse::enter(cuset_adverse_below);"

_PRELUDE = Template(Path(__file__).with_name("adverse.cuh").read_text(encoding="utf-8"))


def make_adverse(source: str, variant: int) -> str | None:
    """Return the adverse form of a program, or None if no kernel was found in it.

    The compiler reports the line numbers of the original program. A program that takes all the shared memory there is
    does not compile, or does not launch, in this form.

    Args:
        source: the program.
        variant: an index of `VARIANTS`, each of which delays another half of the warps, or `CONTROL` for the control
            form.
    """
    pattern, late = VARIANTS[max(variant, 0)]
    program = Program(source)
    additions = [(function.body[0] + 1, f" {_ENTRY}") for function in program.functions if function.is_kernel]
    if not additions:
        return None
    for name, statement, _ in barrier_statements(program):
        if name != "__syncwarp":  # it synchronises a single warp, and the delay is for whole warps
            additions.append((statement.start_byte, "{ "))
            additions.append((statement.end_byte, f" cuset_adverse::late<{BARRIER_DELAY}>(); }}"))
    for place, text in sorted(additions, reverse=True):
        source = source[:place] + text + source[place:]
    top = max((match.end() for match in _INCLUDE.finditer(source)), default=0)
    active = "clock64() < 0" if variant == CONTROL else "true"
    prelude = _PRELUDE.substitute(pattern=hex(pattern), late=late, active=active, entry_delay=ENTRY_DELAY)
    line = source.count("\n", 0, top) + 1
    return f"{source[:top]}{prelude}#line {line}\n{source[top:]}"
