"""Which of the rows that are left are worth training on: the best answers to a task, ConCuR's rule, and a balance of families.

Everything here works on `Candidate`, a small record of a row, so that a whole data set can be ranked without holding it.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..evaluation.rewards import grpo, kevin
from .rows import Row


FAST = 5.0  # ConCuR: answers this much faster than the baseline are kept whatever their reasoning
REWARDS = {"kevin": kevin, "grpo": grpo}


@dataclass(frozen=True)
class Candidate:
    """What selection needs to know of a row.

    group: equal for answers to one task. speedup: over the baseline, None where nothing was measured. reasoning: its length in
    tokens, None without reasoning. tokens: of prompt and answer. single_operator: of a module, whether forward is one call.
    """

    key: str
    id: str
    group: str
    family: str
    tokens: int
    speedup: float | None = None
    reasoning: int | None = None
    single_operator: bool = False

    def reward(self, name: str) -> float:
        """Of a right answer: rows that were not right did not come this far."""
        return REWARDS[name]({"compiled": True, "passed": True, "speedup": self.speedup})


def by_group(candidates: Iterable[Candidate]) -> dict[str, list[Candidate]]:
    groups: dict[str, list[Candidate]] = defaultdict(list)
    for each in candidates:
        groups[each.group].append(each)
    return dict(groups)


def concur(candidates: Sequence[Candidate]) -> tuple[set[str], dict[str, str]]:
    """ConCuR's selection of answers with reasoning: (keys to keep, key -> why the others go).

    Kept of the right answers to a task: (a) the one with the shortest reasoning where it is the fastest kernel as well, (b) those
    more than 5x faster than the baseline, (c) of a task of a single operator, for balance, the one with the shortest reasoning.
    Rows without reasoning are not the rule's business and stay.
    """
    kept: set[str] = set()
    reasons: dict[str, str] = {}
    for members in by_group(candidates).values():
        reasoned = [each for each in members if each.reasoning is not None]
        kept.update(each.key for each in members if each.reasoning is None)
        if not reasoned:
            continue
        shortest = min(reasoned, key=lambda each: (each.reasoning, each.id))
        fastest = max(reasoned, key=lambda each: (each.speedup or 0.0, -(each.reasoning or 0), each.id))
        for each in reasoned:
            is_a = (
                each is shortest and (each is fastest or each.speedup == fastest.speedup) and each.speedup is not None
            )
            if is_a or (each.speedup or 0.0) > FAST or (each.single_operator and each is shortest):
                kept.add(each.key)
            else:
                reasons[each.key] = (
                    f"speed-up {each.speedup or 0:.2f}, {each.reasoning} tokens of reasoning; the task's shortest has {shortest.reasoning} "
                    f"and its fastest {fastest.speedup or 0:.2f}"
                )
    return kept, reasons


def best_answers(candidates: Sequence[Candidate], count: int, reward: str) -> tuple[set[str], dict[str, str]]:
    """The `count` answers to each task with the highest reward; of equal ones the shorter."""
    kept: set[str] = set()
    reasons: dict[str, str] = {}
    for members in by_group(candidates).values():
        ranked = sorted(members, key=lambda each: (-each.reward(reward), each.tokens, each.id))
        kept.update(each.key for each in ranked[:count])
        for place, each in enumerate(ranked[count:], start=count + 1):
            reasons[each.key] = (
                f"place {place} of {len(ranked)} answers by the reward {reward} ({each.reward(reward):.3f})"
            )
    return kept, reasons


def balance(candidates: Sequence[Candidate], most: int, *, length_bins: int = 4) -> tuple[set[str], dict[str, str]]:
    """At most `most` rows a family, taken in turns from its length quartiles, so that short programs do not crowd out long ones.

    Within a quartile faster answers come first, then those whose key is smaller (which is as good as chance, and repeatable).
    """
    kept: set[str] = set()
    reasons: dict[str, str] = {}
    families: dict[str, list[Candidate]] = defaultdict(list)
    for each in candidates:
        families[each.family].append(each)
    for family, members in families.items():
        if len(members) <= most:
            kept.update(each.key for each in members)
            continue
        by_length = sorted(members, key=lambda each: (each.tokens, each.key))
        size = -(-len(by_length) // length_bins)
        bins = [
            sorted(by_length[start : start + size], key=lambda each: (-(each.speedup or 0.0), each.key))
            for start in range(0, len(by_length), size)
        ]
        taken: list[Candidate] = []
        for turn in range(size):
            taken += [members_of[turn] for members_of in bins if turn < len(members_of)]
        kept.update(each.key for each in taken[:most])
        reasons.update(
            {each.key: f"the family {family} has {len(members)} rows; {most} are taken" for each in taken[most:]}
        )
    return kept, reasons


def is_single_operator(row: Row) -> bool:
    """Whether a module's forward computes one operator: KernelBench's level 1, or a body with a single call."""
    if str(row.get("level", "")).lower().removeprefix("level") == "1":
        return True
    try:
        tree = ast.parse(row.get("module_code") or "")
    except (SyntaxError, ValueError, RecursionError):
        return False
    model = next((node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Model"), None)
    forward = model and next(
        (node for node in model.body if isinstance(node, ast.FunctionDef) and node.name == "forward"), None
    )
    return bool(forward) and sum(isinstance(node, (ast.Call, ast.BinOp)) for node in ast.walk(forward)) == 1
