import numpy as np


# Sums of up to 4097 float32 logarithms of size below 25, ten times a difference of logarithms: about 1e-4 absolute.
TOLERANCE = {"flatness": (1e-4, 2e-3)}


def make_inputs(rng, frames, bins):
    b = np.arange(bins)
    tone = np.exp(-(((b - rng.uniform(0, bins, (frames, 1))) / rng.uniform(1, 60, (frames, 1))) ** 2))
    x = rng.exponential(1.0, (frames, bins)) * 10.0 ** rng.uniform(-8, 0, (frames, 1)) + tone * rng.uniform(
        0, 5, (frames, 1)
    )
    x[rng.random((frames, bins)) < 0.05] = 0.0
    return {"power": x.astype(np.float32)}


def reference(inputs):
    p = inputs["power"].astype(np.float64) + 1e-10
    flat = 10 * (np.log10(p).mean(axis=1) - np.log10(p.mean(axis=1)))
    return {"flatness": np.maximum(flat, -60.0).astype(np.float32)}
