"""Compute the log-probability of every supervised token of many rows, in batches.

Where the model allows it, the fused output layer is used, so that the logits are never held in memory.

The rows come as the preprocessing of training makes them, and the results leave in the same order. Only `ROWS_SORTED`
rows are held at a time.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from accelerate.utils.memory import clear_device_cache, should_reduce_batch_size

from ..objective import ObjectiveSettings, fused_objective
from ..objective.cuset import IGNORE_INDEX, check_finite, supervised_positions
from ..stage.head import PROBED_TOKENS, FusedHead


ROWS_SORTED = 64  # rows that are read ahead and sorted, so that the rows of a batch have similar lengths
_CHUNK = 512  # tokens whose logits are held in float32 at a time, where the head is not fused
_PLAIN = ObjectiveSettings(objective="sft")

Row = Mapping[str, Sequence[int]]


def token_log_probabilities(
    model: Any, rows: Iterable[Row], *, batch_tokens: int = 8192, head: FusedHead | None = None
) -> Iterator[np.ndarray]:
    """Yield the log-probability of each supervised token, given the tokens before it.

    Its exponential is the confidence c of Eq. 1.

    Args:
        model: a causal language model in evaluation mode. It may be wrapped (DDP) if `head` is given.
        rows: rows with `input_ids` and `labels`, [length] each. A label is -100 (not supervised) or the token itself.
            Rows are read lazily, `ROWS_SORTED` ahead of the results.
        batch_tokens: tokens of a batch, padding included. It is halved for the rest whenever memory runs out. A longer
            row is a batch of its own.
        head: the fused head of the model, if a trainer has already covered the output layer. None means that one is
            made here, and removed at the end.

    Yields:
        For each row, in order: [number of labels that are not -100] float32, in nats, at most 0. If the first token of
        a row is supervised, its value is NaN, because nothing predicts it.

    Raises:
        ValueError: an id is outside the model's vocabulary, or logits are NaN or infinite.
    """
    used_head = head or FusedHead(model, _PLAIN)
    source = iter(rows)
    try:
        while ahead := list(islice(source, ROWS_SORTED)):
            by_index: dict[int, np.ndarray] = {}
            # The longest rows come first, so that memory runs out at the beginning, if at all.
            waiting = sorted(range(len(ahead)), key=lambda index: -len(ahead[index]["input_ids"]))
            while waiting:
                longest = len(ahead[waiting[0]]["input_ids"])
                batch = waiting[: max(1, batch_tokens // max(1, longest))]
                out_of_memory = False
                try:
                    by_index |= zip(batch, _read(model, used_head, [ahead[index] for index in batch]), strict=True)
                except RuntimeError as error:
                    if len(batch) == 1 or not should_reduce_batch_size(error):
                        raise
                    out_of_memory = True
                if out_of_memory:  # outside the except block, because the traceback keeps the batch's tensors alive
                    clear_device_cache(garbage_collection=True)
                    batch_tokens = longest * (len(batch) // 2)
                else:
                    del waiting[: len(batch)]
            yield from (by_index[index] for index in range(len(ahead)))
    finally:
        if head is None:
            used_head.uncover()


@torch.no_grad()
def _read(model: Any, head: FusedHead, rows: Sequence[Row]) -> list[np.ndarray]:
    """Read one batch and return the log-probabilities of each row, as `token_log_probabilities` yields them."""
    # Padding is on the right, where causal attention does not see it. So no attention mask is needed.
    ids, labels = (
        torch.nn.utils.rnn.pad_sequence(
            [torch.as_tensor(row[name], dtype=torch.int64) for row in rows], batch_first=True, padding_value=value
        )
        for name, value in (("input_ids", 0), ("labels", IGNORE_INDEX))
    )
    embeddings = getattr(model, "module", model).get_input_embeddings()
    if (largest := int(ids.max())) >= embeddings.num_embeddings:
        outside = f"outside the model's vocabulary of {embeddings.num_embeddings}"
        raise ValueError(f"token {largest} is {outside}: the tokenizer belongs to another model.")
    counts = supervised_positions(labels).sum(dim=1).tolist()
    ids = ids.to(embeddings.weight.device)
    values = _log_probabilities(model, head, ids, labels).cpu() if sum(counts) else torch.empty(0)
    check_finite(torch.isfinite(values))
    unpredicted = (labels[:, 0] != IGNORE_INDEX).tolist()
    parts = zip(unpredicted, values.split(counts), strict=True)
    return [np.concatenate([np.full(int(first), np.nan, np.float32), part.numpy()]) for first, part in parts]


def _log_probabilities(model: Any, head: FusedHead, ids: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return the log-probability of each supervised token of a batch, [num_valid] float32, on the model's device.

    They are computed inside the output layer where it can be fused, otherwise from the logits.
    """
    run = partial(model, use_cache=False)
    if head.reason is None and not head.is_verified:
        # Few tokens are enough to verify the head. A whole batch would take minutes on a CPU.
        head.verify(lambda: run(input_ids=ids[:1, :PROBED_TOKENS]))
    if head.reason is None:
        hidden, (weight, bias) = head.inputs_of(lambda: run(input_ids=ids), with_head=True)
        _, terms = fused_objective(hidden, weight, labels.to(hidden.device), None, None, _PLAIN, bias=bias)
        return -terms.nll

    logits = run(input_ids=ids).logits[:, :-1]  # [batch, length - 1, vocab_size]
    positions = supervised_positions(labels).nonzero().to(logits.device)
    targets = labels.to(logits.device)[:, 1:][positions[:, 0], positions[:, 1]]
    parts = zip(positions.split(_CHUNK), targets.split(_CHUNK), strict=True)
    nll = [F.cross_entropy(logits[at[:, 0], at[:, 1]].float(), target, reduction="none") for at, target in parts]
    return -torch.cat(nll).clamp(min=0.0)
