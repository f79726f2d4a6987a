import numpy as np


# Integers: exact.
TOLERANCE = {"final": (0, 0), "population": (0, 0)}


def make_inputs(rng, height, width):
    density = rng.random((height // 8 + 1, width // 8 + 1)).repeat(8, 0).repeat(8, 1)[:height, :width]
    return {"start": (rng.random((height, width)) < 0.2 + 0.3 * density).astype(np.uint8)}


def reference(inputs):
    g = inputs["start"]
    counts = []
    for _ in range(8):
        rows = g + np.roll(g, 1, axis=0) + np.roll(g, -1, axis=0)
        around = rows + np.roll(rows, 1, axis=1) + np.roll(rows, -1, axis=1) - g
        g = np.where(g == 1, (around == 2) | (around == 3), (around == 3) | (around == 6)).astype(np.uint8)
        counts.append(g.sum(dtype=np.int64))
    return {"final": g, "population": np.array(counts, dtype=np.int32)}
