import numpy as np


# Integers are exact.
TOLERANCE = {"evolved": (0, 0)}


def make_inputs(rng, rows, width, generations):
    make_inputs.generations = generations
    known = np.array([30, 45, 54, 60, 73, 90, 102, 105, 110, 122, 126, 150, 169, 184, 225])
    rule = np.where(rng.random(rows) < 0.6, rng.choice(known, rows), rng.integers(0, 256, rows))
    return {"cells": (rng.random((rows, width)) < 0.4).astype(np.uint8), "rule": rule.astype(np.int32)}


def reference(inputs):
    s = inputs["cells"].astype(np.uint8)
    rule = inputs["rule"].astype(np.int64)
    table = ((rule[:, None] >> np.arange(8)) & 1).astype(np.uint8)
    for _ in range(make_inputs.generations):
        code = 4 * np.roll(s, 1, 1) + 2 * s + np.roll(s, -1, 1)
        s = np.take_along_axis(table, code.astype(np.intp), 1)
    return {"evolved": s}
