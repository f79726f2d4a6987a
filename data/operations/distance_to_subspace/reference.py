import numpy as np


# float32 dot products of 200 terms at most; the distances are not small against the points.
TOLERANCE = {"distance": (1e-4, 1e-4), "coords": (5e-5, 1e-4)}


def make_inputs(rng, points, dim, k):
    basis = np.linalg.qr(rng.normal(0.0, 1.0, (dim, k)))[0].T
    origin = rng.normal(0.0, 1.0, dim)
    x = origin + rng.normal(0.0, 8.0, (points, k)) @ basis
    x += rng.normal(0.0, 1.0, (points, dim)) * rng.uniform(0.1, 1.0, (points, 1))
    return {"x": x.astype(np.float32), "origin": origin.astype(np.float32), "basis": basis.astype(np.float32)}


def reference(inputs):
    basis = inputs["basis"].astype(np.float64)
    d = inputs["x"].astype(np.float64) - inputs["origin"].astype(np.float64)
    coords = d @ basis.T
    rest = d - coords @ basis
    return {"distance": np.sqrt(np.sum(rest * rest, axis=1)).astype(np.float32), "coords": coords.astype(np.float32)}
