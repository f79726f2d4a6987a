import numpy as np


# The averages forget rounding errors; prices near 100 leave about 5e-5. Series with a gap close to 0 are left out.
TOLERANCE = {"gap": (1e-4, 3e-4), "crossings": (0, 0)}


def gaps(prices):
    p = prices.astype(np.float64)
    fast, slow = p[:, 0], p[:, 0]
    out = [fast - slow]
    for t in range(1, p.shape[1]):
        fast = fast + 2.0 / 13.0 * (p[:, t] - fast)
        slow = slow + 2.0 / 27.0 * (p[:, t] - slow)
        out.append(fast - slow)
    return np.stack(out, axis=1)


def make_inputs(rng, assets, days):
    m = 3 * assets
    step = rng.normal(0.0, 1.0, (m, days)) * rng.uniform(0.5, 3.0, (m, 1))
    prices = (100.0 + step.cumsum(axis=1) * 0.9).astype(np.float32)
    sure = np.flatnonzero((np.abs(gaps(prices)[:, 1:]) > 1e-3).all(axis=1))
    return {"prices": prices[sure[np.arange(assets) % len(sure)]]}


def reference(inputs):
    g = gaps(inputs["prices"])
    count = ((g[:, 2:] > 0) != (g[:, 1:-1] > 0)).sum(axis=1)
    return {"gap": g.astype(np.float32), "crossings": count.astype(np.int32)}
