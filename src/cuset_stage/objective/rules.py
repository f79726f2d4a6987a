"""The registry of rules: `cuset_objective` names one of them (torch only).

A rule is a function from `Tokens`, what is known of the supervised tokens, to their weights, the constant factors of
their negative log-likelihoods. The objectives of the package are the rules below; others are found by
`module:function` or `path/to/file.py:function`.

    def focal(tokens):
        return (1 - tokens.confidence) ** 2

The head computes what a rule reads and no more. That is found out by calling the rule on made-up tokens.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import torch

from ..named_functions import is_function_name, load_function
from ..text import InputError, nearest


EAFT_ENTROPY_SCALE = 3.0  # the authors' stand-in for ln 20
MEASURED = {  # what takes the whole row of logits
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
CUSET_KEYS = {  # fields of `ObjectiveSettings` that define CuSeT's own loss, and the recipe's keys for them
    "tau": "cuset_tau",
    "lam": "cuset_lambda",
    "window": "cuset_window",
    "use_confidence_mask": "cuset_confidence_mask",
    "use_cuda_mask": "cuset_cuda_mask",
    "use_region_weight": "cuset_region_weight",
    "region_scope": "cuset_region_scope",
    "normalization": "cuset_normalization",
}
GONE = ("power", "prift_prob", "prift_mass")
"""Objectives of version 0.1, which docs/objectives.md has as rules of one's own."""


class Tokens:
    """What a rule may read: attributes named as in `STATISTICS`, each [num_valid], the supervised tokens of a batch
    laid end to end. Nothing has a gradient; what is not said to be boolean or integer is float32."""

    def __init__(self, **values: torch.Tensor) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> torch.Tensor:  # of what is not there
        if name in STATISTICS:
            raise AttributeError(
                f"tokens.{name} was not computed, because the rule did not read it when it was called on made-up tokens. Read it "
                f"before any condition, or write @rule(reads=({name!r},)) above the function"
            )
        raise AttributeError(f"tokens has no {name!r}; {nearest(name, STATISTICS)}")


class MadeUpTokens(Tokens):
    """Eight tokens with all statistics; remembers in `read` which of them were asked for."""

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

    Args:
        function: from `Tokens`, and the rule's options where it takes two arguments, to weights [num_valid].
        title: what it is, in a few words.
        sample_weight: from C, the confidence of each sample's least confident window, [num_samples] (Eq. 7 of CuSeT),
            and the options, to the weight of each sample; None, also as its result: 1.
        kl: from the options to the factor of the KL term to the base model; None: there is none.
        pointwise: a token's weight depends on nothing but the token. Spares a trained head one product of four. Built-in rules alone
            may say so: nothing checks it.
        reads: statistics that the rule reads although made-up tokens do not show it.
        keys: the recipe's keys that define the loss, of the objectives whose options are the recipe's own keys.
    """

    function: Callable[..., torch.Tensor]
    title: str = ""
    sample_weight: Callable[..., torch.Tensor | None] | None = None
    kl: Callable[[Any], float] | None = None
    pointwise: bool = False
    reads: tuple[str, ...] = ()
    keys: tuple[str, ...] | None = None

    def make_options(self, name: str, values: dict[str, Any]) -> Any:
        """The options of the rule, called `name`, from `cuset_options`; None where it takes none.

        Raises:
            InputError: an option it does not have, or a value that its settings class refuses.
        """
        parameters = list(inspect.signature(self.function, eval_str=True).parameters.values())
        if len(parameters) < 2:
            if values:
                raise InputError(
                    f"cuset_options={values!r}: cuset_objective={name!r} takes no options. Remove the key."
                )
            return None
        kind, has_default = parameters[1].annotation, parameters[1].default is not inspect.Parameter.empty
        if not (is_dataclass(kind) or hasattr(kind, "model_fields")) or has_default:
            raise InputError(
                f"cuset_objective={name!r}: its second argument, {parameters[1].name}, takes the options. Annotate it with a settings class, a "
                "dataclass or a pydantic model that has the defaults, and give it no default, as in def focal(tokens, options: Options)."
            )
        known = list(getattr(kind, "model_fields", ())) or [one.name for one in fields(kind)]
        for key in values:
            if key not in known:
                raise InputError(
                    f"cuset_options: cuset_objective={name!r} has no option {key!r}; {nearest(key, known)}"
                )
        try:
            from pydantic import TypeAdapter, ValidationError
        except ImportError:  # objectives alone need torch and nothing else
            return kind(**values)
        try:
            return TypeAdapter(kind).validate_python(values)
        except ValidationError as error:
            wrong = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
            raise InputError(f"cuset_options of cuset_objective={name!r}: {wrong}.") from None


def rule(title: str = "", **how: Any) -> Callable[[Callable], Callable]:
    """Say more of a rule than its function does: the title, and `how`, the other fields of `Rule`."""

    def mark(function: Callable) -> Callable:
        function.rule = Rule(function, title, **how)
        return function

    return mark


def find_rule(name: str) -> Rule:
    """The rule that `cuset_objective` names.

    Raises:
        InputError: there is none of that name, or its module cannot be imported.
    """
    if name in RULES:
        return RULES[name]
    if name in GONE:
        raise InputError(
            f"cuset_objective={name!r} is no longer built in. docs/objectives.md has it as a rule of your own in three lines: put it into a "
            f"file rules.py, set cuset_objective: rules.py:{name}, and remove cuset_options."
        )
    if not is_function_name(name):
        raise InputError(
            f"cuset_objective={name!r}: expected one of {', '.join(RULES)} "
            f"({'; '.join(f'{key}: {title}' for key, title in OBJECTIVES.items())}), or your own as my_module:my_function or "
            "path/to/file.py:my_function."
        )
    function = load_function(name, "cuset_objective")
    title = (inspect.getdoc(function) or name).partition("\n")[0].removesuffix(".")
    return replace(getattr(function, "rule", Rule(function, title)), pointwise=False)


# ---- the objectives


def region_weight(region: torch.Tensor, settings: Any) -> torch.Tensor | None:
    """w = 1 - C, Eq. 8: a sample of which the model is sure throughout weighs little."""
    return 1.0 - region if settings.use_region_weight else None


@rule(
    "CUDA-sensitive instruction tuning (arXiv 2606.16231)",
    sample_weight=region_weight,
    pointwise=True,
    keys=tuple(CUSET_KEYS.values()),
)
def cuset(tokens: Tokens, settings: Any) -> torch.Tensor:
    r"""The hybrid mask M = 1[c > tau] + lambda * 1[CUDA], Eq. 2 to 4; tau 0.1 and lambda 1 in the paper.

    arXiv 2606.16231; lr 1e-4, LoRA r 8, alpha 16, batches of 8.
    """
    is_confident = (
        tokens.confidence > settings.tau if settings.use_confidence_mask else torch.ones_like(tokens.is_cuda)
    )
    weight = is_confident.to(tokens.nll.dtype)  # Eq. 2
    return weight + settings.lam * tokens.is_cuda if settings.use_cuda_mask else weight  # Eq. 3 and 4


@rule("plain token cross-entropy", pointwise=True, keys=())
def sft(tokens: Tokens, settings: Any) -> torch.Tensor:
    """1."""
    return torch.ones_like(tokens.nll)


@rule("dynamic fine-tuning: each token weighs its own probability (arXiv 2508.05629)", pointwise=True, keys=())
def dft(tokens: Tokens, settings: Any) -> torch.Tensor:
    """p. arXiv 2508.05629; lr 5e-5, batches of 256."""
    return tokens.confidence


@rule("entropy-adaptive fine-tuning (arXiv 2601.02151)", pointwise=True, keys=("eaft_alpha",))
def eaft(tokens: Tokens, settings: Any) -> torch.Tensor:
    """(H / 3.0)^alpha with H the entropy of the 20 largest probabilities.

    arXiv 2601.02151; lr 1e-5, batches of 64, cosine, warm-up 0.03; alpha 1 in the authors' code.
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

    arXiv 2509.23753; alpha 0.1 in the authors' code, 0.05 in their README, with LoRA r 8, alpha 16.
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
    match settings.threshold_direction:
        case "higher":
            return tokens.confidence >= low
        case "lower":
            return tokens.confidence <= high
        case "middle":
            return (tokens.confidence >= low) & (tokens.confidence <= high)
        case _:  # random
            return torch.rand_like(tokens.nll) >= low


RULES: dict[str, Rule] = {one.__name__: one.rule for one in (cuset, sft, dft, eaft, asft, profit)}
OBJECTIVES = {name: one.title for name, one in RULES.items()}
