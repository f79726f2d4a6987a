import numpy as np


# Extremes are exact; the centre takes two roundings and the radius a handful.
TOLERANCE = {"spheres": (1e-5, 1e-5)}


def make_inputs(rng, objects, size):
    center = rng.uniform(-10.0, 10.0, (objects, 1, 3))
    scale = rng.uniform(0.2, 3.0, (objects, 1, 3))
    return {"points": (center + scale * rng.normal(0.0, 1.0, (objects, size, 3))).astype(np.float32)}


def reference(inputs):
    p = inputs["points"].astype(np.float64)
    c = 0.5 * (p.min(axis=1) + p.max(axis=1))
    r = np.sqrt(((p - c[:, None, :]) ** 2).sum(axis=2).max(axis=1))
    return {"spheres": np.concatenate([c, r[:, None]], axis=1).astype(np.float32)}
