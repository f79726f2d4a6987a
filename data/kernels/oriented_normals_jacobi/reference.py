import numpy as np


TOLERANCE = {"normals": (1e-3, 1e-4), "variation": (1e-3, 1e-5)}


def make_inputs(rng, n, k, values="terrain"):
    # A terrain of unit spacing, whose neighbours are drawn from a window around a point.
    side = int(np.ceil(np.sqrt(n)))
    row, col = np.divmod(np.arange(n), side)
    x, y = col + rng.uniform(-0.3, 0.3, n), row + rng.uniform(-0.3, 0.3, n)
    z = 2.0 * np.sin(x / 7.0) + 1.5 * np.cos(y / 5.0) + rng.normal(0.0, 0.05, n)
    if values == "plane":  # the smallest eigenvalue is 0
        z = np.zeros(n)
    offsets = rng.integers(-3, 4, (n, k, 2))
    # The point itself and two at a right angle keep the other eigenvalues away from the smallest.
    offsets[:, :3] = (0, 0), (0, 2), (2, 0)
    neighbors = np.repeat(np.arange(n)[:, None], k, axis=1)
    for sign in ((-1, -1), (1, -1), (-1, 1), (1, 1)):  # mirrored where the terrain ends
        near_row = row[:, None] + sign[0] * offsets[..., 0]
        near_col = col[:, None] + sign[1] * offsets[..., 1]
        near = near_row * side + near_col
        inside = (near_row >= 0) & (near_col >= 0) & (near_col < side) & (near < n)
        neighbors = np.where(inside, near, neighbors)
    return {
        "sizes": np.array([n, k], dtype=np.int32),
        "points": np.stack([x, y, z], axis=1).astype(np.float32),
        "neighbors": neighbors.astype(np.int32),
        "viewpoint": np.array([side / 2, side / 3, 40.0 * side], dtype=np.float32),
    }


def reference(inputs):
    points, viewpoint = inputs["points"].astype(np.float64), inputs["viewpoint"].astype(np.float64)
    near = points[inputs["neighbors"]]
    centered = near - near.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(np.matmul(centered.transpose(0, 2, 1), centered) / near.shape[1])
    normal = vectors[:, :, 0]
    normal *= np.where(((viewpoint - points) * normal).sum(axis=1) < 0.0, -1.0, 1.0)[:, None]
    variation = np.maximum(values[:, 0], 0.0) / values.sum(axis=1)
    return {"normals": normal.astype(np.float32), "variation": variation.astype(np.float32)}
