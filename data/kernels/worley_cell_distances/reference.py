import numpy as np


TOLERANCE = {"nearest": (0, 0), "gap": (0, 0), "cell": (0, 0)}


def make_inputs(rng, height, width, step, seed, values="any"):
    origin = rng.integers(-1000000, 1000001, 2)
    if values == "negative":  # both signs in one image, and positions on the borders of cells
        origin = np.array([-256 * 100, -256 * 30])
    return {
        "sizes": np.array([height, width, step, seed], dtype=np.int32),
        "origin": origin.astype(np.int32),
    }


def hashed(cx, cy, seed):
    h = cx * 0x8DA6B343 + cy * 0xD8163841 + seed & 0xFFFFFFFF
    h = (h ^ h >> 15) * 0x2C1B3C6D & 0xFFFFFFFF
    h = (h ^ h >> 12) * 0x297A2D39 & 0xFFFFFFFF
    return h ^ h >> 15


def reference(inputs):
    height, width, step, seed = inputs["sizes"].tolist()
    x0, y0 = inputs["origin"].tolist()
    x, y = x0 + step * np.arange(width, dtype=np.int64), y0 + step * np.arange(height, dtype=np.int64)
    # All points of the cells around the image, once.
    first_x, first_y = (x[0] >> 8) - 1, (y[0] >> 8) - 1
    cells_x = np.arange(first_x, (x[-1] >> 8) + 2)
    cells_y = np.arange(first_y, (y[-1] >> 8) + 2)
    h = hashed(cells_x[None, :] & 0xFFFFFFFF, cells_y[:, None] & 0xFFFFFFFF, seed)
    point_x, point_y = 256 * cells_x + (h & 255), 256 * cells_y[:, None] + (h >> 8 & 255)
    column, row = (x >> 8) - first_x, (y >> 8) - first_y
    best = np.full((height, width), 1 << 30, dtype=np.int64)
    second = best.copy()
    cell = np.zeros((height, width), dtype=np.int64)
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            pick = np.ix_(row + dy, column + dx)
            d = (point_x[pick] - x) ** 2 + (point_y[pick] - y[:, None]) ** 2
            closer = d < best
            second = np.where(closer, best, np.minimum(second, d))
            cell = np.where(closer, h[pick], cell)
            best = np.minimum(best, d)
    return {
        "nearest": best.astype(np.int32),
        "gap": (second - best).astype(np.int32),
        "cell": cell.astype(np.uint32),
    }
