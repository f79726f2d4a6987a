import numpy as np


TOLERANCE = {"C": (1e-3, 5e-3)}


def make_inputs(rng, m, k, n, values="normal"):
    a, b = rng.normal(0.0, 1.0, (m, k)), rng.normal(0.0, 1.0, (k, n))
    if values == "extremes":  # products far beyond the largest half, and zeros
        a, b = rng.integers(-256, 257, (m, k)) * 128, rng.integers(-64, 65, (k, n)) * 512
        a[::4], b[:, 1::3] = 0, 1
    return {
        "sizes": np.array([m, k, n], dtype=np.int32),
        "A": a.astype(np.float16),
        "B": b.astype(np.float16),
    }


def reference(inputs):
    return {"C": (inputs["A"].astype(np.float64) @ inputs["B"].astype(np.float64)).astype(np.float32)}
