import numpy as np


TOLERANCE = {"q": (0, 0), "planes": (0, 0)}


def make_inputs(rng, block_rows, block_cols, values="laplace"):
    exponent = rng.integers(-8, 9, (block_rows, block_cols))
    spread = 2.0 ** rng.integers(-6, 12, (block_rows, block_cols)).repeat(32, axis=0).repeat(32, axis=1)
    w = rng.laplace(0.0, 1.0, (32 * block_rows, 32 * block_cols)) * spread
    if values == "steps":  # multiples of the step, and blocks in which everything is dropped
        step = 2.0 ** exponent.repeat(32, axis=0).repeat(32, axis=1)
        w = rng.integers(-5, 6, w.shape) * step
        w[:32] *= 0.125
    w = np.clip(w, -(2.0**20), 2.0**20)
    sizes = np.array([block_rows, block_cols], dtype=np.int32)
    return {"sizes": sizes, "w": w.astype(np.float32), "exponent": exponent.astype(np.int32)}


def reference(inputs):
    w, exponent = inputs["w"].astype(np.float64), inputs["exponent"]
    step = 2.0 ** exponent.astype(np.float64).repeat(32, axis=0).repeat(32, axis=1)
    q = (np.sign(w) * np.floor(np.abs(w) / step)).astype(np.int32)
    block_rows, block_cols = exponent.shape
    largest = np.abs(q).reshape(block_rows, 32, block_cols, 32).max(axis=(1, 3))
    planes = np.where(largest > 0, np.frexp(largest.astype(np.float64))[1], 0)
    return {"q": q, "planes": planes.astype(np.int32)}
