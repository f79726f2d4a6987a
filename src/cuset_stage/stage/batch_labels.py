"""Compute the label columns of a batch from its own tokens, for trainers whose rows come without their texts.

The columns are the ones that CuSeT reads beside `labels`.
"""

import functools
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from ..objective.cuset import IGNORE_INDEX
from ..spans import find_spans, token_mask
from ..spans.kinds import check_aliases, check_kinds
from ..spans.tokenizers import TokenAligner


class BatchLabeller:
    """Finds the CUDA tokens of batches.

    A sample is a run of supervised tokens within a row: a completion, an assistant message, or the whole text where
    all of it is supervised. Its text is decoded from its tokens, so packed and truncated rows are labelled as they are
    trained on.

    Args:
        tokenizer: the tokenizer that made the rows.
        kinds: kinds of span, as in `find_spans`.
        aliases: macros that stand for `__global__`, as in `find_spans`.
        language: as in `find_spans`.

    Raises:
        ValueError: a kind or a language that does not exist.
    """

    def __init__(self, tokenizer: Any, kinds: Sequence[str], aliases: Iterable[str], language: str):
        checked = {"kinds": check_kinds(kinds), "aliases": check_aliases(aliases)}
        self.find = functools.partial(find_spans, **checked, language=language)
        self.find("")  # raises for wrong arguments now, not at the first batch
        self.aligner = TokenAligner(tokenizer)

    def columns(self, input_ids: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return the label columns of a batch.

        Args:
            input_ids: [rows, length], in CPU memory.
            labels: [rows, length], in CPU memory, -100 where not supervised.

        Returns:
            `cuda_mask` and `sample_ids`, both [rows, length]. `cuda_mask` is 1 where the token overlaps a span.
            `sample_ids` counts the samples of a row from 1 and is 0 where a token is not supervised.
        """
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
