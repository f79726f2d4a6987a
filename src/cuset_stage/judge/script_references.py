"""Which file that a gen.py wrote is the reference of which output, and what compare.py says about the references themselves.

gen.py names its references as it likes (x_ref.bin, reference.bin, ref_x.bin). With one of each there is no question; with
several, the likeliest assignment (equal size, then like names) that compare.py accepts is taken.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from ..tasks.base import Tensor
from .oracle_runs import Printed


MAX_REFERENCES = 6  # more files than this are not told apart
MAX_TRIES = 6
BROKEN = {  # state -> what compare.py does
    "refused": "prints F",
    "crashed": "stops with a traceback",
    "silent": "prints neither T nor F",
}


@dataclass(frozen=True)
class SelfCheck:
    """compare.py on the references as outputs. state: "passed" (T), "refused" (F), "crashed" (a traceback), "silent" (neither
    T nor F), or "unpaired" (it is not known which reference is whose: no file of gen.py can be it, or none that compare.py
    accepts has an output's size). generate_exit: the sys.exit message that gen.py ended with."""

    state: str
    message: str
    generate_exit: str = ""

    @property
    def passed(self) -> bool:
        return self.state == "passed"

    @property
    def broken(self) -> bool:
        """What compare.py says about any output is worth nothing: it does not accept what is right."""
        return self.state in BROKEN


def pair_references(
    outputs: Sequence[Tensor], references: Mapping[str, Path], compare: Callable[[dict[str, Path]], Printed]
) -> tuple[dict[str, Path], SelfCheck]:
    """({"data/<output>.bin": reference}, what compare.py says about it). `compare` is given the first of these.

    Without one that passes there are no pairs: what compare.py refuses is not what is right. The check is then that of the
    likeliest assignment whose sizes fit; without such a one compare.py was given nothing that it had to accept.
    """
    first: SelfCheck | None = None
    for pairs in _assignments(outputs, references):
        check = _self_check(compare(pairs))
        if check.passed:
            return pairs, check
        if first is None and all(output.nbytes in (None, pairs[output.file].stat().st_size) for output in outputs):
            first = check
    names = ", ".join(references) or "none"
    return {}, first or SelfCheck("unpaired", f"{len(outputs)} outputs and as references {names}")


def _self_check(printed: Printed) -> SelfCheck:
    if printed.verdict is False:
        return SelfCheck("refused", printed.message)
    if printed.crashed:  # also after a T: it may have stopped before another output
        return SelfCheck("crashed", printed.message)
    return SelfCheck("passed" if printed.verdict else "silent", printed.message)


def _assignments(outputs: Sequence[Tensor], references: Mapping[str, Path]) -> list[dict[str, Path]]:
    """Every assignment of a reference to each output, the likeliest first."""
    if not outputs or not len(outputs) <= len(references) <= MAX_REFERENCES:
        return []

    def score(names: tuple[str, ...]) -> tuple[int, float]:
        """How many sizes fit, and how alike the names are."""
        pairs = list(zip(outputs, names, strict=True))
        fits = sum(output.nbytes in (None, references[name].stat().st_size) for output, name in pairs)
        return fits, sum(SequenceMatcher(None, output.file, name).ratio() for output, name in pairs)

    ranked = sorted(itertools.permutations(references, len(outputs)), key=score, reverse=True)
    return [
        {output.file: references[name] for output, name in zip(outputs, names, strict=True)}
        for names in ranked[:MAX_TRIES]
    ]
