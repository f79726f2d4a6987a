"""`ObjectiveSettings`: the objective of a run and its hyper-parameters as one validated object (torch only).

Everything that can be wrong is checked on construction, before the model is loaded: ranges, the options of a rule, and
the rule itself, which is called on made-up tokens.
"""

import inspect
from collections.abc import Callable
from contextlib import suppress
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
    """Raise ValueError unless `value` is a number that `accept` accepts; `expected` describes the range."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not accept(value):  # comparisons with NaN are False, so NaN is refused, too
        hint = ""
        with suppress(ValueError):
            if isinstance(value, str) and accept(float(value)):
                hint = f" This is text: YAML reads 1e-1 as text and 1.0e-1 as a number; write {float(value)!r}."
        raise ValueError(f"{name}={value!r}: expected {expected}.{hint}")


@dataclass(frozen=True)
class ObjectiveSettings:
    r"""The objective and its hyper-parameters, checked on construction.

    Attributes:
        objective: name of a rule, see `rules.find_rule`.
        tau: confidence threshold of Eq. 2, a probability in [0, 1). A token counts as confident if c > tau.
        lam: weight lambda of the CUDA mask, Eq. 3, at least 0.
        window: window length l of Eq. 5 in tokens, at least 1.
        use_confidence_mask: switch for the first part of Eq. 4. If off, every token counts as confident.
        use_cuda_mask: switch for the second part of Eq. 4. If off, lambda is taken as 0.
        use_region_weight: switch for the sample weight of Eq. 8. If off, every sample has the weight 1.
        region_scope: which windows enter the minimum of Eq. 7, one of `REGION_SCOPES`.
        normalization: what the sum is divided by, one of `NORMALIZATIONS`.
        eaft_alpha: exponent of EAFT's normalised entropy, at least 0.
        asft_alpha: weight of ASFT's KL term, at least 0.
        prob_threshold: ProFit's threshold, or two thresholds (low, high) for the direction `middle`.
        threshold_direction: which side ProFit keeps, one of `THRESHOLD_DIRECTIONS`.
        confidence: whose probability is a token's confidence, one of `CONFIDENCES`.
        options: values of `cuset_options`, for a rule that has its own settings class.

    Raises:
        ValueError: a value out of range. The message names the recipe key, the value and the range.
        InputError: an unknown rule, options that do not fit the rule, or a rule that fails on made-up tokens.
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
            if value not in list(allowed):  # a mapping would fail on a list, which YAML offers too
                options = "; ".join(f"{key}: {meaning}" for key, meaning in allowed.items())
                raise ValueError(f"{name}={value!r}: expected one of {', '.join(allowed)} ({options}).")
        _number("cuset_tau", self.tau, lambda v: 0 <= v < 1, "a probability in [0, 1)")
        for name, value in (
            ("cuset_lambda", self.lam),
            ("eaft_alpha", self.eaft_alpha),
            ("asft_alpha", self.asft_alpha),
        ):
            _number(name, value, lambda v: 0 <= v < float("inf"), "a finite number >= 0")
        _number("cuset_window", self.window, lambda v: 1 <= v < 1e18 and v % 1 == 0, "a number of tokens >= 1, < 1e18")
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
        # These properties build the options and call the rule's functions on made-up numbers, so errors show up here.
        _ = self.rule_options, self.reads, self.sample_weight(torch.tensor([0.1, 0.5]))
        _number(
            f"the KL factor of cuset_objective={self.objective!r}", self.kl, lambda v: 0 <= v < float("inf"), ">= 0"
        )

    @property
    def name(self) -> str:
        """Return the objective's name for logs and plots. For `module:function` this is the function's name."""
        return self.objective.rpartition(":")[2]

    @cached_property
    def rule(self) -> Rule:
        """Return the objective's rule."""
        return find_rule(self.objective)

    @cached_property
    def rule_options(self) -> Any:
        """Return what the rule gets beside the tokens.

        This is an instance of the rule's own settings class, or `self` for rules whose options are keys of the recipe.
        """
        return self if self.rule.keys is not None else self.rule.make_options(self.objective, self.options)

    @cached_property
    def reads(self) -> frozenset[str]:
        """Return the names of the statistics of `Tokens` that the objective needs.

        These are the ones that the rule reads when it is called on made-up tokens, and those it declares in
        `Rule.reads`.

        Raises:
            InputError: the rule cannot be called, or its weights cannot be used.
        """
        made_up = MadeUpTokens()
        with torch.random.fork_rng(devices=[]):  # does not change the random numbers of the run
            self.weigh(made_up)
        base = {"base_probability"} if self.confidence == "base" else set()
        return frozenset(made_up.read.union(self.rule.reads, base))

    @property
    def measured(self) -> tuple[str, ...]:
        """Return those of `reads` that need a row of logits: the model's, or the base model's for `base_...`."""
        return tuple(name for name in self.reads if name in MEASURED or name.startswith("base_"))

    @cached_property
    def kl(self) -> float:
        """Return the factor of the KL term to the base model, at least 0."""
        return self._call(self.rule.kl) if self.rule.kl else 0.0

    @property
    def needs_reference(self) -> bool:
        """Return True if the loss needs the base model's logits."""
        return self.kl > 0 or any(name.startswith("base_") for name in self.reads)

    @cached_property
    def weighs_samples(self) -> bool:
        """Return True if samples have weights (Eq. 8). A sample's weight is known only after its last token."""
        made_up = torch.tensor([0.1, 0.5])
        return self.rule.sample_weight is not None and self._call(self.rule.sample_weight, made_up) is not None

    def weigh(self, tokens: Tokens) -> torch.Tensor:
        """Return the rule's weights of the tokens, [num_valid] in the dtype of their nll.

        Raises:
            InputError: the rule failed, or returned weights of a wrong shape or type, or with a gradient.
        """
        return self._checked(self._call(self.rule.function, tokens), tokens.nll, "weight for each token")

    def sample_weight(self, region: torch.Tensor) -> torch.Tensor:
        """Return the weight of each sample, [num_samples].

        Args:
            region: [num_samples], C, the confidence of each sample's least confident window (Eq. 7).
        """
        if not self.weighs_samples:
            return torch.ones_like(region)
        return self._checked(self._call(self.rule.sample_weight, region), region, "weight for each sample")

    def _call(self, function: Callable, *given: Any) -> Any:
        """Call a function of the rule, with the options as the last argument if it takes them."""
        takes_options = len(inspect.signature(function).parameters) > len(given)
        try:
            with torch.enable_grad():  # so that `_checked` sees a gradient that should not be there
                return function(*given, self.rule_options) if takes_options else function(*given)
        except InputError:
            raise
        except Exception as error:  # whatever the user's code raises
            what = one_line(f"{type(error).__name__}: {error}", 600)
            raise InputError(f"cuset_objective={self.objective!r}: the rule failed with {what}.") from error

    def _checked(self, weight: Any, like: torch.Tensor, what: str) -> torch.Tensor:
        """Return `weight` in the dtype of `like`, or raise InputError if it is not one number per entry of `like`."""
        start = f"cuset_objective={self.objective!r} gave "
        if not isinstance(weight, torch.Tensor) or weight.shape != like.shape:
            given = f"a tensor {list(weight.shape)}" if isinstance(weight, torch.Tensor) else type(weight).__name__
            raise InputError(
                f"{start}{given}; expected one {what}, a tensor {list(like.shape)}. torch.full_like(tokens.nll, x) is a constant."
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
