"""Programs that may become pairs, and a choice among them that is even over tasks, kinds and lengths."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..cuda_source import tokens
from ..mutants import make_mutants
from ..mutants.equivalent import make_equivalents
from ..tasks import ProgramTask
from .likelihood import common_ends
from .rows import ALTERNATIVE, FLOOR


PER_KIND = 40  # versions of one kind of one program: more than most have
MOST_LONGER = 8  # tokens of C++ by which a version may be longer or shorter than the program


@dataclass(frozen=True)
class Candidate:
    """A changed version of a task's right program.

    kind: of the change. longer: tokens of C++ more than the right program has; a model's own tokens differ little from these in sign.
    0 for another program of the task. exchange: what the change takes out and puts in, in C++ between spaces.
    """

    task: ProgramTask
    kind: str
    change: str
    code: str
    longer: int
    exchange: tuple[str, str] = ("", "")

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.code.encode()).hexdigest()

    @property
    def key(self) -> tuple[str, str]:
        """Of what a verdict depends on beside the judge."""
        return self.task.fingerprint, self.sha256

    @property
    def is_floor(self) -> bool:
        return self.kind in FLOOR


def find_candidates(tasks: Sequence[ProgramTask], seed: int) -> list[Candidate]:
    """The mutants and the equivalent versions of the tasks' own programs that are about as long as these, and the tasks' other right
    programs, which may be of any length: in a pair either comes first as often. Deterministic.
    """
    found = []
    for task in tasks:
        own = [token.text for token in tokens(task.solution)]
        versions = make_mutants(task.solution, per_operator=PER_KIND, seed=seed)
        versions += make_equivalents(task.solution, count=PER_KIND, seed=seed)
        for one in versions:
            its = [token.text for token in tokens(one.source)]
            exchange = _exchange(own, its)
            found.append(Candidate(task, one.operator, one.description, one.source, len(its) - len(own), exchange))
    found = [one for one in found if abs(one.longer) <= MOST_LONGER]
    return found + [
        Candidate(task, ALTERNATIVE, "the task's other program", task.alternative, 0)
        for task in tasks
        if task.alternative
    ]


def choose(
    candidates: Iterable[Candidate],
    count: int,
    seed: int,
    judged: Container[Candidate] = (),
) -> list[Candidate]:
    """At most `count` of them: as evenly over tasks as they allow, then as many longer than the right program as shorter, then those in
    `judged`, then as many that exchange a for b as b for a, then evenly over kinds, then those of about its length; chance, from the
    seed, decides what is left. In the order of the choice.

    Without `judged`, a few candidates that drop out would change the whole choice. Without the exchanges, what random weights think of
    a few tokens (`0` and `1`, `<` and `<=`) would decide about whole groups of pairs at once.
    """
    left = sorted(candidates, key=lambda one: (one.task.id, one.sha256))
    random.Random(seed).shuffle(left)
    per_task: Counter[str] = Counter()
    per_kind: Counter[str] = Counter()
    exchanged: Counter[tuple[str, str]] = Counter()
    balance = 0  # of those chosen, longer ones less shorter ones
    chosen: list[Candidate] = []
    while left and len(chosen) < count:
        best = min(
            left,
            key=lambda one: (
                per_task[one.task.id],
                sign(one.longer) * sign(balance) > 0,
                one not in judged,
                max(0, exchanged[one.exchange] - exchanged[one.exchange[::-1]]),
                per_kind[one.kind],
                abs(one.longer),
            ),
        )
        left.remove(best)
        chosen.append(best)
        per_task[best.task.id] += 1
        per_kind[best.kind] += 1
        exchanged[best.exchange] += 1
        balance += sign(best.longer)
    return chosen


def _exchange(right: Sequence[str], wrong: Sequence[str]) -> tuple[str, str]:
    begin, end = common_ends(right, wrong)
    return " ".join(right[begin : len(right) - end]), " ".join(wrong[begin : len(wrong) - end])


def sign(number: float) -> int:
    return (number > 0) - (number < 0)
