"""Sliding windows of confidence along a sample, as in Fig. 2 of arXiv 2606.16231, and what code they stand on."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


READINGS = ("centre", "majority", "any")
"""When a window is on a structure: its middle token is, more than half of its tokens are, or one of them is."""


class Windows(NamedTuple):
    """The windows of a sample, stride 1: tokens [start, start + size) with their mean confidence."""

    size: int  # `window`, or the sample's length where that is less
    means: NDArray[np.float64]  # [count], in [0, 1]

    def on(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """[3, count]: by each of `READINGS`, the windows on the tokens of `mask` [tokens].

        The middle is token start + size // 2, so that the window around t is Eq. 5's R_t.
        """
        inside = _sums(mask, self.size)
        first = self.size // 2
        return np.stack([mask[first : first + len(self.means)], 2 * inside > self.size, inside > 0])


def windows(confidence: NDArray[np.float32], window: int) -> Windows:
    """The windows of a sample's tokens [tokens], all of them inside it; a sample shorter than `window` is one window."""
    size = min(window, len(confidence))
    return Windows(size, np.clip(_sums(confidence, size) / size, 0.0, 1.0))  # differences of sums round


def _sums(values: NDArray, size: int) -> NDArray[np.float64]:
    """The sum over each window, [len(values) - size + 1]."""
    sums = np.concatenate(([0.0], np.cumsum(values, dtype=np.float64)))
    return sums[size:] - sums[:-size]
