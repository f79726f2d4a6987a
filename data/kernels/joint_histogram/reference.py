import numpy as np


TOLERANCE = {"counts": (0, 0), "outside": (0, 0)}


def make_inputs(rng, points, rows, cols, values="normal"):
    x = rng.normal(0.5, 0.2, points)
    y = 0.6 * x + rng.normal(0.2, 0.12, points)
    if values == "edges":  # on the edges of bins, just inside 1, and outside by the least
        inside = np.nextafter(np.float32(1), np.float32(0))
        x = rng.choice(np.r_[np.arange(rows) / rows, inside, 1.0, -1e-30, 1e30], points)
        y = rng.choice(np.r_[np.arange(cols) / cols, inside, 1.0, -0.0], points)
    return {
        "sizes": np.array([points, rows, cols], dtype=np.int32),
        "x": x.astype(np.float32),
        "y": y.astype(np.float32),
    }


def reference(inputs):
    (_, rows, cols), x, y = inputs["sizes"].tolist(), inputs["x"], inputs["y"]
    inside = (x >= 0) & (x < 1) & (y >= 0) & (y < 1)
    row = np.minimum((x[inside] * np.float32(rows)).astype(np.int64), rows - 1)
    column = np.minimum((y[inside] * np.float32(cols)).astype(np.int64), cols - 1)
    counts = np.bincount(row * cols + column, minlength=rows * cols).reshape(rows, cols)
    outside = np.array([np.count_nonzero(~inside)], dtype=np.uint32)
    return {"counts": counts.astype(np.uint32), "outside": outside}
