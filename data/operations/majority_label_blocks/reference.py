import numpy as np


# Counting: exact.
TOLERANCE = {"winner": (0, 0), "votes": (0, 0)}


def make_inputs(rng, height, width):
    base = np.kron(rng.integers(0, 16, (height // 8 + 1, width // 8 + 1)), np.ones((8, 8), int))[:height, :width]
    noise = rng.integers(0, 16, (height, width))
    return {"labels": np.where(rng.random((height, width)) < 0.6, noise, np.roll(base, 2, 1)).astype(np.uint8)}


def reference(inputs):
    x = inputs["labels"]
    h, w = x.shape[0] // 4, x.shape[1] // 4
    best, votes = np.zeros((h, w), np.uint8), np.full((h, w), -1, np.int32)
    for k in range(16):
        n = (x == k).reshape(h, 4, w, 4).sum((1, 3)).astype(np.int32)
        best[n > votes] = k
        votes = np.maximum(votes, n)
    return {"winner": best, "votes": votes}
