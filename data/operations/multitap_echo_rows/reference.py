import numpy as np


# Sums of at most 13 float32 products of size about 1.
TOLERANCE = {"wet": (1e-5, 1e-5), "peak": (1e-5, 1e-5)}


def make_inputs(rng, rows, samples, taps):
    dry = rng.normal(0, 1, (rows, samples)) * rng.uniform(0.2, 2.0, (rows, 1))
    delay = rng.integers(1, 3001, taps)
    delay[1] = delay[0]
    return {
        "dry": dry.astype(np.float32),
        "delay": delay.astype(np.int32),
        "gain": rng.uniform(-0.8, 0.8, taps).astype(np.float32),
    }


def reference(inputs):
    x = inputs["dry"].astype(np.float64)
    y = x.copy()
    for d, g in zip(inputs["delay"], inputs["gain"].astype(np.float64), strict=False):
        y[:, d:] += g * x[:, :-d]
    return {"wet": y.astype(np.float32), "peak": np.abs(y).max(axis=1).astype(np.float32)}
