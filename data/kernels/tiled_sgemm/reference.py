import numpy as np


TOLERANCE = {"C": (1e-4, 1e-3)}


def make_inputs(rng, m, k, n, values="normal"):
    if values == "integers":  # exact in float, with cancellation, whole columns of zeros and a large row
        a, b = rng.integers(-60, 61, (m, k)), rng.integers(-60, 61, (k, n))
        a[0] *= 2
        b[:, ::3] = 0
    else:
        a, b = rng.normal(0.0, 1.0, (m, k)), rng.normal(0.0, 1.0, (k, n))
    return {
        "sizes": np.array([m, k, n], dtype=np.int32),
        "A": a.astype(np.float32),
        "B": b.astype(np.float32),
    }


def reference(inputs):
    product = inputs["A"].astype(np.float64) @ inputs["B"].astype(np.float64)
    return {"C": product.astype(np.float32)}
