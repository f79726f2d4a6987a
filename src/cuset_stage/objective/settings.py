"""What a run optimises, as one validated object (torch only)."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch

from ..text import InputError, one_line
from .rules import MEASURED, MadeUpTokens, Rule, Tokens, find_rule


REGION_SCOPES = {
    "response": "the minimum over every window (Eq. 7)",
    "cuda": "the minimum over windows centred on a CUDA token",
}
NORMALIZATIONS = {
    "tokens": "supervised tokens of the optimizer step, as SFT does",
    "samples": "prompt-response pairs of the optimizer step, Eq. 9 read literally",
}
CONFIDENCES = {
    "online": "the model's own probability of a token, as it is now",
    "base": "the base model's: with LoRA the model with its adapters off, else a frozen copy or ref_model",
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
        objective: a rule's name, see `rules.find_rule`.
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
        confidence: whose probability is a token's confidence, one of `CONFIDENCES`.
        options: of a rule that has its own settings class, `cuset_options`.

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
    confidence: str = "online"
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("cuset_confidence", self.confidence, CONFIDENCES),
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

        if self.options and self.rule.keys is not None:
            raise InputError(
                f"cuset_options={self.options!r}: the keys of cuset_objective={self.objective!r} stand in the recipe itself"
                f"{': ' if self.rule.keys else '; it has none'}{', '.join(self.rule.keys)}."
            )
        # Reads the options and calls the rule's functions on made-up numbers: what cannot be used is refused here.
        _ = self.rule_options, self.reads, self.sample_weight(torch.tensor([0.1, 0.5]))
        _number(
            f"the KL factor of cuset_objective={self.objective!r}", self.kl, lambda v: 0 <= v < float("inf"), ">= 0"
        )

    @property
    def name(self) -> str:
        """The objective in logs and plots: of `module:function` the function."""
        return self.objective.rpartition(":")[2]

    @cached_property
    def rule(self) -> Rule:
        """The objective's rule."""
        return find_rule(self.objective)

    @cached_property
    def rule_options(self) -> Any:
        """What the rule gets beside the tokens: its own settings; these, where it is one of those with keys of their own."""
        return self if self.rule.keys is not None else self.rule.make_options(self.objective, self.options)

    @cached_property
    def reads(self) -> frozenset[str]:
        """The statistics of `Tokens` that the objective takes: those that the rule reads of made-up tokens, and those it names.

        Raises:
            InputError: the rule cannot be called, or its weights cannot be used.
        """
        made_up = MadeUpTokens()
        with torch.random.fork_rng(devices=[]):  # a run's random numbers stay what they are
            self.weigh(made_up)
        base = {"base_probability"} if self.confidence == "base" else set()
        return frozenset(made_up.read.union(self.rule.reads, base))

    @property
    def measured(self) -> tuple[str, ...]:
        """Those of them that take a row of logits: of the model, or (`base_...`) of the base model."""
        return tuple(name for name in self.reads if name in MEASURED or name.startswith("base_"))

    @cached_property
    def kl(self) -> float:
        """The factor of the KL term to the base model, at least 0."""
        return self._call(self.rule.kl) if self.rule.kl else 0.0

    @property
    def needs_reference(self) -> bool:
        """Whether the loss reads the base model."""
        return self.kl > 0 or any(name.startswith("base_") for name in self.reads)

    @cached_property
    def weighs_samples(self) -> bool:
        """Whether each sample has a weight (Eq. 8), which is known only after its last token."""
        made_up = torch.tensor([0.1, 0.5])
        return self.rule.sample_weight is not None and self._call(self.rule.sample_weight, made_up) is not None

    def weigh(self, tokens: Tokens) -> torch.Tensor:
        """The rule's weights of tokens, [num_valid] of the nll's dtype.

        Raises:
            InputError: the rule failed, or gave what is no weight: another shape or type, a gradient.
        """
        return self._checked(self._call(self.rule.function, tokens), tokens.nll, "weight for each token")

    def sample_weight(self, region: torch.Tensor) -> torch.Tensor:
        """The weight of each sample, [num_samples], from C, the confidence of its least confident window (Eq. 7)."""
        if not self.weighs_samples:
            return torch.ones_like(region)
        return self._checked(self._call(self.rule.sample_weight, region), region, "weight for each sample")

    def _call(self, function: Callable, *given: Any) -> Any:
        """Call a function of the rule, with the options where it takes them."""
        takes_options = len(inspect.signature(function).parameters) > len(given)
        try:
            with torch.enable_grad():  # so that a gradient that should not be there shows
                return function(*given, self.rule_options) if takes_options else function(*given)
        except InputError:
            raise
        except Exception as error:  # whatever the user's code raises
            what = one_line(f"{type(error).__name__}: {error}", 600)
            raise InputError(f"cuset_objective={self.objective!r}: the rule failed with {what}.") from error

    def _checked(self, weight: Any, like: torch.Tensor, what: str) -> torch.Tensor:
        """`weight` in the dtype of `like`, or InputError where it is not one number for each entry of it."""
        start = f"cuset_objective={self.objective!r} gave "
        if not isinstance(weight, torch.Tensor) or weight.shape != like.shape:
            shape = (
                f"a tensor {list(weight.shape)}" if isinstance(weight, torch.Tensor) else f"{type(weight).__name__}"
            )
            raise InputError(
                f"{start}{shape}; expected one {what}, a tensor {list(like.shape)}. torch.full_like(tokens.nll, x) is a constant."
            )
        if weight.dtype != torch.bool and not weight.is_floating_point():
            raise InputError(
                f"{start}weights of {weight.dtype}; expected floating-point or boolean ones. Write .float() behind them."
            )
        if weight.requires_grad:
            raise InputError(
                f"{start}weights with a gradient; a weight is a constant of the optimisation. Write .detach() behind them, or with "
                "torch.no_grad() around what makes them."
            )
        return weight.to(like)
