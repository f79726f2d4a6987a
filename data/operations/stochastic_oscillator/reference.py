import numpy as np


# Prices near 50 in float32, ranges of 0.1 at least: one division, then a mean of three.
TOLERANCE = {"percent_k": (2e-5, 2e-4), "percent_d": (2e-5, 2e-4)}


def make_inputs(rng, assets, days):
    mid = 50 + np.clip(np.cumsum(rng.normal(0, 0.6, (assets, days)), axis=1), -30, 30)
    close = np.round(mid * 16) / 16
    high = close + rng.integers(0, 12, mid.shape) / 16
    low = close - rng.integers(0, 12, mid.shape) / 16
    high[::5, 0] = low[::5, 0] = close[::5, 0]
    return {"high": high.astype(np.float32), "low": low.astype(np.float32), "close": close.astype(np.float32)}


def reference(inputs):
    hi, lo, c = (inputs[k].astype(np.float64) for k in ("high", "low", "close"))
    top, bottom = hi.copy(), lo.copy()
    for d in range(1, 14):
        top[:, d:] = np.maximum(top[:, d:], hi[:, :-d])
        bottom[:, d:] = np.minimum(bottom[:, d:], lo[:, :-d])
    span = top - bottom
    k = np.where(span > 0, 100 * (c - bottom) / np.where(span > 0, span, 1), 50.0)
    total = k.copy()
    total[:, 1:] += k[:, :-1]
    total[:, 2:] += k[:, :-2]
    d = total / np.minimum(np.arange(k.shape[1]) + 1, 3)
    return {"percent_k": k.astype(np.float32), "percent_d": d.astype(np.float32)}
