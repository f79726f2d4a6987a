import numpy as np


TOLERANCE = {"counts": (0, 0)}


def make_inputs(rng, rows, cols, values="normal"):
    # Rows have distributions of their own, some narrow, so that counters fill at different speeds.
    centre, spread = rng.uniform(0, 256, (rows, 1)), rng.uniform(2.0, 80.0, (rows, 1))
    levels = rng.standard_normal((rows, cols), dtype=np.float32) * spread.astype(np.float32) + centre
    levels = np.clip(levels, 0, 255)
    if values == "runs":  # rows of one value: each 8-bit counter reaches its limit in every round
        levels[0], levels[1], levels[2] = 0, 255, np.arange(cols) % 256
        levels[3, : cols // 2] = 131
    return {"sizes": np.array([rows, cols], dtype=np.int32), "levels": levels.astype(np.uint8)}


def reference(inputs):
    rows = inputs["levels"].shape[0]
    flat = inputs["levels"] // 4 + 64 * np.arange(rows, dtype=np.int32)[:, None]
    counts = np.bincount(flat.ravel(), minlength=64 * rows).reshape(rows, 64)
    return {"counts": counts.astype(np.uint32)}
