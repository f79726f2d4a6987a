"""Rewards for reinforcement learning on kernels, as published, for a judged sample. Standard library only."""

from collections.abc import Mapping
from typing import Any


def kevin(sample: Mapping[str, Any]) -> float:
    """Kevin's reward (Baronio et al. 2025): 0.3 * 1[correct] + (t_0 / t) * 1[correct].

    sample: a line of a results file: `passed`, and `speedup` (t_0 / t) where one was measured; 0.3 alone without.
    """
    return 0.3 + (sample.get("speedup") or 0.0) if sample["passed"] else 0.0


def grpo(
    sample: Mapping[str, Any], alpha: float = 0.5, beta: float = 1.0, gamma: float = 0.5, r_max: float = 3.0
) -> float:
    """The composite reward of the GRPO report on KernelBench (Garg, Heo, Mou), Eq. 1:

        r = alpha * 1[compiled] + beta * 1[correct] + gamma * min(t_0 / t, r_max) * 1[correct]

    The report states r_max = 3.0 (Table 2) and, in the discussion, "0.5 for compilation, 1.0 for correctness, 1.5 for
    optimal". The defaults read these as the largest value of each term, so gamma = 1.5 / r_max = 0.5. ValueError unless
    r_max is positive.
    """
    if not r_max > 0:
        raise ValueError(f"r_max={r_max}: the cap on the speed-up has to be positive, the report takes 3.0")
    reward = alpha * bool(sample["compiled"])
    if sample["passed"]:
        reward += beta + gamma * min(sample.get("speedup") or 0.0, r_max)
    return reward
