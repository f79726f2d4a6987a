import numpy as np


# The phase is exact after removing whole cycles; a cosine and three roundings, products up to about 5.
TOLERANCE = {"wet": (1e-5, 5e-6)}


def make_inputs(rng, voices, samples):
    dry = rng.normal(0, 1, (voices, samples))
    frequency = rng.integers(1, 513, voices) / 4096.0
    return {
        "dry": dry.astype(np.float32),
        "frequency": frequency.astype(np.float32),
        "depth": rng.uniform(0, 1, voices).astype(np.float32),
    }


def reference(inputs):
    f = inputs["frequency"].astype(np.float64)[:, None]
    d = inputs["depth"].astype(np.float64)[:, None]
    x = inputs["dry"].astype(np.float64)
    phase = (f * np.arange(x.shape[1])) % 1.0
    return {"wet": (x * (1 - d * (1 - np.cos(2 * np.pi * phase)) / 2)).astype(np.float32)}
