import numpy as np


TOLERANCE = {"means": (1e-4, 1e-6), "mmd": (1e-3, 1e-5)}


def make_inputs(rng, xs, ys, width, scales, pattern="normal"):
    x = rng.normal(0.0, 1.0, (xs, width))
    y = rng.normal(0.4, 1.3, (ys, width))
    if pattern == "repeated":  # equal points within and across the two sets, and far outliers
        y[::3] = x[0]
        x[1::4] = x[0]
        y[1::50] = 100.0
    return {
        "sizes": np.array([xs, ys, width, scales], dtype=np.int32),
        "x": x.astype(np.float16),
        "y": y.astype(np.float16),
        "gammas": (2.0 ** -np.arange(scales) / width).astype(np.float32),
    }


def kernel_sums(a, b, gammas):
    squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2.0 * a @ b.T
    return np.array([np.exp(-gamma * np.maximum(squares, 0.0)).sum() for gamma in gammas])


def reference(inputs):
    x, y = inputs["x"].astype(np.float64), inputs["y"].astype(np.float64)
    gammas = inputs["gammas"].astype(np.float64)
    xs, ys = len(x), len(y)
    # The diagonal of the sums within a set is 1 for every point.
    within_x = (kernel_sums(x, x, gammas) - xs) / (xs * (xs - 1))
    within_y = (kernel_sums(y, y, gammas) - ys) / (ys * (ys - 1))
    across = kernel_sums(x, y, gammas) / (xs * ys)
    return {"means": np.stack([within_x, within_y, across], axis=1), "mmd": within_x + within_y - 2.0 * across}
