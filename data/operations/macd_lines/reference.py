import numpy as np


# Averages of prices near 100 in float32 carry about 3e-5 absolute error, and the lines are differences of these.
TOLERANCE = {"macd": (1e-4, 3e-4), "histogram": (1e-4, 3e-4)}


def make_inputs(rng, assets, days):
    steps = rng.normal(0, 1, (assets, days)) * rng.uniform(0.005, 0.03, (assets, 1))
    p = 100 * np.exp(np.clip(np.cumsum(steps, axis=1), -0.9, 0.9))
    return {"prices": p.astype(np.float32)}


def reference(inputs):
    p = inputs["prices"].astype(np.float64).T
    fast, slow, signal = p[0].copy(), p[0].copy(), np.zeros(p.shape[1])
    macd, hist = np.empty_like(p), np.empty_like(p)
    for t, x in enumerate(p):
        fast += 2 / 13 * (x - fast)
        slow += 2 / 27 * (x - slow)
        macd[t] = fast - slow
        signal += 0.2 * (macd[t] - signal)
        hist[t] = macd[t] - signal
    return {
        "macd": np.ascontiguousarray(macd.T).astype(np.float32),
        "histogram": np.ascontiguousarray(hist.T).astype(np.float32),
    }
