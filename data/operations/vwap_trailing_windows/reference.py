import numpy as np


# Sums of twenty products; volumes are integers, so V is exact. The deviation is taken about the rounded mean.
TOLERANCE = {"vwap": (2e-6, 1e-5), "deviation": (1e-4, 2e-4)}


def make_inputs(rng, symbols, ticks):
    price = 40 + np.clip(np.cumsum(rng.normal(0, 0.1, (symbols, ticks)), axis=1), -20, 30)
    volume = rng.integers(0, 500, price.shape) * (rng.random(price.shape) < 0.6)
    start = rng.integers(0, ticks - 60, symbols)
    for s in range(symbols):
        volume[s, start[s] : start[s] + 35] = 0
    return {"price": np.round(price, 2).astype(np.float32), "volume": volume.astype(np.float32)}


def reference(inputs):
    p, v = inputs["price"].astype(np.float64), inputs["volume"].astype(np.float64)
    ones = [np.zeros_like(p) for _ in range(3)]
    for d in range(20):
        q, w = p[:, : p.shape[1] - d], v[:, : p.shape[1] - d]
        ones[0][:, d:] += w
        ones[1][:, d:] += w * (q - 40)
        ones[2][:, d:] += w * (q - 40) ** 2
    total = np.where(ones[0] > 0, ones[0], 1)
    mean = ones[1] / total
    var = np.maximum(ones[2] / total - mean**2, 0)
    var[var < 1e-9] = 0
    return {
        "vwap": np.where(ones[0] > 0, mean + 40, p).astype(np.float32),
        "deviation": np.where(ones[0] > 0, np.sqrt(var), 0).astype(np.float32),
    }
