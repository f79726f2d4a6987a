import numpy as np


# Copied values and integers.
TOLERANCE = {"top": (0, 0), "seen": (0, 0)}


def make_inputs(rng, n):
    sizes = rng.choice([1, 2, 5, 30, 100, 400], n // 10 + 10)
    bounds = np.cumsum(np.maximum(1, rng.integers(sizes // 2, sizes + 1)))
    ident = np.searchsorted(bounds, np.arange(n), side="right")
    return {"x": (rng.standard_normal(n) - 1.0).astype(np.float32), "id": (3 * ident - 50).astype(np.int32)}


def reference(inputs):
    x, ident = inputs["x"], inputs["id"]
    n = len(x)
    first = np.ones(n, bool)
    first[1:] = ident[1:] != ident[:-1]
    start = np.maximum.accumulate(np.where(first, np.arange(n), 0))
    seen = np.arange(n) - start + 1
    top = x.copy()
    step = 1
    while step < seen.max():
        moved = np.maximum(top[step:], top[:-step])
        top[step:] = np.where(seen[step:] > step, moved, top[step:])
        step *= 2
    return {"top": top, "seen": seen.astype(np.int32)}
