"""The registry of rules, one of which `cuset_objective` names (torch only).

A rule is a function that takes `Tokens`, the statistics of the supervised tokens, and returns a weight for each token.
The weight is a constant factor of the token's negative log-likelihood. Example:

    def focal(tokens):
        return (1 - tokens.confidence) ** 2

The built-in objectives are the rules at the end of this file. A user's rule is named as `module:function` or
`path/to/file.py:function`.

The head computes only the statistics that the rule reads. To find out which these are, the rule is called once on
made-up tokens (`MadeUpTokens`).
"""

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch

from ..named_functions import is_function_name, load_function
from ..text import InputError, nearest


EAFT_ENTROPY_SCALE = 3.0  # the authors use it in place of ln 20
MEASURED = {  # statistics that are computed from the whole row of logits
    "entropy": "entropy of the model's distribution over the vocabulary, in nats",
    "top_entropy": "entropy of its 20 largest probabilities, scaled to sum to 1, in nats",
    "rank": "how many tokens the model finds likelier; 0: it is the likeliest",
    "margin": "the token's logit less the largest logit of the others",
    "mass": "the model's probability of this token and of all that are less likely",
    "concentration": "sum of the squared probabilities of the vocabulary; 1: it is sure of one token",
}
STATISTICS = {
    "probability": "the model's probability of the token",
    "nll": "its negative logarithm, in nats",
    "confidence": "the probability that weights are made of: the model's, or what `cuset_confidence` says",
    **MEASURED,
    "base_probability": "the base model's probability of the token",
    **{f"base_{name}": f"the same of the base model as `{name}`" for name in MEASURED},
    "is_cuda": "whether it lies in a CUDA span (boolean)",
    "kind": "the kind of that span, counted from 1 in the order of `cuset spans`; 0: none (integer)",
    "given_weight": "the weight that the data give it; 1 where they give none",
    "position": "its place among the supervised tokens of its sample, from 0 (integer)",
    "sample": "the number of its sample within the batch, from 0 (integer)",
}
INTEGERS = ("kind", "position", "sample")
CUSET_KEYS = {  # fields of `ObjectiveSettings` that define CuSeT's own loss -> their keys in the recipe
    "tau": "cuset_tau",
    "lam": "cuset_lambda",
    "window": "cuset_window",
    "use_confidence_mask": "cuset_confidence_mask",
    "use_cuda_mask": "cuset_cuda_mask",
    "use_region_weight": "cuset_region_weight",
    "region_scope": "cuset_region_scope",
    "normalization": "cuset_normalization",
}


class Tokens:
    """The statistics that a rule may read, as attributes named as in `STATISTICS`.

    Each attribute is a tensor [num_valid] over the supervised tokens of a batch, concatenated. None has a gradient.
    The dtype is float32 unless `STATISTICS` says boolean or integer.
    """

    def __init__(self, **values: torch.Tensor) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> torch.Tensor:  # called for missing attributes only
        if name in STATISTICS:
            raise AttributeError(
                f"tokens.{name} was not computed, because the rule did not read it when it was called on made-up tokens. Read it "
                f"before any condition, or write @rule(reads=({name!r},)) above the function"
            )
        raise AttributeError(f"tokens has no {name!r}; {nearest(name, STATISTICS)}")


class MadeUpTokens(Tokens):
    """Eight tokens with all statistics, for a trial call of a rule.

    Attributes:
        read: names of the statistics that were read so far.
    """

    def __init__(self) -> None:
        self.read: set[str] = set()

    def __getattr__(self, name: str) -> torch.Tensor:
        if name not in STATISTICS:
            return super().__getattr__(name)
        self.read.add(name)
        values = torch.linspace(0.05, 0.95, 8)
        if name == "is_cuda":
            return values > 0.5
        if name in INTEGERS:
            return (4 * values).long()
        return -values.log() if name == "nll" else values


@dataclass(frozen=True)
class Rule:
    r"""An objective: loss of a token = sample weight * weight * nll + kl * KL(base || model).

    Attributes:
        function: takes `Tokens`, and the rule's options if it has a second parameter. Returns the token weights
            [num_valid].
        title: short description.
        sample_weight: takes C, the confidence of each sample's least confident window, [num_samples] (Eq. 7 of CuSeT),
            and optionally the options. Returns the weight of each sample. None in place of the function or of its
            result means 1.
        kl: takes the options, or nothing. Returns the factor of the KL term to the base model. None means that there
            is no KL term.
        pointwise: True if the weight of a token depends on that token alone. This saves a trained head one product of
            four. Only built-in rules may set it, because nothing checks it.
        reads: statistics that the rule reads, but not when it is called on made-up tokens.
        keys: the recipe's keys that define the loss, for objectives whose options are keys of the recipe itself. None
            for rules with their own options.
    """

    function: Callable[..., torch.Tensor]
    title: str = ""
    sample_weight: Callable[..., torch.Tensor | None] | None = None
    kl: Callable[[Any], float] | None = None
    pointwise: bool = False
    reads: tuple[str, ...] = ()
    keys: tuple[str, ...] | None = None

    def make_options(self, name: str, values: dict[str, Any]) -> Any:
        """Build the options of the rule from `cuset_options`.

        Args:
            name: value of `cuset_objective`, for error messages.
            values: value of `cuset_options`.

        Returns:
            An instance of the rule's settings class, or None if the rule takes no options.

        Raises:
            InputError: an option that the rule does not have, a value that its settings class refuses, or a second
                parameter that is not annotated with a settings class.
        """
        parameters = list(inspect.signature(self.function, eval_str=True).parameters.values())
        if len(parameters) < 2:
            if values:
                raise InputError(
                    f"cuset_options={values!r}: cuset_objective={name!r} takes no options. Remove the key."
                )
            return None
        options_class, has_default = parameters[1].annotation, parameters[1].default is not inspect.Parameter.empty
        option_names = getattr(options_class, "model_fields", None)  # of a pydantic model
        if dataclasses.is_dataclass(options_class):
            option_names = [option.name for option in dataclasses.fields(options_class)]
        if option_names is None or has_default:
            raise InputError(
                f"cuset_objective={name!r}: its second argument, {parameters[1].name}, takes the options. Annotate it with a settings class, a "
                "dataclass or a pydantic model that has the defaults, and give it no default, as in def focal(tokens, options: Options)."
            )
        for key in values:
            if key not in option_names:
                raise InputError(
                    f"cuset_options: cuset_objective={name!r} has no option {key!r}; {nearest(key, option_names)}"
                )
        try:
            from pydantic import TypeAdapter, ValidationError
        except ImportError:  # the objectives need only torch, so pydantic may be missing
            return options_class(**values)
        try:
            return TypeAdapter(options_class).validate_python(values)
        except ValidationError as error:
            wrong = "; ".join(f"{'.'.join(map(str, entry['loc']))}: {entry['msg']}" for entry in error.errors())
            raise InputError(f"cuset_options of cuset_objective={name!r}: {wrong}.") from None


def rule(title: str = "", **how: Any) -> Callable[[Callable], Callable]:
    """Return a decorator that adds to a function what else defines the rule.

    Args:
        title: short description for the log and the model card.
        how: other fields of `Rule`, such as `sample_weight`, `kl` and `reads`.
    """

    def mark(function: Callable) -> Callable:
        function.rule = Rule(function, title, **how)
        return function

    return mark


def find_rule(name: str) -> Rule:
    """Return the rule that `cuset_objective` names, built-in or the user's own.

    Raises:
        InputError: there is no rule of that name, or its module cannot be imported.
    """
    if isinstance(name, str) and name in RULES:  # a recipe may give a list
        return RULES[name]
    if not is_function_name(name):
        raise InputError(
            f"cuset_objective={name!r}: expected one of {', '.join(RULES)} "
            f"({'; '.join(f'{key}: {title}' for key, title in OBJECTIVES.items())}), or your own as my_module:my_function or "
            "path/to/file.py:my_function."
        )
    function = load_function(name, "cuset_objective")
    title = (inspect.getdoc(function) or name).partition("\n")[0].removesuffix(".")
    return replace(getattr(function, "rule", Rule(function, title)), pointwise=False)


# ---- the built-in objectives


def region_weight(region: torch.Tensor, settings: Any) -> torch.Tensor | None:
    """Return w = 1 - C, Eq. 8: a sample in which the model is confident everywhere has a small weight."""
    return 1.0 - region if settings.use_region_weight else None


@rule(
    "CUDA-sensitive instruction tuning (arXiv 2606.16231)",
    sample_weight=region_weight,
    pointwise=True,
    keys=tuple(CUSET_KEYS.values()),
)
def cuset(tokens: Tokens, settings: Any) -> torch.Tensor:
    r"""The hybrid mask M = 1[c > tau] + lambda * 1[CUDA], Eq. 2 to 4; tau 0.1 and lambda 1 in the paper.

    arXiv 2606.16231. The paper trains with lr 1e-4, LoRA r 8, alpha 16, batches of 8.
    """
    weight = torch.ones_like(tokens.nll)
    if settings.use_confidence_mask:
        weight = (tokens.confidence > settings.tau).to(weight.dtype)  # Eq. 2
    return weight + settings.lam * tokens.is_cuda if settings.use_cuda_mask else weight  # Eq. 3 and 4


@rule("plain token cross-entropy", pointwise=True, keys=())
def sft(tokens: Tokens, settings: Any) -> torch.Tensor:
    """1.

    Every token has the same weight.
    """
    return torch.ones_like(tokens.nll)


@rule("dynamic fine-tuning: each token weighs its own probability (arXiv 2508.05629)", pointwise=True, keys=())
def dft(tokens: Tokens, settings: Any) -> torch.Tensor:
    """p. arXiv 2508.05629; lr 5e-5, batches of 256.

    The weight of a token is its own probability.
    """
    return tokens.confidence


@rule("entropy-adaptive fine-tuning (arXiv 2601.02151)", pointwise=True, keys=("eaft_alpha",))
def eaft(tokens: Tokens, settings: Any) -> torch.Tensor:
    """(H / 3.0)^alpha with H the entropy of the 20 largest probabilities.

    arXiv 2601.02151. The authors train with lr 1e-5, batches of 64, a cosine schedule and warm-up 0.03. alpha is 1 in
    their code.
    """
    return (tokens.top_entropy / EAFT_ENTROPY_SCALE).pow(settings.eaft_alpha)


@rule(
    "anchored DFT: plus a KL term to the base model (arXiv 2509.23753)",
    kl=lambda settings: settings.asft_alpha,
    pointwise=True,
    keys=("asft_alpha",),
)
def asft(tokens: Tokens, settings: Any) -> torch.Tensor:
    """p, and the KL term times asft_alpha.

    arXiv 2509.23753. asft_alpha is 0.1 in the authors' code and 0.05 in their README, with LoRA r 8, alpha 16. The KL
    term is added by `Rule.kl`, not here.
    """
    return tokens.confidence


@rule(
    "probability-guided token selection (arXiv 2601.09195)",
    pointwise=True,
    keys=("prob_threshold", "threshold_direction"),
)
def profit(tokens: Tokens, settings: Any) -> torch.Tensor:
    """1[p >= threshold], or another direction. arXiv 2601.09195; authors: 0.1, `higher`, lr 1e-5."""
    low, high = settings.prob_threshold[0], settings.prob_threshold[-1]
    if settings.threshold_direction == "random":
        return torch.rand_like(tokens.nll) >= low
    above, below = tokens.confidence >= low, tokens.confidence <= high
    return {"higher": above, "lower": below, "middle": above & below}[settings.threshold_direction]


RULES: dict[str, Rule] = {one.__name__: one.rule for one in (cuset, sft, dft, eaft, asft, profit)}
OBJECTIVES = {name: one.title for name, one in RULES.items()}
