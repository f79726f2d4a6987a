"""The fused head's loop: hidden states to losses and gradients, a chunk of logits at a time (torch only).

A chunk takes a product, one pass over its logits that leaves their gradient in their place (`chunk_step`), and the
products for the gradients; before it, where a rule reads more of the logits than the target's probability, `measure`.
What does not multiply (`measure`, `chunk_step`, `weigh_regions`, `scatter_rows`) is plain PyTorch here and serves CPUs
and GPUs without Triton; `triton_kernels` has functions of the same names, and `choose_backend` takes either module.
Nothing here knows autograd: `fused.py` carries the gradients into the backward pass.
"""

import functools
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import NamedTuple

import torch
import torch.nn.functional as F

from . import vocabulary
from .cuset import SupervisedTokens, weigh_regions  # noqa: F401  a part of the backend
from .vocabulary import base_divergence, measure_both


# What a chunk of logits may take, with the chunk's temporaries. Larger chunks fill the GPU better, smaller ones fit
# smaller cards; 0.25 GiB makes 863 rows of a 152k vocabulary in bf16.
CHUNK_BYTES = int(0.25 * 2**30)
# Chunks have one row less than a multiple of this: on an H200 cuBLAS 13.1 then takes tiles of 192 x 208 and 256 x 120,
# which even numbers of rows do not get. 863 rows cost 3% less a row than 896, and 6% less than 1024 (two products,
# 3584 x 152064).
ROW_TILE = 96
# Rows of the logits start at multiples of this many elements: kernels load 16 bytes at a time whatever the vocabulary.
COLUMN_TILE = 64


@dataclass(frozen=True)
class Head:
    """A language model's head in the dtype of the products."""

    weight: torch.Tensor  # [vocab_size, hidden_size]
    bias: torch.Tensor | None = None  # [vocab_size]

    @property
    def columns(self) -> int:
        """What a row of `buffer` takes, in elements."""
        return -(-self.weight.size(0) // COLUMN_TILE) * COLUMN_TILE

    def buffer(self, rows: int) -> torch.Tensor:
        """Memory for logits [rows, vocab_size] whose rows start at multiples of `COLUMN_TILE` elements."""
        return self.weight.new_empty(rows, self.columns)[:, : self.weight.size(0)]

    def logits(self, rows: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        """[rows, hidden_size] to [rows, vocab_size], in `out`."""
        if self.bias is None:
            return torch.mm(rows, self.weight.t(), out=out)
        return torch.addmm(self.bias, rows, self.weight.t(), out=out)


class HeadStatistics(NamedTuple):
    """What a pass finds out of the supervised tokens, [num_valid] each."""

    nll: torch.Tensor
    penalty: torch.Tensor | None  # the KL term to the base model, with its factor; None: not wanted
    measured: dict[str, torch.Tensor]  # by names of `rules.STATISTICS`


@dataclass
class HeadGradients:
    """Where a pass writes gradients; None where none is wanted. All of them times `scale`."""

    rows: torch.Tensor | None = None  # [num_valid, hidden_size], of the hidden states
    weight: torch.Tensor | None = None  # [vocab_size, hidden_size], in float32 at least
    bias: torch.Tensor | None = None  # [vocab_size], likewise
    # [num_valid], what `rows` are still to be multiplied with; None: 1, as where `weight` or `bias` is wanted.
    factor: torch.Tensor | None = None
    # [num_valid], a factor that `rows` do not hold, the data's weights; None: 1.
    token_scale: torch.Tensor | None = None
    scale: float = 1.0

    @property
    def wanted(self) -> bool:
        return any(part is not None for part in (self.rows, self.weight, self.bias))

    def add(self, rows: torch.Tensor, logit_gradient: torch.Tensor, head: Head, part: slice) -> None:
        """Add the products of a chunk, `part` of the tokens, from its hidden states and the gradient of its logits."""
        if self.rows is not None:
            torch.mm(logit_gradient, head.weight, out=self.rows[part])
        scale = None if self.token_scale is None else self.token_scale[part].to(rows.dtype)
        if self.weight is not None:
            _accumulate(self.weight, logit_gradient, rows if scale is None else rows * scale[:, None])
        if self.bias is not None:
            self.bias += (torch.ones_like(rows[:, 0]) if scale is None else scale) @ logit_gradient


def _accumulate(total: torch.Tensor, gradient: torch.Tensor, rows: torch.Tensor) -> None:
    """total [V, H] += gradient [rows, V]^T @ rows [rows, H], summed over chunks in total's precision."""
    if total.dtype == gradient.dtype:
        total.addmm_(gradient.t(), rows)
    elif total.is_cuda and hasattr(torch.ops.aten.addmm, "dtype_out"):  # torch 2.8: bf16 in, float32 out
        torch.ops.aten.addmm.dtype_out(total, gradient.t(), rows, total.dtype, out=total)
    else:
        for start in range(0, total.size(0), 8192):  # slices keep the temporary small
            part = slice(start, start + 8192)
            total[part] += gradient[:, part].t() @ rows


# ---- what runs between and after the products, in plain PyTorch


def measure(logits: torch.Tensor, target: torch.Tensor, names: Collection[str]) -> dict[str, torch.Tensor]:
    """`vocabulary.measure` in float32 at least."""
    return vocabulary.measure(logits.to(torch.promote_types(logits.dtype, torch.float32)), target, names)


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
    r"""Turn a chunk of logits into losses and, in place, into the gradient with respect to those logits.

    With p = softmax(logits), q = softmax(reference) and M the token's weight, constant:

        nll = max(0, -log p[target]);  penalty = kl * max(0, KL(q || p))
        gradient = gradient_scale * (M * (p - onehot(target)) + kl * (p - q))

    Both values are at least 0 but for rounding; the gradient is that of the values before the maximum.

    Args:
        logits: [rows, vocab_size] of the model's dtype; holds the gradient afterwards when that is wanted.
        target: [rows].
        nll: [rows], written; NaN where the target is outside the vocabulary.
        weight: [rows], M; None: 1.
        reference: [rows, vocab_size], logits of the base model, where there is a KL term.
        penalty: [rows], written where there is one.
        kl: its factor.
        want_gradient: False leaves the logits alone.
        gradient_scale: a power of two that keeps small probabilities in the range of the logits' dtype.
        factor: [rows], written when it is there and a gradient is wanted: the gradient is then `logits` times this,
            row by row, which spares the kernel that does so a second read of the logits. Here it is 1.
    """
    log_p = F.log_softmax(logits.to(nll.dtype), dim=-1)  # [rows, vocab_size]
    known = (target >= 0) & (target < logits.size(1))
    target = target.where(known, 0)
    nll.copy_((-log_p.gather(1, target[:, None])[:, 0]).clamp_min(0.0).where(known, torch.nan))

    log_q = None
    if penalty is not None:
        log_q = F.log_softmax(reference.to(nll.dtype), dim=-1)
        penalty.copy_(kl * base_divergence(log_p, log_q))
    if not want_gradient:
        return

    if factor is not None:
        factor.fill_(1.0)
    weight = torch.ones_like(nll) if weight is None else weight
    gradient = log_p.exp_().mul_((weight + (0.0 if log_q is None else kl))[:, None])
    gradient[torch.arange(target.numel(), device=target.device), target] -= weight
    if log_q is not None:
        gradient.sub_(log_q.exp_(), alpha=kl)
    logits.copy_(gradient.mul_(gradient_scale))


def scatter_rows(
    rows: torch.Tensor, position: torch.Tensor, row_scale: torch.Tensor, grad_output: torch.Tensor, out: torch.Tensor
) -> None:
    """out[position] = rows * row_scale * grad_output, the backward pass of the hidden states.

    Args:
        rows: [num_valid, hidden_size].
        position: [num_valid], rows of `out`, each at most once.
        row_scale: [num_valid] in full precision: in float16, 1 / count alone would underflow.
        grad_output: a scalar.
        out: [batch * length, hidden_size], written where `position` points.
    """
    scale = row_scale * grad_output
    for start in range(0, rows.size(0), 1024):  # slices keep the temporaries small
        part = slice(start, start + 1024)
        out.index_copy_(0, position[part], (rows[part] * scale[part, None]).to(out.dtype))


TORCH = sys.modules[__name__]


@functools.cache
def _finds_compiler() -> bool:
    """Whether Triton finds the C compiler that it builds its launchers with; if not, one warning."""
    try:
        from triton.knobs import build
    except ImportError:  # an older Triton
        own_way = None
    else:
        own_way = build.impl
    found = bool(own_way or os.environ.get("CC") or shutil.which("clang") or shutil.which("gcc"))
    if not found:
        warnings.warn(
            "Triton finds no C compiler, so the fused head takes PyTorch's operations, which are slower: install gcc "
            "or clang, or name one with CC=/path/to/it.",
            stacklevel=3,
        )
    return found


def choose_backend(device: torch.device, dtype: torch.dtype, backend: str = "auto") -> ModuleType:
    """Triton's functions on NVIDIA and AMD GPUs when Triton is there with a C compiler, else plain PyTorch's.

    Args:
        device: where the logits are.
        dtype: of the logits.
        backend: "auto", or "torch" or "triton" to insist. TRITON_INTERPRET=1 runs "triton" on a CPU.
    """
    if backend not in ("auto", "torch", "triton"):
        raise ValueError(f"backend={backend!r}: expected auto, torch or triton.")
    fits = dtype in (torch.float32, torch.bfloat16, torch.float16)
    on_gpu = device.type == "cuda"  # also what PyTorch calls AMD's
    if backend == "torch" or (backend == "auto" and not (fits and on_gpu)):
        return TORCH
    if not fits or not (on_gpu or os.environ.get("TRITON_INTERPRET") == "1"):
        raise ValueError(f"backend='triton' takes float32, bfloat16 or float16 on a GPU, got {dtype} on {device}.")
    try:
        from . import triton_kernels
    except ImportError:
        if backend == "triton":
            raise
        return TORCH
    if backend == "auto" and not _finds_compiler():
        return TORCH
    return triton_kernels


def on_device(device: torch.device) -> AbstractContextManager:
    """Triton launches on the current device, which need not be that of a model spread over several."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


# ---- the loop


def rows_per_chunk(num_tokens: int, row_bytes: int) -> int:
    """How many tokens go through the head at once: all, or what `CHUNK_BYTES` allow, one less than a multiple of `ROW_TILE`."""
    most = max(1, CHUNK_BYTES // row_bytes)
    if num_tokens <= most or most < ROW_TILE:
        return min(most, num_tokens)
    return most - (most + 1) % ROW_TILE


def bytes_of_a_row(sources: list[tuple[torch.Tensor, Head]], backend: ModuleType) -> int:
    """What a token's logits take, temporaries included."""
    head = sources[0][1]
    element_bytes = head.weight.dtype.itemsize
    if backend is TORCH:  # log-probabilities, the gradient and a temporary, in full precision
        element_bytes += 3 * torch.promote_types(head.weight.dtype, torch.float32).itemsize
    return head.columns * element_bytes * len(sources)


# A chunk's hidden states [rows, hidden_size] and logits [rows, vocab_size].
Product = tuple[torch.Tensor, torch.Tensor]


def multiply(
    sources: list[tuple[torch.Tensor, Head]], position: torch.Tensor, buffers: list[torch.Tensor] | None = None
) -> list[Product]:
    """The products at `position` [rows] of each source; `buffers` [rows or more, vocab_size] take the logits."""
    products = []
    for number, (hidden, head) in enumerate(sources):
        rows = hidden.index_select(0, position).to(head.weight.dtype)
        out = head.buffer(rows.size(0)) if buffers is None else buffers[number][: rows.size(0)]
        products.append((rows, head.logits(rows, out)))
    return products


def run_head(
    sources: list[tuple[torch.Tensor, Head]],
    tokens: SupervisedTokens,
    statistics: HeadStatistics,
    gradients: HeadGradients,
    *,
    kl: float,
    backend: ModuleType,
    chunk_rows: int,
    weight: torch.Tensor | Callable[[slice], torch.Tensor] | None = None,
    first: list[Product] | None = None,
) -> Iterator[None]:
    """Run the head over the supervised tokens, filling `statistics` and the parts of `gradients` that are there.

    Yields once, when what fills `statistics` is queued and the last chunk's products for the gradients are still to
    come: what the host will want to know is queued best then. The current device is that of the tensors: see
    `on_device`.

    Args:
        sources: hidden states [batch * length, hidden_size] and the head; behind them, where it is read, the base model's.
        tokens: where they are predicted, and what they are; one outside the vocabulary gets an nll of NaN.
        statistics: written.
        gradients: written, or added to.
        kl: the factor of the KL term.
        backend: see `choose_backend`.
        chunk_rows: tokens that go through the head at once.
        weight: the factor of each token's nll in the gradients, [num_valid], or a function that gives that of a slice
            of the tokens once their statistics are there; None: 1.
        first: what `multiply` gave for the first `chunk_rows` positions; rows behind the last token's are ignored.
    """
    num_tokens, head = tokens.target.numel(), sources[0][1]
    buffers = [logits for _, logits in first] if first else None

    for start in range(0, num_tokens, chunk_rows):
        part = slice(start, start + chunk_rows)
        position, target = tokens.position[part], tokens.target[part]
        products, first = first or multiply(sources, position, buffers), None
        buffers = buffers or [logits for _, logits in products]
        rows, logits = (values[: position.numel()] for values in products[0])
        base = products[1][1][: position.numel()] if len(products) > 1 else None

        for name, values in measure_both(backend.measure, logits, base, target, statistics.measured).items():
            statistics.measured[name][part] = values
        penalty = None if statistics.penalty is None else statistics.penalty[part]
        step = partial(
            *(backend.chunk_step, logits, target, statistics.nll[part]), reference=base, penalty=penalty, kl=kl
        )
        if callable(weight):
            step(want_gradient=False)
        step(
            weight=weight(part) if callable(weight) else None if weight is None else weight[part],
            want_gradient=gradients.wanted,
            gradient_scale=gradients.scale,
            factor=None if gradients.factor is None else gradients.factor[part],
        )
        if part.stop >= num_tokens:
            yield
        if gradients.wanted:
            gradients.add(rows, logits, head, part)
