import numpy as np


TOLERANCE = {"score": (0, 0), "end": (0, 0)}


def make_inputs(rng, pairs, length_a, length_b, values="related"):
    a, b = (rng.integers(0, 4, (pairs, length)) for length in (length_a, length_b))
    for row in range(pairs):  # a common piece with a gap in it, somewhere
        size = int(rng.integers(0, min(length_a, length_b) // 2 + 1))
        start_a, start_b = rng.integers(0, length_a - size + 1), rng.integers(0, length_b - size + 1)
        b[row, start_b : start_b + size] = a[row, start_a : start_a + size]
        if size > 12:
            b[row, start_b + size // 2 : start_b + size - 3] = a[row, start_a + size // 2 + 3 : start_a + size]
    if values == "repeats":  # many cells with the best score, and pairs without a single match
        a[::2], b[::2] = np.arange(length_a) % 2, np.arange(length_b) % 2
        a[1::8], b[1::8] = 0, 3
    return {
        "sizes": np.array([pairs, length_a, length_b], dtype=np.int32),
        "scoring": np.array([3, 2, 5, 1], dtype=np.int32),
        "a": a.astype(np.uint8),
        "b": b.astype(np.uint8),
    }


def reference(inputs):
    match, mismatch, opening, extension = (int(one) for one in inputs["scoring"])
    a, b = inputs["a"], inputs["b"]
    pairs, n, m = len(a), a.shape[1], b.shape[1]
    low = -(10**6)
    h = np.zeros((pairs, m + 1), dtype=np.int64)
    f = np.full((pairs, m + 1), low)
    steps = np.arange(m + 1) * extension
    score, end = np.zeros(pairs, dtype=np.int64), np.zeros((pairs, 2), dtype=np.int64)
    for i in range(1, n + 1):
        f = np.maximum(f - extension, h - opening)
        without = np.zeros_like(h)
        without[:, 1:] = np.maximum(
            np.maximum(h[:, :-1] + np.where(a[:, i - 1 : i] == b, match, -mismatch), f[:, 1:]), 0
        )
        # A gap along b: the best earlier cell less its opening and the extensions since; H with gap never starts a better one.
        opened = np.maximum.accumulate(without + steps, axis=1)[:, :-1] - opening + extension - steps[1:]
        h = without
        h[:, 1:] = np.maximum(h[:, 1:], opened)
        better = h.max(axis=1) > score
        score[better] = h.max(axis=1)[better]
        end[better] = np.stack([np.full(pairs, i), h.argmax(axis=1)], axis=1)[better]
    return {"score": score.astype(np.int32), "end": end.astype(np.int32)}
