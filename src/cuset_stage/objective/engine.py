"""The fused head's loop: supervised rows of hidden states to losses and gradients, a chunk of logits at a time (torch only).

Nothing here knows autograd: `fused.py` carries the gradients that are formed here into the backward pass.
"""

import functools
import os
import shutil
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from types import ModuleType

import torch

from . import chunk as torch_chunk
from .chunk import LogitTransform, WeightRule


# What a chunk of logits may take, with the chunk's temporaries. Larger chunks fill the GPU better, smaller ones fit smaller cards;
# 0.25 GiB makes 863 rows of a 152k vocabulary in bf16.
CHUNK_BYTES = int(0.25 * 2**30)
# Chunks have one row less than a multiple of this: on an H200 cuBLAS 13.1 then takes tiles of 192 x 208 and 256 x 120, which even
# numbers of rows do not get. 863 rows cost 3% less a row than 896, and 6% less than 1024 (two products, 3584 x 152064).
ROW_TILE = 96
# Rows of the logits start at multiples of this many elements, so that kernels load 16 bytes at a time whatever the vocabulary.
COLUMN_TILE = 64
# The share of a batch's positions whose logits may be computed before their number arrives: so many are likely to be supervised.
# A larger share wastes more where most of the batch is prompt, a smaller one leaves the GPU idle until the host knows the number.
EAGER_SHARE = 0.25
# Whether the kernel may leave the division by the softmax's sum to the backward pass and so read the logits once, not twice.
SINGLE_READ = True
# In float16 the probabilities below 6e-8 vanish; times 128 the gradients of a [V, H] head still stay far from its maximum.
FLOAT16_GRADIENT_SCALE = 128.0


@dataclass(frozen=True)
class Head:
    """A language model's head. `weight` [vocab_size, hidden_size], `bias` [vocab_size] or None, in the dtype of the products."""

    weight: torch.Tensor
    bias: torch.Tensor | None = None

    @property
    def row_elements(self) -> int:
        """What a row of `buffer` takes, in elements."""
        return -(-self.weight.size(0) // COLUMN_TILE) * COLUMN_TILE

    def buffer(self, rows: int) -> torch.Tensor:
        """Memory for logits [rows, vocab_size] whose rows start at multiples of `COLUMN_TILE` elements."""
        return self.weight.new_empty(rows, self.row_elements)[:, : self.weight.size(0)]

    def logits(self, rows: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        """[rows, hidden_size] to [rows, vocab_size], in `out`."""
        if self.bias is None:
            return torch.mm(rows, self.weight.t(), out=out)
        return torch.addmm(self.bias, rows, self.weight.t(), out=out)


@dataclass
class HeadStatistics:
    """Per supervised token, [num_valid]: the negative log-likelihood, the weight M and ASFT's penalty (or None)."""

    nll: torch.Tensor
    weight: torch.Tensor
    penalty: torch.Tensor | None = None


@dataclass
class HeadGradients:
    """Where a pass writes gradients; None where none is wanted. All of them times `scale`.

    Attributes:
        rows: [num_valid, hidden_size], with respect to the hidden states, each token as if its sample weighed 1.
        weight: [vocab_size, hidden_size], summed over tokens with their samples' weights, in float32 (float64 for float64).
        bias: [vocab_size], summed likewise.
        factor: [num_valid], what `rows` are still to be multiplied with; None: 1, as it has to be where `weight` or `bias` is wanted.
        token_scale: [num_valid], the samples' weights that enter `weight` and `bias`; None: 1.
    """

    rows: torch.Tensor | None = None
    weight: torch.Tensor | None = None
    bias: torch.Tensor | None = None
    factor: torch.Tensor | None = None
    token_scale: torch.Tensor | None = field(default=None, repr=False)
    scale: float = 1.0

    @property
    def wanted(self) -> bool:
        return any(part is not None for part in (self.rows, self.weight, self.bias))


def on_device(device: torch.device) -> AbstractContextManager:
    """Triton launches on the current device, which need not be that of a model spread over several."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


@functools.cache
def _finds_compiler() -> bool:
    """Whether Triton has the C compiler that it builds its launchers with, in the places where it looks; if not, one warning."""
    try:
        from triton.knobs import build
    except ImportError:  # an older Triton
        own_way = None
    else:
        own_way = build.impl
    found = bool(own_way or os.environ.get("CC") or shutil.which("clang") or shutil.which("gcc"))
    if not found:
        warnings.warn(
            "Triton finds no C compiler, so the fused head takes PyTorch's operations, which are slower: install gcc or clang, or "
            "name one with CC=/path/to/it.",
            stacklevel=3,
        )
    return found


def choose_backend(device: torch.device, dtype: torch.dtype, backend: str = "auto") -> ModuleType:
    """The module whose `read_supervision`, `chunk_step`, `weigh_samples` and `scatter_rows` to use: Triton's on NVIDIA and AMD GPUs when
    Triton is there with a C compiler, else plain PyTorch's.

    Args:
        device: where the logits are.
        dtype: of the logits.
        backend: "auto", or "torch" or "triton" to insist. TRITON_INTERPRET=1 runs "triton" on a CPU.
    """
    if backend not in ("auto", "torch", "triton"):
        raise ValueError(f"backend={backend!r}: expected auto, torch or triton.")
    if backend == "torch":
        return torch_chunk

    fits = dtype in (torch.float32, torch.bfloat16, torch.float16)
    on_gpu = device.type == "cuda"  # also what PyTorch calls AMD's
    if backend == "auto" and not (fits and on_gpu):
        return torch_chunk
    if not fits or not (on_gpu or os.environ.get("TRITON_INTERPRET") == "1"):
        raise ValueError(f"backend='triton' takes float32, bfloat16 or float16 on a GPU, got {dtype} on {device}.")
    try:
        from . import triton_kernels
    except ImportError:
        if backend == "triton":
            raise
        return torch_chunk
    return triton_kernels if backend == "triton" or _finds_compiler() else torch_chunk


def rows_per_chunk(num_tokens: int, row_bytes: int, budget: int = CHUNK_BYTES) -> int:
    """How many tokens go through the head at once: all, or what the budget allows, one less than a multiple of `ROW_TILE`."""
    most = max(1, budget // row_bytes)
    if most < ROW_TILE:
        return min(most, num_tokens)
    if num_tokens <= most:
        return num_tokens
    return most - (most + 1) % ROW_TILE


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


class ForwardProduct:
    """The hidden states and logits of a chunk, in buffers that the chunks take in turn.

    Args:
        hidden: [batch * length, hidden_size].
        head: see there.
        reference: hidden states [batch * length, ...] and head of the base model, or None.
        num_tokens: how many supervised tokens there are at most.
        kernels: from `choose_backend`; plain PyTorch takes more memory a row.
        chunk_rows: rows of a chunk; None: by `CHUNK_BYTES`.
        copies: how many copies of the logits somebody will make of a chunk, to be counted among those bytes.
    """

    def __init__(
        self,
        hidden: torch.Tensor,
        head: Head,
        reference: tuple[torch.Tensor, Head] | None,
        num_tokens: int,
        *,
        kernels: ModuleType = torch_chunk,
        chunk_rows: int | None = None,
        copies: int = 0,
    ):
        dtype = head.weight.dtype
        columns = head.row_elements
        self._sources = [(hidden, head)] if reference is None else [(hidden, head), reference]
        self._chunk_rows = chunk_rows
        self._row_bytes = columns * dtype.itemsize * (len(self._sources) + copies)
        if kernels is torch_chunk:  # log-probabilities, the gradient and a temporary, in full precision
            full = torch.promote_types(dtype, torch.float32)
            self._row_bytes += columns * full.itemsize * 3 * len(self._sources)
        rows = min(num_tokens, max(1, CHUNK_BYTES // self._row_bytes if chunk_rows is None else chunk_rows))
        self._inputs = [h.weight.new_empty(rows, h.weight.size(1)) for _, h in self._sources]
        self._logits = [h.buffer(rows) for _, h in self._sources]
        self._begun = 0

    def chunk_rows(self, num_tokens: int) -> int:
        """How many of `num_tokens` tokens go through the head at once."""
        if self._chunk_rows is not None:
            return max(1, min(self._chunk_rows, num_tokens))
        return rows_per_chunk(num_tokens, self._row_bytes)

    def begin(self, position: torch.Tensor) -> None:
        """Queue the product of what may be the first chunk's first tokens, before anybody knows how many of them are supervised.

        Args:
            position: as many as may turn out to be there; a share of them is taken, see `EAGER_SHARE`.
        """
        self._begun = min(self.chunk_rows(position.numel()), int(position.numel() * EAGER_SHARE))
        self._queue(position[: self._begun], 0)

    def __call__(self, position: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
        """(rows [chunk, hidden_size], logits [chunk, vocab_size], the base model's logits or None) of the tokens at `position`."""
        size = position.numel()
        self._queue(position[self._begun :], self._begun)
        self._begun = 0
        logits, *base = (buffer[:size] for buffer in self._logits)
        return self._inputs[0][:size], logits, base[0] if base else None

    def _queue(self, position: torch.Tensor, start: int) -> None:
        if not position.numel():
            return
        part = slice(start, start + position.numel())
        for (hidden, head), inputs, logits in zip(self._sources, self._inputs, self._logits, strict=True):
            rows = inputs[part]
            if hidden.dtype == rows.dtype:
                torch.index_select(hidden, 0, position, out=rows)
            else:  # under autocast
                rows.copy_(hidden.index_select(0, position))
            head.logits(rows, logits[part])


def run_head(
    product: ForwardProduct,
    position: torch.Tensor,
    target: torch.Tensor,
    head: Head,
    transform: LogitTransform,
    rule: WeightRule,
    statistics: HeadStatistics,
    gradients: HeadGradients,
    *,
    penalty_scale: float = 0.0,
    kernels: ModuleType = torch_chunk,
    skip_zero_rows: bool = False,
    conclude: Callable[[], None] = lambda: None,
) -> None:
    """Run the head over the supervised tokens, filling `statistics` and the parts of `gradients` that are there.

    The current device is that of the tensors: see `on_device`.

    Args:
        product: the hidden states and the head, which may have begun with the first tokens.
        position: [num_valid], the row of the hidden states that predicts each token.
        target: [num_valid]; a token outside the vocabulary gets an nll of NaN.
        head, transform, rule: see there.
        statistics: written; its weight holds the start of `rule` on entry.
        gradients: written, or added to.
        penalty_scale: weight of the KL term to the base model.
        kernels: from `choose_backend`.
        skip_zero_rows: leave tokens of weight 0 out of the products for the gradients, see `CollectedTokens`. Costs a device
            synchronisation a chunk and a copy of what is left, so it pays only where many tokens have weight 0. No token is left
            out next to a base model: the KL term gives each a gradient.
        conclude: called once what fills `statistics` is queued, while a chunk's products for the gradients are still to come: what
            the host will want to know should be queued here.
    """
    num_tokens = target.numel()
    chunk_rows = product.chunk_rows(num_tokens)
    collected = None
    if skip_zero_rows and gradients.wanted and statistics.penalty is None:
        collected = CollectedTokens(chunk_rows, head, gradients)
    for start in range(0, num_tokens, chunk_rows):
        part = slice(start, start + chunk_rows)
        rows, logits, base = product(position[part])
        kernels.chunk_step(
            logits,
            target[part],
            statistics.nll[part],
            statistics.weight[part],
            None if statistics.penalty is None else statistics.penalty[part],
            rule,
            transform,
            reference=base,
            penalty_scale=penalty_scale,
            want_gradient=gradients.wanted,
            gradient_scale=gradients.scale,
            factor=None if gradients.factor is None else gradients.factor[part],
        )
        if start + chunk_rows >= num_tokens:
            conclude()
        if collected is not None:
            collected.add(rows, logits, statistics.weight[part], start)
        elif gradients.wanted:
            _multiply(rows, logits, part, head, gradients)
    if collected is not None:
        collected.multiply()


class CollectedTokens:
    """Tokens that weigh something, collected over chunks until there are enough for one product: few rows would leave the GPU idle.

    Args:
        size: how many to collect.
        head, gradients: see there; what belongs to the tokens left out becomes 0.
    """

    def __init__(self, size: int, head: Head, gradients: HeadGradients):
        self._head, self._gradients = head, gradients
        self._token = torch.empty(size, dtype=torch.long, device=head.weight.device)
        self._rows = head.weight.new_empty(size, head.weight.size(1))
        self._logit_gradient = head.buffer(size)
        self._used = 0
        if gradients.rows is not None:
            gradients.rows.zero_()

    def add(self, rows: torch.Tensor, logit_gradient: torch.Tensor, weight: torch.Tensor, first: int) -> None:
        """Take what has a weight of a chunk's [rows, hidden_size] and [rows, vocab_size]; `first`: the pass's number of its first token."""
        rest = weight.nonzero()[:, 0]
        while rest.numel():
            taken, rest = rest.tensor_split([len(self._token) - self._used])
            part = slice(self._used, self._used + taken.numel())
            torch.add(taken, first, out=self._token[part])
            torch.index_select(rows, 0, taken, out=self._rows[part])
            torch.index_select(logit_gradient, 0, taken, out=self._logit_gradient[part])
            self._used = part.stop
            if self._used == len(self._token):
                self.multiply()

    def multiply(self) -> None:
        """Run the products of what has been collected."""
        part = slice(0, self._used)
        if self._used:
            _multiply(self._rows[part], self._logit_gradient[part], self._token[part], self._head, self._gradients)
        self._used = 0


def _multiply(
    rows: torch.Tensor,
    logit_gradient: torch.Tensor,
    tokens: slice | torch.Tensor,
    head: Head,
    gradients: HeadGradients,
) -> None:
    """The products that follow the logit gradients [rows, vocab_size] of `tokens`, numbered as in the pass."""
    if gradients.rows is not None:
        if isinstance(tokens, slice):
            torch.mm(logit_gradient, head.weight, out=gradients.rows[tokens])
        else:
            gradients.rows.index_copy_(0, tokens, logit_gradient @ head.weight)
    if gradients.weight is None and gradients.bias is None:
        return

    scale = None if gradients.token_scale is None else gradients.token_scale[tokens].to(rows.dtype)
    if gradients.weight is not None:
        _accumulate(gradients.weight, logit_gradient, rows if scale is None else rows * scale[:, None])
    if gradients.bias is not None:
        gradients.bias += (torch.ones_like(rows[:, 0]) if scale is None else scale) @ logit_gradient
