import numpy as np


# 1 - BC is at least about 0.01 here, so the square root does not blow up the float32 error of the sum.
TOLERANCE = {"hellinger": (2e-4, 0), "variation": (5e-5, 1e-6)}


def make_inputs(rng, rows, bins):
    rate = rng.gamma(0.7, 5.0, (rows, bins))
    other = rate * np.exp(rng.uniform(0.3, 1.5, (rows, 1)) * rng.standard_normal((rows, bins)))
    a, b = rng.poisson(rate), rng.poisson(other * rng.uniform(0.5, 4.0, (rows, 1)))
    a[:, 0] += 1
    b[:, -1] += 1
    return {"a": a.astype(np.int32), "b": b.astype(np.int32)}


def reference(inputs):
    p, q = inputs["a"].astype(np.float64), inputs["b"].astype(np.float64)
    p /= p.sum(axis=1, keepdims=True)
    q /= q.sum(axis=1, keepdims=True)
    h = np.sqrt(np.maximum(0.0, 1.0 - np.sqrt(p * q).sum(axis=1)))
    return {"hellinger": h.astype(np.float32), "variation": (0.5 * np.abs(p - q).sum(axis=1)).astype(np.float32)}
