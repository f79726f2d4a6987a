import numpy as np


TOLERANCE = {"squared": (0, 0)}


def make_inputs(rng, height, width, values="sparse"):
    mask = (rng.random((height, width)) < 3.0 / (height + width)) * rng.integers(1, 256, (height, width))
    mask[height // 2, width // 3] = 1
    if values == "corner":  # one point only: distances across the whole image
        mask[:] = 0
        mask[-1, 0] = 255
    return {"sizes": np.array([height, width], dtype=np.int32), "mask": mask.astype(np.uint8)}


def reference(inputs):
    height, width = inputs["mask"].shape
    y = np.arange(height, dtype=np.float64)[:, None]
    far = np.float64(4 * (height + width) ** 2)
    rows = np.where(inputs["mask"] != 0, y, -far)  # the nearest point of the column above, then below
    above = y - np.maximum.accumulate(rows, axis=0)
    rows = np.where(inputs["mask"] != 0, y, far)
    below = np.minimum.accumulate(rows[::-1], axis=0)[::-1] - y
    gap = np.minimum(np.minimum(above, below), far) ** 2
    best = gap.copy()
    for shift in range(1, width):
        np.minimum(best[:, shift:], gap[:, :-shift] + shift**2, out=best[:, shift:])
        np.minimum(best[:, :-shift], gap[:, shift:] + shift**2, out=best[:, :-shift])
    return {"squared": np.where(best > height**2 + width**2, -1, best).astype(np.int32)}
