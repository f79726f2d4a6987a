import numpy as np


# Halley's iteration settles within a few ulp; near x = -0.3 the slope of W amplifies roundings threefold.
TOLERANCE = {"w": (1e-5, 1e-6)}


def make_inputs(rng, n):
    kind = rng.random(n)
    x = np.where(kind < 0.3, rng.uniform(-0.3, 1.0, n), 10.0 ** rng.uniform(-3.0, 6.0, n))
    return {"x": x.astype(np.float32)}


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    w = np.log1p(x)
    for _ in range(12):
        e = np.exp(w)
        f = w * e - x
        w = w - f / (e * (w + 1.0) - (w + 2.0) * f / (2.0 * w + 2.0))
    return {"w": w.astype(np.float32)}
