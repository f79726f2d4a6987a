"""The loop of the fused head: from hidden states to losses and gradients, one chunk of logits at a time (torch only).

The full logits [batch * length, vocab_size] never exist. For each chunk of tokens, `run_head`

1. multiplies the hidden states with the head's weight, which gives the chunk's logits;
2. calls `measure` where a rule reads more of the logits than the target's probability;
3. calls `chunk_step`, which computes the losses and overwrites the logits with their gradient;
4. multiplies that gradient with the head's weight, and with the hidden states where the head is trained.

The functions that are not matrix products (`measure`, `chunk_step`, `weigh_regions`, `scatter_rows`) form a backend.
This module is the plain PyTorch backend, for CPUs and for GPUs without Triton. The module `triton_kernels` has
functions of the same names, and `choose_backend` returns one of the two modules. Autograd is not used here: `fused.py`
hands the gradients to the backward pass.
"""

import functools
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import NamedTuple

import torch
import torch.nn.functional as F

from .cuset import SupervisedTokens, weigh_regions  # noqa: F401  a part of the backend
from .vocabulary import base_divergence, measure, measure_both  # noqa: F401  measure is a part of the backend


# Memory budget of a chunk's logits and temporaries. Larger chunks use the GPU better, smaller chunks fit smaller
# cards. 0.25 GiB holds 863 rows of a 152k vocabulary in bf16.
CHUNK_BYTES = int(0.25 * 2**30)
# Chunks have one row less than a multiple of this: on an H200, cuBLAS 13.1 then uses tiles of 192 x 208 and 256 x 120,
# which it does not use for even numbers of rows. 863 rows cost 3% less per row than 896, and 6% less than 1024
# (measured on two products, 3584 x 152064).
ROW_TILE = 96
# Each row of the logits starts at a multiple of this many elements, so that kernels can load 16 bytes at a time for
# every vocabulary size.
COLUMN_TILE = 64


@dataclass(frozen=True)
class Head:
    """The output layer of a language model, in the dtype of the matrix products.

    Attributes:
        weight: [vocab_size, hidden_size].
        bias: [vocab_size], or None.
    """

    weight: torch.Tensor
    bias: torch.Tensor | None = None

    @property
    def columns(self) -> int:
        """Return the length of one row of `buffer` in elements, padding included."""
        return -(-self.weight.size(0) // COLUMN_TILE) * COLUMN_TILE

    def buffer(self, rows: int) -> torch.Tensor:
        """Allocate logits [rows, vocab_size] whose rows start at multiples of `COLUMN_TILE` elements."""
        return self.weight.new_empty(rows, self.columns)[:, : self.weight.size(0)]

    def logits(self, rows: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        """Compute the logits [rows, vocab_size] of hidden states [rows, hidden_size], and write them to `out`."""
        if self.bias is None:
            return torch.mm(rows, self.weight.t(), out=out)
        return torch.addmm(self.bias, rows, self.weight.t(), out=out)


class HeadStatistics(NamedTuple):
    """Output tensors that a pass over the supervised tokens fills, each [num_valid].

    Attributes:
        nll: negative log-likelihood of each token.
        penalty: KL term to the base model, already multiplied by its factor. None if the objective has no such term.
        measured: the other statistics that the rule reads, by their names in `rules.STATISTICS`.
    """

    nll: torch.Tensor
    penalty: torch.Tensor | None
    measured: dict[str, torch.Tensor]


@dataclass
class HeadGradients:
    """Output tensors for the gradients of a pass, all multiplied by `scale`.

    Attributes:
        rows: [num_valid, hidden_size], gradient of the hidden states. None if it is not wanted.
        weight: [vocab_size, hidden_size] in float32 or wider, gradient of the head's weight. None if it is not wanted.
        bias: [vocab_size] in float32 or wider, gradient of the head's bias. None if it is not wanted.
        factor: [num_valid], a factor by which the caller must still multiply each row of `rows`. None means 1, which
            is always the case where `weight` or `bias` is wanted.
        token_scale: [num_valid], the token weights of the data. `weight` and `bias` include them, `rows` does not.
            None means 1.
        scale: a power of two that keeps small gradients in the range of float16; 1 where that is not needed.
    """

    rows: torch.Tensor | None = None
    weight: torch.Tensor | None = None
    bias: torch.Tensor | None = None
    factor: torch.Tensor | None = None
    token_scale: torch.Tensor | None = None
    scale: float = 1.0

    @property
    def wanted(self) -> bool:
        """Return True if at least one gradient is wanted."""
        return any(part is not None for part in (self.rows, self.weight, self.bias))

    def add(self, rows: torch.Tensor, logit_gradient: torch.Tensor, head: Head, part: slice) -> None:
        """Add the gradients of one chunk.

        Args:
            rows: [rows, hidden_size], the hidden states of the chunk.
            logit_gradient: [rows, vocab_size], the gradient with respect to the logits of the chunk.
            head: the head that made the logits.
            part: which of the supervised tokens the chunk holds.
        """
        if self.rows is not None:
            torch.mm(logit_gradient, head.weight, out=self.rows[part])
        scale = None if self.token_scale is None else self.token_scale[part].to(rows.dtype)
        if self.weight is not None:
            _accumulate(self.weight, logit_gradient, rows if scale is None else rows * scale[:, None])
        if self.bias is not None:
            self.bias += (torch.ones_like(rows[:, 0]) if scale is None else scale) @ logit_gradient


def _accumulate(total: torch.Tensor, gradient: torch.Tensor, rows: torch.Tensor) -> None:
    """Compute total [V, H] += gradient [rows, V]^T @ rows [rows, H], with the sum in the precision of `total`."""
    if total.dtype == gradient.dtype:
        total.addmm_(gradient.t(), rows)
    elif total.is_cuda and hasattr(torch.ops.aten.addmm, "dtype_out"):  # since torch 2.8: bf16 in, float32 out
        torch.ops.aten.addmm.dtype_out(total, gradient.t(), rows, total.dtype, out=total)
    else:
        for start in range(0, total.size(0), 8192):  # in slices, to keep the temporary small
            part = slice(start, start + 8192)
            total[part] += gradient[:, part].t() @ rows


# ---- the steps between and after the products, in plain PyTorch


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

    Without rounding errors both values would be at least 0, so the maximum only removes rounding errors. The gradient
    is that of the values before the maximum.

    Args:
        logits: [rows, vocab_size] in the model's dtype. Overwritten with the gradient if `want_gradient`.
        target: [rows], token ids.
        nll: [rows], output. NaN where the target is outside the vocabulary.
        weight: [rows], M. None means 1.
        reference: [rows, vocab_size], logits of the base model; needed if there is a KL term.
        penalty: [rows], output for the KL term. None means that there is no KL term.
        kl: factor of the KL term.
        want_gradient: False leaves the logits unchanged.
        gradient_scale: a power of two that keeps small probabilities in the range of the logits' dtype.
        factor: [rows], output if given and `want_gradient`. The gradient is then `logits` times this factor, row by
            row. The Triton backend uses it to save a second read of the logits; here it is always 1.
    """
    log_p = F.log_softmax(logits.to(nll.dtype), dim=-1)  # [rows, vocab_size]
    in_vocabulary = (target >= 0) & (target < logits.size(1))
    target = target.where(in_vocabulary, 0)
    nll.copy_((-log_p.gather(1, target[:, None])[:, 0]).clamp_min(0.0).where(in_vocabulary, torch.nan))

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
    """Compute out[position] = rows * row_scale * grad_output, the backward pass of the hidden states.

    Args:
        rows: [num_valid, hidden_size].
        position: [num_valid], row indices of `out`, each at most once.
        row_scale: [num_valid] in full precision: in float16, 1 / count alone would underflow.
        grad_output: a scalar.
        out: [batch * length, hidden_size]. Only the rows at `position` are written.
    """
    scale = row_scale * grad_output
    for start in range(0, rows.size(0), 1024):  # in slices, to keep the temporaries small
        part = slice(start, start + 1024)
        out.index_copy_(0, position[part], (rows[part] * scale[part, None]).to(out.dtype))


TORCH = sys.modules[__name__]


@functools.cache
def _finds_compiler() -> bool:
    """Check that Triton finds the C compiler with which it builds its launchers, and warn once if it does not."""
    custom_build = None
    with suppress(ImportError):  # an older Triton has no such module
        from triton.knobs import build

        custom_build = build.impl
    has_compiler = bool(custom_build or os.environ.get("CC") or shutil.which("clang") or shutil.which("gcc"))
    if not has_compiler:
        warnings.warn(
            "Triton finds no C compiler, so the fused head takes PyTorch's operations, which are slower: install gcc "
            "or clang, or name one with CC=/path/to/it.",
            stacklevel=3,
        )
    return has_compiler


def choose_backend(device: torch.device, dtype: torch.dtype, backend: str = "auto") -> ModuleType:
    """Return the module whose functions run between the matrix products: this one or `triton_kernels`.

    With "auto", Triton is used on NVIDIA and AMD GPUs if it is installed and finds a C compiler. Otherwise, and for
    dtypes other than float32, bfloat16 and float16, plain PyTorch is used.

    Args:
        device: device of the logits.
        dtype: dtype of the logits.
        backend: "auto", or "torch" or "triton" to force one. TRITON_INTERPRET=1 runs "triton" on a CPU.

    Raises:
        ValueError: an unknown backend, or "triton" on a device or for a dtype that it does not support.
        ImportError: "triton", which is not installed.
    """
    if backend not in ("auto", "torch", "triton"):
        raise ValueError(f"backend={backend!r}: expected auto, torch or triton.")
    fits = dtype in (torch.float32, torch.bfloat16, torch.float16)
    on_gpu = device.type == "cuda"  # PyTorch uses this name for AMD's GPUs, too
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
    """Return a context in which `device` is the current device.

    Triton launches its kernels on the current device. If a model is spread over several GPUs, the tensors may be on
    another one.
    """
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


# ---- the loop


def rows_per_chunk(num_tokens: int, row_bytes: int) -> int:
    """Return how many tokens go through the head at once.

    This is all of them if they fit into `CHUNK_BYTES`. Otherwise it is the largest number that fits and is one less
    than a multiple of `ROW_TILE`, or simply the largest that fits where fewer than `ROW_TILE` do.
    """
    most = max(1, CHUNK_BYTES // row_bytes)
    if num_tokens <= most or most < ROW_TILE:
        return min(most, num_tokens)
    return most - (most + 1) % ROW_TILE


def bytes_of_a_row(sources: list[tuple[torch.Tensor, Head]], backend: ModuleType) -> int:
    """Return the memory in bytes that one token's logits take, temporaries included."""
    head = sources[0][1]
    element_bytes = head.weight.dtype.itemsize
    if backend is TORCH:  # log-probabilities, the gradient and a temporary, in full precision
        element_bytes += 3 * torch.promote_types(head.weight.dtype, torch.float32).itemsize
    return head.columns * element_bytes * len(sources)


# The hidden states [rows, hidden_size] and the logits [rows, vocab_size] of a chunk.
Product = tuple[torch.Tensor, torch.Tensor]


def multiply(
    sources: list[tuple[torch.Tensor, Head]], position: torch.Tensor, buffers: list[torch.Tensor] | None = None
) -> list[Product]:
    """Compute the logits at some positions, for each source.

    Args:
        sources: pairs of hidden states [batch * length, hidden_size] and a head.
        position: [rows], indices into the hidden states.
        buffers: memory for the logits of each source, [rows or more, vocab_size]. None allocates it.

    Returns:
        For each source, the selected hidden states in the head's dtype and their logits.
    """
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
    """Run the head over the supervised tokens, and fill `statistics` and the wanted parts of `gradients`.

    This is a generator that yields once, after everything that fills `statistics` is queued on the device and before
    the last chunk's products for the gradients. Callers can queue the rest of the loss and start device-to-host copies
    there, so that these do not wait for the products. They must then exhaust the generator to complete the gradients.
    The current device must be the device of the tensors (see `on_device`).

    Args:
        sources: hidden states [batch * length, hidden_size] and the head, followed by those of the base model if the
            objective reads it.
        tokens: positions and targets of the supervised tokens. A target outside the vocabulary gets an nll of NaN.
        statistics: output, overwritten.
        gradients: output. `rows` and `factor` are overwritten, `weight` and `bias` are added to.
        kl: factor of the KL term.
        backend: module with the functions between the products (see `choose_backend`).
        chunk_rows: number of tokens that go through the head at once.
        weight: the factor of each token's nll in the gradients, [num_valid], or a function that returns it for a slice
            of the tokens and is called once the statistics of that slice are there. None means 1.
        first: the result of `multiply` for the first `chunk_rows` positions, if it is already computed. Rows after the
            last supervised token are ignored.
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
        if callable(weight):  # it reads the nll, so a first step without a gradient computes that
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
