import numpy as np


# Float32 sums of up to 10000 terms; the weight is continuous at the threshold.
TOLERANCE = {"updated": (5e-5, 1e-4), "weight_sum": (5e-5, 0)}


def make_inputs(rng, rows, cols):
    middle = rng.uniform(-5.0, 5.0, (rows, 1))
    x = middle + rng.standard_normal((rows, cols))
    x += (rng.random((rows, cols)) < 0.1) * rng.uniform(5.0, 60.0, (rows, cols))
    centre = middle[:, 0] + rng.normal(0.0, 0.7, rows)
    return {
        "x": x.astype(np.float32),
        "centre": centre.astype(np.float32),
        "scale": rng.uniform(0.3, 2.5, rows).astype(np.float32),
    }


def reference(inputs):
    x, m, s = (inputs[k].astype(np.float64) for k in ("x", "centre", "scale"))
    d = np.abs(x - m[:, None])
    bound = 1.345 * s[:, None]
    w = np.where(d <= bound, 1.0, bound / np.maximum(d, bound))
    total = w.sum(axis=1)
    return {"updated": ((w * x).sum(axis=1) / total).astype(np.float32), "weight_sum": total.astype(np.float32)}
