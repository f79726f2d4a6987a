import numpy as np


# Weights and four products in float32, values below about 5; delays are multiples of 1/64, so q is exact.
TOLERANCE = {"y": (1e-5, 5e-6)}


def make_inputs(rng, channels, samples):
    delay = rng.integers(64, 3201, channels) / 64.0
    delay[::5] = np.floor(delay[::5])
    return {"x": rng.normal(0, 1, (channels, samples)).astype(np.float32), "delay": delay.astype(np.float32)}


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    y = np.zeros_like(x)
    n = x.shape[1]
    for c, delay in enumerate(inputs["delay"].astype(np.float64)):
        d = int(np.floor(delay))
        q = delay - d
        h = (
            -q * (q - 1) * (q - 2) / 6,
            (q + 1) * (q - 1) * (q - 2) / 2,
            -(q + 1) * q * (q - 2) / 2,
            (q + 1) * q * (q - 1) / 6,
        )
        for k in range(4):
            shift = d - 1 + k
            y[c, shift:] += h[k] * x[c, : n - shift]
    return {"y": y.astype(np.float32)}
