"""Random cases for tests of the losses.

A case has an output head, its input and a batch. Its loss can be computed from materialised logits (`Case.dense`) and
by the fused head (`Case.fused`). Both return the same things, which `assert_same` compares.
"""

from dataclasses import dataclass

import torch

from cuset_stage.objective import fused_objective, objective_loss, rule, token_terms


# Settings of CuSeT: all three parts off, and everything but the parts away from its default.
OFF = {"use_confidence_mask": False, "use_cuda_mask": False, "use_region_weight": False}
AWAY = {"tau": 0.35, "lam": 2.5, "window": 11, "region_scope": "cuda", "normalization": "samples"}


@dataclass
class Case:
    """A head, its input and a batch of B rows of T tokens."""

    hidden: torch.Tensor  # [B, T, H]
    weight: torch.Tensor  # [V, H]
    bias: torch.Tensor | None  # [V]
    base_hidden: torch.Tensor  # [B, T, H], of the base model, which has the same head
    labels: torch.Tensor  # [B, T], with -100 where a token is not supervised
    cuda_mask: torch.Tensor  # [B, T], 1 for CUDA tokens
    sample_ids: torch.Tensor  # [B, T], the number of the sample that a token belongs to
    trained: tuple[str, ...] = ("hidden",)  # those of `hidden`, `weight` and `bias` that require a gradient

    def leaves(self) -> dict[str, torch.Tensor | None]:
        """Return fresh copies of `hidden`, `weight` and `bias`; those that are trained require a gradient."""
        names = ("hidden", "weight", "bias")
        tensors = {name: getattr(self, name) for name in names}
        return {n: None if t is None else t.clone().requires_grad_(n in self.trained) for n, t in tensors.items()}

    @property
    def batch(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return self.labels, self.cuda_mask, self.sample_ids

    @property
    def is_token(self) -> torch.Tensor:
        """[B, T - 1], true where the next token is supervised."""
        return self.labels[:, 1:] != -100

    def logits(self, hidden, weight, bias) -> torch.Tensor:
        """Return the logits [B, T, V], in float32 or better."""
        logits = torch.nn.functional.linear(hidden, weight, bias)
        return logits.to(torch.promote_types(hidden.dtype, torch.float32))

    def dense(self, settings, **options):
        """Return (loss, gradients by name, terms) computed from materialised logits.

        `options` go to `objective_loss`.
        """
        leaves = self.leaves()
        base = self.logits(self.base_hidden, self.weight, self.bias)
        logits = self.logits(**leaves)
        loss = objective_loss(logits, *self.batch, settings, reference_logits=base, **options)
        torch.manual_seed(7)
        columns = {name: values for name, values in options.items() if name != "num_items_in_batch"}
        terms = token_terms(logits.detach(), *self.batch, settings, reference_logits=base, **columns)
        return loss.detach(), gradients(loss, leaves), terms

    def fused(self, settings, **options):
        """Return (loss, gradients by name, terms) of the fused head. `options` go to `fused_objective`."""
        leaves = self.leaves()
        options = {"bias": leaves.pop("bias"), "reference": (self.base_hidden, (self.weight, self.bias)), **options}
        loss, terms = fused_objective(*leaves.values(), *self.batch, settings, **options)
        return loss.detach(), gradients(loss, {**leaves, "bias": options["bias"]}), terms


def gradients(loss, leaves) -> dict[str, torch.Tensor]:
    """Run the backward pass, if there is one, and return the gradients of the leaves that require one."""
    if loss.requires_grad:
        loss.backward()
    return {name: leaf.grad for name, leaf in leaves.items() if leaf is not None and leaf.requires_grad}


def make_case(
    shape=(2, 47, 31, 123), seed=0, bias=False, dtype=torch.float32, device="cpu", samples=3, **changes
) -> Case:
    """Return a random case with unsupervised gaps, CUDA tokens, and target probabilities over all of (0, 1).

    The shape is (rows, tokens in a row, hidden size, vocabulary size). A row has so many `samples`.
    `changes` are further attributes of `Case`.
    """
    rows, length, hidden_size, vocab_size = shape
    generator = torch.Generator().manual_seed(seed)

    def normal(*size):
        return torch.randn(*size, generator=generator)

    hidden, weight = normal(rows, length, hidden_size), 3 * hidden_size**-0.5 * normal(vocab_size, hidden_size)
    offset = normal(vocab_size) if bias else None
    logits = torch.nn.functional.linear(hidden, weight, offset)
    labels = torch.randint(0, vocab_size, (rows, length), generator=generator)
    likely = torch.rand(rows, length, generator=generator) < 0.6
    labels = torch.where(likely, logits.argmax(-1).roll(1, dims=1), labels)
    sample_ids = torch.arange(length).expand(rows, length) * samples // length + 1
    labels = torch.where(torch.rand(rows, length, generator=generator) < 0.2, -100, labels)
    labels[:, -1] = 1
    cuda_mask = (torch.rand(rows, length, generator=generator) < 0.3).long()
    base = hidden + 0.3 * normal(rows, length, hidden_size)
    tensors = [t if t is None else t.to(device, dtype) for t in (hidden, weight, offset, base)]
    batch = [t.to(device) for t in (labels, cuda_mask, sample_ids.contiguous())]
    return Case(*tensors, *batch, **changes)


def make_batch(shape=(2, 47, 31, 123), **options) -> tuple[torch.Tensor, ...]:
    """Return logits, labels, CUDA mask and sample ids of a random case."""
    case = make_case(shape, **options)
    return case.logits(case.hidden, case.weight, case.bias), *case.batch


def weights_of(case: Case, seed=0) -> torch.Tensor:
    """Return random token weights as data may give them: [B, T], from 0.5 to 3, and a sixth of them 0."""
    weights = 3 * torch.rand(case.labels.shape, generator=torch.Generator().manual_seed(seed))
    return torch.where(weights < 0.5, 0.0, weights)


def assert_same(actual, expected, tolerance=1e-5):
    """Check that two results of `Case.dense` or `Case.fused` agree.

    Losses and terms have to agree within `tolerance`, relative and absolute. Gradients have to agree within
    `tolerance` times their largest entry, and in dtype.
    """
    torch.testing.assert_close(actual[0].float(), expected[0].float(), rtol=tolerance, atol=tolerance)
    assert actual[1].keys() == expected[1].keys()
    for name, gradient in expected[1].items():
        mine, size = actual[1][name], gradient.abs().max().item()
        assert mine.dtype == gradient.dtype
        difference = {"rtol": tolerance, "atol": tolerance * size, "msg": lambda m, n=name: f"{n}: {m}"}
        torch.testing.assert_close(mine.float(), gradient.float(), **difference)
    for name in ("nll", "confidence", "weight", "region_confidence", "sample_weight", "penalty", "given_weight"):
        mine, theirs = getattr(actual[2], name), getattr(expected[2], name)
        if name in ("region_confidence", "sample_weight"):
            mine, theirs = mine[actual[2].is_sample], theirs[expected[2].is_sample]
        assert (mine is None) == (theirs is None), name
        if mine is not None:
            torch.testing.assert_close(mine, theirs.detach(), rtol=tolerance, atol=tolerance, check_dtype=False)
    for name in ("is_cuda", "row"):
        assert torch.equal(getattr(actual[2], name), getattr(expected[2], name)), name
    same = [terms.sample[1:] == terms.sample[:-1] for terms in (actual[2], expected[2])]
    assert torch.equal(*same), "sample"


# ---- models that are sure of their tokens


@rule("1 where every statistic is in its range")
def in_range(tokens):
    """A rule that gives a token weight 1 if all its statistics are in their ranges, else 0."""
    names = ("probability", "base_probability", "mass", "base_mass", "concentration", "confidence")
    unit = [getattr(tokens, name) for name in names]
    others = [tokens.nll, tokens.entropy, tokens.base_entropy, tokens.top_entropy, tokens.base_top_entropy]
    return torch.stack([*(p <= 1 for p in unit), *(x >= 0 for x in (*unit, *others))]).all(dim=0)


IN_RANGE = f"{__name__}:in_range"


def sharp_case(seed, dtype, device="cpu", shape=(2, 24, 16, 130), **changes):
    """Return a case in which most targets are the likeliest token, as in a well-trained model.

    With an odd seed the logits are so large that most probabilities are close to 1. The base model is nearly the
    model, so that rounding could make a divergence negative.
    """
    case = make_case(shape, seed=seed, dtype=dtype, device=device, **changes)
    case.weight *= (8, 30)[seed % 2]
    logits = case.logits(case.hidden, case.weight, case.bias)
    labels = torch.where(case.labels == -100, -100, logits.argmax(-1).roll(1, dims=1))
    labels[:, ::5] = case.labels[:, ::5]
    case.labels, case.base_hidden = labels, case.hidden * (1 + 1e-4)
    return case


def assert_in_range(terms):
    """Check that confidences and weights are in [0, 1], and that losses and penalties are not negative."""
    unit = [terms.confidence, *(x[terms.is_sample] for x in (terms.region_confidence, terms.sample_weight))]
    for name, values in zip(("confidence", "C", "w"), unit, strict=True):
        assert ((values >= 0) & (values <= 1)).all(), (name, values.min(), values.max())
    assert (terms.nll >= 0).all() and (terms.loss >= 0).all()
    assert terms.penalty is None or (terms.penalty >= 0).all()
