"""Which contents the arguments of a module are given, in which calls, and what each call is held against.

A content is a seed's arguments, or "permuted": those of seed 0 with the batch in another order, so that their first
row, their sums and their shapes are those of seed 0 and the right output is another.
"""

from collections.abc import Sequence
from dataclasses import dataclass


PERMUTED = "permuted"
POOL = ("0", "1")  # what the timed calls are given, in an order drawn anew for every run
UNSEEN = 3  # contents that a timed run holds back, each for one call


@dataclass(frozen=True)
class Call:
    """A call whose output is saved in the folder `label` and compared with the reference's for `content`."""

    label: str
    content: str
    title: str


def unseen(seeds: int) -> tuple[str, ...]:
    """The contents of the timed run alone: the seeds after those of the comparison."""
    return tuple(str(seeds + i) for i in range(UNSEEN))


def in_place(seeds: int, permuted: bool) -> tuple[str, ...]:
    """The contents that are written over seed 0's arguments, one after the other; the first is another than seed 0."""
    return (str(seeds - 1), PERMUTED, "0") if permuted else (str(seeds - 1), "0")


def compared_calls(seeds: int, again: Sequence[str]) -> list[Call]:
    fresh = [Call(str(seed), str(seed), f"seed {seed}") for seed in range(seeds)]
    return [*fresh, *(Call(f"again-{name}", name, f"{title(name)} in the same tensors") for name in again)]


def timed_calls(seeds: int) -> list[Call]:
    held_back = unseen(seeds)
    return [Call(f"timed-{name}", name, f"{title(name)}, timed") for name in (*POOL, *held_back)]


def title(content: str) -> str:
    return "seed 0 permuted" if content == PERMUTED else f"seed {content}"
