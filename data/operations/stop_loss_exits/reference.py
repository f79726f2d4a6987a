import numpy as np


# Integer arithmetic: exact.
TOLERANCE = {"exit_day": (0, 0), "reason": (0, 0), "profit": (0, 0)}


def make_inputs(rng, trades, days):
    vol = rng.uniform(0.002, 0.015, (trades, 1)).astype(np.float32)
    walk = np.cumsum(rng.standard_normal((trades, days), dtype=np.float32) * vol, axis=1)
    start = rng.uniform(500, 20000, (trades, 1)).astype(np.float32)
    return {"price": np.maximum(1, start * np.exp(np.clip(walk, -2, 2))).astype(np.int32)}


def reference(inputs):
    p = inputs["price"]
    stop = 100 * p <= 92 * np.maximum.accumulate(p, axis=1)
    target = 100 * p >= 115 * p[:, :1]
    closed = stop | target
    closed[:, 0] = False
    found = closed.any(axis=1)
    day = np.where(found, np.argmax(closed, axis=1), p.shape[1] - 1)
    r = np.arange(len(p))
    reason = np.where(found, np.where(stop[r, day], 1, 2), 0)
    return {
        "exit_day": day.astype(np.int32),
        "reason": reason.astype(np.int32),
        "profit": (p[r, day] - p[:, 0]).astype(np.int32),
    }
