import numpy as np


# The smoothing forgets rounding errors; a quotient near 100 with about 1e-6 relative error.
TOLERANCE = {"rsi": (1e-4, 2e-3)}


def make_inputs(rng, assets, days):
    steps = rng.integers(-8, 9, (assets, days)) / 8.0
    steps[:, 1 : days // 3] *= rng.random((assets, 1)) < 0.8
    trend = rng.integers(-1, 2, (assets, 1)) / 8.0
    steps[:, days // 3 :] += trend
    return {"prices": (1000.0 + np.cumsum(steps, axis=1)).astype(np.float32)}


def reference(inputs):
    change = np.diff(inputs["prices"].astype(np.float64), axis=1)
    up, down = np.maximum(change, 0.0), np.maximum(-change, 0.0)
    gain, loss = up[:, :14].mean(axis=1), down[:, :14].mean(axis=1)
    out = []
    for t in range(13, change.shape[1]):
        if t > 13:
            gain, loss = (13.0 * gain + up[:, t]) / 14.0, (13.0 * loss + down[:, t]) / 14.0
        total = gain + loss
        out.append(np.where(total > 0, 100.0 * gain / np.where(total > 0, total, 1.0), 50.0))
    return {"rsi": np.stack(out, axis=1).astype(np.float32)}
