import numpy as np


TOLERANCE = {"codes": (0, 0)}


def make_inputs(rng, n, shift, values="cloud"):
    # The cloud is about 1200 cells wide, so that a part of the points falls beyond the last cell.
    points = rng.integers(-600 << shift, 600 << shift, (n, 3))
    points[:, 2] //= 8
    if values == "extremes":  # differences that do not fit int32
        points = rng.integers(-(2**31), 2**31, (n, 3))
        points[0], points[-1] = -(2**31), 2**31 - 1
    return {"sizes": np.array([n, shift], dtype=np.int32), "points": points.astype(np.int32)}


def reference(inputs):
    points, shift = inputs["points"].astype(np.int64), int(inputs["sizes"][1])
    cells = np.minimum((points - points.min(axis=0)) >> shift, 1023)
    codes = np.zeros(len(points), dtype=np.int64)
    for bit in range(10):
        for axis in range(3):
            codes |= ((cells[:, axis] >> bit) & 1) << (3 * bit + axis)
    return {"codes": codes.astype(np.uint32)}
