import numpy as np


TOLERANCE = {"matches": (0, 0), "similarity": (1e-5, 1e-6)}


def make_inputs(rng, pairs, width, letters=20):
    first = rng.integers(97, 97 + letters, (pairs, width))
    second = rng.integers(97, 97 + letters, (pairs, width))
    alike = rng.random(pairs) < 0.7  # a few letters changed, some neighbours swapped
    second[alike] = np.where(rng.random((alike.sum(), width)) < 0.12, second[alike], first[alike])
    for row in np.flatnonzero(alike):
        for place in rng.integers(0, max(width - 1, 1), 2):
            second[row, place : place + 2] = second[row, place : place + 2][::-1].copy()
    columns = np.arange(width)
    lengths = np.where(rng.random(pairs) < 0.2, width, rng.integers(0, width + 1, pairs))
    other = np.clip(lengths + rng.integers(-2, 3, pairs), 0, width)
    first[columns >= lengths[:, None]] = 0
    second[columns >= other[:, None]] = 0
    cut = np.flatnonzero(rng.random(pairs) < 0.1)  # a zero byte inside ends the name; what follows does not count
    first[cut, width // 2] = 0
    return {
        "sizes": np.array([pairs, width], dtype=np.int32),
        "first": first.astype(np.uint8),
        "second": second.astype(np.uint8),
    }


def reference(inputs):
    a, b = inputs["first"], inputs["second"]
    pairs, width = a.shape
    columns, rows = np.arange(width), np.arange(pairs)
    la = np.where((a == 0).any(axis=1), (a == 0).argmax(axis=1), width)
    lb = np.where((b == 0).any(axis=1), (b == 0).argmax(axis=1), width)
    window = np.maximum(np.maximum(la, lb) // 2 - 1, 0)[:, None]
    used_a, free = np.zeros(a.shape, dtype=bool), columns < lb[:, None]
    for i in range(width):
        fits = free & (b == a[:, i : i + 1]) & (np.abs(columns - i) <= window) & (i < la)[:, None]
        place = fits.argmax(axis=1)
        used_a[:, i] = fits[rows, place]
        free[rows, place] &= ~used_a[:, i]
    used_b = (columns < lb[:, None]) & ~free
    matches = used_a.sum(axis=1)
    in_a = np.take_along_axis(a, np.argsort(~used_a, axis=1, kind="stable"), axis=1)
    in_b = np.take_along_axis(b, np.argsort(~used_b, axis=1, kind="stable"), axis=1)
    moved = ((in_a != in_b) & (columns < matches[:, None])).sum(axis=1)
    m = np.maximum(matches, 1)
    jaro = (m / np.maximum(la, 1) + m / np.maximum(lb, 1) + (m - moved / 2) / m) / 3
    equal = (a == b) & (columns < np.minimum(np.minimum(la, lb), 4)[:, None])
    prefix = np.logical_and.accumulate(equal, axis=1).sum(axis=1)
    similarity = np.where(matches == 0, 0.0, jaro + 0.1 * prefix * (1 - jaro))
    return {"matches": matches.astype(np.int32), "similarity": similarity.astype(np.float32)}
