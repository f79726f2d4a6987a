"""Train without padding: the rows of a batch are laid end to end, and only attention computes padding tokens.

A padded batch [batch, length] becomes one row [1, tokens]. Positions begin anew with each of its rows, and samples of
different rows keep different numbers. Only torch's `scaled_dot_product_attention` sees separate rows: there the rows
are padded again. As padding follows the tokens and attention is causal, no mask is needed. So torch can use its
FlashAttention, which takes no mask.

A step has the same rows in the same order, so the loss and gradients equal those of the padded batch up to rounding.
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


LENGTHS = "row_lengths"  # key of a batch with its row lengths, if the host knows them
# A batch with other columns has its own positions, images or the like, so it is not laid.
TEXT = {"input_ids", "attention_mask", "labels", *COLUMNS, WEIGHTS}


class NotPossibleError(Exception):
    """The model cannot be trained without padding. The message says why."""


@dataclass
class Rows:
    """The places of a laid batch's tokens, and what attention has seen of the batch.

    Attributes:
        index: [tokens], the place of each token in the flattened padded batch [batch * length].
        batch: number of rows.
        length: padded length of a row.
        seen: ids of the attention modules that have run.
        reason: why one of them could not compute attention over separate rows, or None.
    """

    index: torch.Tensor
    batch: int
    length: int
    seen: set[int] = field(default_factory=set)
    reason: str | None = None

    def check(self, *models: torch.nn.Module) -> None:
        """Check that every layer of these models computed its attention over separate rows.

        Args:
            models: models that have run. Without any, only `reason` is checked.

        Raises:
            NotPossibleError: one of them did not.
        """
        for model in models:
            layers = model.config.get_text_config().num_hidden_layers
            if self.reason is None and len(self.seen & {id(module) for module in model.modules()}) != layers:
                self.reason = "not all of its layers use transformers' attention"
        if self.reason is not None:
            raise NotPossibleError(self.reason)


_rows: Rows | None = None  # the rows of the current training step


def reason_against(model: torch.nn.Module, args: Any) -> str | None:
    """Return why a model, bare or in PEFT's wrapper, cannot be trained without padding, or None if it can be tried."""
    config = model.config.get_text_config()
    if (kind := getattr(config, "_attn_implementation", None)) != "sdpa":
        return f"its attention is {kind}, not sdpa"
    others = sorted(set(getattr(config, "layer_types", None) or ()) - {"full_attention"})
    if others or getattr(config, "sliding_window", None):
        return f"it has layers of {', '.join(others) or 'sliding_attention'}"
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    if not rope and not hasattr(config, "rope_theta"):
        # BART and RoBERTa count positions themselves, over the whole laid row.
        return "its positions are not rotary"
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
    """Return the number of tokens in each row of an attention mask. Waits for the device.

    Args:
        mask: [batch, length].

    Returns:
        The lengths, or None unless padding only follows the rows.
    """
    if mask.dim() != 2:
        return None
    lengths = mask.sum(dim=1)
    place = torch.arange(mask.size(1), device=mask.device)
    return tuple(lengths.tolist()) if bool((mask == (place < lengths[:, None])).all()) else None


def lay(
    batch: dict[str, Any], lengths: Sequence[int] | None = None, full: bool = False
) -> tuple[dict[str, Any], Rows] | None:
    """Lay the rows of a padded batch end to end.

    Args:
        batch: tensors [batch, length] by name.
        lengths: `row_lengths` of the batch's mask. None: it is computed, which waits for the device.
        full: also lay a batch without padding, which saves nothing.

    Returns:
        The batch as tensors [1, tokens] with `position_ids`, and the places of its tokens. None if the batch has
        columns other than those of text, has nothing to gain, or `row_lengths` is None.
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
    # A row's first token is not predicted by a token of the same row, so it must not be a label.
    laid["labels"] = laid["labels"].masked_fill(position == 0, IGNORE_INDEX)
    ids = laid["sample_ids"]
    laid["sample_ids"] = torch.where(ids > 0, ids + row * length, 0).to(ids.dtype)
    return laid, Rows(index, count, length)


@contextlib.contextmanager
def training(enabled: bool) -> Iterator[None]:
    """Compute attention over separate rows within this context, which encloses a training step.

    The context covers the loss and the gradients. `begin` sets the batch.

    Args:
        enabled: False leaves everything as it is.
    """
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
    """Set the rows that attention sees from now on, or None for a batch with padding.

    They stay set during the backward pass, where gradient checkpointing computes attention again.
    """
    global _rows
    _rows = rows


def _mask(make: Callable[..., torch.Tensor | None], *args: Any, **options: Any) -> torch.Tensor | None:
    """Return the attention mask that `make` of transformers makes, or None for laid rows, which need no mask.

    `make` would wait for the device to find that out.
    """
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
    """Compute `sdpa`, transformers' attention, over separate rows.

    Args:
        sdpa: the function of transformers that is replaced.
        module: the attention module.
        query: [1, heads, tokens, size].
        key: as `query`, perhaps with fewer heads.
        value: as `key`.
        attention_mask: None for laid rows.
    """
    rows = _rows
    if rows is None:
        return sdpa(module, query, key, value, attention_mask, **options)
    rows.seen.add(id(module))
    # An error inside a forward pass would leave wrappers that shard the weights in a bad state. So the reason is only
    # noted here, and `check` raises afterwards.
    if options.get("sliding_window") or not getattr(module, "is_causal", True) or options.get("is_causal") is False:
        rows.reason = "its attention is not causal over whole rows"
    if attention_mask is not None or not query.size(2) == key.size(2) == rows.index.numel():
        rows.reason = "its attention has a mask or tokens of its own"
    if rows.reason is not None:
        return sdpa(module, query, key, value, attention_mask, **options)
    query, key, value = (
        _Moved.apply(tensor[0].transpose(0, 1), rows, True).transpose(1, 2) for tensor in (query, key, value)
    )
    output, weights = sdpa(module, query, key, value, None, **options)
    return _Moved.apply(output, rows, False)[None], weights


def _pad(laid: torch.Tensor, rows: Rows) -> torch.Tensor:
    """Return [tokens, ...] as [batch, length, ...] with zeros for padding."""
    padded = laid.new_zeros(rows.batch * rows.length, *laid.shape[1:])
    return padded.index_copy_(0, rows.index, laid).view(rows.batch, rows.length, *laid.shape[1:])


def _take(padded: torch.Tensor, rows: Rows) -> torch.Tensor:
    """Return the tokens of [batch, length, ...] as [tokens, ...]."""
    return padded.reshape(rows.batch * rows.length, *padded.shape[2:]).index_select(0, rows.index)


class _Moved(torch.autograd.Function):
    """Move [tokens, heads, size] to [batch, length, heads, size] with `to_rows`, or back without.

    Each direction is the gradient of the other. Autograd's own gradient would sum with atomics.
    """

    @staticmethod
    def forward(ctx: Any, given: torch.Tensor, rows: Rows, to_rows: bool) -> torch.Tensor:
        ctx.rows, ctx.to_rows = rows, to_rows
        return (_pad if to_rows else _take)(given, rows)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        return (_take if ctx.to_rows else _pad)(gradient, ctx.rows), None, None
