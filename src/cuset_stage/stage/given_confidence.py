"""Probabilities that were computed once, on their way through LLaMA-Factory's preprocessing with the labels (`cuset_confidence: file`).

A label carries the bits of its token's float32 probability above those of `token_labels.py`, from where an example is encoded until its
row, perhaps with others packed into it, is done.
"""

import functools

import numpy as np
from llamafactory.extras.constants import IGNORE_INDEX

from ..confidence_file import ConfidenceFile
from .token_labels import TOKEN_MASK


SHIFT = 64  # above the passage, of which no batch has 2**28

open_file = functools.cache(ConfidenceFile)  # once a process


def with_confidence(input_ids: list[int], labels: list[int], path: str) -> list[int]:
    """The labels of an example, [length], with the probabilities that the file at `path` holds of the supervised ones.

    Where nothing predicts a token the file holds NaN; that token counts as one of probability 0.

    Raises:
        InputError: the file does not hold the example, or was written with other tokens supervised.
    """
    ids = [token & TOKEN_MASK for token in input_ids]
    found = np.nan_to_num(open_file(path).find(ids, labels)).view(np.uint32).tolist()
    bits = iter(found)
    return [label if label == IGNORE_INDEX else label | next(bits) << SHIFT for label in labels]


def take_confidence(labels: list[int]) -> tuple[list[int], np.ndarray]:
    """The labels of a row, [length], without what `with_confidence` put into them, and that: [length] float32, 0 elsewhere."""
    bits = [0 if label == IGNORE_INDEX else label >> SHIFT for label in labels]
    plain = [label if label == IGNORE_INDEX else label & (1 << SHIFT) - 1 for label in labels]
    return plain, np.array(bits, dtype=np.uint32).view(np.float32)
