import numpy as np


# Means of up to 10,000 returns of size 0.01 in float32, ratios about -3 to 3: errors of a few 1e-6.
TOLERANCE = {"sharpe": (2e-5, 2e-5), "sortino": (2e-5, 2e-5)}


def make_inputs(rng, funds, days):
    scale = rng.uniform(0.004, 0.03, (funds, 1))
    r = rng.normal(0, 1, (funds, days)) * scale + rng.uniform(-0.1, 0.15, (funds, 1)) * scale
    return {"returns": r.astype(np.float32), "risk_free": rng.uniform(0, 2e-4, days).astype(np.float32)}


def reference(inputs):
    e = inputs["returns"].astype(np.float64) - inputs["risk_free"]
    m = e.mean(axis=1)
    s = e.std(axis=1, ddof=1)
    d = np.sqrt((np.minimum(e, 0) ** 2).mean(axis=1))
    return {"sharpe": (np.sqrt(252) * m / s).astype(np.float32), "sortino": (np.sqrt(252) * m / d).astype(np.float32)}
