"""The Triton backend of the fused head: the steps between and after its products (torch and triton).

Between the products, one program handles one row of logits. The kernels are:

- `_measure_kernel` computes the statistics that a rule reads beside the target's probability.
- `_top_entropy_kernel` computes the entropy of the 20 largest probabilities. It finds them exactly, without sorting.
- `_chunk_kernel` reads the row for the log-sum-exp, and reads it a second time to write the gradient in place. The
  second read goes from the end to the start, because the L2 cache still holds much of the end. Each lane keeps its own
  running maximum and sum, so that the loops need no exchange between threads.
- `_unscaled_kernel` takes its place where the caller may apply a factor to each row's gradient later. It reads the row
  once, because it needs neither the sum of the exponentials nor the token's weight to write the row.
- `_region_kernel` finds each sample's least confident window, after the last row.
- `_scatter_kernel` writes the hidden states' gradients to their places, in the backward pass.

All work is in float32 and base 2, the natural base of the hardware.

Triton does not specialise the kernels on arguments that change from step to step (`do_not_specialize`). Otherwise it
would compile a kernel again for another number of tokens, or where the statistics of another chunk do not begin at a
multiple of 16 bytes.
"""

from collections.abc import Collection

import torch
import triton
import triton.language as tl

from .cuset import FIXED_POINT, SupervisedTokens
from .settings import ObjectiveSettings
from .vocabulary import TOP_K


_LOG2E = tl.constexpr(1.4426950408889634)
_LN2 = tl.constexpr(0.6931471805599453)
_RANGE = tl.constexpr(64.0)  # in bits, of the 127 bits up to float32's maximum: sums over a vocabulary need the rest
_SLOTS = tl.constexpr(32)  # the power of two above TOP_K
_FIXED_POINT = tl.constexpr(float(FIXED_POINT))

# (smallest vocabulary size, lanes, warps). With many warps per program few rows are in flight, so that their second
# read finds them in the L2 cache. Small vocabularies would leave such programs half empty.
LAUNCH_SHAPES = ((65536, 8192, 32), (8192, 2048, 8), (0, 1024, 4))
UNSCALED_LAUNCH_SHAPES = ((65536, 16384, 32), (8192, 4096, 8), (0, 1024, 4))
REGION_LANES = 1024


@triton.jit
def _bits(x):
    """Convert a logit to bits: log2(e) * x."""
    return x.to(tl.float32) * _LOG2E


@triton.jit
def _block(pointer, offsets, SIZE: tl.constexpr, MASKED: tl.constexpr):
    """Load a block of logits in bits, with minus infinity beyond the vocabulary."""
    if MASKED:
        return tl.where(
            offsets < SIZE, _bits(tl.load(pointer + offsets, mask=offsets < SIZE, other=0.0)), -float("inf")
        )
    else:
        return _bits(tl.load(pointer + offsets))


@triton.jit
def _finite(maximum):
    """Return the number to subtract before exp2: the maximum, or 0 where all values so far are minus infinity."""
    return tl.where(maximum == -float("inf"), 0.0, maximum)


@triton.jit
def _at_least_zero(x):
    """Return x, or 0 where rounding made it negative. NaN stays NaN, which a maximum would not keep."""
    return tl.where(x < 0.0, 0.0, x)


@triton.jit
def _log_sum_exp(pointer, SIZE: tl.constexpr, LANES: tl.constexpr):
    """Return log2 of the sum of exp over a row. It is NaN if the row holds NaN or infinity."""
    lanes = tl.arange(0, LANES)
    maximum = tl.full((LANES,), -float("inf"), tl.float32)
    total = tl.zeros((LANES,), tl.float32)
    pairs: tl.constexpr = SIZE // (2 * LANES)
    for i in range(pairs):
        first = _block(pointer, i * (2 * LANES) + lanes, SIZE, False)
        second = _block(pointer, i * (2 * LANES) + LANES + lanes, SIZE, False)
        larger = tl.maximum(maximum, tl.maximum(first, second))
        base = _finite(larger)
        total = total * tl.exp2(maximum - base) + tl.exp2(first - base) + tl.exp2(second - base)
        maximum = larger
    for start in range(pairs * 2 * LANES, SIZE, LANES):
        first = _block(pointer, start + lanes, SIZE, True)
        larger = tl.maximum(maximum, first)
        base = _finite(larger)
        total = total * tl.exp2(maximum - base) + tl.exp2(first - base)
        maximum = larger
    base = _finite(tl.max(maximum, axis=0))
    return base + tl.log2(tl.sum(total * tl.exp2(maximum - base), axis=0))


@triton.jit
def _finish_block(
    pointer, reference, offsets, target, lse, reference_lse, weight, penalty_scale, gradient_scale, divergence,
    SIZE: tl.constexpr, HAS_REFERENCE: tl.constexpr, WANT_GRADIENT: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """Write the gradient of a block, and return `divergence` plus each lane's share of KL(q || p) in bits."""
    z = _block(pointer, offsets, SIZE, MASKED)
    log_p = z - lse
    p = tl.exp2(log_p)
    gradient = p * weight - tl.where(offsets == target, weight, 0.0)
    if HAS_REFERENCE:
        z_base = _block(reference, offsets, SIZE, MASKED)
        log_q = z_base - reference_lse
        q = tl.exp2(log_q)
        divergence += tl.where(q == 0.0, 0.0, q * (log_q - log_p))
        gradient += penalty_scale * (p - q)
    if WANT_GRADIENT:
        gradient = (gradient * gradient_scale).to(pointer.dtype.element_ty)
        if MASKED:
            tl.store(pointer + offsets, gradient, mask=offsets < SIZE)
        else:
            tl.store(pointer + offsets, gradient, eviction_policy="evict_first")
    return divergence


@triton.jit(do_not_specialize=["targets", "nlls", "weights", "penalties"])
def _chunk_kernel(
    logits, reference, row_stride, reference_stride, targets, nlls, weights, penalties, penalty_scale, gradient_scale,
    SIZE: tl.constexpr, HAS_REFERENCE: tl.constexpr, WANT_GRADIENT: tl.constexpr,
    LANES: tl.constexpr,
):  # fmt: skip
    """Do `chunk_step` for one row of logits: one read of the row for its loss, a second for its gradient."""
    row = tl.program_id(0).to(tl.int64)
    logits += row * row_stride
    reference += row * reference_stride
    # This is read before the row is overwritten: the reductions below synchronise the threads of a program.
    target = tl.load(targets + row)
    weight = tl.load(weights + row)
    in_vocabulary = (target >= 0) & (target < SIZE)
    at_target = _bits(tl.load(logits + target, mask=in_vocabulary, other=float("nan")))

    lse = _log_sum_exp(logits, SIZE, LANES)
    reference_lse = lse
    if HAS_REFERENCE:
        reference_lse = _log_sum_exp(reference, SIZE, LANES)
    tl.store(nlls + row, _at_least_zero(lse - at_target) * _LN2)

    if WANT_GRADIENT or HAS_REFERENCE:
        lanes = tl.arange(0, LANES)
        divergence = tl.zeros((LANES,), tl.float32)
        full: tl.constexpr = SIZE // LANES
        if full * LANES < SIZE:
            divergence = _finish_block(
                logits, reference, full * LANES + lanes, target, lse, reference_lse, weight, penalty_scale,
                gradient_scale, divergence, SIZE, HAS_REFERENCE, WANT_GRADIENT, True,
            )  # fmt: skip
        for i in range(full):
            divergence = _finish_block(
                logits, reference, (full - 1 - i) * LANES + lanes, target, lse, reference_lse, weight, penalty_scale,
                gradient_scale, divergence, SIZE, HAS_REFERENCE, WANT_GRADIENT, False,
            )  # fmt: skip
        if HAS_REFERENCE:
            tl.store(penalties + row, _at_least_zero(tl.sum(divergence, axis=0)) * _LN2 * penalty_scale)


@triton.jit
def _unscaled_block(pointer, start, x, total, base, SIZE: tl.constexpr, LANES: tl.constexpr, MASKED: tl.constexpr):
    """Overwrite a block of logits x with exp2(z - base).

    Returns `total` plus each lane's terms, and the base. The base is raised if the block's largest logit is out of its
    range.
    """
    lanes = tl.arange(0, LANES)
    z = _bits(x)
    if MASKED:
        z = tl.where(start + lanes < SIZE, z, -float("inf"))
    rise = tl.ceil(tl.max(z, axis=0) - base)
    if rise > _RANGE:  # rare: what was written so far is rescaled to the new base, exactly, by a power of two
        tl.debug_barrier()
        base += rise
        shrink = tl.exp2(-rise)
        total = total * shrink
        earlier = start * 0
        while earlier < start:
            inside = earlier + lanes < SIZE
            old = tl.load(pointer + earlier + lanes, mask=inside, other=0.0).to(tl.float32)
            tl.store(pointer + earlier + lanes, (old * shrink).to(pointer.dtype.element_ty), mask=inside)
            earlier += LANES
        tl.debug_barrier()
    p = tl.exp2(z - base)
    gradient = p.to(pointer.dtype.element_ty)
    if MASKED:
        tl.store(pointer + start + lanes, gradient, mask=start + lanes < SIZE)
    else:
        tl.store(pointer + start + lanes, gradient)
    return total + p, base


@triton.jit(do_not_specialize=["targets", "nlls", "factors"])
def _unscaled_kernel(
    logits, row_stride, targets, nlls, factors, gradient_scale, SIZE: tl.constexpr, LANES: tl.constexpr
):
    r"""Compute losses and unscaled gradients with one read and one write of a row.

    With s = sum of exp(z - base), the row becomes exp(z - base) - s * onehot. This is the gradient without the factor
    1 / s, which is written to `factors` together with the gradient scale.

    The base, in bits and rounded to an integer, is the target's logit, or the largest logit so far where the target's
    logit is too far below it. The dtypes of the logits have the exponents of float32, so their range around the base
    is wide enough for every probability that counts.
    """
    row = tl.program_id(0).to(tl.int64)
    logits += row * row_stride
    # This is read before the row is overwritten: the maximum of each block synchronises the threads of a program.
    target = tl.load(targets + row)
    in_vocabulary = (target >= 0) & (target < SIZE)
    at_target = _bits(tl.load(logits + target, mask=in_vocabulary, other=float("nan")))
    base = tl.where((at_target > -float("inf")) & (at_target < float("inf")), tl.floor(at_target), 0.0)

    lanes = tl.arange(0, LANES)
    total = tl.zeros((LANES,), tl.float32)
    full: tl.constexpr = SIZE // LANES
    x = tl.load(logits + lanes, mask=lanes < SIZE, other=0.0)
    for i in range(full):
        # Load the next block while this one is processed.
        ahead = (i + 1) * LANES + lanes
        following = tl.load(logits + ahead, mask=ahead < SIZE, other=0.0)
        total, base = _unscaled_block(logits, i * LANES, x, total, base, SIZE, LANES, False)
        x = following
    if full * LANES < SIZE:
        total, base = _unscaled_block(logits, full * LANES, x, total, base, SIZE, LANES, True)

    s = tl.sum(total, axis=0)
    lse = base + tl.log2(s)
    tl.store(nlls + row, _at_least_zero(lse - at_target) * _LN2)
    tl.store(factors + row, gradient_scale / s)
    tl.debug_barrier()  # the target's element was written above, perhaps by another thread
    gradient = tl.exp2(at_target - base) - s
    tl.store(logits + target, gradient.to(logits.dtype.element_ty), mask=in_vocabulary)


@triton.jit
def _top_entropy_kernel(
    logits, row_stride, entropies,
    SIZE: tl.constexpr, TOP: tl.constexpr, LANES: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    r"""Compute the entropy of the TOP largest probabilities of a row, scaled to sum to 1.

    Lane i holds the elements i, i + LANES, i + 2 * LANES, ... of the row. The maxima of the TOP lanes with the largest
    maxima are TOP elements that no element of another lane exceeds. The TOP largest values of these lanes are
    therefore the TOP largest of the row. One read of the row finds the lanes. They are small enough (DEPTH elements
    each) to be searched in registers.
    """
    row = tl.program_id(0).to(tl.int64)
    logits += row * row_stride
    lanes = tl.arange(0, LANES)
    maximum = tl.full((LANES,), -float("inf"), tl.float32)
    full: tl.constexpr = SIZE // LANES
    for i in range(full):
        z = _block(logits, i * LANES + lanes, SIZE, False)
        maximum = tl.maximum(maximum, z)
    if full * LANES < SIZE:
        z = _block(logits, full * LANES + lanes, SIZE, True)
        maximum = tl.maximum(maximum, z)

    slots = tl.arange(0, _SLOTS)
    chosen = tl.full((_SLOTS,), -1, tl.int32)
    for k in range(TOP):
        value, lane = tl.max(maximum, axis=0, return_indices=True)
        valid_lane = tl.where(value > -float("inf"), lane, -1)
        chosen = tl.where(slots == k, valid_lane, chosen)
        maximum = tl.where(lanes == lane, -float("inf"), maximum)

    offsets = chosen[:, None] + tl.arange(0, DEPTH)[None, :] * LANES
    inside = (chosen[:, None] >= 0) & (offsets < SIZE)
    x = tl.load(logits + offsets, mask=inside, other=0.0)
    candidates = tl.where(inside, _bits(x), -float("inf"))

    largest = tl.max(tl.max(candidates, axis=1), axis=0)
    remaining = tl.max(slots, axis=0) * 0 + TOP
    total = largest * 0.0
    moment = largest * 0.0
    for _k in range(TOP):  # one distinct value per round, with as many of its copies as still fit into TOP
        value = tl.max(tl.max(candidates, axis=1), axis=0)
        copies = tl.sum(tl.sum((candidates == value).to(tl.int32), axis=1), axis=0)
        taken = tl.where(value > -float("inf"), tl.minimum(copies, remaining), 0)
        distance = tl.where(taken > 0, value - largest, 0.0)
        share = taken.to(tl.float32) * tl.exp2(distance)
        total += share
        moment += share * distance
        remaining -= taken
        candidates = tl.where(candidates == value, -float("inf"), candidates)
    tl.store(entropies + row, (tl.log2(total) - moment / total) * _LN2)


def _launch_shape(vocab_size: int, shapes: tuple[tuple[int, int, int], ...]) -> tuple[int, int]:
    """Return (lanes, warps) for a vocabulary size, from a table such as `LAUNCH_SHAPES`."""
    lanes, warps = next((lanes, warps) for least, lanes, warps in shapes if vocab_size >= least)
    if torch.version.hip is not None:
        warps = min(warps, 16)  # a warp (wave) has 64 threads on AMD's GPUs, and a program at most 1024
    return lanes, warps


def top_entropy(logits: torch.Tensor) -> torch.Tensor:
    """Compute `vocabulary.top_entropy` in one kernel, [rows] float32 from logits [rows, vocab_size]."""
    num_rows, vocab_size = logits.shape
    entropy = torch.empty(num_rows, dtype=torch.float32, device=logits.device)
    lanes, warps = (2048, 8) if vocab_size >= 8192 else (1024, 4)
    _top_entropy_kernel[(num_rows,)](
        *(logits, logits.stride(0), entropy),
        SIZE=vocab_size,
        TOP=min(TOP_K, vocab_size),
        LANES=lanes,
        DEPTH=triton.next_power_of_2(triton.cdiv(vocab_size, lanes)),
        num_warps=warps,
    )
    return entropy


@triton.jit(do_not_specialize=["targets", "num_rows"])
def _measure_kernel(
    logits, row_stride, targets, measures, num_rows, SIZE: tl.constexpr, LANES: tl.constexpr, SQUARES: tl.constexpr
):
    """Compute the statistics that need a whole row, with two reads of it.

    `measures` receives entropy, rank, margin, mass and probability, each [num_rows], one after the other. With SQUARES
    concentration follows. It is optional because other rules should not pay for its registers.
    """
    row = tl.program_id(0).to(tl.int64)
    logits += row * row_stride
    measures += row
    target = tl.load(targets + row)
    in_vocabulary = (target >= 0) & (target < SIZE)
    at_target = _bits(tl.load(logits + target, mask=in_vocabulary, other=float("nan")))
    lse = _log_sum_exp(logits, SIZE, LANES)

    lanes = tl.arange(0, LANES)
    entropy = tl.zeros((LANES,), tl.float32)
    mass = tl.zeros((LANES,), tl.float32)
    squares = tl.zeros((LANES,), tl.float32)
    rank = tl.zeros((LANES,), tl.int32)
    largest = tl.full((LANES,), -float("inf"), tl.float32)
    for start in range(0, SIZE, LANES):
        offsets = start + lanes
        z = _block(logits, offsets, SIZE, True)
        log_p = z - lse
        p = tl.exp2(log_p)
        entropy -= tl.where(p == 0.0, 0.0, p * log_p)
        mass += tl.where(z < at_target, p, 0.0)
        if SQUARES:
            squares += p * p
        rank += tl.where(z > at_target, 1, 0)
        largest = tl.maximum(largest, tl.where(offsets == target, -float("inf"), z))
    own = tl.exp2(at_target - lse)
    tl.store(measures, tl.sum(entropy, axis=0) * _LN2)
    tl.store(measures + num_rows, tl.sum(rank, axis=0).to(tl.float32))
    tl.store(measures + 2 * num_rows, (at_target - tl.max(largest, axis=0)) * _LN2)
    tl.store(measures + 3 * num_rows, tl.sum(mass, axis=0) + own)
    tl.store(measures + 4 * num_rows, own)
    if SQUARES:
        tl.store(measures + 5 * num_rows, tl.sum(squares, axis=0))


def measure(logits: torch.Tensor, target: torch.Tensor, names: Collection[str]) -> dict[str, torch.Tensor]:
    """Compute the same as `vocabulary.measure`. Rows of logits must be contiguous."""
    statistics = {}
    if "top_entropy" in names:
        statistics["top_entropy"] = top_entropy(logits)
    if any(name != "top_entropy" for name in names):
        num_rows, vocab_size = logits.shape
        measures = torch.empty(6, num_rows, dtype=torch.float32, device=logits.device)
        lanes, warps = _launch_shape(vocab_size, LAUNCH_SHAPES)
        _measure_kernel[(num_rows,)](
            *(logits, logits.stride(0), target, measures, num_rows),
            SIZE=vocab_size,
            LANES=lanes,
            SQUARES="concentration" in names,
            num_warps=warps,
        )
        statistics |= dict(
            zip(("entropy", "rank", "margin", "mass", "probability", "concentration"), measures, strict=True)
        )
    return {name: statistics[name] for name in names}


def chunk_step(
    logits: torch.Tensor,
    target: torch.Tensor,
    nll: torch.Tensor,
    *,
    weight: torch.Tensor | None = None,
    reference: torch.Tensor | None = None,
    penalty: torch.Tensor | None = None,
    kl: float = 0.0,
    want_gradient: bool = True,
    gradient_scale: float = 1.0,
    factor: torch.Tensor | None = None,
) -> None:
    """Compute the same as `engine.chunk_step`, with the same arguments.

    Rows of logits and reference must be contiguous.
    """
    num_rows, vocab_size = logits.shape
    lanes, warps = _launch_shape(vocab_size, UNSCALED_LAUNCH_SHAPES)
    has_range = logits.dtype != torch.float16
    is_plain = weight is None and penalty is None
    # float16 has too few exponent bits for unscaled rows. Triton 3.6 does not compile the kernel for less than two
    # whole blocks.
    if want_gradient and factor is not None and is_plain and has_range and vocab_size >= 2 * lanes:
        _unscaled_kernel[(num_rows,)](
            *(logits, logits.stride(0), target, nll, factor, float(gradient_scale)),
            SIZE=vocab_size,
            LANES=lanes,
            num_warps=warps,
        )
        return

    if factor is not None:
        factor.fill_(1.0)
    lanes, warps = _launch_shape(vocab_size, LAUNCH_SHAPES)
    base = logits if penalty is None else reference
    weight = torch.ones_like(nll) if weight is None else weight
    _chunk_kernel[(num_rows,)](
        *(logits, base, logits.stride(0), base.stride(0), target, nll, weight, nll if penalty is None else penalty),
        *(float(kl), float(gradient_scale)),
        SIZE=vocab_size,
        HAS_REFERENCE=penalty is not None,
        WANT_GRADIENT=want_gradient,
        LANES=lanes,
        num_warps=warps,
    )


@triton.jit(do_not_specialize=["num_tokens"])
def _region_kernel(
    confidences, rows, sample_ids, is_cuda, samples, regions, prefixes, num_tokens, window,
    HAS_IDS: tl.constexpr, ONLY_CUDA: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """Find the least confident window of each sample.

    There is one program per token. The program of a sample's first token handles the sample, the others end at once.
    """
    first = tl.program_id(0)
    row = tl.load(rows + first)
    before = tl.maximum(first - 1, 0)
    continues_sample = (first > 0) & (tl.load(rows + before) == row)
    sample_id = row
    if HAS_IDS:
        sample_id = tl.load(sample_ids + first)
        continues_sample = continues_sample & (tl.load(sample_ids + before) == sample_id)
    if continues_sample:
        return

    # Compute prefix sums of the confidence in fixed point, up to where the row or the id changes.
    lanes = tl.arange(0, LANES)
    end = first
    total = tl.full((), 0, tl.int64)
    num_tokens_found = LANES
    while num_tokens_found == LANES:
        offset = end + lanes
        inside = offset < num_tokens
        in_sample = inside & (tl.load(rows + offset, mask=inside, other=-1) == row)
        if HAS_IDS:
            in_sample = in_sample & (tl.load(sample_ids + offset, mask=inside, other=0) == sample_id)
        num_tokens_found = tl.min(tl.where(in_sample, LANES, lanes), axis=0)
        in_sample = lanes < num_tokens_found
        fixed = (tl.load(confidences + offset, mask=in_sample, other=0.0) * _FIXED_POINT).to(tl.int64)
        tl.store(prefixes + offset, total + tl.cumsum(fixed, axis=0), mask=in_sample)
        tl.store(samples + offset, tl.zeros((LANES,), tl.int64) + first, mask=in_sample)
        total += tl.sum(fixed, axis=0)
        end += num_tokens_found
    tl.debug_barrier()  # below, threads read what other threads wrote

    lowest = float("inf")
    lowest_cuda = float("inf")
    is_short = end - first < window
    start = first
    while start < end:
        offset = start + lanes
        start += LANES
        in_sample = offset < end
        left = tl.maximum(first, offset - window // 2)
        right = tl.minimum(end, offset + (window + 1) // 2)
        left = tl.where(is_short, first, left)
        right = tl.where(is_short, end, right)
        upper = tl.load(prefixes + right - 1, mask=in_sample, other=0)
        lower = tl.load(prefixes + left - 1, mask=in_sample & (left > first), other=0)
        mean = (upper - lower).to(tl.float32) / ((right - left).to(tl.float32) * _FIXED_POINT)
        mean = tl.minimum(_at_least_zero(mean), 1.0)  # a GPU's division may round upwards
        lowest = tl.minimum(lowest, tl.min(tl.where(in_sample, mean, float("inf")), axis=0))
        if ONLY_CUDA:
            centred = in_sample & (tl.load(is_cuda + offset, mask=in_sample, other=0) != 0)
            lowest_cuda = tl.minimum(lowest_cuda, tl.min(tl.where(centred, mean, float("inf")), axis=0))
    if ONLY_CUDA:
        lowest = tl.where(lowest_cuda < float("inf"), lowest_cuda, lowest)
    tl.store(regions + first, lowest)


def weigh_regions(
    confidence: torch.Tensor, tokens: SupervisedTokens, settings: ObjectiveSettings
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute the same as `cuset.weigh_regions`, in one kernel and without waiting for the number of samples.

    A sample is numbered by the index of its first token. C therefore has [num_valid] entries: a sample's value is at
    its first token, and the other entries are uninitialised.
    """
    row = tokens.row.contiguous()
    region, sample, prefix = torch.empty_like(confidence), torch.empty_like(row), torch.empty_like(row)
    sample_id = row if tokens.sample_id is None else tokens.sample_id
    _region_kernel[(row.numel(),)](
        *(confidence, row, sample_id, tokens.kind, sample, region, prefix, row.numel(), int(settings.window)),
        HAS_IDS=tokens.sample_id is not None,
        ONLY_CUDA=settings.region_scope == "cuda",
        LANES=REGION_LANES,
        num_warps=8,
    )
    return sample, region


@triton.jit(do_not_specialize=["row_scale"])
def _scatter_kernel(rows, position, row_scale, grad_output, out, SIZE: tl.constexpr, LANES: tl.constexpr):
    """Scale one row of `rows` and write it to its place in `out`."""
    row = tl.program_id(0).to(tl.int64)
    scale = tl.load(row_scale + row) * tl.load(grad_output).to(tl.float32)
    out += tl.load(position + row) * SIZE
    rows += row * SIZE
    lanes = tl.arange(0, LANES)
    for start in range(0, SIZE, LANES):
        inside = start + lanes < SIZE
        value = tl.load(rows + start + lanes, mask=inside, other=0.0).to(tl.float32) * scale
        tl.store(out + start + lanes, value.to(out.dtype.element_ty), mask=inside)


def scatter_rows(
    rows: torch.Tensor, position: torch.Tensor, row_scale: torch.Tensor, grad_output: torch.Tensor, out: torch.Tensor
) -> None:
    """Compute the same as `engine.scatter_rows`, in one kernel. `rows` and `out` must be contiguous."""
    _scatter_kernel[(rows.size(0),)](
        rows, position, row_scale, grad_output, out, rows.size(1), LANES=1024, num_warps=4
    )
