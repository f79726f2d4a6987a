"""The objectives from hidden states and the head's weight, without the logits [batch, length, vocab_size] (torch only).

`fused_linear_cuset_loss` is for anybody's training loop; `fused_objective` is the engine of the trainer. Both equal the readable
loss of the materialised logits, in value and gradients.
"""

import math
from dataclasses import dataclass
from functools import partial
from types import ModuleType

import torch

from . import engine
from .chunk import LogitTransform, WeightRule, weight_rule
from .engine import (
    FLOAT16_GRADIENT_SCALE,
    ForwardProduct,
    Head,
    HeadGradients,
    HeadStatistics,
    choose_backend,
    on_device,
    run_head,
)
from .samples import WeighedSamples
from .settings import ObjectiveSettings
from .supervision import Supervision, check_inputs, compute_dtype
from .terms import TokenTerms, diverged, labels_outside
from .transfer import Arrival
from .weights import largest_weight


class _CarryGradients(torch.autograd.Function):
    """Hands a loss on whose gradients were formed together with it, in the forward pass."""

    @staticmethod
    def forward(ctx, hidden, weight, bias, loss, position, row_scale, gradients, count, kernels, check):
        ctx.shape, ctx.dtypes = hidden.shape, (hidden.dtype, weight.dtype, None if bias is None else bias.dtype)
        ctx.kernels, ctx.check = kernels, check
        ctx.divisor = count * gradients.scale
        # Saved, rather than kept on ctx, so that checkpointing and offloading see them.
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
                ctx.kernels.scatter_rows(rows, position, row_scale, scale, grad_hidden.view(-1, ctx.shape[-1]))
        if weight_sum is not None:
            grad_weight = torch.empty(weight_sum.shape, dtype=ctx.dtypes[1], device=weight_sum.device)
            torch.mul(weight_sum, scale, out=grad_weight)
        if bias_sum is not None:
            grad_bias = (bias_sum * scale).to(ctx.dtypes[2])
        if ctx.check is not None:
            ctx.check.wait()  # with everything queued, the device has nothing to wait for meanwhile
            ctx.check = None  # its tensors need not last until the layers below are done
        return grad_hidden, grad_weight, grad_bias, *(None,) * 7


@dataclass(frozen=True)
class _Check:
    """Whether a batch was sound, which only the device knows until somebody waits for it.

    A token whose logits are NaN or infinite, or whose label is outside the vocabulary, makes the loss NaN or infinite.
    """

    loss: Arrival
    statistics: HeadStatistics
    target: torch.Tensor
    vocab_size: int

    def wait(self) -> None:
        """Raises ValueError on bad labels and diverged logits. Waits until the loss is known, not for the gradients."""
        if math.isfinite(self.loss.get()):
            return
        lowest, highest = (int(bound) for bound in self.target.aminmax())
        if not 0 <= lowest <= highest < self.vocab_size:
            raise labels_outside(lowest, highest, self.vocab_size)
        finite = torch.isfinite(self.statistics.nll)
        if self.statistics.penalty is not None:
            finite &= torch.isfinite(self.statistics.penalty)
        if not finite.all():  # else it is the caller's: a num_items_in_batch of 0 makes the readable loss infinite too
            raise diverged(finite)


@torch.compiler.disable  # waits for the device and launches kernels of its own: a graph break, not a graph
def fused_objective(
    hidden: torch.Tensor,
    weight: torch.Tensor,
    labels: torch.Tensor,
    cuda_mask: torch.Tensor | None,
    sample_ids: torch.Tensor | None,
    settings: ObjectiveSettings,
    *,
    bias: torch.Tensor | None = None,
    logit_scale: float = 1.0,
    logit_softcap: float | None = None,
    reference_hidden: torch.Tensor | None = None,
    reference_weight: torch.Tensor | None = None,
    reference_bias: torch.Tensor | None = None,
    num_items_in_batch: torch.Tensor | int | None = None,
    backend: str = "auto",
    chunk_rows: int | None = None,
    skip_zero_rows: bool = False,
) -> tuple[torch.Tensor, TokenTerms]:
    r"""Any of the six objectives and its terms, from the last hidden states.

    Equals, in value and gradients,

        logits = logit_scale * (hidden @ weight.T + bias);  logits = softcap * tanh(logits / softcap)
        objective_loss(logits, labels, cuda_mask, sample_ids, settings, ...), token_terms(logits, ...)

    With a frozen head each supervised token goes through two products. A trainable head takes a third, and a fourth where the
    samples' weights (Eq. 8) have to be known before a token enters the head's gradient, which is summed in float32.

    Args:
        hidden: [batch, length, hidden_size], after the final norm.
        weight: [vocab_size, hidden_size]. Trained when it requires a gradient.
        labels, cuda_mask, sample_ids: [batch, length], as in `cuset_loss`.
        settings: the objective.
        bias: [vocab_size] or None.
        logit_scale: multiplies the logits (Cohere's logit_scale; 1 / logits_scaling for Granite).
        logit_softcap: Gemma 2's final_logit_softcapping.
        reference_hidden: [batch, length, hidden_size] of the base model, for ASFT.
        reference_weight, reference_bias: the base model's head; None: the same head.
        num_items_in_batch: what the sum is divided by; None: this batch's tokens or samples, as `settings.normalization` says.
        backend: see `engine.choose_backend`.
        chunk_rows, skip_zero_rows: see `engine.ForwardProduct` and `engine.run_head`.

    Returns:
        The loss in nats per supervised token, differentiable in hidden, weight and bias as far as they require a gradient, and the
        terms, detached. Where nothing requires a gradient, or under torch.no_grad, only the forward product is computed.

    Raises:
        ValueError: shapes or dtypes that do not match, ASFT without a reference; labels outside the vocabulary, NaN or infinite
            logits: at once where no gradient is wanted, else from the backward pass, so that the host need not wait for the
            device before that; until then the loss is NaN or infinite.
    """
    check_inputs(hidden, weight, bias, labels, cuda_mask, sample_ids)
    transform = LogitTransform(float(logit_scale), None if logit_softcap is None else float(logit_softcap))
    dtype = compute_dtype(hidden, weight, bias)
    needs = [t is not None and t.requires_grad and torch.is_grad_enabled() for t in (hidden, weight, bias)]

    device = hidden.device
    with torch.no_grad(), torch.autocast(device.type, enabled=False), on_device(device):
        full = torch.float64 if dtype == torch.float64 else torch.float32
        kernels = choose_backend(device, dtype, backend)
        head = Head(weight.to(dtype), None if bias is None else bias.to(dtype))
        reference, penalty_scale = None, 0.0
        if settings.objective == "asft" and settings.asft_alpha > 0:
            reference = _reference(hidden, head, reference_hidden, reference_weight, reference_bias)
            penalty_scale = settings.asft_alpha

        # The device computes the first logits while the number of tokens is on its way and the host prepares the rest.
        supervision = kernels.read_supervision(labels, cuda_mask, sample_ids)
        flat = hidden.detach().reshape(-1, hidden.size(-1))
        most = supervision.target.numel()
        copies = int(skip_zero_rows and reference is None)
        product = ForwardProduct(flat, head, reference, most, kernels=kernels, chunk_rows=chunk_rows, copies=copies)
        if supervision.count is not None:
            product.begin(supervision.position)
            supervision = supervision.counted()

        rule, start = weight_rule(settings, supervision.is_cuda, full)
        penalty = None if reference is None else torch.empty_like(start)
        statistics = HeadStatistics(torch.empty_like(start), start, penalty)
        if not supervision.target.numel():
            return _nothing(hidden, weight, bias, needs, statistics, supervision)

        gradients = _allocate(hidden, head, needs, supervision.target.numel(), full, largest_weight(settings))
        results: list[_Results] = []

        def conclude() -> None:
            results.append(_conclude(kernels, statistics, supervision, settings, num_items_in_batch, weight.size(0)))

        position, target = supervision.position, supervision.target
        run = partial(
            run_head,
            product,
            position,
            target,
            head,
            transform,
            penalty_scale=penalty_scale,
            kernels=kernels,
            skip_zero_rows=skip_zero_rows,
        )
        if any(needs[1:]) and _reweights(settings):
            run(rule, statistics, HeadGradients(), conclude=conclude)
            gradients.token_scale = results[0].samples.token_scale
            # The second pass takes the weights of the first, and finds the same losses.
            run(WeightRule(), statistics, gradients)
        else:
            run(rule, statistics, gradients, conclude=conclude)

        (result,) = results
        if not gradients.wanted:  # nobody else will ask
            result.check.wait()
            return result.loss, result.terms
        row_scale = result.samples.token_scale
        if gradients.factor is not None:
            row_scale = row_scale * gradients.factor
    return _CarryGradients.apply(
        hidden, weight, bias, result.loss, position, row_scale, gradients, result.count, kernels, result.check
    ), result.terms


@dataclass(frozen=True)
class _Results:
    """What a batch amounts to once every token's statistics are known; `count` is what the sum is divided by."""

    samples: WeighedSamples
    terms: TokenTerms
    count: torch.Tensor | int
    loss: torch.Tensor
    check: _Check


def _reweights(settings: ObjectiveSettings) -> bool:
    """Whether samples have weights of their own (Eq. 8)."""
    return settings.objective == "cuset" and settings.use_region_weight


def _conclude(
    kernels: ModuleType,
    statistics: HeadStatistics,
    supervision: Supervision,
    settings: ObjectiveSettings,
    num_items_in_batch: torch.Tensor | int | None,
    vocab_size: int,
) -> _Results:
    """From the tokens to the samples and the loss."""
    samples = kernels.weigh_samples(
        statistics.nll,
        statistics.weight,
        statistics.penalty,
        supervision.row,
        supervision.sample_id,
        supervision.is_cuda,
        window=int(settings.window),
        only_cuda=settings.region_scope == "cuda",
        reweight=_reweights(settings),
    )
    terms = TokenTerms(
        statistics.nll,
        (-statistics.nll).exp(),  # Eq. 1
        statistics.weight,
        supervision.is_cuda,
        supervision.row,
        samples.sample,
        samples.region_confidence,
        samples.sample_weight,
        statistics.penalty,
    )
    count = terms.count(settings.normalization) if num_items_in_batch is None else num_items_in_batch
    loss = samples.share.sum() / count
    return _Results(samples, terms, count, loss, _Check(Arrival(loss), statistics, supervision.target, vocab_size))


def fused_linear_cuset_loss(
    hidden: torch.Tensor,
    weight: torch.Tensor,
    labels: torch.Tensor,
    cuda_mask: torch.Tensor | None,
    sample_ids: torch.Tensor | None,
    *,
    bias: torch.Tensor | None = None,
    tau: float = 0.1,
    lam: float = 1.0,
    window: int = 256,
    num_items_in_batch: torch.Tensor | int | None = None,
    use_confidence_mask: bool = True,
    use_cuda_mask: bool = True,
    use_region_weight: bool = True,
    region_scope: str = "response",
    normalization: str = "tokens",
    skip_zero_rows: bool = False,
) -> torch.Tensor:
    r"""CuSeT's objective (arXiv 2606.16231, Eq. 9) from hidden states, equal to

        cuset_loss(hidden @ weight.T + bias, labels, cuda_mask, sample_ids, ...)

    in value and gradients, in memory that does not depend on batch * length * vocab_size.

    Args:
        hidden: [batch, length, hidden_size], the last hidden states, after the final norm.
        weight: [vocab_size, hidden_size], the head's weight, frozen or trained.
        bias: [vocab_size] or None.
        labels, cuda_mask, sample_ids: [batch, length]; these and all other options as in `cuset_loss`.
        skip_zero_rows: leave tokens of weight 0 out of the product for the gradients, which pays where they are 70 % or more (the
            trainer sees to it by itself). The result is the same.

    Returns:
        A scalar in nats per supervised token. Without a supervised token: 0, with a gradient path.

    Raises:
        ValueError: as `cuset_loss`; what only the device can see (labels outside the vocabulary, NaN or infinite logits) is raised
            by the backward pass, where there is one.
    """
    settings = ObjectiveSettings(
        objective="cuset",
        tau=tau,
        lam=lam,
        window=window,
        use_confidence_mask=use_confidence_mask,
        use_cuda_mask=use_cuda_mask,
        use_region_weight=use_region_weight,
        region_scope=region_scope,
        normalization=normalization,
    )
    return fused_objective(
        hidden,
        weight,
        labels,
        cuda_mask,
        sample_ids,
        settings,
        bias=bias,
        num_items_in_batch=num_items_in_batch,
        skip_zero_rows=skip_zero_rows,
    )[0]


def _reference(hidden, head, reference_hidden, reference_weight, reference_bias) -> tuple[torch.Tensor, Head]:
    """The base model's hidden states, flat, and its head."""
    if reference_hidden is None:
        raise ValueError("the objective asft needs the base model's hidden states: pass reference_hidden.")
    if reference_hidden.shape[:2] != hidden.shape[:2]:
        raise ValueError(
            f"reference_hidden has the shape {list(reference_hidden.shape)}, hidden {list(hidden.shape)}: expected the same "
            "batch and length."
        )
    base = head
    if reference_weight is not None:
        dtype = head.weight.dtype
        base = Head(reference_weight.to(dtype), None if reference_bias is None else reference_bias.to(dtype))
        expected = [head.weight.size(0), reference_hidden.size(-1)]
        if list(base.weight.shape) != expected:
            raise ValueError(f"reference_weight has the shape {list(base.weight.shape)}, expected {expected}.")
        if base.bias is not None and list(base.bias.shape) != expected[:1]:
            raise ValueError(f"reference_bias has the shape {list(base.bias.shape)}, expected {expected[:1]}.")
    elif reference_bias is not None:
        raise ValueError(
            "reference_bias was passed without reference_weight: expected both, or neither for the same head."
        )
    elif reference_hidden.size(-1) != hidden.size(-1):
        raise ValueError("reference_hidden has another hidden size than hidden: pass reference_weight.")
    return reference_hidden.detach().reshape(-1, reference_hidden.size(-1)), base


def _allocate(
    hidden, head: Head, needs: list[bool], num_tokens: int, full: torch.dtype, largest_weight: float
) -> HeadGradients:
    """Memory for the gradients that are needed."""
    weight = head.weight
    frozen_half = weight.dtype == torch.float16 and not any(needs[1:])  # sums over tokens would overflow
    only_rows = needs[0] and not any(needs[1:])
    return HeadGradients(
        rows=weight.new_empty(num_tokens, hidden.size(-1)) if needs[0] else None,
        weight=torch.zeros(weight.shape, dtype=full, device=weight.device) if needs[1] else None,
        bias=torch.zeros(weight.size(0), dtype=full, device=weight.device) if needs[2] else None,
        factor=torch.empty(num_tokens, dtype=full, device=weight.device) if only_rows and engine.SINGLE_READ else None,
        # By a power of two, which costs no precision: large weights leave less room below float16's maximum.
        scale=FLOAT16_GRADIENT_SCALE * 2.0 ** -math.ceil(math.log2(largest_weight)) if frozen_half else 1.0,
    )


def _nothing(hidden, weight, bias, needs, statistics, supervision) -> tuple[torch.Tensor, TokenTerms]:
    """Nothing to learn, but a distributed run still needs a gradient path; sums of nothing stay 0 whatever hidden holds."""
    none = torch.empty_like(statistics.nll)
    terms = TokenTerms(
        none, none, none, supervision.is_cuda, supervision.row, supervision.row, none, none, statistics.penalty
    )
    with torch.set_grad_enabled(any(needs)):
        loss = hidden[:, :0].sum().to(none.dtype)
        for part in (weight, bias):
            if part is not None and part.requires_grad:
                loss = loss + part[:0].sum().to(none.dtype)
    return loss, terms
