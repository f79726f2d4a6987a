import numpy as np


TOLERANCE = {"matrix": (1e-6, 1e-6), "vector": (1e-6, 1e-5)}


def make_inputs(rng, n, values="scene"):
    anchors = rng.uniform(-10.0, 10.0, (n, 3))
    normals = rng.normal(size=(n, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    weights = rng.uniform(0.0, 1.0, n)
    if values == "weightless":  # a correspondence that was rejected weighs nothing, however far it is
        weights[rng.random(n) < 0.9] = 0.0
    points = anchors + rng.normal(0.1, 0.2, (n, 3))
    points[weights == 0.0] += 1e4
    arrays = {"points": points, "anchors": anchors, "normals": normals, "weights": weights}
    return {"sizes": np.array([n], dtype=np.int32)} | {key: a.astype(np.float32) for key, a in arrays.items()}


def reference(inputs):
    p, q, normal, w = (inputs[key].astype(np.float64) for key in ("points", "anchors", "normals", "weights"))
    rows = np.concatenate([np.cross(p, normal), normal], axis=1)
    residual = ((p - q) * normal).sum(axis=1)
    weighted = rows * w[:, None]
    return {"matrix": weighted.T @ rows, "vector": -weighted.T @ residual}
