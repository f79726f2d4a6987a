import numpy as np


TOLERANCE = {"cost": (0, 0), "seam": (0, 0)}


def make_inputs(rng, images, height, width, values="random"):
    limit = 3 if values == "ties" else 100000
    return {
        "sizes": np.array([images, height, width], dtype=np.int32),
        "energy": rng.integers(0, limit, (images, height, width)).astype(np.int32),
    }


def reference(inputs):
    energy = inputs["energy"].astype(np.int64)
    images, height, width = energy.shape
    row = energy[:, 0]
    steps = np.zeros((height, images, width), dtype=np.int64)
    for y in range(1, height):
        padded = np.pad(row, ((0, 0), (1, 1)), constant_values=2**40)
        above = np.stack([padded[:, :-2], padded[:, 1:-1], padded[:, 2:]])  # left, straight, right
        steps[y] = above.argmin(axis=0) - 1
        row = energy[:, y] + above.min(axis=0)
    seam = np.empty((images, height), dtype=np.int64)
    seam[:, -1] = row.argmin(axis=1)
    for y in range(height - 1, 0, -1):
        seam[:, y - 1] = seam[:, y] + steps[y, np.arange(images), seam[:, y]]
    return {"cost": row.min(axis=1).astype(np.int32), "seam": seam.astype(np.int32)}
