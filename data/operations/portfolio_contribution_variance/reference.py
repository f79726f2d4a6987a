import numpy as np


# Dot products of up to 200 float32 terms; contributions of about 0.01 may cancel to smaller values.
TOLERANCE = {"volatility": (1e-4, 1e-6), "contribution": (5e-4, 2e-5)}


def make_inputs(rng, portfolios, assets):
    load = rng.normal(0.5, 0.5, (assets, 5))
    cov = load @ load.T * 0.02 + np.diag(rng.uniform(0.02, 0.1, assets))
    w = rng.normal(1.0, 1.2, (portfolios, assets)) / assets
    return {"weights": w.astype(np.float32), "covariance": ((cov + cov.T) / 2).astype(np.float32)}


def reference(inputs):
    w, c = inputs["weights"].astype(np.float64), inputs["covariance"].astype(np.float64)
    part = w * (w @ c.T)
    v = part.sum(axis=1)
    return {"volatility": np.sqrt(v).astype(np.float32), "contribution": (part / v[:, None]).astype(np.float32)}
