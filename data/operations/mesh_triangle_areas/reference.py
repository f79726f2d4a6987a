import numpy as np


# Cross products of float32 differences of size about 10: a few roundings, with cancellation in thin triangles.
TOLERANCE = {"area": (1e-4, 1e-4), "centroid": (1e-5, 1e-5)}


def make_inputs(rng, nv, nf):
    vertices = rng.normal(0.0, 4.0, (nv, 3))
    faces = rng.integers(0, nv, (nf, 3))
    faces[::50, 2] = faces[::50, 0]
    return {"vertices": vertices.astype(np.float32), "faces": faces.astype(np.int32)}


def reference(inputs):
    v = inputs["vertices"].astype(np.float64)[inputs["faces"]]
    a, b, c = v[:, 0], v[:, 1], v[:, 2]
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    return {"area": area.astype(np.float32), "centroid": ((a + b + c) / 3.0).astype(np.float32)}
