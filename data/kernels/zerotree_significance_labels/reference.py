import numpy as np


TOLERANCE = {"labels": (0, 0), "counts": (0, 0)}


def make_inputs(rng, side, levels, threshold, values="natural"):
    # Coefficients fall off from the coarse to the fine bands, as those of images do.
    row, col = np.indices((side, side))
    decay = 1.0 / (1.0 + np.maximum(row, col) / (side >> levels))
    w = rng.laplace(0.0, 3.0 * threshold, (side, side)) * decay
    if values == "extremes":  # only the largest magnitudes are significant, -32768 among them
        w = np.where(rng.random((side, side)) < 0.01, rng.choice([-32768, -32767, 32767], (side, side)), 32766)
    sizes = np.array([side, levels, threshold], dtype=np.int32)
    return {"sizes": sizes, "w": np.clip(np.rint(w), -32768, 32767).astype(np.int16)}


def any_child(significant):
    """Whether one of the four cells (2 r, 2 c) .. (2 r + 1, 2 c + 1) is set."""
    return significant[0::2, 0::2] | significant[0::2, 1::2] | significant[1::2, 0::2] | significant[1::2, 1::2]


def reference(inputs):
    side, levels, threshold = map(int, inputs["sizes"])
    w, base = inputs["w"].astype(np.int64), side >> levels
    significant = np.abs(w) >= threshold
    below = np.zeros((side, side), dtype=bool)
    size = side // 2
    while size > base:
        below[:size, :size] = any_child((significant | below)[: 2 * size, : 2 * size])
        size //= 2
    tree = significant | below
    low, high = slice(0, base), slice(base, 2 * base)
    below[low, low] = tree[low, high] | tree[high, low] | tree[high, high]

    dead = ~significant & ~below
    parent_dead = np.zeros((side, side), dtype=bool)
    for rows, cols in ((low, high), (high, low), (high, high)):
        parent_dead[rows, cols] = dead[low, low]
    size = 2 * base
    while size < side:
        inner = parent_dead[:size, :size].copy()
        parent_dead[: 2 * size, : 2 * size] = dead[:size, :size].repeat(2, axis=0).repeat(2, axis=1)
        parent_dead[:size, :size] = inner
        size *= 2
    labels = np.where(dead, np.where(parent_dead, 2, 1), 0)
    labels = np.where(significant, np.where(w > 0, 3, 4), labels)
    counts = np.bincount(labels.ravel(), minlength=5)
    return {"labels": labels.astype(np.uint8), "counts": counts.astype(np.int32)}
