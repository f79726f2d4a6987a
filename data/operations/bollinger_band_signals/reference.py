import numpy as np


# Squares of deviations from the mean lose little; s may be as small as 0.03 with prices of 100.
TOLERANCE = {"percent_b": (1e-3, 1e-3), "signal": (0, 0)}


def bands(p):
    w = np.lib.stride_tricks.sliding_window_view(p, 20, axis=1)
    m = w.mean(axis=2)
    s = np.sqrt(np.maximum(((w - m[..., None]) ** 2).mean(axis=2), 0.0))
    return np.where(s > 0, (p[:, 19:] - m + 2 * s) / np.where(s > 0, 4 * s, 1.0), 0.5)


def make_inputs(rng, assets, days):
    step = rng.choice([-2, -1, 0, 0, 1, 2], (assets, days)) + rng.integers(-14, 15, (assets, days)) * (
        rng.random((assets, days)) < 0.06
    )
    step[:, 30:60] *= rng.random((assets, 1)) < 0.7
    p = 160.0 + np.cumsum(step, axis=1) / 8.0
    p = np.clip(p, 64.0, 256.0)
    for _ in range(60):
        b = bands(p)
        unsure = (np.abs(b) < 2e-3) | (np.abs(b - 1.0) < 2e-3)
        if not unsure.any():
            break
        r, c = np.nonzero(unsure)
        p[r, c + 19] += rng.choice([-0.25, -0.125, 0.125, 0.25], len(r))
    rows = np.flatnonzero(~((np.abs(b) < 2e-3) | (np.abs(b - 1.0) < 2e-3)).any(axis=1))
    return {"prices": p[rows[np.arange(assets) % len(rows)]].astype(np.float32)}


def reference(inputs):
    b = bands(inputs["prices"].astype(np.float64))
    return {"percent_b": b.astype(np.float32), "signal": ((b > 1).astype(np.int32) - (b < 0))}
