"""The objectives computed from hidden states and the head's weight, without materialised logits (torch only).

`fused_linear_cuset_loss` is for any training loop, `fused_objective` is what the package's trainers call. Both equal
the readable loss on materialised logits (`cuset.py`) in value and gradients.

The gradients are computed in the forward pass, chunk by chunk while the logits exist (`engine.py`). The backward pass
only scales them and puts them in place (`FusedLossFunction`).
"""

import math
from functools import partial
from typing import Any

import torch

from .cuset import (
    SupervisedTokens,
    TokenTerms,
    check_batch,
    check_finite,
    check_targets,
    check_weights,
    known_before,
    no_loss,
    observed_tokens,
    supervised_positions,
    supervised_tokens,
)
from .engine import (
    Head,
    HeadGradients,
    HeadStatistics,
    bytes_of_a_row,
    choose_backend,
    multiply,
    on_device,
    rows_per_chunk,
    run_head,
)
from .rules import region_weight
from .settings import ObjectiveSettings


# The base model: hidden states, and the weight and bias of its head (None: it shares the trained model's head).
Reference = tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor | None] | None]
# Probabilities below 6e-8 are 0 in float16. With a factor of 128, the gradients of a [V, H] head are still far from
# float16's maximum.
FLOAT16_GRADIENT_SCALE = 128.0


def fused_linear_cuset_loss(
    hidden: torch.Tensor,
    weight: torch.Tensor,
    labels: torch.Tensor,
    cuda_mask: torch.Tensor | None,
    sample_ids: torch.Tensor | None,
    *,
    bias: torch.Tensor | None = None,
    num_items_in_batch: torch.Tensor | int | None = None,
    token_weights: torch.Tensor | None = None,
    **options: Any,
) -> torch.Tensor:
    r"""Compute CuSeT's objective (arXiv 2606.16231, Eq. 9) from hidden states, without the logits.

    The result equals

        cuset_loss(hidden @ weight.T + bias, labels, cuda_mask, sample_ids, ...)

    in value and gradients, in memory that does not depend on batch * length * vocab_size.

    Args:
        hidden: [batch, length, hidden_size], the last hidden states, after the final norm.
        weight: [vocab_size, hidden_size], the head's weight, frozen or trained.
        bias: [vocab_size], or None.
        labels, cuda_mask, sample_ids, num_items_in_batch, token_weights: as in `cuset_loss`.
        options: tau, lam, window and the other options of `cuset_loss`.

    Returns:
        A scalar in nats per supervised token. Without a supervised token it is 0, with a gradient path.

    Raises:
        ValueError: as in `cuset_loss`. Errors that only the device can see (labels outside the vocabulary, NaN or
            infinite logits) are raised by the backward pass if there is one.
    """
    settings, batch = ObjectiveSettings(**options), (labels, cuda_mask, sample_ids)
    optional = {"num_items_in_batch": num_items_in_batch, "token_weights": token_weights}
    return fused_objective(hidden, weight, *batch, settings, bias=bias, **optional)[0]


@torch.compiler.disable  # it waits for the device and launches its own kernels, so it has to be a graph break
def fused_objective(
    hidden: torch.Tensor,
    weight: torch.Tensor,
    labels: torch.Tensor,
    cuda_mask: torch.Tensor | None,
    sample_ids: torch.Tensor | None,
    settings: ObjectiveSettings,
    *,
    bias: torch.Tensor | None = None,
    reference: Reference | None = None,
    num_items_in_batch: torch.Tensor | int | None = None,
    token_weights: torch.Tensor | None = None,
    backend: str = "auto",
    chunk_rows: int | None = None,
) -> tuple[torch.Tensor, TokenTerms]:
    r"""Compute the loss of an objective and its terms from the last hidden states, without the logits.

    The results equal, in value and gradients,

        logits = hidden @ weight.T + bias
        objective_loss(logits, labels, cuda_mask, sample_ids, settings, ...), token_terms(logits, ...)

    With a frozen head, each supervised token takes two matrix products. The rule runs after all tokens have gone
    through the head, and its weights then scale rows of the hidden states' gradient. A trainable head takes a third
    product for its own gradient, which is summed in float32. It takes a fourth where the weight of a token depends on
    other tokens, because of sample weights (Eq. 8) or of a rule that is not `pointwise`: the logits are then computed
    a second time, once all weights are known. With a KL term this second pass is needed under the same conditions,
    also for a frozen head.

    Args:
        hidden: [batch, length, hidden_size], after the final norm.
        weight: [vocab_size, hidden_size]. It is trained if it requires a gradient.
        labels, cuda_mask, sample_ids: [batch, length], as in `cuset_loss`.
        settings: the objective.
        bias: [vocab_size], or None.
        reference: the base model, needed if `settings.needs_reference`: its hidden states
            [batch, length, hidden_size], and a pair of its head's weight and bias. None in place of the pair means
            that it shares the head.
        num_items_in_batch: divisor of the sum. None counts the tokens or the samples of this batch, according to
            `settings.normalization`.
        token_weights: [batch, length], as in `token_terms`.
        backend: "auto", "torch" or "triton", see `engine.choose_backend`.
        chunk_rows: number of tokens that go through the head at once. None chooses it by a memory budget.

    Returns:
        The loss in nats per supervised token, and the terms, detached. The loss is differentiable in those of hidden,
        weight and bias that require a gradient. If none does, or under torch.no_grad, only the forward product is
        computed.

    Raises:
        ValueError: shapes or dtypes that do not match, or no `reference` where it is needed. Also labels outside the
            vocabulary, and NaN or infinite logits or weights. These are raised at once if no gradient is wanted, and
            otherwise by the backward pass, so that the host need not wait for the device before that. Until then the
            loss is NaN or infinite.
    """
    columns = labels, cuda_mask, sample_ids, token_weights
    check_batch("hidden", hidden, *columns)
    _check_head(hidden, weight, bias)
    dtype = _compute_dtype(hidden, weight, bias)
    full_dtype = torch.promote_types(dtype, torch.float32)
    functions = choose_backend(hidden.device, dtype, backend)
    needs_grad = [t is not None and t.requires_grad and torch.is_grad_enabled() for t in (hidden, weight, bias)]

    with torch.no_grad(), torch.autocast(hidden.device.type, enabled=False), on_device(hidden.device):
        head = Head(weight.to(dtype), None if bias is None else bias.to(dtype))
        sources = [(hidden.detach().reshape(-1, hidden.size(-1)), head)]
        if settings.needs_reference:
            sources.append(_reference(hidden, head, settings, reference))

        # The number of supervised tokens is not known on the host yet. To go on without it, take as many candidates
        # as there can be: those after the supervised tokens point to position 0, and are cut off below.
        is_supervised = supervised_positions(labels)
        token_count = AsyncScalar(is_supervised.sum())
        positions = torch.nonzero_static(is_supervised, size=is_supervised.numel(), fill_value=0)
        candidates = supervised_tokens(*columns, positions=positions)
        chunk_rows = chunk_rows or rows_per_chunk(candidates.position.numel(), bytes_of_a_row(sources, functions))
        # A GPU multiplies the first chunk while the host waits for the number of tokens.
        first = multiply(sources, candidates.position[:chunk_rows]) if hidden.is_cuda else None
        num_tokens = token_count.get()  # the only wait for the device before the backward pass
        tokens = SupervisedTokens(*(None if values is None else values[:num_tokens] for values in candidates))
        nll = torch.empty(num_tokens, dtype=full_dtype, device=hidden.device)
        penalty = torch.empty_like(nll) if settings.kl else None
        if not num_tokens:
            terms = TokenTerms(nll, nll, nll, tokens.is_cuda, tokens.row, tokens.row, nll, nll, penalty)
            with torch.set_grad_enabled(any(needs_grad)):
                return no_loss(*(t for t in (hidden, weight, bias) if t is not None)), terms

        statistics = HeadStatistics(nll, penalty, {name: torch.empty_like(nll) for name in settings.measured})
        gradients = _allocate(hidden, head, needs_grad, num_tokens, settings.kl)
        gradients.token_scale = tokens.given_weight
        # With a frozen head and no KL term, the weights can scale rows of the hidden states' gradient afterwards.
        # Otherwise the gradient of the logits itself must include them. This works in the first pass if each token's
        # weight depends on that token alone, and takes a second pass over the tokens if not.
        scales_logits = any(needs_grad[1:]) or (needs_grad[0] and settings.kl > 0)
        weighs_early = scales_logits and settings.rule.pointwise and not settings.weighs_samples
        needs_second_pass = scales_logits and not weighs_early
        weights, prior = torch.empty_like(nll), known_before(tokens, settings)

        def weigh(part: slice) -> torch.Tensor:
            known, measured = (
                {name: values[part] for name, values in group.items()} for group in (prior, statistics.measured)
            )
            weights[part] = settings.weigh(observed_tokens(known, nll[part], measured, settings))
            return weights[part]

        run = partial(run_head, sources, tokens, statistics, kl=settings.kl, backend=functions, chunk_rows=chunk_rows)
        steps = run(
            HeadGradients() if needs_second_pass else gradients, weight=weigh if weighs_early else None, first=first
        )
        del first  # frees its hidden states as soon as their chunk is done
        next(steps)  # queues everything but the last products for the gradients

        observed = observed_tokens(prior, nll, statistics.measured, settings)
        if not weighs_early:
            weights = settings.weigh(observed)
        sample, region = functions.weigh_regions(observed.confidence, tokens, settings)  # Eq. 5 to 7
        if settings.rule.sample_weight not in (None, region_weight):
            # A user's rule may combine the samples of a batch, so the host waits to learn how many there are.
            first_tokens, sample = torch.unique(sample, return_inverse=True)
            region = region[first_tokens]
        sample_weight = settings.sample_weight(region)  # Eq. 8
        token_columns = nll, observed.confidence, weights, tokens.is_cuda, tokens.row
        terms = TokenTerms(*token_columns, sample, region, sample_weight, penalty, tokens.given_weight)
        count = terms.count(settings.normalization, num_items_in_batch)
        loss = terms.loss.sum() / count  # Eq. 9
        check = partial(_check_batch, AsyncScalar(loss), terms, settings, tokens.target, weight.size(0))

        total = weights * sample_weight[sample]
        if needs_second_pass:
            steps = run(gradients, weight=total)  # writes the same losses again
        for _ in steps:
            pass
        row_scale = torch.ones_like(nll) if scales_logits else total
        for factor in (tokens.given_weight, gradients.factor):
            row_scale = row_scale if factor is None else row_scale * factor
    if not gradients.wanted:
        check()  # there will be no backward pass to do it
        return loss, terms
    carried = loss, tokens.position, row_scale, gradients, count, functions, check
    return FusedLossFunction.apply(hidden, weight, bias, *carried), terms


class FusedLossFunction(torch.autograd.Function):
    """Attach gradients that were computed together with the loss, in the forward pass, to that loss."""

    @staticmethod
    def forward(ctx, hidden, weight, bias, loss, position, row_scale, gradients, count, functions, check):
        ctx.shape, ctx.dtypes = hidden.shape, (hidden.dtype, weight.dtype, None if bias is None else bias.dtype)
        ctx.functions, ctx.check = functions, check
        ctx.divisor = count * gradients.scale
        # Saved rather than set as attributes of ctx, so that checkpointing and offloading can handle them.
        ctx.save_for_backward(position, gradients.rows, row_scale, gradients.weight, gradients.bias)
        return loss.clone()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        position, rows, row_scale, weight_sum, bias_sum = ctx.saved_tensors
        grad_hidden = grad_weight = grad_bias = None
        scale = grad_output / ctx.divisor
        if rows is not None and ctx.needs_input_grad[0]:
            grad_hidden = torch.zeros(ctx.shape, dtype=ctx.dtypes[0], device=rows.device)
            with on_device(rows.device):
                ctx.functions.scatter_rows(rows, position, row_scale, scale, grad_hidden.view(-1, ctx.shape[-1]))
        if weight_sum is not None:
            grad_weight = torch.empty(weight_sum.shape, dtype=ctx.dtypes[1], device=weight_sum.device)
            torch.mul(weight_sum, scale, out=grad_weight)
        if bias_sum is not None:
            grad_bias = (bias_sum * scale).to(ctx.dtypes[2])
        if ctx.check is not None:
            ctx.check()  # the host waits here, after everything is queued, so that the device stays busy
            ctx.check = None  # frees its tensors before the backward pass of the layers below
        return grad_hidden, grad_weight, grad_bias, *(None,) * 7


class AsyncScalar:
    """Copy a scalar to the host asynchronously.

    The constructor queues the copy, and `get` waits for this copy only, not for work that is queued later. The copy
    goes to its own pinned memory, which PyTorch does not reuse before the copy is done. On devices other than GPUs,
    `get` is `item`.
    """

    def __init__(self, value: torch.Tensor):
        self._value, self._event = value.detach(), None
        if value.is_cuda:
            with torch.cuda.device(value.device):
                self._value = self._value.to("cpu", non_blocking=True)
                self._event = torch.cuda.Event()
                self._event.record()

    def get(self) -> int | float:
        """Return the number. It can be called any number of times."""
        if self._event is not None:
            self._event.synchronize()
        return self._value.item()


def _check_batch(
    loss: AsyncScalar, terms: TokenTerms, settings: ObjectiveSettings, target: torch.Tensor, vocab_size: int
) -> None:
    """Raise ValueError for labels outside the vocabulary and for NaN or infinite logits or weights.

    Each of these makes the loss NaN or infinite, so a finite loss needs no further check. The function waits until the
    loss is known on the host, but not for the gradients.
    """
    if math.isfinite(loss.get()):
        return
    check_targets(target, vocab_size)
    is_finite = torch.isfinite(terms.nll)
    check_finite(is_finite if terms.penalty is None else is_finite & torch.isfinite(terms.penalty))
    check_weights(settings, terms.weight, terms.sample_weight[terms.sample])
    # Anything else is the caller's: a num_items_in_batch of 0 makes the readable loss infinite, too.


def _allocate(hidden: torch.Tensor, head: Head, needs: list[bool], num_tokens: int, kl: float) -> HeadGradients:
    """Allocate memory for the gradients that are needed, by `needs` for hidden states, weight and bias."""
    weight = head.weight
    full_dtype = torch.promote_types(weight.dtype, torch.float32)
    is_frozen = not any(needs[1:])
    # Not with a trained head, whose gradient is a sum over tokens that would overflow.
    is_frozen_half = weight.dtype == torch.float16 and is_frozen
    return HeadGradients(
        rows=weight.new_empty(num_tokens, hidden.size(-1)) if needs[0] else None,
        weight=torch.zeros(weight.shape, dtype=full_dtype, device=weight.device) if needs[1] else None,
        bias=torch.zeros(weight.size(0), dtype=full_dtype, device=weight.device) if needs[2] else None,
        factor=torch.empty(num_tokens, dtype=full_dtype, device=weight.device) if needs[0] and is_frozen else None,
        # A large KL term leaves less room below float16's maximum. A power of two costs no precision.
        scale=FLOAT16_GRADIENT_SCALE * 2.0 ** -math.ceil(math.log2(1.0 + kl)) if is_frozen_half else 1.0,
    )


def _check_head(hidden: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, of: str = "") -> None:
    """Raise ValueError if a head does not fit the hidden states.

    Args:
        of: prefix for the names of the tensors in the message, "" or "reference ".
    """
    if weight.dim() != 2 or hidden.size(-1) != weight.size(-1):
        raise ValueError(
            f"{of}hidden {list(hidden.shape)} and {of}weight {list(weight.shape)} have different hidden sizes: expected "
            "the head's own weight, [vocab_size, hidden_size]; a sharded head (ZeRO-3, FSDP) has to be gathered first."
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ValueError(
            f"{of}bias has the shape {list(bias.shape)}, but {of}weight {list(weight.shape)} wants {[weight.size(0)]}."
        )


def _compute_dtype(hidden: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.dtype:
    """Return the dtype that a linear layer would compute in: autocast's if enabled, else the dtype of its inputs."""
    device = hidden.device.type
    if torch.is_autocast_enabled(device) and hidden.dtype != torch.float64:
        return torch.get_autocast_dtype(device)
    dtypes = {tensor.dtype for tensor in (hidden, weight, bias) if tensor is not None}
    if len(dtypes) > 1 or not hidden.is_floating_point():
        raise ValueError(
            f"hidden is {hidden.dtype} and the head {weight.dtype}"
            f"{'' if bias is None else f' with a bias in {bias.dtype}'}: "
            "expected one floating dtype, or torch.autocast around the call."
        )
    return hidden.dtype


def _reference(
    hidden: torch.Tensor, head: Head, settings: ObjectiveSettings, reference: Reference | None
) -> tuple[torch.Tensor, Head]:
    """Return the base model's hidden states as [batch * length, hidden_size], and its head."""
    if reference is None:
        raise ValueError(f"the objective {settings.objective} needs the base model's hidden states: pass reference.")
    base_hidden, base_head = reference
    if base_hidden.shape[:2] != hidden.shape[:2]:
        raise ValueError(
            f"reference hidden has the shape {list(base_hidden.shape)}, hidden {list(hidden.shape)}: "
            "expected the same batch and length."
        )
    if base_head is not None:
        vocab_size, dtype = head.weight.size(0), head.weight.dtype
        head = Head(*(None if tensor is None else tensor.to(dtype) for tensor in base_head))
        if head.weight.size(0) != vocab_size:
            raise ValueError(
                f"reference weight {list(head.weight.shape)}: expected {vocab_size} rows, as the head has."
            )
    _check_head(base_hidden, head.weight, head.bias, of="reference ")
    return base_hidden.detach().reshape(-1, base_hidden.size(-1)), head
