import numpy as np


# h is exact for the given levels (multiples of 1/64); the interpolation has three float32 roundings of values up to 60.
TOLERANCE = {"result": (1e-6, 1e-5), "spread": (1e-6, 2e-5)}


def make_inputs(rng, rows, cols, quantiles):
    t = np.sort(rng.normal(0, 1, (rows, cols)) * rng.uniform(0.5, 10, cols), axis=0)
    p = rng.integers(0, 65, quantiles) / 64
    p[:2] = [0, 1]
    return {"table": t.astype(np.float32), "levels": p.astype(np.float32)}


def quantile(t, p):
    h = p * (len(t) - 1)
    k = int(np.floor(h))
    if k >= len(t) - 1:
        return t[-1].astype(np.float64)
    return t[k] + (h - k) * (t[k + 1].astype(np.float64) - t[k])


def reference(inputs):
    t = inputs["table"]
    result = np.stack([quantile(t, float(p)) for p in inputs["levels"]])
    return {"result": result.astype(np.float32), "spread": (quantile(t, 0.75) - quantile(t, 0.25)).astype(np.float32)}
