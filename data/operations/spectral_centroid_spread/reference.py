import numpy as np


# Sums of up to 1025 positive float32 terms; a square root halves the relative error of the spread.
TOLERANCE = {"centroid": (1e-4, 1e-4), "spread": (2e-4, 1e-4)}


def make_inputs(rng, frames, bins):
    b = np.arange(bins)
    middle = rng.uniform(0.05, 0.95, (frames, 1)) * bins
    width = rng.uniform(1.0, 0.2 * bins, (frames, 1))
    x = (
        np.exp(-(((b - middle) / width) ** 2))
        * rng.uniform(0.2, 1.0, (frames, bins))
        * rng.uniform(0.1, 10, (frames, 1))
    )
    x[x < 1e-6] = 0.0
    x[rng.random(frames) < 0.05] = 0.0
    return {"magnitude": x.astype(np.float32)}


def reference(inputs):
    m = inputs["magnitude"].astype(np.float64)
    b = np.arange(m.shape[1])
    total = m.sum(axis=1)
    safe = np.where(total > 0, total, 1.0)
    centre = (m @ b) / safe
    spread = np.sqrt(((b - centre[:, None]) ** 2 * m).sum(axis=1) / safe)
    return {"centroid": centre.astype(np.float32), "spread": spread.astype(np.float32)}
