import numpy as np


TOLERANCE = {"keep": (0, 0), "voxels": (0, 0)}


def make_inputs(rng, n, shift, values="rooms"):
    # A surface: about ten points a voxel, in no order.
    side = max(int(np.sqrt(n / 10.0)) << shift, 2)
    points = rng.integers(-(side // 2), side // 2 + 1, (n, 3))
    points[:, 2] = rng.integers(-3, 4, n)
    if values == "corners":  # all eight octants around the origin, and the largest coordinates
        points = rng.choice([-(2**20), -1, 0, 2**20 - 1], (n, 3))
    sizes = np.array([n, shift], dtype=np.int32)
    return {"sizes": sizes, "points": np.clip(points, -(2**20), 2**20 - 1).astype(np.int32)}


def reference(inputs):
    cells = inputs["points"].astype(np.int64) >> int(inputs["sizes"][1])
    key = ((cells[:, 0] + 2**20) << 42) | ((cells[:, 1] + 2**20) << 21) | (cells[:, 2] + 2**20)
    _, first = np.unique(key, return_index=True)
    keep = np.zeros(len(key), dtype=np.uint8)
    keep[first] = 1
    return {"keep": keep, "voxels": np.array([len(first)], dtype=np.int32)}
