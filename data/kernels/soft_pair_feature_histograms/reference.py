import numpy as np


TOLERANCE = {"features": (1e-3, 2e-4)}


def make_inputs(rng, points, neighbors, bins, pattern="surface"):
    # A bumpy surface; the normals are its normals with some noise, the neighbours are drawn nearby.
    x, y = rng.uniform(-1, 1, (2, points))
    order = np.argsort(np.round(x * 20) * 1000 + y)
    x, y = x[order], y[order]
    cloud = np.stack([x, y, 0.2 * np.sin(4 * x) * np.cos(3 * y)], axis=1)
    slope = np.stack(
        [-0.8 * np.cos(4 * x) * np.cos(3 * y), 0.6 * np.sin(4 * x) * np.sin(3 * y), np.ones(points)], axis=1
    )
    normals = slope + rng.normal(0.0, 0.6, (points, 3))
    index = (np.arange(points)[:, None] + rng.integers(-60, 61, (points, neighbors))) % points
    index[rng.random(index.shape) < 0.1] = -1
    if pattern == "degenerate":  # points without neighbours, points at one place, neighbours along the normal
        index[::5] = -1
        cloud[1::5] = cloud[1]
        index[1::5] = 1
        normals[2::5] = [0.0, 0.0, 1.0]
        cloud[2::5] = np.stack([0 * x[2::5], 0 * x[2::5], np.arange(len(x[2::5]))], axis=1)
        index[2::5] = 2 + 5 * rng.integers(0, len(x[2::5]), index[2::5].shape)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return {
        "sizes": np.array([points, neighbors, bins], dtype=np.int32),
        "cloud": cloud.astype(np.float32),
        "normals": normals.astype(np.float32),
        "index": index.astype(np.int32),
    }


def reference(inputs):
    cloud, normals = inputs["cloud"].astype(np.float64), inputs["normals"].astype(np.float64)
    index, bins = inputs["index"], int(inputs["sizes"][2])
    points = len(cloud)
    p, slot = np.nonzero(index >= 0)
    q = index[p, slot]
    far = np.linalg.norm(cloud[q] - cloud[p], axis=1)
    p, q, far = p[far > 0], q[far > 0], far[far > 0]
    d = (cloud[q] - cloud[p]) / far[:, None]
    u = normals[p]
    v = np.cross(d, u)
    sine = np.linalg.norm(v, axis=1)
    on = sine > 1e-6
    p, q, d, u, v, sine = p[on], q[on], d[on], u[on], v[on] / sine[on, None], sine[on]
    w = np.cross(u, v)
    n = normals[q]
    alpha, phi = (v * n).sum(axis=1), (u * d).sum(axis=1)
    theta = np.arctan2((w * n).sum(axis=1), (u * n).sum(axis=1))
    total = np.bincount(p, sine, points)
    features = np.zeros((points, 3, bins))
    for k, place in enumerate([(alpha + 1) / 2, (phi + 1) / 2, theta / (2 * np.pi) + 0.5]):
        place = place * bins - 0.5
        left = np.floor(place).astype(np.int64)
        share = place - left
        for bin_, part in ((left, 1 - share), (left + 1, share)):
            bin_ = bin_ % bins if k == 2 else np.clip(bin_, 0, bins - 1)
            features[:, k] += np.bincount(p * bins + bin_, part * sine, points * bins).reshape(points, bins)
    features /= np.where(total > 0, total, 1.0)[:, None, None]
    return {"features": features.astype(np.float32)}
