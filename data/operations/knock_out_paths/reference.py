import numpy as np


# One exponential and a product; prices are hundredths, compared with 85 exactly.
TOLERANCE = {"payoff": (1e-5, 1e-5), "hit": (0, 0)}


def make_inputs(rng, paths, steps):
    walk = np.cumsum(rng.normal(0.03 / steps, 0.22 / np.sqrt(steps), (paths, steps)), axis=1)
    return {
        "path": np.round(100 * np.exp(walk), 2).astype(np.float32),
        "strike": (rng.integers(160, 220, paths) / 2).astype(np.float32),
    }


def reference(inputs):
    path = inputs["path"]
    steps = path.shape[1]
    below = path <= np.float32(85.0)
    out = below.any(axis=1)
    hit = np.where(out, np.argmax(below, axis=1), -1)
    call = np.exp(-0.04) * np.maximum(path[:, -1].astype(np.float64) - inputs["strike"], 0)
    payoff = np.where(out, 2.5 * np.exp(-0.04 * (hit + 1) / steps), call)
    return {"payoff": payoff.astype(np.float32), "hit": hit.astype(np.int32)}
