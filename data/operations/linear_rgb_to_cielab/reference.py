import numpy as np


# Differences of cube roots good to some 1e-7 are scaled by 500: about 1e-4 absolute.
TOLERANCE = {"lab": (2e-5, 5e-4)}


def make_inputs(rng, height, width):
    x = rng.random((3, height, width)) ** 2.2
    x *= np.where(rng.random((height, width)) < 0.2, 0.02, 1.0)
    return {"rgb": x.astype(np.float32)}


def reference(inputs):
    r, g, b = inputs["rgb"].astype(np.float64)

    def f(t):
        return np.where(t > 216.0 / 24389.0, np.cbrt(t), (24389.0 / 27.0 * t + 16.0) / 116.0)

    x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047)
    y = f(0.2126 * r + 0.7152 * g + 0.0722 * b)
    z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883)
    return {"lab": np.stack([116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]).astype(np.float32)}
