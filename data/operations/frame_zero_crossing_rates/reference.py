import numpy as np


# A count divided once in float32.
TOLERANCE = {"rate": (1e-6, 0)}


def make_inputs(rng, channels, samples):
    t = np.arange(samples)
    f = rng.uniform(0.002, 0.1, (channels, 1))
    x = np.sin(2 * np.pi * f * t * (1 + 0.5 * t / samples)) + rng.normal(0, 0.4, (channels, samples))
    return {"audio": (np.round(x * 16) / 16).astype(np.float32)}


def reference(inputs):
    x = inputs["audio"]
    negative = x < 0
    change = np.zeros(x.shape, np.int64)
    change[:, 1:] = negative[:, 1:] != negative[:, :-1]
    total = np.cumsum(change, axis=1)
    first = np.arange((x.shape[1] - 400) // 160 + 1) * 160
    return {"rate": ((total[:, first + 399] - total[:, first]) / 399.0).astype(np.float32)}
