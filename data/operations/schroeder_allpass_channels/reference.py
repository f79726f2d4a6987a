import numpy as np


# A contraction by at most 0.75 per step in float32, values below about 10.
TOLERANCE = {"y": (2e-5, 1e-5)}


def make_inputs(rng, samples, channels):
    delay = rng.integers(32, 501, channels)
    x = rng.normal(0, 1, (samples, channels))
    return {
        "x": x.astype(np.float32),
        "delay": delay.astype(np.int32),
        "gain": rng.uniform(-0.75, 0.75, channels).astype(np.float32),
    }


def reference(inputs):
    x = np.ascontiguousarray(inputs["x"].T.astype(np.float64))
    y = np.empty_like(x)
    n = x.shape[1]
    for c, (d, g) in enumerate(zip(inputs["delay"], inputs["gain"].astype(np.float64), strict=False)):
        y[c, :d] = -g * x[c, :d]
        for t in range(d, n, d):
            m = min(d, n - t)
            y[c, t : t + m] = -g * x[c, t : t + m] + x[c, t - d : t - d + m] + g * y[c, t - d : t - d + m]
    return {"y": np.ascontiguousarray(y.T).astype(np.float32)}
