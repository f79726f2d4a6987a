"""The columns that CuSeT reads beside `labels`, made of a batch's own tokens: for trainers whose rows come without their texts."""

import functools
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from ..objective.cuset import IGNORE_INDEX
from ..spans import find_spans, token_mask
from ..spans.tokenizers import TokenAligner


class BatchLabeller:
    """Finds the CUDA tokens of batches.

    A sample is a run of supervised tokens within a row: a completion, an assistant message, or the whole of a text that is supervised as a
    whole. Its text is read back from its tokens, so packed and truncated rows are labelled as they are trained on.

    Args:
        tokenizer: that of the rows.
        kinds, aliases, language: as in `find_spans`.

    Raises:
        ValueError: a kind or a language that does not exist.
    """

    def __init__(self, tokenizer: Any, kinds: Sequence[str], aliases: Iterable[str], language: str):
        self.find = functools.partial(find_spans, kinds=tuple(kinds), aliases=tuple(aliases), language=language)
        self.find("")  # before there is a text
        self.aligner = TokenAligner(tokenizer)

    def columns(self, input_ids: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        """`cuda_mask` (1: the token overlaps a span) and `sample_ids` (from 1; 0: not supervised), both [rows, length], of `input_ids` and
        `labels` [rows, length] in the CPU's memory."""
        supervised = labels != IGNORE_INDEX
        begins = supervised.clone()
        begins[:, 1:] &= ~supervised[:, :-1]
        sample_ids = begins.cumsum(dim=1) * supervised
        cuda_mask = torch.zeros_like(labels)
        for row, numbers in enumerate(sample_ids):
            for number in range(1, int(numbers.max()) + 1):
                places = (numbers == number).nonzero()[:, 0]
                text, offsets = self.aligner.read(input_ids[row, places].tolist())
                cuda_mask[row, places] = torch.tensor(token_mask(offsets, self.find(text)), dtype=labels.dtype)
        return {"cuda_mask": cuda_mask, "sample_ids": sample_ids}
