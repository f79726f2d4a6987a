import numpy as np


# A float32 sum of at most 48 squares; loud bursts would spoil a subtracting running sum.
TOLERANCE = {"rms": (2e-5, 1e-6)}


def make_inputs(rng, rows, cols):
    x = rng.standard_normal((rows, cols)) * np.exp(rng.uniform(-3.0, 1.0, (rows, 1)))
    x *= np.where(np.arange(cols) // 96 % 3 == 1, 200.0, 1.0)
    return {"x": x.astype(np.float32)}


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    cols = x.shape[1]
    window = 48
    sums = np.zeros((len(x), cols))
    sq = x * x
    for k in range(window):
        sums[:, k:] += sq[:, : cols - k]
    count = np.minimum(np.arange(cols) + 1, window)
    return {"rms": np.sqrt(sums / count).astype(np.float32)}
