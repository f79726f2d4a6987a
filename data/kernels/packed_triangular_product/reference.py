import numpy as np


TOLERANCE = {"C": (1e-4, 1e-3)}


def make_inputs(rng, n, cols, values="normal"):
    packed = n * (n + 1) // 2
    if values == "integers":  # exact in float, large, with zeros
        lower, b = rng.integers(1, 2000, packed), rng.integers(-2000, 2001, (n, cols))
        b[:, ::3] = 0
    else:
        lower, b = rng.normal(0.0, 1.0, packed), rng.normal(0.0, 1.0, (n, cols))
    return {
        "sizes": np.array([n, cols], dtype=np.int32),
        "L": lower.astype(np.float32),
        "B": b.astype(np.float32),
    }


def reference(inputs):
    b = inputs["B"].astype(np.float64)
    full = np.zeros((b.shape[0], b.shape[0]))
    full[np.tri(b.shape[0], dtype=bool)] = inputs["L"]
    return {"C": (full @ b).astype(np.float32)}
