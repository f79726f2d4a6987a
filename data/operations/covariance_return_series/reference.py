import numpy as np


# Returns of size 0.01 with 6e-8 of absolute rounding each; covariances about 1e-4, correlations down to 0.
TOLERANCE = {"covariance": (5e-5, 4e-9), "correlation": (5e-5, 5e-5), "beta": (5e-5, 5e-5)}


def make_inputs(rng, pairs, days):
    common = rng.normal(0, 0.012, (pairs, days))
    load = rng.uniform(-1, 1.2, (pairs, 1))
    x = common + rng.normal(0, 0.008, (pairs, days)) + rng.normal(0, 0.0005, (pairs, 1))
    y = load * common + rng.normal(0, 0.01, (pairs, days))
    scale = rng.uniform(5, 300, (2, pairs, 1))
    return {
        "first": (scale[0] * np.exp(np.clip(np.cumsum(x, 1), -3, 3))).astype(np.float32),
        "second": (scale[1] * np.exp(np.clip(np.cumsum(y, 1), -3, 3))).astype(np.float32),
    }


def reference(inputs):
    x = np.diff(np.log(inputs["first"].astype(np.float64)), axis=1)
    y = np.diff(np.log(inputs["second"].astype(np.float64)), axis=1)
    x -= x.mean(axis=1, keepdims=True)
    y -= y.mean(axis=1, keepdims=True)
    n = x.shape[1] - 1
    sxy, sxx, syy = (x * y).sum(1) / n, (x * x).sum(1) / n, (y * y).sum(1) / n
    return {
        "covariance": sxy.astype(np.float32),
        "correlation": (sxy / np.sqrt(sxx * syy)).astype(np.float32),
        "beta": (sxy / sxx).astype(np.float32),
    }
