import numpy as np


# Integers: exact.
TOLERANCE = {"rolloff": (0, 0), "total": (0, 0)}


def make_inputs(rng, frames, bins):
    b = np.arange(bins)
    slope = rng.uniform(0.3, 8.0, (frames, 1)) / bins
    x = 2e6 * np.exp(-slope * b) * rng.random((frames, bins)) * 10.0 ** rng.uniform(-4, 0, (frames, 1))
    x[rng.random(frames) < 0.03] = 0.0
    k = rng.random(frames) < 0.1
    x[k] = np.where(rng.random((int(k.sum()), bins)) < 0.97, 0.0, 1e5)
    x[0] = 1000.0
    return {"power": x.astype(np.int32)}


def reference(inputs):
    c = np.cumsum(inputs["power"].astype(np.int64), axis=1)
    reached = 20 * c >= 17 * c[:, -1:]
    return {"rolloff": reached.argmax(axis=1).astype(np.int32), "total": c[:, -1].copy()}
