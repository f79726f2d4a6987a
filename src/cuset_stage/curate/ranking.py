"""Which of the rows that are left are worth training on: the best answers to a task, ConCuR's rule, and balance between families.

Only what `verify` measured counts: a speed-up that the source claims is not looked at.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median

from ..judge.rewards import grpo, kevin
from .stage_rows import Row
from .torch_modules import method_of


LENGTH_BINS = 4
FAST = 5.0  # ConCuR: answers this much faster than the baseline are kept whatever their reasoning
REWARDS = {"kevin": kevin, "grpo": grpo}


@dataclass(frozen=True)
class Candidate:
    """What selection needs to know of a row.

    group: equal for answers to one task. tokens: of prompt and answer. reasoning: its length in tokens, None without reasoning.
    speedup: of a module over its reference, None where none was measured. run_s: seconds a program takes for all its cases, None
    where the times say nothing. bench: equal for programs whose times can be compared. single_operator: of a module, whether
    forward is one call.
    """

    key: str
    id: str
    group: str
    family: str
    tokens: int
    speedup: float | None = None
    reasoning: int | None = None
    single_operator: bool = False
    run_s: float | None = None
    bench: str = ""


def by_group(candidates: Iterable[Candidate]) -> dict[str, list[Candidate]]:
    groups: dict[str, list[Candidate]] = defaultdict(list)
    for each in candidates:
        groups[each.group].append(each)
    return dict(groups)


def is_judged(candidate: Candidate) -> bool:
    """Whether ConCuR's rule has something to say of a row."""
    return candidate.reasoning is not None and candidate.speedup is not None


def concur(candidates: Iterable[Candidate]) -> dict[str, str]:
    """ConCuR's selection of answers with reasoning: key -> why it is dropped.

    Kept of the right answers to a task: (a) the one with the shortest reasoning where it is the fastest kernel as well, (b) those
    more than 5x faster than the baseline, (c) of a task of a single operator, for balance, the one with the shortest reasoning.
    Rows without reasoning are not the rule's business and stay; so do rows without a measured speed-up, such as programs, which
    have no baseline: without (b) and (c) the rule would throw most of their tasks away.
    """
    reasons: dict[str, str] = {}
    for members in by_group(each for each in candidates if is_judged(each)).values():
        shortest = min(members, key=lambda each: (each.reasoning, each.id))
        fastest = max(each.speedup or 0.0 for each in members)
        for each in members:
            speedup = each.speedup or 0.0
            if speedup <= FAST and not (each is shortest and (speedup == fastest or each.single_operator)):
                reasons[each.key] = (
                    f"speed-up {speedup:.2f}, {each.reasoning} tokens of reasoning; the task's shortest has {shortest.reasoning} "
                    f"and its fastest {fastest:.2f}"
                )
    return reasons


def speeds(answers: Sequence[Candidate]) -> dict[str, float | None]:
    """What a reward takes for the speed-up of each answer to one task, by key; None: nothing was measured.

    A module's is over its reference. A program has no baseline: its own is the median time of the task's programs that ran the
    same cases on the same GPU, over its time. It has one decimal: the start of a process is in these times, and what differs by
    less is noise. One without a time among others that have one counts as a median one: per_gpu may change when a stopped run is
    taken up.
    """
    times: dict[str, list[float]] = defaultdict(list)
    for each in answers:
        if each.run_s:
            times[each.bench].append(each.run_s)
    medians = {bench: median(taken) for bench, taken in times.items()}

    def speed(answer: Candidate) -> float | None:
        if answer.speedup is not None:
            return answer.speedup
        if answer.run_s:
            return round(medians[answer.bench] / answer.run_s, 1)
        return 1.0 if medians else None

    return {each.key: speed(each) for each in answers}


def worse_answers(candidates: Iterable[Candidate], count: int, reward: str) -> dict[str, str]:
    """Key -> why, of all but the `count` answers to each task with the highest reward, of `speeds`; of equal ones the shorter stay."""
    reasons: dict[str, str] = {}
    for members in by_group(candidates).values():
        rewards = {  # of right answers: rows that were not right did not come this far
            key: REWARDS[reward]({"compiled": True, "passed": True, "speedup": speed})
            for key, speed in speeds(members).items()
        }
        ranked = sorted(members, key=lambda each: (-rewards[each.key], each.tokens, each.id))
        for place, each in enumerate(ranked[count:], start=count + 1):
            reasons[each.key] = (
                f"place {place} of {len(ranked)} answers by the reward {reward} ({rewards[each.key]:.3f})"
            )
    return reasons


def beyond_balance(candidates: Iterable[Candidate], most: int) -> dict[str, str]:
    """Key -> why, of what is over `most` rows a family.

    They are taken in turns from the family's length quartiles, so that short programs do not crowd out long ones; within a quartile
    faster ones first, then those whose key is smaller, which is as good as chance, and repeatable.
    """
    families: dict[str, list[Candidate]] = defaultdict(list)
    for each in candidates:
        families[each.family].append(each)
    reasons: dict[str, str] = {}
    for family, members in families.items():
        members.sort(key=lambda each: (each.tokens, each.key))
        size = ceil(len(members) / LENGTH_BINS)
        turns: list[tuple[int, int, str]] = []
        for number, start in enumerate(range(0, len(members), size)):
            chosen = sorted(members[start : start + size], key=lambda each: (-(each.speedup or 0.0), each.key))
            turns += [(turn, number, each.key) for turn, each in enumerate(chosen)]
        for _, _, key in sorted(turns)[most:]:
            reasons[key] = f"the family {family} has {len(members)} rows; {most} are taken"
    return reasons


def is_single_operator(row: Row) -> bool:
    """Whether a module's forward computes one operator: KernelBench's level 1, or a body with a single call."""
    if str(row.get("level", "")).lower().removeprefix("level") == "1":
        return True
    try:
        forward = method_of(ast.parse(row.get("module_code") or ""), "Model", "forward")
    except (SyntaxError, ValueError, RecursionError):
        return False
    return forward is not None and sum(isinstance(node, (ast.Call, ast.BinOp)) for node in ast.walk(forward)) == 1
