import numpy as np


# g is a float32 sum near 1 of up to 10,000 terms, so net_return carries an absolute error near 1e-6.
TOLERANCE = {"turnover": (5e-5, 2e-6), "net_return": (1e-4, 4e-6)}


def make_inputs(rng, days, assets):
    raw = rng.gamma(1.0, 1.0, assets) * np.exp(np.cumsum(rng.normal(0, 0.15, (days, assets)), axis=0).clip(-2, 2))
    raw[:, ::7] *= -0.3
    weight = raw / raw.sum(axis=1, keepdims=True)
    r = rng.normal(0.0005, 0.02, (days, assets)) + rng.normal(0, 0.012, (days, 1))
    return {"weight": weight.astype(np.float32), "asset_return": r.astype(np.float32)}


def reference(inputs):
    w, r = inputs["weight"].astype(np.float64), inputs["asset_return"].astype(np.float64)
    grown = w[:-1] * (1 + r[1:])
    g = grown.sum(axis=1)
    turnover = np.concatenate(([0.5 * np.abs(w[0]).sum()], 0.5 * np.abs(w[1:] - grown / g[:, None]).sum(axis=1)))
    gain = np.concatenate(([0.0], (w[:-1] * r[1:]).sum(axis=1) + w[:-1].sum(axis=1) - 1))
    return {"turnover": turnover.astype(np.float32), "net_return": (gain - 0.002 * turnover).astype(np.float32)}
