"""An independent implementation of CuSeT's equations, for comparison.

It uses float64 NumPy and plain loops. It is slow, and it shares no code with the package.
"""

import math

import numpy as np


def log_softmax(row: np.ndarray) -> np.ndarray:
    """Return the log-probabilities of one row of logits, in float64."""
    row = row.astype(np.float64)
    shifted = row - row.max()
    return shifted - math.log(np.exp(shifted).sum())


def samples_of(labels: np.ndarray, sample_ids: np.ndarray) -> dict[tuple[int, int], list[int]]:
    """Return the positions of each sample's supervised tokens in order, by (row, sample id)."""
    samples: dict[tuple[int, int], list[int]] = {}
    for row in range(labels.shape[0]):
        for position in range(1, labels.shape[1]):
            if labels[row, position] != -100:
                samples.setdefault((row, int(sample_ids[row, position])), []).append(position)
    return samples


def window_means(confidence: list[float], window: int) -> list[float]:
    """Return the mean confidence in the window around each token. A sample shorter than the window is one window."""
    length = len(confidence)
    means = []
    for t in range(1, length + 1):  # the paper counts from 1
        low, high = max(1, t - window // 2), min(length, t + math.ceil(window / 2) - 1)
        if length < window:
            low, high = 1, length
        means.append(sum(confidence[low - 1 : high]) / (high - low + 1))
    return means


def cuset(
    logits,  # [B, T, V]
    labels,  # [B, T], with -100 where a token is not supervised
    cuda_mask,  # [B, T], 1 for CUDA tokens
    sample_ids,  # [B, T]
    *,
    tau=0.1,  # threshold of the confidence mask
    lam=1.0,  # what the mask of a CUDA token gains
    window=256,  # tokens
    use_confidence_mask=True,
    use_cuda_mask=True,
    use_region_weight=True,  # weigh samples by 1 minus their least confident window
    region_scope="response",  # all windows of a sample; "cuda": those of its CUDA tokens
    normalization="tokens",  # divide by the number of supervised tokens; else by that of samples
):
    """Return the CuSeT loss and its gradient with respect to the logits, in float64."""
    gradient = np.zeros(logits.shape, dtype=np.float64)
    total, tokens = 0.0, 0
    samples = samples_of(labels, sample_ids)
    for (row, _), positions in samples.items():
        log_p = [log_softmax(logits[row, t - 1]) for t in positions]
        nll = [-lp[labels[row, t]] for lp, t in zip(log_p, positions, strict=True)]
        confidence = [math.exp(-value) for value in nll]
        is_cuda = [bool(cuda_mask[row, t]) for t in positions]
        means = window_means(confidence, window)
        candidates = means
        if region_scope == "cuda" and any(is_cuda):
            candidates = [mean for mean, cuda in zip(means, is_cuda, strict=True) if cuda]
        sample_weight = 1 - min(candidates) if use_region_weight else 1.0
        for t, lp, value, c, cuda in zip(positions, log_p, nll, confidence, is_cuda, strict=True):
            mask = (1.0 if c > tau else 0.0) if use_confidence_mask else 1.0
            if use_cuda_mask and cuda:
                mask += lam
            total += sample_weight * mask * value
            step = np.exp(lp)
            step[labels[row, t]] -= 1
            gradient[row, t - 1] += sample_weight * mask * step
            tokens += 1
    count = tokens if normalization == "tokens" else len(samples)
    return total / count, gradient / count
