import numpy as np


# Differences of prices near 80 (exact grid values) and a stable recurrence in float32.
TOLERANCE = {"atr": (2e-5, 1e-5)}


def make_inputs(rng, assets, days):
    close = 80 + np.clip(np.cumsum(rng.normal(0, 1.0, (assets, days)), axis=1), -50, 60)
    close = np.round(close * 64) / 64
    opening = np.roll(close, 1, axis=1) + np.round(rng.normal(0, 1.5, close.shape) * 64) / 64
    high = np.maximum(close, opening) + rng.integers(0, 40, close.shape) / 64
    low = np.minimum(close, opening) - rng.integers(0, 40, close.shape) / 64
    return {"high": high.astype(np.float32), "low": low.astype(np.float32), "close": close.astype(np.float32)}


def reference(inputs):
    hi, lo, c = (inputs[k].astype(np.float64) for k in ("high", "low", "close"))
    tr = hi - lo
    tr[:, 1:] = np.maximum(tr[:, 1:], np.maximum(np.abs(hi[:, 1:] - c[:, :-1]), np.abs(lo[:, 1:] - c[:, :-1])))
    tr = np.ascontiguousarray(tr.T)
    atr = np.empty_like(tr)
    atr[:14] = np.cumsum(tr[:14], axis=0) / np.arange(1, 15)[:, None]
    for t in range(14, len(tr)):
        atr[t] = (13 * atr[t - 1] + tr[t]) / 14
    return {"atr": np.ascontiguousarray(atr.T).astype(np.float32)}
