"""The log-probability of every supervised token of many rows, in batches, without the logits where the model allows it.

Rows come in as the training's preprocessing makes them and leave in the same order; a window of them is held at a time.
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


ROWS_SORTED = 64  # rows that are read ahead, so that a batch's rows are about equally long
_CHUNK = 512  # tokens whose logits are held in float32 at a time, where the model makes logits
_PLAIN = ObjectiveSettings(objective="sft")

Row = Mapping[str, Sequence[int]]


def token_log_probabilities(
    model: Any, rows: Iterable[Row], *, batch_tokens: int = 8192, head: FusedHead | None = None
) -> Iterator[np.ndarray]:
    """log p of each supervised token given what stands before it (Eq. 1: its exponential is the confidence c).

    Args:
        model: a causal language model in evaluation mode; what wraps it (DDP) may be around it when `head` is given.
        rows: `input_ids` and `labels` of each, [length]; a label of -100 is not supervised, the others are the token itself. Read as
            the results are taken, `ROWS_SORTED` ahead.
        batch_tokens: tokens of a batch with its padding; halved for the rest whenever memory runs out. A longer row goes alone.
        head: the model's own fused head, where a trainer has already covered its output layer.

    Yields:
        For each row, in order: [number of labels that are not -100] float32, in nats, at most 0. NaN for a row's first token,
        should it be supervised: nothing predicts it.

    Raises:
        ValueError: ids outside the model's vocabulary, NaN or infinite logits.
    """
    used = head or FusedHead(model, _PLAIN)
    source = iter(rows)
    try:
        while ahead := list(islice(source, ROWS_SORTED)):
            by_index: dict[int, np.ndarray] = {}
            # The longest first, so that memory runs out at the beginning if at all.
            waiting = sorted(range(len(ahead)), key=lambda index: -len(ahead[index]["input_ids"]))
            while waiting:
                longest = len(ahead[waiting[0]]["input_ids"])
                batch = waiting[: max(1, batch_tokens // max(1, longest))]
                is_short = False
                try:
                    by_index |= zip(batch, _read(model, used, [ahead[index] for index in batch]), strict=True)
                except RuntimeError as error:
                    if len(batch) == 1 or not should_reduce_batch_size(error):
                        raise
                    is_short = True
                if is_short:  # outside the except block: the traceback holds the batch's tensors
                    clear_device_cache(garbage_collection=True)
                    batch_tokens = longest * (len(batch) // 2)
                else:
                    del waiting[: len(batch)]
            yield from (by_index[index] for index in range(len(ahead)))
    finally:
        if head is None:
            used.uncover()


@torch.no_grad()
def _read(model: Any, head: FusedHead, rows: Sequence[Row]) -> list[np.ndarray]:
    """One batch; see `token_log_probabilities`."""
    # Padding stands on the right, where causal attention does not see it: no mask is needed.
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
    """[num_valid] float32 on the model's device: computed in its output layer, or from its logits."""
    run = partial(model, use_cache=False)
    if head.reason is None and not head.is_verified:
        # Few tokens: a whole batch takes minutes on a CPU.
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
