"""Rewards for reinforcement learning on kernels, as published, for a judged sample. Standard library only."""

from collections.abc import Mapping
from typing import Any


def kevin(sample: Mapping[str, Any]) -> float:
    """Kevin's reward (Baronio et al. 2025): 0.3 * 1[correct] + (t_0 / t) * 1[correct].

    sample: a line of a results file: `passed`, and `speedup` (t_0 / t) where one was measured; 0.3 alone without.
    """
    return 0.3 + (sample.get("speedup") or 0.0) if sample["passed"] else 0.0


def grpo(sample: Mapping[str, Any]) -> float:
    """The composite reward of the GRPO report on KernelBench (Garg, Heo, Mou), Eq. 1:

        r = alpha * 1[compiled] + beta * 1[correct] + gamma * min(t_0 / t, r_max) * 1[correct]

    The report states r_max = 3.0 (Table 2) and, in the discussion, "0.5 for compilation, 1.0 for correctness, 1.5 for
    optimal". These are read as the largest value of each term: alpha = 0.5, beta = 1.0, gamma = 1.5 / r_max = 0.5.
    """
    reward = 0.5 * bool(sample["compiled"])
    if sample["passed"]:
        reward += 1.0 + 0.5 * min(sample.get("speedup") or 0.0, 3.0)
    return reward


REWARDS = {"kevin": kevin, "grpo": grpo}
