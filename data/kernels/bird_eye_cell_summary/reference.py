import numpy as np


TOLERANCE = {"height": (0, 0), "reflectance": (0, 0), "counts": (0, 0)}


def make_inputs(rng, n, rows, cols, values="street"):
    # Positions are multiples of 1/32 and cells 1/2 wide: the division is exact and cell borders are met.
    x = rng.integers(-16 * cols // 8, 16 * cols + 16 * cols // 8, n) / 32.0 - 7.25
    y = rng.integers(-16 * rows // 8, 16 * rows + 16 * rows // 8, n) / 32.0 + 3.5
    z = rng.normal(-1.0, 1.5, n)
    if values == "ties":
        z = rng.choice([-2.5, -0.5, 0.0, 4.0], n)
    points = np.stack([x, y, z, rng.uniform(0.0, 1.0, n)], axis=1)
    return {
        "sizes": np.array([n, rows, cols], dtype=np.int32),
        "points": points.astype(np.float32),
        "grid": np.array([-7.25, 3.5, 0.5], dtype=np.float32),
    }


def reference(inputs):
    _, rows, cols = map(int, inputs["sizes"])
    points = inputs["points"]
    x0, y0, cell = inputs["grid"].astype(np.float64)
    col = np.floor((points[:, 0].astype(np.float64) - x0) / cell).astype(np.int64)
    row = np.floor((points[:, 1].astype(np.float64) - y0) / cell).astype(np.int64)
    seen = np.flatnonzero((col >= 0) & (col < cols) & (row >= 0) & (row < rows))
    place = row[seen] * cols + col[seen]
    # By cell, then from high to low, then by index; the first of each cell is the highest point.
    order = np.lexsort((seen, -points[seen, 2], place))
    cells, first = np.unique(place[order], return_index=True)
    top = seen[order[first]]
    height, reflectance = (np.zeros(rows * cols, dtype=np.float32) for _ in range(2))
    height[cells], reflectance[cells] = points[top, 2], points[top, 3]
    counts = np.bincount(place, minlength=rows * cols).astype(np.int32)
    shape = (rows, cols)
    return {
        "height": height.reshape(shape),
        "reflectance": reflectance.reshape(shape),
        "counts": counts.reshape(shape),
    }
