import numpy as np


TOLERANCE = {"normals": (1e-3, 1e-4)}


def make_inputs(rng, height, width, values="surface"):
    v, u = np.indices((height, width))
    z = 3.0 + 0.4 * np.sin(u / 9.0) + 0.3 * np.cos(v / 6.0) + rng.normal(0.0, 0.002, (height, width))
    z[rng.random((height, width)) < (0.3 if values == "holes" else 0.02)] = 0.0
    focal = 0.9 * max(width, 16)
    cloud = np.stack([(u - width / 2) * z / focal, (v - height / 2) * z / focal, z], axis=2)
    return {"sizes": np.array([height, width], dtype=np.int32), "cloud": cloud.astype(np.float32)}


def reference(inputs):
    cloud = inputs["cloud"].astype(np.float64)
    normals = np.zeros(cloud.shape)
    if min(cloud.shape[:2]) >= 3:
        left, right, up, down = cloud[1:-1, :-2], cloud[1:-1, 2:], cloud[:-2, 1:-1], cloud[2:, 1:-1]
        center = cloud[1:-1, 1:-1]
        normal = np.cross(right - left, down - up)
        length = np.linalg.norm(normal, axis=2, keepdims=True)
        toward = (normal * center).sum(axis=2, keepdims=True) > 0.0
        valid = np.all([p[..., 2] > 0.0 for p in (left, right, up, down, center)], axis=0)[..., None] & (length > 0.0)
        normal = np.where(toward, -normal, normal) / np.where(length > 0.0, length, 1.0)
        normals[1:-1, 1:-1] = np.where(valid, normal, 0.0)
    return {"normals": normals.astype(np.float32)}
