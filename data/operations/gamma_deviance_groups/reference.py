import numpy as np


# Float32 sums of up to a million unit deviances of limited cancellation, added in any order.
TOLERANCE = {"deviance": (5e-4, 1e-6)}


def make_inputs(rng, n, groups):
    g = rng.integers(0, groups, n)
    g[g == groups // 2] = 0
    g[0] = groups - 1
    shape = rng.uniform(0.8, 6.0, groups)
    u = np.exp(rng.normal(2.0, 1.0, n))
    y = u * rng.gamma(shape[g], 1.0 / shape[g]) * rng.uniform(0.7, 1.4, groups)[g] + 1e-3
    return {"observed": y.astype(np.float32), "predicted": u.astype(np.float32), "group": g.astype(np.int32)}


def reference(inputs):
    y, u, g = inputs["observed"].astype(np.float64), inputs["predicted"].astype(np.float64), inputs["group"]
    dev = 2.0 * ((y - u) / u - np.log(y / u))
    groups = max(g.max() + 1, 1)
    return {
        "deviance": (np.bincount(g, dev, groups) / np.maximum(np.bincount(g, minlength=groups), 1)).astype(np.float32)
    }
