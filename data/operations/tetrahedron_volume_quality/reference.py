import numpy as np


# V of about 0.02 with an absolute error of 1e-8; near V = 0 the power 2/3 turns that error into some 1e-4 of quality.
TOLERANCE = {"volume": (1e-4, 2e-7), "quality": (2e-4, 3e-4)}


def make_inputs(rng, vertices, n):
    points = rng.uniform(-1, 1, (vertices, 3))
    cells = (rng.integers(0, vertices, (n, 1)) + np.arange(4) * rng.integers(1, vertices // 4, (n, 1))) % vertices
    return {"points": points.astype(np.float32), "cells": cells.astype(np.int32)}


def reference(inputs):
    p = inputs["points"].astype(np.float64)[inputs["cells"]]
    e = p[:, 1:] - p[:, :1]
    v = (e[:, 0] * np.cross(e[:, 1], e[:, 2])).sum(axis=1) / 6
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    edges = sum(((p[:, i] - p[:, j]) ** 2).sum(axis=1) for i, j in pairs)
    return {
        "volume": v.astype(np.float32),
        "quality": (12 * np.cbrt(3 * np.maximum(v, 0)) ** 2 / edges).astype(np.float32),
    }
