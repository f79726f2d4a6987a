import numpy as np


# Integer arithmetic: exact.
TOLERANCE = {"index": (0, 0)}


def make_inputs(rng, n, order):
    side = 2**order
    x, y = rng.integers(0, side, (2, n))
    x[:4], y[:4] = [0, side - 1, 0, side - 1], [0, 0, side - 1, side - 1]
    return {"xs": x.astype(np.int32), "ys": y.astype(np.int32)}


def reference(inputs):
    x, y = inputs["xs"].astype(np.int64), inputs["ys"].astype(np.int64)
    s = (int(max(x.max(), y.max())) + 1) // 2
    d = np.zeros_like(x)
    while s > 0:
        rx, ry = (x & s) > 0, (y & s) > 0
        d += s * s * ((3 * rx) ^ ry)
        x, y = x & (s - 1), y & (s - 1)
        flip = ~ry & rx
        x, y = np.where(flip, s - 1 - x, x), np.where(flip, s - 1 - y, y)
        x, y = np.where(ry, x, y), np.where(ry, y, x)
        s //= 2
    return {"index": d.astype(np.uint32)}
