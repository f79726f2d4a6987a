import numpy as np


# energy: three roundings of products up to 30, absolute error near 1e-5 at cancellation; average: float32 sums of up to
# 1e5 terms in any order, the mean absolute term is below 5.
TOLERANCE = {"energy": (1e-5, 2e-5), "average": (2e-4, 5e-4)}


def make_inputs(rng, samples, channels):
    t = np.arange(samples)[:, None]
    f = rng.uniform(0.01, 0.2, channels)
    a = rng.uniform(0.5, 3.0, channels)
    x = a * np.cos(2 * np.pi * f * t + rng.uniform(0, 6, channels)) + rng.normal(0, 0.3, (samples, channels))
    return {"x": x.astype(np.float32)}


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    e = np.empty_like(x)
    e[1:-1] = x[1:-1] ** 2 - x[:-2] * x[2:]
    e[0], e[-1] = e[1], e[-2]
    return {"energy": e.astype(np.float32), "average": e.mean(axis=0).astype(np.float32)}
