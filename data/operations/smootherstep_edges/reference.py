import numpy as np


# t is good to about 1e-6 (x - low over at least 0.1); the polynomial's slope is below 2.
TOLERANCE = {"s": (2e-5, 5e-6)}


def make_inputs(rng, rows, cols):
    low = rng.normal(0.0, 1.0, (rows, cols))
    high = low + rng.uniform(0.1, 3.0, (rows, cols)) * rng.choice([1.0, 1.0, -1.0], (rows, cols))
    x = low + (high - low) * rng.uniform(-0.3, 1.3, (rows, cols))
    return {"x": x.astype(np.float32), "low": low.astype(np.float32), "high": high.astype(np.float32)}


def reference(inputs):
    x, low, high = (inputs[k].astype(np.float64) for k in ("x", "low", "high"))
    t = np.clip((x - low) / (high - low), 0.0, 1.0)
    return {"s": (t * t * t * (t * (6.0 * t - 15.0) + 10.0)).astype(np.float32)}
