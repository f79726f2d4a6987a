"""Training without padding: the rows of a batch lie end to end, and no layer but attention computes a padding token.

A padded batch [batch, length] becomes one row [1, tokens]; positions begin anew with each of its rows, and the samples of different rows
keep different numbers. Only torch's `scaled_dot_product_attention` sees the rows apart: there they are padded again and, as padding
follows them and attention is causal, no mask is needed. That lets torch take its FlashAttention, which takes no mask. A step has the same
rows in the same order, so the loss and gradients are those of the padded batch but for rounding.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from ..objective.cuset import IGNORE_INDEX
from .processors import COLUMNS, WEIGHTS


LENGTHS = "row_lengths"  # of a batch, where the host knows them
# A batch with other columns has positions, images or the like of its own.
TEXT = {"input_ids", "attention_mask", "labels", *COLUMNS, WEIGHTS}


class NotPossibleError(Exception):
    """The model cannot be trained without padding; the message says why."""


@dataclass
class Rows:
    """Where the tokens of a batch stand: `index` [tokens], their places in [batch * length]; and what attention saw of it.

    `seen` are the modules that came for their attention; `reason` says why one of them could not have it over the rows apart.
    """

    index: torch.Tensor
    batch: int
    length: int
    seen: set[int] = field(default_factory=set)
    reason: str | None = None

    def check(self, *models: torch.nn.Module) -> None:
        """Raise NotPossibleError unless each layer of these models, which have run, had its attention over the rows apart."""
        for model in models:
            layers = model.config.get_text_config().num_hidden_layers
            if self.reason is None and len(self.seen & {id(module) for module in model.modules()}) != layers:
                self.reason = "not all of its layers use transformers' attention"
        if self.reason is not None:
            raise NotPossibleError(self.reason)


_rows: Rows | None = None  # of the training step under way


def reason_against(model: torch.nn.Module, args: Any) -> str | None:
    """Why a model, bare or in PEFT's wrapper, is not trained without padding; None where it is tried. args: the Trainer's arguments."""
    config = model.config.get_text_config()
    if (kind := getattr(config, "_attn_implementation", None)) != "sdpa":
        return f"its attention is {kind}, not sdpa"
    others = sorted(set(getattr(config, "layer_types", None) or ()) - {"full_attention"})
    if others or getattr(config, "sliding_window", None):
        return f"it has layers of {', '.join(others) or 'sliding_attention'}"
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    if not rope and not hasattr(config, "rope_theta"):
        return "its positions are not rotary"  # those of BART and RoBERTa are counted by the model, over all that lies in a row
    if (kind := rope.get("rope_type", rope.get("type", "default"))) in ("dynamic", "longrope"):
        return f"its {kind} positions depend on the length of the batch"
    if args.torch_compile:
        return "a compiled model would be compiled anew for each number of tokens"
    if args.neftune_noise_alpha:
        return "NEFTune's noise depends on the length of a row"
    if args.device.type == "cuda":
        is_half = args.bf16 or args.fp16 or model.dtype in (torch.bfloat16, torch.float16)
        if not is_half or (torch.version.cuda and torch.cuda.get_device_capability(args.device) < (8, 0)):
            return "without FlashAttention, which float32 and old GPUs lack, attention would take more memory"
    return None


def row_lengths(mask: torch.Tensor) -> tuple[int, ...] | None:
    """The number of tokens of each row of an attention mask [batch, length]; None unless padding follows the rows. Waits for the device."""
    if mask.dim() != 2:
        return None
    lengths = mask.sum(dim=1)
    place = torch.arange(mask.size(1), device=mask.device)
    return tuple(lengths.tolist()) if bool((mask == (place < lengths[:, None])).all()) else None


def lay(
    batch: dict[str, Any], lengths: Sequence[int] | None = None, full: bool = False
) -> tuple[dict[str, Any], Rows] | None:
    """A padded batch of tensors [batch, length] as one row [1, tokens], and where its tokens stood.

    lengths: `row_lengths` of its mask, without which it waits for the device. full: also lay a batch without padding, where there is
    nothing to gain. None where rows cannot be laid: the batch has columns beside those of text, or `row_lengths` gives None.
    """
    mask = batch.get("attention_mask")
    if mask is None or batch.keys() - TEXT:
        return None
    lengths = lengths or row_lengths(mask)
    if lengths is None or (sum(lengths) == mask.numel() and not full):
        return None
    count, length = mask.shape
    index = torch.nonzero_static(mask.reshape(-1), size=sum(lengths)).squeeze(1)
    laid = {name: value.reshape(-1)[index][None] for name, value in batch.items()}
    position = (index % length)[None]
    row = (index // length)[None]
    laid["position_ids"] = position
    laid["labels"] = laid["labels"].masked_fill(position == 0, IGNORE_INDEX)  # nothing in its own row predicts it
    ids = laid["sample_ids"]
    laid["sample_ids"] = torch.where(ids > 0, ids + row * length, 0).to(ids.dtype)
    return laid, Rows(index, count, length)


@contextlib.contextmanager
def training(enabled: bool) -> Iterator[None]:
    """While a training step computes its loss and gradients; `begin` says which batch it is."""
    before = ALL_ATTENTION_FUNCTIONS["sdpa"], ALL_MASK_ATTENTION_FUNCTIONS["sdpa"]
    if enabled:
        ALL_ATTENTION_FUNCTIONS["sdpa"] = functools.partial(_attention, before[0])
        ALL_MASK_ATTENTION_FUNCTIONS["sdpa"] = functools.partial(_mask, before[1])
    try:
        yield
    finally:
        begin(None)
        ALL_ATTENTION_FUNCTIONS["sdpa"], ALL_MASK_ATTENTION_FUNCTIONS["sdpa"] = before


def begin(rows: Rows | None) -> None:
    """Attention sees these rows apart from now on, also where a checkpoint computes it anew in the backward pass."""
    global _rows
    _rows = rows


def _mask(make: Callable[..., torch.Tensor | None], *args: Any, **options: Any) -> torch.Tensor | None:
    """`make`, transformers' mask of attention; rows that are laid need none, and to find that out `make` would wait for the device."""
    is_causal = options.get("allow_is_causal_skip") and options.get("local_size") is None
    return None if _rows is not None and is_causal else make(*args, **options)


def _attention(
    sdpa: Callable[..., tuple[torch.Tensor, None]],
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """`sdpa`, transformers' attention, of query [1, heads, tokens, size] and of key and value alike, over the rows apart."""
    rows = _rows
    if rows is None:
        return sdpa(module, query, key, value, attention_mask, **options)
    rows.seen.add(id(module))
    # An error here, within a forward pass, would leave what shards the weights in disorder: `check` raises it afterwards.
    if options.get("sliding_window") or not getattr(module, "is_causal", True) or options.get("is_causal") is False:
        rows.reason = "its attention is not causal over whole rows"
    if attention_mask is not None or not query.size(2) == key.size(2) == rows.index.numel():
        rows.reason = "its attention has a mask or tokens of its own"
    if rows.reason is not None:
        return sdpa(module, query, key, value, attention_mask, **options)
    query, key, value = (
        _Moved.apply(given[0].transpose(0, 1), rows, True).transpose(1, 2) for given in (query, key, value)
    )
    output, weights = sdpa(module, query, key, value, None, **options)
    return _Moved.apply(output, rows, False)[None], weights


def _pad(laid: torch.Tensor, rows: Rows) -> torch.Tensor:
    padded = laid.new_zeros(rows.batch * rows.length, *laid.shape[1:])
    return padded.index_copy_(0, rows.index, laid).view(rows.batch, rows.length, *laid.shape[1:])


def _take(padded: torch.Tensor, rows: Rows) -> torch.Tensor:
    return padded.reshape(rows.batch * rows.length, *padded.shape[2:]).index_select(0, rows.index)


class _Moved(torch.autograd.Function):
    """[tokens, heads, size] to [batch, length, heads, size] with `to_rows`, or back; each is the other's gradient, which autograd would sum
    with atomics."""

    @staticmethod
    def forward(ctx: Any, given: torch.Tensor, rows: Rows, to_rows: bool) -> torch.Tensor:
        ctx.rows, ctx.to_rows = rows, to_rows
        return (_pad if to_rows else _take)(given, rows)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        return (_take if ctx.to_rows else _pad)(gradient, ctx.rows), None, None
