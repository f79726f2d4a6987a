import numpy as np


# Sums are exact; the mean is one division of numbers rounded to float32.
TOLERANCE = {"total": (0, 0), "mean": (2e-6, 0)}


def make_inputs(rng, height, width, n_boxes):
    table = np.zeros((height + 1, width + 1), np.int64)
    table[1:, 1:] = np.cumsum(np.cumsum(rng.integers(0, 256, (height, width)), 0), 1)
    y = rng.integers(-10, height + 11, n_boxes)
    x = rng.integers(-10, width + 11, n_boxes)
    boxes = np.stack([y, x, y + rng.integers(-3, height // 3, n_boxes), x + rng.integers(-3, width // 3, n_boxes)], 1)
    return {"table": table.astype(np.int32), "boxes": boxes.astype(np.int32)}


def reference(inputs):
    t = inputs["table"].astype(np.int64)
    h, w = t.shape
    y0, y1 = (np.clip(inputs["boxes"][:, k], 0, h - 1) for k in (0, 2))
    x0, x1 = (np.clip(inputs["boxes"][:, k], 0, w - 1) for k in (1, 3))
    full = (y1 > y0) & (x1 > x0)
    s = np.where(full, t[y1, x1] - t[y0, x1] - t[y1, x0] + t[y0, x0], 0)
    area = np.where(full, (y1 - y0) * (x1 - x0), 1)
    return {"total": s.astype(np.int32), "mean": (s / area).astype(np.float32)}
