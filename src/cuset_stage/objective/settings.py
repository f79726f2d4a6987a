"""What a run optimises, as one validated object.

May import the standard library only, so that arguments can be checked before torch is loaded.
"""

from dataclasses import dataclass


OBJECTIVES = {
    "cuset": "CUDA-sensitive instruction tuning (arXiv 2606.16231)",
    "sft": "plain token cross-entropy",
    "dft": "dynamic fine-tuning: each token weighs its own probability (arXiv 2508.05629)",
    "eaft": "entropy-adaptive fine-tuning (arXiv 2601.02151)",
    "asft": "anchored DFT: plus a KL term to the base model (arXiv 2509.23753)",
    "profit": "probability-guided token selection (arXiv 2601.09195)",
}
REGION_SCOPES = {
    "response": "the minimum over every window (Eq. 7)",
    "cuda": "the minimum over windows centred on a CUDA token",
}
NORMALIZATIONS = {
    "tokens": "supervised tokens of the optimizer step, as SFT does",
    "samples": "prompt-response pairs of the optimizer step, Eq. 9 read literally",
}
THRESHOLD_DIRECTIONS = {
    "higher": "keep tokens with p >= threshold",
    "lower": "keep tokens with p <= threshold",
    "middle": "keep tokens with low <= p <= high",
    "random": "drop each token with a probability of threshold",
}


def _number(name: str, value: object, accept, expected: str) -> None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not accept(value):  # a comparison with NaN is false, so NaN is refused too
        hint = " This is text: YAML reads 1e-1 as text and 1.0e-1 as a number." if isinstance(value, str) else ""
        raise ValueError(f"{name}={value!r}: expected {expected}.{hint}")


@dataclass(frozen=True)
class ObjectiveSettings:
    r"""The objective and its hyper-parameters, checked on construction.

    Args:
        objective: one of `OBJECTIVES`.
        tau: confidence threshold of Eq. 2, a probability in [0, 1). A token counts as confident when c > tau.
        lam: weight lambda of the CUDA mask, Eq. 3, at least 0.
        window: window length l of Eq. 5 in tokens, at least 1.
        use_confidence_mask: the first part of Eq. 4. Off: every token counts as confident.
        use_cuda_mask: the second part of Eq. 4. Off: lambda is taken as 0.
        use_region_weight: the sample weight of Eq. 8. Off: every sample weighs 1.
        region_scope: which windows enter the minimum of Eq. 7, one of `REGION_SCOPES`.
        normalization: what the sum is divided by, one of `NORMALIZATIONS`.
        eaft_alpha: exponent of EAFT's normalised entropy, at least 0.
        asft_alpha: weight of ASFT's KL term, at least 0.
        prob_threshold: ProFit's threshold, or the two thresholds (low, high) of its direction `middle`.
        threshold_direction: which side ProFit keeps, one of `THRESHOLD_DIRECTIONS`.

    Raises:
        ValueError: a value out of range; the message names the recipe key, the value and the range.
    """

    objective: str = "cuset"
    tau: float = 0.1
    lam: float = 1.0
    window: int = 256
    use_confidence_mask: bool = True
    use_cuda_mask: bool = True
    use_region_weight: bool = True
    region_scope: str = "response"
    normalization: str = "tokens"
    eaft_alpha: float = 1.0
    asft_alpha: float = 0.1
    prob_threshold: tuple[float, ...] = (0.1,)
    threshold_direction: str = "higher"

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("cuset_objective", self.objective, OBJECTIVES),
            ("cuset_region_scope", self.region_scope, REGION_SCOPES),
            ("cuset_normalization", self.normalization, NORMALIZATIONS),
            ("threshold_direction", self.threshold_direction, THRESHOLD_DIRECTIONS),
        ):
            if value not in allowed:
                options = "; ".join(f"{key}: {meaning}" for key, meaning in allowed.items())
                raise ValueError(f"{name}={value!r}: expected one of {', '.join(allowed)} ({options}).")
        _number("cuset_tau", self.tau, lambda v: 0 <= v < 1, "a probability in [0, 1)")
        for name, value in (
            ("cuset_lambda", self.lam),
            ("eaft_alpha", self.eaft_alpha),
            ("asft_alpha", self.asft_alpha),
        ):
            _number(name, value, lambda v: 0 <= v < float("inf"), "a finite number >= 0")
        _number("cuset_window", self.window, lambda v: v >= 1 and v % 1 == 0, "a number of tokens >= 1")
        for value in self.prob_threshold:
            _number("prob_threshold", value, lambda v: 0 <= v <= 1, "probabilities in [0, 1]")
        expected = 2 if self.threshold_direction == "middle" else 1
        if len(self.prob_threshold) != expected:
            raise ValueError(
                f"prob_threshold={list(self.prob_threshold)}: threshold_direction={self.threshold_direction!r} "
                f"takes {expected} value{'s' * (expected > 1)}."
            )
        if expected == 2 and self.prob_threshold[0] > self.prob_threshold[1]:
            raise ValueError(f"prob_threshold={list(self.prob_threshold)}: expected the lower threshold first.")

    @property
    def needs_reference(self) -> bool:
        """Whether the loss reads the base model (ASFT's KL term)."""
        return self.objective == "asft" and self.asft_alpha > 0

    @property
    def weighs_samples(self) -> bool:
        """Whether each sample has a weight (Eq. 8), which is known only after its last token."""
        return self.objective == "cuset" and self.use_region_weight

    @property
    def largest_weight(self) -> float:
        """The largest factor of a token's gradient."""
        if self.objective == "cuset":
            return 1.0 + (self.lam if self.use_cuda_mask else 0.0)
        return 1.0 + (self.asft_alpha if self.needs_reference else 0.0)
