import numpy as np


TOLERANCE = {"dot": (1e-9, 1e-7)}


def make_inputs(rng, n, values="normal"):
    a, b = rng.normal(0.5, 1.0, n), rng.normal(0.25, 1.0, n)
    if values == "cancelling":  # products around 10^6 whose sum is far smaller: float accumulation loses it
        a, b = np.rint(a * 1000.0), np.rint(b * 1000.0)
        a[n // 2 :] = a[: n - n // 2]
        b[n // 2 :] = -b[: n - n // 2]
        a[-1] = 0.125
        b[-1] = 3.0
    return {
        "sizes": np.array([n], dtype=np.int32),
        "a": a.astype(np.float32),
        "b": b.astype(np.float32),
    }


def reference(inputs):
    products = inputs["a"].astype(np.float64) * inputs["b"].astype(np.float64)
    return {"dot": np.array([products.sum()])}
